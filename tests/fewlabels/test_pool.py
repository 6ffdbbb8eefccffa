"""Several bases side by side: one array, and the extension of each."""

import numpy as np
import pytest

from mercer.eigen import chebyshev, search
from mercer.eigen import smallest as eigen
from mercer.fewlabels.pools import base as pool_base
from mercer.fewlabels.pools import neighbors as pool_module
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.graphs.neighbors import graph_from_neighbors, self_tuning_edges
from mercer.model.estimator import UnifiedKernelMachine
from mercer.neighbors.index import NeighborIndex
from mercer.persist import load, save
from mercer.spectrum.directions import extend_vectors
from mercer.spectrum.gram import GramBasis


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture(scope="module")
def basis(points) -> KernelPool:
    return KernelPool(8, n_neighbors=(3, 6), random_state=0).fit(points)


def test_graph_columns_extend_as_they_would_before_their_mean_was_taken_off(
    basis,
) -> None:
    new = np.random.default_rng(1).normal(size=(20, 3))
    new[0] = 1e6  # too far for any weight
    extended = basis.extend(new)
    found, distances = basis.index_.query(new, basis._width)
    graphs = [
        (block, part)
        for block, part in zip(basis.blocks_, basis._parts, strict=True)
        if block.kind == "laplacian"
    ]
    assert len(graphs) == 2
    for block, scales in graphs:
        mean = basis._mean[block.columns]
        assert np.abs(mean).max() > 1e-3  # or there would be nothing to test
        k = block.n_neighbors
        near = found[:, :k].astype(np.intp)
        rows = self_tuning_edges(near, distances[:, :k], k, scales)
        whole = extend_vectors(
            rows,
            basis.vectors_[:, block.columns] + mean,
            block.values,
            None,
            "random_walk",
        )
        np.testing.assert_allclose(extended[:, block.columns], whole - mean, atol=1e-12)


def test_kernel_columns_are_those_of_the_kernel(basis, points) -> None:
    new = np.random.default_rng(1).normal(size=(20, 3))
    (block,) = [b for b in basis.blocks_ if b.name == "linear"]
    plain = GramBasis(8, kernel="linear", centered=True).fit(points)
    unit = np.sqrt(len(points))  # columns have unit variance
    np.testing.assert_allclose(
        np.abs(basis.vectors_[:, block.columns]),
        unit * np.abs(plain.vectors_),
        atol=1e-10,
    )
    np.testing.assert_allclose(
        np.abs(basis.extend(new)[:, block.columns]),
        unit * np.abs(plain.extend(new)),
        atol=1e-10,
    )


def test_columns_are_centred_and_covariances_are_theirs(basis) -> None:
    U = basis.vectors_
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-14)
    for block in basis.blocks_:
        np.testing.assert_allclose(
            block.covariance,
            np.cov(U[:, block.columns], rowvar=False, bias=True).reshape(
                block.covariance.shape
            ),
            atol=1e-14,
        )


def test_crowded_eigenvalues_are_said_and_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(150) % 2
    X = rng.standard_normal((150, 3)) + 4.0 * labels[:, None]
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 10)
    monkeypatch.setattr(eigen, "SMALL_COMPONENT", 0)
    monkeypatch.setattr(search, "_how_many_are_sure", lambda *args: (4, "they crowd"))
    pool = KernelPool(20, random_state=0).fit(X)
    assert pool.certificate_.note.count("they crowd") == 2
    assert "graph 20: 4 of 19 directions are certain" in pool.certificate_.note
    assert all(len(block.values) == 20 for block in pool.blocks_[:2])
    y = np.where(np.arange(150) < 10, labels, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == labels) > 0.9


@pytest.mark.parametrize("per_edge", [1000, 2e4])
def test_groups_that_are_all_but_separate_take_no_more_work_than_allowed(
    per_edge: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of eight points ten times as close to each other as to others."""
    assert pool_base.WORK_PER_EDGE == 2e4
    monkeypatch.setattr(pool_base, "WORK_PER_EDGE", per_edge)
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    spent = 0.0
    recur = chebyshev.recur

    def counted(indptr, indices, data, X, *rest):
        nonlocal spent
        spent += len(indices) * X.shape[1]
        recur(indptr, indices, data, X, *rest)

    monkeypatch.setattr(chebyshev, "recur", counted)
    rng = np.random.default_rng(0)
    groups = np.repeat(rng.standard_normal((150, 10)), 8, axis=0)
    X = groups + 0.1 * rng.standard_normal(groups.shape)
    pool = KernelPool(20, n_neighbors=(8,), random_state=0).fit(X)
    n_edges = graph_from_neighbors(pool.index_.neighbors_and_ties(8), 8).adjacency.nnz
    assert spent < 1.5 * per_edge * n_edges
    assert len(pool.blocks_[0].values) == 20
    note = pool.certificate_.note
    assert ("with the work allowed, residuals are up to" in note) == (per_edge == 1000)


def test_the_graphs_weigh_new_points_as_a_graph_would(basis, points) -> None:
    near = NeighborIndex.fit(points, rng=np.random.default_rng(0)).neighbors(5)
    graph = graph_from_neighbors(near, 5, weights="self_tuning")
    indices, distances = near.indices[:3].astype(np.intp), near.distances[:3] + 0.1
    np.testing.assert_array_equal(
        self_tuning_edges(indices, distances, 5, graph.scales).toarray(),
        graph.weigh(indices, distances, 5).toarray(),
    )


def test_many_points_have_columns_in_single_precision(
    points, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = KernelPool(8, n_neighbors=(3, 8), random_state=0).fit(points)
    monkeypatch.setattr(pool_module, "SINGLE_ABOVE", len(points) - 1)
    single = KernelPool(8, n_neighbors=(3, 8), random_state=0).fit(points)
    assert (double.vectors_.dtype, single.vectors_.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single.vectors_, double.vectors_, atol=1e-6)
    for one, other in zip(single.blocks_, double.blocks_, strict=True):
        np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-6)


@pytest.mark.parametrize("shape", [(400, 3), (30, 60)])
def test_the_linear_kernel_has_the_directions_of_its_gram_matrix(shape) -> None:
    """Of tall points and of wide ones, down to directions of small variance."""
    X = np.random.default_rng(0).normal(size=shape) * np.geomspace(1, 1e-3, shape[1])
    pool = KernelPool(8, n_neighbors=(3, 8), random_state=0).fit(X)
    exact = GramBasis(8, kernel="linear", centered=True).fit(X)
    (block,) = [b for b in pool.blocks_ if b.name == "linear"]
    np.testing.assert_allclose(block.values, exact.values_, rtol=1e-9)
    U, V = pool.vectors_[:, block.columns], np.sqrt(len(X)) * exact.vectors_
    np.testing.assert_allclose(np.abs(U.T @ V) / len(X), np.eye(len(V.T)), atol=1e-6)
    assert pool.certificate_.residual < 1e-9 * exact.values_[0]


def test_the_linear_kernel_of_many_points_comes_from_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3)) * [3.0, 2.0, 1.0]
    whole = KernelPool(8, n_neighbors=(3, 8), random_state=0).fit(X)
    monkeypatch.setattr(pool_base, "SAMPLED_ABOVE", 499)
    sampled = KernelPool(8, n_neighbors=(3, 8), random_state=0).fit(X)
    assert "principal directions" in whole.certificate_.method
    assert "sample" in sampled.certificate_.method
    for one, other in zip(whole.blocks_, sampled.blocks_, strict=True):
        if one.kind == "kernel":
            r = len(other.values)
            np.testing.assert_allclose(other.values, one.values[:r], rtol=0.03)
            U, V = whole.vectors_[:, one.columns], sampled.vectors_[:, other.columns]
            cosine = np.abs(U[:, 0] @ V[:, 0])
            cosine /= np.linalg.norm(U[:, 0]) * np.linalg.norm(V[:, 0])
            assert cosine > 0.99
    new = X[:5] + 0.01
    np.testing.assert_allclose(sampled.extend(X)[:5], sampled.vectors_[:5], atol=1e-6)
    assert np.isfinite(sampled.extend(new)).all()


@pytest.mark.parametrize("times", [2, 9, 40])
def test_equal_rows_are_one_point_of_the_pool_in_any_order(times, tmp_path) -> None:
    rng = np.random.default_rng(0)
    own = rng.integers(0, 4, size=(12, 3)).astype(float)
    own = np.unique(own, axis=0)
    X = np.repeat(own, times, axis=0)
    order = rng.permutation(len(X))
    pool = KernelPool(random_state=0).fit(X)
    V = pool.vectors_.reshape(len(own), times, -1)
    np.testing.assert_array_equal(V, np.broadcast_to(V[:, :1], V.shape))
    np.testing.assert_allclose(pool.extend(own), V[:, 0], atol=1e-6)
    mixed = KernelPool(random_state=0).fit(X[order])
    for block in pool.blocks_:  # up to rotations of directions of equal value
        U, W = pool.vectors_[order][:, block.columns], mixed.vectors_[:, block.columns]
        np.testing.assert_allclose(U @ U.T, W @ W.T, atol=1e-5)
    np.testing.assert_array_equal(pool.columns().rows(np.arange(len(X))), X)
    save(pool, tmp_path / "pool.skops")
    np.testing.assert_array_equal(load(tmp_path / "pool.skops").vectors_, pool.vectors_)


def test_density_counts_how_many_rows_are_equal() -> None:
    X = np.r_[np.repeat([[0.0]], 11, axis=0), np.repeat([[1.0]], 8, axis=0), [[3.0]]]
    pool = KernelPool(random_state=0).fit(X)
    # Of the first, ten others are at distance 0, which stands for the smallest between
    # points; the tenth other of the second is at 1, of the last (8 at 2) at 3.
    wanted = -np.log(np.r_[np.full(11, 1.0), np.full(8, 1.0), 3.0])
    np.testing.assert_allclose(pool.log_density(), wanted, atol=1e-6)
    np.testing.assert_allclose(pool.log_density([[0.0], [4.0]]), -np.log([1.0, 4.0]))


def test_the_widest_graph_has_all_neighbours_that_are_equally_near() -> None:
    """On a lattice many are as near as the last one, which the order of rows cut."""
    side = np.arange(9.0)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    order = np.random.default_rng(0).permutation(len(X))
    one, two = (KernelPool(random_state=0).fit(rows) for rows in (X, X[order]))
    for a, b in zip(one.blocks_, two.blocks_, strict=True):
        np.testing.assert_allclose(a.values, b.values, atol=1e-9 * a.values.max())


def test_equal_rows_get_equal_answers_whatever_their_number_and_order() -> None:
    for times in (8, 9, 30):
        X = np.repeat(np.arange(8.0), times)[:, None]
        y = np.full(len(X), -1)
        y[[0, 1, 4 * times]], y[-2:] = 0, 1
        P = UnifiedKernelMachine(random_state=0).fit(X, y).training_proba()
        np.testing.assert_array_equal(P, np.repeat(P[::times], times, axis=0))
        order = np.random.default_rng(0).permutation(len(X))
        mixed = UnifiedKernelMachine(random_state=0).fit(X[order], y[order])
        np.testing.assert_allclose(mixed.training_proba(), P[order], atol=1e-9)
