"""Columns in mixed units."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA

from mercer import UnifiedKernelMachine
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.device import TorchPool
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.pools.units import are_unrelated, column_scales, evenness
from mercer.fewlabels.rule import DEFAULT


def two_groups(seed=0, n=160):
    """Return two groups that differ in small columns beside one of large numbers."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], n // 2)
    X = rng.standard_normal((n, 5))
    X[:, :3] += 3.0 * truth[:, None]
    X[:, 4] *= 1e4
    return X, truth


def test_evenness_counts_effective_columns() -> None:
    assert evenness(np.array([2.0, 2.0, 0.0])) == pytest.approx(0.5)  # two of three
    assert evenness(np.array([3.0])) == 1.0
    assert evenness(np.zeros(3)) == 1.0


def test_columns_are_scaled_where_few_hold_the_variance_and_only_there() -> None:
    X, _ = two_groups()
    scales = column_scales(X, below=DEFAULT.even_columns)
    np.testing.assert_allclose(scales, X.std(axis=0))
    assert column_scales(X / scales, below=DEFAULT.even_columns) is None
    assert column_scales(sparse.csr_array(X), below=DEFAULT.even_columns) is None
    constant = np.c_[X, np.full(len(X), 7.0)]
    np.testing.assert_allclose(column_scales(constant, below=0.4)[-1], 1.0)


@pytest.mark.parametrize("exponent", [-1000, -400, 400, 1000])
def test_scales_follow_points_of_any_size(exponent: int) -> None:
    X, _ = two_groups()
    scales = column_scales(X, below=0.4)
    far = column_scales(np.ldexp(X, exponent), below=0.4)
    np.testing.assert_allclose(np.ldexp(far, -exponent), scales)


def test_one_column_of_another_size_leaves_the_scales_of_the_others() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 6))
    X *= [1, 2, 3, 4, 5, 100]
    usual = column_scales(X, below=0.4)
    X[3, 2] = np.finfo(float).max
    scales = column_scales(X, below=0.4)
    assert np.isfinite(scales).all()
    np.testing.assert_allclose(np.delete(scales, 2), np.delete(usual, 2))


def test_the_threshold_lies_between_images_and_mixed_units() -> None:
    """MNIST's 50 principal components have 0.43 and must stay; thyroid tests 0.37."""
    assert 0.37 < DEFAULT.even_columns < 0.43


@pytest.mark.parametrize(
    ("most", "pool"), [(160, "neighbour graphs"), (159, "anchor graphs")]
)
def test_units_change_nothing(
    monkeypatch: pytest.MonkeyPatch, most: int, pool: str
) -> None:
    monkeypatch.setattr("mercer.fewlabels.pools.choice.NEIGHBORS_UP_TO", most)
    X, truth = two_groups()
    y = np.full(len(X), -1)
    y[[0, 1, 80, 81]] = truth[[0, 1, 80, 81]]
    raw = UnifiedKernelMachine(random_state=0).fit(X, y)
    scaled = UnifiedKernelMachine(random_state=0).fit(X / X.std(axis=0), y)
    assert raw.basis_.certificate_.reason.startswith(pool)
    assert raw.basis_.certificate_.reason.endswith("columns scaled to unit variance")
    assert scaled.basis_.certificate_.reason.endswith("columns as given")
    np.testing.assert_allclose(raw.training_proba(), scaled.training_proba(), atol=1e-4)
    np.testing.assert_allclose(
        raw.predict_proba(X + 0.01 * X.std(axis=0)),
        scaled.predict_proba(X / X.std(axis=0) + 0.01),
        atol=1e-4,
    )
    assert np.mean(raw.transduction_ == truth) > 0.95


@pytest.mark.parametrize("kind", [KernelPool, AnchorPool])
def test_scaling_can_be_refused_and_forced(kind: Any) -> None:
    X, _ = two_groups()
    assert kind(scaling="never").fit(X).scales_ is None
    even = X / X.std(axis=0)
    np.testing.assert_allclose(kind(scaling="always").fit(even).scales_, 1.0)
    with pytest.raises(ValueError, match="scaling must be one of"):
        kind(scaling="sometimes").fit(X)


@pytest.mark.parametrize(("kind", "atol"), [(KernelPool, 1e-8), (AnchorPool, 1e-5)])
def test_new_points_are_scaled_as_the_others(kind: Any, atol: float) -> None:
    X, _ = two_groups()
    pool = kind(random_state=0).fit(X)
    assert pool.scales_ is not None
    np.testing.assert_allclose(pool.extend(X[:5]), pool.vectors_[:5], atol=atol)


@pytest.mark.parametrize(("most", "step"), [(160, 1), (159, 2), (40, 4)])
def test_scales_of_many_points_are_those_of_evenly_spaced_rows(
    monkeypatch: pytest.MonkeyPatch, most: int, step: int
) -> None:
    monkeypatch.setattr("mercer.fewlabels.pools.base.SCALED_BY", most)
    X, _ = two_groups()
    found = AnchorPool(random_state=0).fit(X).scales_
    np.testing.assert_allclose(found, X[::step].std(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_anchors_are_in_the_units_of_the_points(dtype: Any) -> None:
    X = two_groups()[0].astype(dtype)
    anchors = AnchorPool(random_state=0).fit(X).anchors_
    share = np.ptp(anchors, axis=0) / np.ptp(X, axis=0)
    assert ((share > 0.3) & (share < 1.001)).all()


def test_principal_components_are_left_as_they_are() -> None:
    """Also of rows that were not there when the directions were found."""
    pixels, _ = load_digits(return_X_y=True)
    turned = PCA(50, random_state=0).fit(pixels[::2])
    for rows in (pixels[::2], pixels[1::2]):
        components = turned.transform(rows)
        assert evenness(components.var(axis=0)) < DEFAULT.even_columns
        assert column_scales(components, below=DEFAULT.even_columns) is None
        assert KernelPool(3, n_neighbors=(3,)).fit(components[::9]).scales_ is None
        assert column_scales(components, below=np.inf) is not None  # if asked for
        assert not are_unrelated(rows)
    assert not are_unrelated(components[:, ::-1])  # variance rises
    assert not are_unrelated(components + 5 * components.std(axis=0))  # not centred


def test_columns_of_small_noise_do_not_hide_a_sheet() -> None:
    rng = np.random.default_rng(0)
    t = rng.uniform(1.5 * np.pi, 4.5 * np.pi, 900)
    X = 0.05 * rng.standard_normal((900, 20))
    X[:, 7] += t * np.cos(t)
    X[:, 11] += t * np.sin(t)
    X[:, 3] += rng.uniform(0, 10, 900)
    truth = (t > 3 * np.pi).astype(int)
    assert evenness(X.var(axis=0)) < DEFAULT.even_columns
    y = np.where(np.arange(900) < 40, truth, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    assert model.basis_.scales_ is None
    assert np.mean(model.transduction_ == truth) > 0.9
    assert not are_unrelated(X[:, [3, 7, 11, 12]])  # too few columns to tell


@pytest.mark.filterwarnings("error")
def test_columns_of_any_size_are_compared() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    sizes = np.array([1e90, 1.0, 1e-90, 1e-170, 1e30, 1.0])
    assert are_unrelated(X * sizes)
    assert not are_unrelated(np.cumsum(X, axis=1) * sizes)
    assert are_unrelated(np.c_[X, np.full(200, 0.1)])  # one more that does not vary
    assert not are_unrelated(np.ones((200, 6)))


@pytest.mark.parametrize("constant", [1e-30, 1e150])
def test_a_column_that_does_not_vary_is_of_no_account(constant: float) -> None:
    X, _ = two_groups()
    alone = AnchorPool(random_state=0).fit(X)
    beside = AnchorPool(random_state=0).fit(np.c_[X, np.full(len(X), constant)])
    np.testing.assert_allclose(beside.values_, alone.values_, rtol=1e-3, atol=1e-5)
    assert column_scales(np.full((9, 3), constant), below=0.4) is None


def test_measurements_in_mixed_units_are_no_principal_components() -> None:
    for load in (load_wine, load_breast_cancer):
        X, _ = load(return_X_y=True)
        assert not are_unrelated(X)
        assert not are_unrelated(X - X.mean(axis=0))
        falling = np.argsort(-X.var(axis=0))
        assert not are_unrelated((X - X.mean(axis=0))[:, falling])  # correlated


def shares(parts, seed=0):
    """Return rows that sum to 1, most parts of them nearly 0."""
    return np.random.default_rng(seed).dirichlet(np.full(parts, 0.1), size=60)


@pytest.mark.parametrize(("parts", "as_roots"), [(19, False), (20, True), (200, True)])
def test_many_shares_of_a_whole_become_square_roots(parts, as_roots) -> None:
    X = 100 * shares(parts)
    pool = KernelPool(random_state=0).fit(X)
    assert pool.as_roots_ == as_roots
    said = "columns are shares of a whole: their square roots"
    assert (said in pool.certificate_.reason) == as_roots
    if as_roots:
        plain = KernelPool(scaling="never", random_state=0).fit(np.sqrt(X))
        np.testing.assert_allclose(pool.vectors_, plain.vectors_)
        new = 100 * shares(parts, seed=1)
        np.testing.assert_allclose(pool.extend(new), plain.extend(np.sqrt(new)))
        anchors = AnchorPool(n_anchors=20, random_state=0).fit(X)
        other = AnchorPool(n_anchors=20, scaling="never", random_state=0).fit(
            np.sqrt(X)
        )
        np.testing.assert_allclose(anchors.extend(new), other.extend(np.sqrt(new)))
        np.testing.assert_allclose(anchors.anchors_, other.anchors_**2)


@pytest.mark.parametrize(("wanted", "as_roots"), [(0.015, True), (0.025, False)])
def test_sums_of_shares_vary_a_little_and_those_of_others_much(
    wanted, as_roots
) -> None:
    X = shares(30)
    apart = X.var(axis=0).sum()
    X *= 1 + np.sqrt(wanted * apart) * np.resize([1.0, -1.0], 60)[:, None]
    assert X.sum(axis=1).var() / X.var(axis=0).sum() == pytest.approx(wanted, rel=0.1)
    assert KernelPool(random_state=0).fit(X).as_roots_ == as_roots
    assert KernelPool(random_state=0).fit(np.rint(100 * shares(30))).as_roots_
    unrelated = np.random.default_rng(0).random((60, 30))
    assert not KernelPool(random_state=0).fit(unrelated).as_roots_


def test_columns_of_zero_and_one_are_left_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((80, 12)) < 0.5).astype(float)
    X[:, 1:] = np.arange(80)[:, None] % 40 == 0  # rare, and together
    assert column_scales(X, below=0.4) is not None  # one has most of the variance
    assert KernelPool(random_state=0).fit(X).scales_ is None
    X[0, 0] = 2.0
    assert KernelPool(random_state=0).fit(X).scales_ is not None


def test_units_of_tensors_are_those_of_arrays() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra 'gpu'")
    X = shares(30)
    pool = TorchPool(random_state=0).fit(torch.as_tensor(X))
    plain = TorchPool(scaling="never", random_state=0).fit(torch.as_tensor(np.sqrt(X)))
    assert pool.as_roots_
    np.testing.assert_allclose(pool.extend(X), plain.extend(np.sqrt(X)), atol=1e-9)
