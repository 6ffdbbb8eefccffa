"""The pool of anchor graphs: dense algebra is the oracle."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from mercer import UnifiedKernelMachine, persist
from mercer._base.typing import FloatArray
from mercer.eigen import chebyshev, counting, search
from mercer.eigen import smallest as eigen
from mercer.fewlabels.pools import anchor_number, anchor_solving
from mercer.fewlabels.pools import anchors as anchor_pool
from mercer.fewlabels.pools.anchor_features import AnchorColumns
from mercer.fewlabels.pools.anchor_joining import light_anchors_joined
from mercer.fewlabels.pools.anchor_number import number_of_anchors
from mercer.fewlabels.pools.anchor_sums import (
    PoolSums,
    both_halves,
    gram_times,
    half_gram,
)
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.plain_kernels import linear_map
from mercer.spectrum.anchor import AnchorBasis


@pytest.fixture(scope="module", name="X")
def two_blobs() -> FloatArray:
    return np.random.default_rng(0).normal(size=(300, 3)) + np.repeat(
        [[0.0, 0, 0], [4.0, 0, 0]], 150, axis=0
    )


@pytest.fixture(scope="module")
def pool(X: FloatArray) -> AnchorPool:
    return AnchorPool(12, n_nearest=(2, 4), random_state=0).fit(X)


def dense_graph(pool: AnchorPool, which: int) -> FloatArray:
    """Return W = Z diag(Zᵀ1)⁻¹ Zᵀ of one of the graphs, (n, n)."""
    Z = pool.vectors_.ties[which].toarray().astype(np.float64)
    points = pool.vectors_.ties[0].sum(axis=0)  # that each anchor stands for
    Z = Z @ light_anchors_joined(pool.anchors_, points, least=3, rng=rng).toarray()
    mass = Z.sum(axis=0)
    return (Z[:, mass > 0] / mass[mass > 0]) @ Z[:, mass > 0].T


@pytest.mark.parametrize("which", [0, 1])
def test_graph_columns_are_the_leading_eigenvectors(
    pool: AnchorPool, which: int
) -> None:
    W = dense_graph(pool, which)
    block = pool.blocks_[which]
    oracle = 1 - eigh(W, eigvals_only=True)[::-1][: len(block.values)]
    np.testing.assert_allclose(block.values, oracle, atol=1e-6)
    raw = (
        np.asarray(pool.vectors_)[:, block.columns] + pool.vectors_.mean[block.columns]
    )
    np.testing.assert_allclose(W @ raw, raw * (1 - block.values), atol=1e-4)


def test_each_graph_is_an_anchor_basis(
    X: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchor_solving, "LEAST_MASS", 0.0)
    pool = AnchorPool(5, n_anchors=50, n_nearest=(2, 4), random_state=0).fit(X)
    for s, block in zip((2, 4), pool.blocks_, strict=False):
        alone = AnchorBasis(5, n_anchors=50, n_nearest=s, random_state=0).fit(X)
        np.testing.assert_allclose(block.values, alone.values_, atol=1e-6)


def test_the_anchors_are_searched_once(
    X: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = AnchorPool(5, n_nearest=(2, 4, 6), random_state=0).fit(X)
    asked = []

    class Counted:
        def query(self, points: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
            asked.append(k)
            return index.query(points, k)

    index = pool._index
    monkeypatch.setattr(pool, "_index", Counted())
    pool.extend(X)
    assert asked == [7]


def test_blocks_describe_the_columns(pool: AnchorPool, X: FloatArray) -> None:
    U = np.asarray(pool.vectors_)
    assert U.shape == pool.vectors_.shape == (300, len(pool.values_))
    np.testing.assert_allclose(U.mean(axis=0), 0.0, atol=1e-6)
    for block in pool.blocks_:
        C = U[:, block.columns].T @ U[:, block.columns] / len(U)
        np.testing.assert_allclose(block.covariance, C, atol=1e-5)
    names = [block.name for block in pool.blocks_]
    assert names == ["anchors 2", "anchors 4", "linear", "density"]


def test_training_points_extend_to_their_rows(pool: AnchorPool, X: FloatArray) -> None:
    np.testing.assert_allclose(pool.extend(X), np.asarray(pool.vectors_), atol=1e-5)


def test_a_far_point_is_no_less_dense_than_the_training_points(
    pool: AnchorPool,
) -> None:
    density = np.asarray(pool.vectors_)[:, -1]
    far = pool.extend(np.full((1, 3), 1e4))[0, -1]
    assert far == pytest.approx(density.min(), abs=1e-5)


def test_four_products_are_those_of_the_written_out_features(
    pool: AnchorPool,
) -> None:
    rng = np.random.default_rng(1)
    U = np.asarray(pool.vectors_)
    root = rng.uniform(0.1, 1.0, U.shape[1])
    Phi, features = U * root, pool.weighted(root)
    A, codes = rng.normal(size=(U.shape[1], 3)), rng.integers(-1, 2, size=len(U))
    some = np.array([5, 0, 290])
    np.testing.assert_allclose(features.rows(some), Phi[some], atol=1e-6)
    np.testing.assert_allclose(features.times(A), Phi @ A, atol=1e-4)
    sums = np.stack([Phi[codes == c].sum(axis=0) for c in range(2)], axis=1)
    np.testing.assert_allclose(features.class_sums(codes, 2), sums, atol=1e-3)
    sample, moment = features.sample(some)
    centred = Phi[some] - Phi[some].mean(axis=0)
    np.testing.assert_allclose(sample.rows(np.arange(3)), centred, atol=1e-6)
    np.testing.assert_allclose(moment, centred.T @ centred / 3, atol=1e-6)
    mean, square = features.moments()
    np.testing.assert_allclose(mean, Phi.mean(axis=0), atol=1e-6)
    assert square == pytest.approx((Phi**2).sum() / len(U), rel=1e-5)
    taken = features.take(some)
    np.testing.assert_allclose(taken.times(A), Phi[some] @ A, atol=1e-4)


def test_rows_by_slice_mask_and_position(pool: AnchorPool) -> None:
    columns: AnchorColumns = pool.vectors_
    mask = np.zeros(300, bool)
    mask[[3, 7]] = True
    np.testing.assert_array_equal(columns[mask], columns[np.array([3, 7])])
    np.testing.assert_array_equal(columns[3:8][[0, 4]], columns[mask])


def test_the_linear_kernel_of_a_sample_has_large_directions_only(
    X: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mercer.fewlabels.pools.base.SAMPLED_ABOVE", len(X) - 1)
    X = X * np.geomspace(1, 1e-2, X.shape[1])
    linear = linear_map(X, 20, np.random.default_rng(0))
    assert linear is not None
    C = np.cov(X.T)
    oracle = np.linalg.eigvalsh(C)[::-1]
    np.testing.assert_allclose(
        linear.values / (len(X) - 1), oracle[: len(linear.values)], rtol=0.02
    )
    assert len(linear.values) == int((oracle >= 0.01 * oracle[0]).sum()) < X.shape[1]
    U = linear.at(X)
    np.testing.assert_allclose(U.T @ U / len(X), np.eye(len(U.T)), atol=0.02)


def test_light_anchors_do_not_make_directions_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In many dimensions many anchors stand for one lonely point each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=6000)
    X = 2.2 * rng.normal(size=(4, 50))[truth] + 2 * rng.normal(size=(6000, 50))
    settings: Any = {"n_anchors": 1000, "n_nearest": (5,), "random_state": 0}
    joined = AnchorPool(8, **settings).fit(X).blocks_[0].values
    monkeypatch.setattr(anchor_solving, "LEAST_MASS", 0.0)
    alone = AnchorPool(8, **settings).fit(X).blocks_[0].values
    # Four classes; what follows them are lonely points, unless these are joined.
    assert joined[4] > 30 * alone[4]
    assert joined[4] > 100 * joined[3]


def test_an_anchor_that_stands_for_three_points_is_kept() -> None:
    anchors = np.array([[0.0], [1.0], [5.0], [6.0]])
    mass = np.array([2.9, 3.0, 8.0, 0.0])
    assert anchor_solving.LEAST_MASS == 3
    P = light_anchors_joined(anchors, mass, least=3.0, rng=rng).toarray()
    np.testing.assert_array_equal(P, [[1, 0], [1, 0], [0, 1], [0, 1]])
    few = light_anchors_joined(anchors, mass / 9, least=3.0, rng=rng)
    np.testing.assert_array_equal(few.toarray(), np.ones((4, 1)))  # the heaviest


@pytest.mark.parametrize(("least", "most_work"), [(0, 1e6), (0, 1e8), (3, 2e10)])
def test_crowded_values_end_after_the_work_that_is_allowed(
    least: float, most_work: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One dense blob: nothing separates, least of all if anchors are not joined."""
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 10)
    assert anchor_solving.MOST_WORK == 2e10
    monkeypatch.setattr(anchor_solving, "LEAST_MASS", least)
    monkeypatch.setattr(anchor_solving, "MOST_WORK", most_work)
    spent = 0.0
    recur = chebyshev.recur

    def counted(indptr: Any, indices: Any, data: Any, X: Any, *rest: Any) -> None:
        nonlocal spent
        spent += len(indices) * X.shape[1]
        recur(indptr, indices, data, X, *rest)

    monkeypatch.setattr(chebyshev, "recur", counted)
    monkeypatch.setattr(counting, "recur", counted)
    X = np.random.default_rng(0).normal(size=(3000, 50))
    pool = AnchorPool(20, n_nearest=(3,), random_state=0).fit(X)
    assert spent < 1.5 * max(most_work, 1e7)  # the space is filled in any case
    proof = pool.certificate_
    assert len(pool.blocks_[0].values) == 20
    if least:
        assert proof.note == ""
        assert proof.floor > 0
    else:
        assert "values crowd: with the work allowed, residuals are up to" in proof.note
        assert proof.floor == 0
        assert proof.residual > 1e-3 * pool.blocks_[0].values[-1]


def test_crowded_eigenvalues_are_said_and_no_error(
    X: FloatArray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 10)
    monkeypatch.setattr(eigen, "SMALL_COMPONENT", 0)
    monkeypatch.setattr(search, "_how_many_are_sure", lambda *args: (4, "they crowd"))
    pool = AnchorPool(8, n_nearest=(4,), random_state=0).fit(X)
    assert pool.certificate_.note == (
        "anchors 4: 4 of 7 directions are certain: they crowd"
    )
    assert len(pool.blocks_[0].values) == 8
    assert np.isfinite(np.asarray(pool.vectors_)).all()


def test_there_are_three_points_per_anchor_at_least(X: FloatArray) -> None:
    assert len(AnchorPool(random_state=0).fit(X).anchors_) == 100
    assert len(AnchorPool(n_anchors=30, random_state=0).fit(X).anchors_) == 30
    assert AnchorPool().n_anchors == 20_000
    assert AnchorPool(random_state=0).fit(X).sizes_ == [3, 10]


rng = np.random.default_rng(0)
HARD = {
    "equal": np.zeros((10, 2)),
    "three points, often": np.repeat(rng.normal(size=(3, 2)), 40, axis=0),
    "heavy tails": rng.standard_cauchy(size=(400, 3)),
    "one blob": rng.normal(size=(400, 5)),
    "a curved sheet": np.c_[np.sin(t := rng.uniform(0, 9, 400)) * t, np.cos(t) * t],
    "far clusters": rng.normal(size=(400, 2)) + 1e4 * rng.integers(4, size=(400, 1)),
    "three points": np.array([[0.0], [0.0], [1.0]]),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_data_have_finite_columns(name: str) -> None:
    X = HARD[name]
    pool = AnchorPool(20, random_state=0).fit(X)
    assert np.isfinite(np.asarray(pool.vectors_)).all()
    assert np.isfinite(pool.extend(X[:3] + 0.01)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(40, 9), (3, 30), (0, 4)])
def test_both_halves_are_the_products_of_ties(shape: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    dense = rng.random(shape) * (rng.random(shape) < 0.3)
    Z = sparse.csr_array(dense.astype(dtype))
    half = half_gram(Z)
    assert half.indices.dtype == half.indptr.dtype == np.int32
    assert sparse.tril(half, -1).nnz == 0
    gram = Z.toarray().astype(np.float64).T @ Z.toarray()
    np.testing.assert_allclose(both_halves(half).toarray(), gram, rtol=1e-12)
    A = rng.random((shape[1], 2))
    np.testing.assert_allclose(gram_times(half, A), gram @ A, rtol=1e-12)
    # The nearest anchor comes first, not that with the smallest number.
    back = (Z.data[::-1], Z.indices[::-1], Z.nnz - Z.indptr[::-1])
    unsorted = sparse.csr_array(back, shape=shape)
    np.testing.assert_allclose(half_gram(unsorted).toarray(), half.toarray())


def test_sums_of_blocks_add_up(pool: AnchorPool, X: FloatArray) -> None:
    whole = PoolSums.of(*pool.place(X))
    halves = PoolSums.of(*pool.place(X[:120])) + PoolSums.of(*pool.place(X[120:]))
    assert (halves.n, halves.low, halves.high) == (whole.n, whole.low, whole.high)
    np.testing.assert_allclose(halves.total, whole.total, atol=1e-3)
    np.testing.assert_allclose(halves.squares, whole.squares, rtol=1e-4, atol=1e-2)
    for one, other in zip(halves.halves, whole.halves, strict=True):
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-6)


def test_equal_seeds_give_equal_pools(X: FloatArray) -> None:
    one, two = (AnchorPool(5, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(np.asarray(one.vectors_), np.asarray(two.vectors_))


def test_single_precision_points_serve(X: FloatArray) -> None:
    double = AnchorPool(5, random_state=0).fit(X)
    single = AnchorPool(5, random_state=0).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.values_, double.values_, rtol=1e-3, atol=1e-4)


@pytest.fixture(scope="module", name="model")
def fitted(X: FloatArray) -> UnifiedKernelMachine:
    y = np.where(np.isin(np.arange(300), [0, 1, 150, 151]), np.arange(300) // 150, -1)
    pool = AnchorPool(8, random_state=0)
    return UnifiedKernelMachine(basis=pool, random_state=0).fit(X, y)


def test_the_default_rule_runs_on_anchor_graphs(
    model: UnifiedKernelMachine, X: FloatArray
) -> None:
    truth = np.arange(300) // 150
    assert np.mean(model.transduction_ == truth) > 0.95
    assert np.mean(model.predict(X) == model.transduction_) > 0.99
    rows = model.ask(2)
    again = model.with_labels(
        np.where(np.isin(np.arange(300), rows), truth, model.labels_.given())
    )
    assert len(again.labeled_) == 6


def test_a_saved_model_predicts_the_same(
    model: UnifiedKernelMachine, X: FloatArray, tmp_path: Path
) -> None:
    persist.save(model, tmp_path / "model.skops")
    loaded = persist.load(tmp_path / "model.skops")
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.tell([7], [0]).labeled_, [0, 1, 7, 150, 151])


@pytest.mark.parametrize("exponent", [-1000, -130, -64, 64, 1000])
def test_the_scale_of_the_points_does_not_matter(
    X: FloatArray, pool: AnchorPool, exponent: int
) -> None:
    far = AnchorPool(12, n_nearest=(2, 4), random_state=0).fit(np.ldexp(X, exponent))
    np.testing.assert_allclose(far.anchors_, np.ldexp(pool.anchors_, exponent))
    np.testing.assert_allclose(
        np.asarray(far.vectors_), np.asarray(pool.vectors_), atol=1e-5
    )
    new = X[:5] + 0.1
    np.testing.assert_allclose(
        far.extend(np.ldexp(new, exponent)), pool.extend(new), atol=1e-5
    )


@pytest.mark.parametrize("exponent", [-130, -64, 64, 120])
def test_single_precision_points_of_any_scale_are_finite(
    X: FloatArray, exponent: int
) -> None:
    far = AnchorPool(12, random_state=0).fit(np.ldexp(X.astype(np.float32), exponent))
    assert np.isfinite(np.asarray(far.vectors_)).all()


@pytest.mark.parametrize("has_structure", [True, False])
def test_points_without_structure_have_fewer_anchors(
    monkeypatch: pytest.MonkeyPatch, has_structure: bool
) -> None:
    rng = np.random.default_rng(0)
    n, d = 9000, 300
    X = rng.standard_normal((n, d)).astype(np.float32)
    if has_structure:
        X = X[:, :2] @ rng.standard_normal((2, d)).astype(np.float32)  # a plane
    monkeypatch.setattr(anchor_number, "FEWEST", 100)
    settings = {"n_nearest": 4, "rng": rng}
    budget = (n + 25 * 600) * 600 * d
    m, why = number_of_anchors(X, n, 2500, most_products=budget, **settings)
    if has_structure:
        assert (m, why) == (2500, "")
    else:
        assert m == pytest.approx(600, abs=1)
        assert "not 2,500" in why
        budget = (n + 25 * 2500) * 2500 * d
        assert (
            number_of_anchors(X, n, 2500, most_products=budget, **settings)[0] == 2500
        )
        assert number_of_anchors(X, n, 2500, most_products=1, **settings)[0] == 100


def test_the_certificate_says_that_there_are_fewer_anchors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).standard_normal((3000, 30))
    monkeypatch.setattr(anchor_number, "FEWEST", 100)
    monkeypatch.setattr(anchor_pool, "MOST_PRODUCTS", 1.0)
    pool = AnchorPool(5, n_anchors=800, random_state=0).fit(X)
    assert len(pool.anchors_) == 100
    assert "not 800, since every point" in pool.certificate_.reason


def test_new_rows_in_another_order_have_the_same_values(
    pool: AnchorPool, X: FloatArray
) -> None:
    rng = np.random.default_rng(5)
    rows = np.vstack([X[:40], rng.standard_normal((40, X.shape[1]))])
    order = rng.permutation(len(rows))
    found = pool.transform(rows)
    rounding = (
        16 * np.finfo(np.float32).eps * np.abs(found).max()
    )  # of sums of products
    again = pool.transform(rows[order])
    np.testing.assert_allclose(again, found[order], rtol=0, atol=rounding)


def test_the_order_of_many_rows_changes_no_more_than_single_precision_does() -> None:
    """The Gaussian kernel has weights of 45 here, which made 1.7e-6 of it."""
    rng = np.random.default_rng(0)
    pool = AnchorPool(random_state=0).fit(rng.standard_normal((3000, 5)))
    rows, order = rng.standard_normal((3000, 5)), rng.permutation(3000)
    found = pool.transform(rows)
    apart = np.abs(pool.transform(rows[order]) - found[order]).max()
    assert apart <= 8 * np.finfo(np.float32).eps * np.abs(found).max()
