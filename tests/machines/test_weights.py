"""Weights and label distributions: as if rows were repeated."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from mercer.evidence.labels import Labels
from mercer.kernels.parametric import RBF
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.laplacian import LapRLS, LapRLSCV, LapSVM
from mercer.machines.rls import RLSClassifier
from mercer.machines.simple_mkl import SimpleMKL
from mercer.machines.svm import KernelSVC
from mercer.spectrum.features import DenseFeatures

RBF1 = RBF(gamma=1.0)
MACHINES = [
    RLSClassifier(RBF1, C=3.0),
    KernelLogisticRegression(RBF1, C=3.0),
    KernelLogisticRegression(RBF1, C=3.0, multi_class="ovr"),
    KernelSVC(RBF1, C=3.0, tol=1e-10),
    SimpleMKL([RBF1, RBF(gamma=0.1)], C=3.0, tol=2e-5),
]
each_machine = pytest.mark.parametrize("machine", MACHINES, ids=repr)
each_number = pytest.mark.parametrize("n_classes", [2, 3])


def points(n_classes: int, n: int = 24):
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 2)) + 1.2 * np.eye(3)[:, :2][y]
    return X, y, rng


def scores(machine, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unreached points
        return machine.decision_function(X)


@each_machine
@each_number
def test_weights_are_repeated_rows(machine, n_classes: int) -> None:
    X, y, rng = points(n_classes)
    times = rng.integers(0, 4, len(y))
    times[:n_classes] = 1
    again = np.repeat(np.arange(len(y)), times)
    weighted = clone(machine).fit(X, y, sample_weight=times)
    repeated = clone(machine).fit(X[again], y[again])
    new = rng.normal(size=(10, 2))
    tol = 5e-3 if isinstance(machine, SimpleMKL) else 1e-5
    np.testing.assert_allclose(scores(weighted, new), scores(repeated, new), atol=tol)
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)
    plain = scores(clone(machine).fit(X, y), new)
    assert np.abs(plain - scores(weighted, new)).max() > 0.05


@each_machine
@each_number
def test_a_distribution_is_rows_of_every_class(machine, n_classes: int) -> None:
    X, y, rng = points(n_classes)
    counts = (
        rng.integers(0, 3, (len(y), n_classes)) + 2 * np.eye(n_classes, dtype=int)[y]
    )
    total = counts.sum(axis=1)
    place = np.repeat(np.arange(len(y)), total)
    given = np.concatenate([np.repeat(np.arange(n_classes), row) for row in counts])
    soft = clone(machine).fit(X, counts / total[:, None], sample_weight=total)
    repeated = clone(machine).fit(X[place], given)
    new = rng.normal(size=(10, 2))
    tol = 5e-3 if isinstance(machine, SimpleMKL) else 1e-5
    np.testing.assert_allclose(scores(soft, new), scores(repeated, new), atol=tol)


@each_number
@pytest.mark.parametrize(
    "machine", [LapRLS(), LapSVM(), LapRLSCV(gammas_A=(0.01, 1), gammas_I=(0.01, 1))],
    ids=repr,
)  # fmt: skip
def test_with_a_graph_the_labels_are_repeated_and_the_points_are_not(
    machine, n_classes: int
) -> None:
    """The deformed kernel is that of the points; the loss on it has repeated rows."""
    X, y, rng = points(n_classes)
    y[12:] = -1
    times = rng.integers(1, 4, len(y))
    weighted = clone(machine).fit(X, y, sample_weight=times)
    again = np.repeat(np.arange(12), times[:12])
    kernel, Phi = weighted.kernel_, weighted.kernel_.features()
    supervised = (
        RLSClassifier(C=1 / (weighted._ambient * len(again)))
        if hasattr(weighted.certificate_, "loo_residuals")
        else None
    )
    if supervised is None:  # hinge: one against the rest
        from mercer.optim.svm import solve_svm

        signs = 2.0 * np.equal.outer(y[again], np.arange(n_classes)) - 1
        signs = signs[:, 1:] if n_classes == 2 else signs
        F = Phi[again]
        C = 1 / (2 * weighted._ambient * len(again))
        fit = solve_svm(F @ F.T, signs, C=C, tol=1e-10)
        expected = Phi @ (F.T @ fit.dual_coef) + fit.intercept
        tol = 1e-4
    else:
        supervised.solve(
            kernel,
            Labels.read(y[again], min_classes=2),
            features=DenseFeatures.plain(Phi[again]),
        )
        expected = supervised.decision_function(X).reshape(len(X), -1)
        tol = 1e-7
    found = weighted.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(found, expected, atol=tol)


@each_number
@pytest.mark.parametrize("beta", [0.0, 0.2])
def test_annealed_machines_take_votes_as_repeated_rows(
    n_classes: int, beta: float
) -> None:
    X, y, rng = points(n_classes)
    y[12:] = -1
    counts = rng.integers(0, 2, (12, n_classes)) + np.eye(n_classes, dtype=int)[y[:12]]
    total = counts.sum(axis=1)
    shares = np.zeros((24, n_classes))
    shares[:12] = counts / total[:, None]
    place = np.repeat(np.arange(12), total)
    votes = np.concatenate([np.repeat(np.arange(n_classes), row) for row in counts])
    machine = AnnealedKernelMachine(
        [RBF1, RBF(gamma=0.1)],
        beta=beta,
        class_ratio=np.ones(n_classes) / n_classes,
        trace_normalized=False,
    )
    weight = np.r_[total, np.ones(12)]
    soft = clone(machine).fit(X, shares, weight)
    rows = np.r_[place, 12:24]
    repeated = clone(machine).fit(X[rows], np.r_[votes, np.full(12, -1)])
    np.testing.assert_allclose(soft.weights_, repeated.weights_, atol=1e-4)
    np.testing.assert_allclose(scores(soft, X), scores(repeated, X), atol=1e-3)
    certain = clone(machine).fit(X, y)
    assert np.abs(scores(soft, X) - scores(certain, X)).max() > 0.02


def test_leaving_out_a_weighted_point_leaves_it_out_whole() -> None:
    X, y, _ = points(2)
    weight = np.linspace(0.5, 2, len(y))
    fitted = RLSClassifier(RBF1).fit(X, y, sample_weight=weight)
    without = RLSClassifier(RBF1).fit(X[1:], y[1:], sample_weight=weight[1:])
    residual = 2 * y[0] - 1 - without.decision_function(X[:1])[0]
    assert fitted.loo_residuals_[0, 0] == pytest.approx(residual)


def test_weight_zero_is_no_label() -> None:
    X, y, _ = points(2)
    weight = np.ones(len(y))
    weight[5] = 0
    fitted = RLSClassifier(RBF1).fit(X, y, sample_weight=weight)
    assert 5 not in fitted.labeled_


@pytest.mark.parametrize(
    "weight", [[-1.0] * 24, [[1.0]] * 24, [np.nan] * 24, [0.0, 1.0] * 12, [1.0] * 3]
)
def test_unusable_weights_are_named(weight) -> None:
    X, y, _ = points(2)
    with pytest.raises(ValueError, match="sample_weight"):
        RLSClassifier(RBF1).fit(X, y, sample_weight=weight)


def test_shares_must_sum_to_one() -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        Labels.read(np.array([[2.0, 1.0], [0.0, 1.0]]), min_classes=2)
    with pytest.raises(ValueError, match="sum to 1"):
        Labels.read(np.array([[-1.0, 2.0], [0.0, 1.0]]), min_classes=2)


def test_shares_name_their_classes() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"b": [0.7, 0.0, np.nan], "a": [0.3, 1.0, np.nan], "c": 0.0})
    labels = Labels.read(frame, min_classes=2)
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.codes.tolist() == [1, 0, -1]
    np.testing.assert_allclose(labels.one_hot(), [[0.3, 0.7], [1.0, 0.0]])
    left = labels.without(np.array([0]))
    assert left.classes.tolist() == ["a"]
