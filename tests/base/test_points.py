"""Points that cannot be used are refused in the same words by every estimator."""

import inspect
import tracemalloc
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs

from mercer import UnifiedKernelMachine
from mercer._base.ranges import far_origin
from mercer.fewlabels import AnchorPool, AutoKernel, LeaveOneOutRLS
from mercer.graphs import nearest_neighbors
from mercer.kernels import RBF
from mercer.learners import FilterKernel, InfluenceKernel
from mercer.machines import AnnealedKernelMachine, RLSClassifier
from mercer.spectrum import AnchorBasis, GramBasis, GraphBasis

PACKAGES = ("mercer", "mercer.fewlabels", "mercer.learners", "mercer.machines")
# Made by learn, a protocol, and base classes.
NOT_ESTIMATORS = {
    "Session",
    "Basis",
    "BasisMixin",
    "KernelMachine",
    "SpectralLearner",
}


def estimators() -> list[type]:
    found = {}
    for package in (*PACKAGES, "mercer.spectrum"):
        module = import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and hasattr(thing, "fit"):
                found[name] = thing
    return [found[name] for name in sorted(found) if name not in NOT_ESTIMATORS]


def table(n: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((n, 2)), columns=["size", "colour"])


def labels(n: int = 12):
    return np.arange(n) % 2


def test_the_estimators_are_found() -> None:
    assert len(estimators()) >= 25


@pytest.mark.parametrize("made", estimators())
def test_text_is_named_by_its_column(made: type) -> None:
    X = table().astype(object)
    X.loc[3, "colour"] = "red"
    if made.__name__ == "PairClassifier":  # points come in pairs
        with pytest.raises(ValueError, match="column 1 of X holds 'red'"):
            made().fit(X.to_numpy().reshape(6, 2, 2), labels(6))
        return
    with pytest.raises(ValueError, match="column 'colour' of X holds 'red'; give"):
        made().fit(X, labels())
    with pytest.raises(ValueError, match="column 1 of X holds 'red'"):
        made().fit(X.to_numpy().astype(str), labels())


def with_column(kind: str) -> pd.DataFrame:
    X = table()
    if kind == "dates":
        return X.assign(when=pd.date_range("2020-01-01", periods=len(X)))
    if kind == "durations":
        return X.assign(when=pd.to_timedelta(np.arange(len(X)), unit="D"))
    if kind == "categories":
        return X.assign(when=pd.Categorical(["may", "june"] * 6))
    if kind == "a missing number":
        return X.assign(when=pd.array([1, None] * 6, dtype="Int64"))
    return X.assign(when=np.where(labels() == 0, 0.0, float(kind)))


BAD = [
    ("dates", "dates; give numbers"),
    ("durations", "durations; give numbers"),
    ("categories", "'may'; give numbers"),
    ("a missing number", "NaN; fill"),
    ("nan", "NaN; fill"),
    ("inf", "infinity; give finite numbers"),
]


@pytest.mark.parametrize(("kind", "said"), BAD)
@pytest.mark.parametrize("made", [UnifiedKernelMachine, GraphBasis, RLSClassifier])
def test_what_is_no_number_is_named_by_its_column(made, kind: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"column 'when' of X holds {said}"):
        made().fit(with_column(kind), labels())


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (lambda X: X.assign(kind="a"), "unseen at fit time:\n- kind"),
        (lambda X: X.assign(kind=np.nan), "unseen at fit time:\n- kind"),
        (lambda X: X.assign(size=np.nan), "column 'size' of X holds NaN"),
    ],
)
def test_a_column_too_many_is_not_told_to_hold_text(used, said: str) -> None:
    model = RLSClassifier().fit(table(), labels())
    with pytest.raises(ValueError, match=said):
        model.predict(used(table()))


def test_a_column_too_many_of_an_array_is_not_told_to_hold_nan() -> None:
    X = table().to_numpy()
    model = RLSClassifier().fit(X, labels())
    with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 2"):
        model.predict(np.c_[X, np.full(12, np.nan)])


def test_a_missing_number_in_a_table_of_pyarrow_is_named_by_its_column() -> None:
    pa = pytest.importorskip("pyarrow")
    X = pa.table({"size": np.arange(12.0), "colour": [None, *range(11)]})
    with pytest.raises(ValueError, match="column 'colour' of X holds NaN"):
        RLSClassifier().fit(X, labels())


def test_cells_that_hold_arrays_keep_the_error_of_scikit_learn() -> None:
    X = table().assign(both=pd.Series([np.zeros(2)] * 12))
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        RLSClassifier().fit(X, labels())


@pytest.mark.skipif(np.__version__ < "2", reason="no such strings in NumPy 1")
def test_text_of_numpy_2_is_named_by_its_column() -> None:
    X = np.array([["1", "red"]] * 12, dtype=np.dtypes.StringDType())
    with pytest.raises(ValueError, match="column 1 of X holds 'red'"):
        RLSClassifier().fit(X, labels())


@pytest.mark.parametrize("made", estimators())
def test_what_a_mask_hides_is_missing(made: type) -> None:
    X = np.ma.array(table().to_numpy(), mask=np.eye(12, 2, -1))
    shape = (6, 2, 2) if made.__name__ == "PairClassifier" else (12, 2)
    with pytest.raises(ValueError, match="column 0 of X holds NaN; fill"):
        made().fit(X.reshape(shape), labels(shape[0]))


def test_what_a_mask_hides_of_small_integers_is_missing() -> None:
    X = np.ma.array(np.eye(12, 2, dtype=np.uint8), mask=np.eye(12, 2, -1))
    with pytest.raises(ValueError, match="column 0 of X holds NaN; fill"):
        nearest_neighbors(X, 2, rng=np.random.default_rng(0))


def test_a_list_with_infinity_is_named_by_its_column() -> None:
    with pytest.raises(ValueError, match="column 1 of X holds infinity"):
        RBF()([[1.0, 2.0], [3.0, np.inf]])


@pytest.mark.parametrize(
    "used",
    [
        RBF(),
        RBF().diag,
        lambda X: nearest_neighbors(X, 2, rng=np.random.default_rng(0)),
    ],
)
def test_text_is_named_by_functions_of_points(used) -> None:
    X = table().astype(object)
    X.loc[3, "colour"] = "red"
    with pytest.raises(ValueError, match="column 'colour' of X holds 'red'"):
        used(X)


SCALES = (2.0**-1000, 2.0**-30, 2.0**1000)
AS_SPARSE = [np.asarray, csr_array]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("as_given", AS_SPARSE)
def test_a_power_of_two_changes_no_decision(scale: float, as_given) -> None:
    X, y = make_blobs(60, n_features=3, centers=3, cluster_std=4.0, random_state=0)
    y[9:] = -1
    one = UnifiedKernelMachine(random_state=0).fit(as_given(X), y)
    other = UnifiedKernelMachine(random_state=0).fit(as_given(scale * X), y)
    new = X + 0.1
    expected = one.predict_proba(as_given(new))
    assert np.ptp(expected, axis=0).min() > 0.1
    # The logarithm of the density is kept in single precision.
    found = other.predict_proba(as_given(scale * new))
    assert np.allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_a_power_of_two_changes_no_direction_of_anchors(scale: float) -> None:
    X, _ = make_blobs(60, n_features=3, centers=3, cluster_std=4.0, random_state=0)
    one = AnchorBasis(5, random_state=0).fit(X)
    other = AnchorBasis(5, random_state=0).fit(scale * X)
    assert np.array_equal(other.vectors_, one.vectors_)
    assert np.array_equal(other.anchors_, scale * one.anchors_)
    assert np.array_equal(other.extend(scale * X[:7]), one.extend(X[:7]))


def test_points_too_close_to_square_are_told_what_to_do() -> None:
    X = 1e-200 * np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="multiply X by a large number"):
        GramBasis(kernel="linear").fit(X)


@pytest.mark.parametrize("offset", [2.0**20, 2.0**30, [2.0**30, 0.0, 0.0]])
@pytest.mark.parametrize(
    "model",
    [
        UnifiedKernelMachine(random_state=0),
        LeaveOneOutRLS(AutoKernel(AnchorPool(random_state=0))),
        RLSClassifier(FilterKernel(basis=AnchorBasis(random_state=0))),
        RLSClassifier(),
        AnnealedKernelMachine(),
    ],
    ids=repr,
)
def test_points_far_from_zero_are_told_apart_as_well(model, offset) -> None:
    X, y = make_blobs(60, n_features=3, centers=3, cluster_std=4.0, random_state=0)
    X = np.round(64 * X) / 64  # the sum with the offset is exact
    y[15:] = -1
    expected = clone(model).fit(X, y).predict_proba(X)
    found = clone(model).fit(X + offset, y).predict_proba(X + offset)
    assert np.allclose(found, expected, rtol=0, atol=1e-6)


def test_the_gaussian_kernel_far_from_zero_against_differences() -> None:
    X, _ = make_blobs(20, n_features=3, random_state=0)
    Z = X[:5] + 0.25
    for offset in (0.0, 1e6, 1e9):
        A, B = X + offset, Z + offset
        wanted = np.exp(-0.1 * ((A[:, None] - B[None]) ** 2).sum(axis=2))
        assert np.allclose(RBF(0.1)(A, B), wanted, rtol=0, atol=1e-7)
        assert np.allclose(RBF(0.1)(A, B[:1]), wanted[:, :1], rtol=0, atol=1e-7)


def test_influence_far_from_zero() -> None:
    X, _ = make_blobs(30, n_features=3, random_state=0)
    X = np.round(64 * X) / 64
    near, far = (InfluenceKernel(["rbf"]).fit(X + at) for at in (0.0, 2.0**30))
    assert np.allclose(far.influence_, near.influence_)


def test_where_many_points_lie_is_told_by_few() -> None:
    X = np.full((400_000, 2), 1e6, dtype=np.float32)
    X[::2] += 1
    tracemalloc.start()
    try:
        origin = far_origin(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert origin is not None
    assert np.allclose(origin, 1e6, rtol=0, atol=1)
    assert peak < X.nbytes / 2
