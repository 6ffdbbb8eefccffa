"""What every machine does with few labels, and with none where they are missed."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel

from mercer.evidence.labels import Labels
from mercer.exceptions import (
    DisconnectedGraphWarning,
    NearlyConstantKernelWarning,
    NotPSDError,
)
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.graphs.neighbors import neighbor_graph
from mercer.kernels.composite import Weighted
from mercer.kernels.parametric import RBF
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.annealed_graph import GraphAnnealedKernelMachine
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.laplacian import LapRLS, LapRLSCV, LapSVM, LapSVMCV
from mercer.machines.rls import RLSClassifier
from mercer.machines.simple_mkl import SimpleMKL
from mercer.machines.svm import KernelSVC
from mercer.persist import load, save
from mercer.spectrum.filters import diffusion
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel
from oracles.learner import DiffusionLearner

ON_KERNELS = [
    KernelLogisticRegression(C=10.0),
    KernelLogisticRegression(C=10.0, multi_class="ovr", fit_intercept=False),
    RLSClassifier(C=100.0),
    RLSClassifier(C=np.inf),
    KernelSVC(C=10.0),
    LeaveOneOutRLS(),
    LeaveOneOutRLS(class_sizes=None),
]
ON_POINTS = [
    LapRLS(n_neighbors=4),
    LapSVM(n_neighbors=4),
    LapRLSCV(n_neighbors=4, gammas_A=(1e-3, 0.1), gammas_I=(1e-3, 0.1)),
    LapSVMCV(n_neighbors=4, gammas_A=(1e-3, 0.1), gammas_I=(1e-3, 0.1)),
    SimpleMKL([RBF(gamma=1.0), "linear"], C=10.0),
]
MACHINES = ON_KERNELS + ON_POINTS
each_machine = pytest.mark.parametrize("machine", MACHINES, ids=repr)
each_on_kernels = pytest.mark.parametrize("machine", ON_KERNELS, ids=repr)


def blobs(n_classes=3, n=8, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[:n_classes]
    X = np.concatenate([c + 0.4 * rng.standard_normal((n, 2)) for c in centers])
    return X, np.repeat(np.arange(n_classes), n)


def some_labels(y, per_class=3):
    known = np.full(len(y), -1)
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)[:per_class]
        known[rows] = c
    return known


@each_machine
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_are_kept_and_the_rest_is_predicted(machine, n_classes):
    X, truth = blobs(n_classes)
    y = some_labels(truth)
    fitted = clone(machine).fit(X, y)
    np.testing.assert_array_equal(fitted.transduction_, truth)
    rest = y == -1
    np.testing.assert_array_equal(fitted.predict(X[rest]), fitted.transduction_[rest])
    np.testing.assert_array_equal(fitted.labeled_, np.flatnonzero(~rest))


@each_machine
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_label_per_class_is_enough(machine, n_classes):
    X, truth = blobs(n_classes)
    fitted = clone(machine).fit(X, some_labels(truth, per_class=1))
    assert np.mean(fitted.transduction_ == truth) == 1.0


@each_machine
def test_all_points_labelled(machine):
    X, truth = blobs()
    fitted = clone(machine).fit(X, truth)
    np.testing.assert_array_equal(fitted.transduction_, truth)
    np.testing.assert_array_equal(fitted.predict(X), truth)


@each_machine
@pytest.mark.parametrize("missing", [None, float("nan"), -1], ids=str)
def test_names_and_missing_values(machine, missing):
    X, truth = blobs()
    names = np.array(["ant", "bee", "cat"], dtype=object)[truth]
    names[some_labels(truth) == -1] = missing
    fitted = clone(machine).fit(X, names)
    assert list(fitted.classes_) == ["ant", "bee", "cat"]
    np.testing.assert_array_equal(
        fitted.transduction_, np.array(["ant", "bee", "cat"])[truth]
    )


@each_machine
def test_nan_in_float_labels_means_unlabelled(machine):
    X, truth = blobs(2)
    y = some_labels(truth)
    as_float = np.where(y == -1, np.nan, y)
    np.testing.assert_array_equal(
        clone(machine).fit(X, as_float).transduction_,
        clone(machine).fit(X, y).transduction_,
    )


@each_machine
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0, -1, -1], r"1 class \(.*0.*\)"),
        ([-1, -1, -1, -1], "no label"),
        ([-1, 1, -1, 1], "holds only -1 and 1"),
        ([0, 1, -1], "X has 4 rows and y has 3"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(machine, y, message):
    with pytest.raises(ValueError, match=message):
        clone(machine).fit(np.arange(8.0).reshape(4, 2), y)


def islands():
    """Two classes on one island, nothing known about the other."""
    rng = np.random.default_rng(1)
    left = np.array([[0.0, 0.0], [1.0, 0.0]]).repeat(6, axis=0)
    X = np.concatenate([left, [[50.0, 50.0]] * 7]) + 0.1 * rng.standard_normal((19, 2))
    y = np.full(19, -1)
    y[[0, 1, 2, 6]] = [0, 0, 0, 1]
    return X, y


@each_on_kernels
def test_an_island_without_labels_gets_the_prior_and_a_warning(machine):
    X, y = islands()
    model = clone(machine).set_params(kernel=DiffusionLearner(n_neighbors=6))
    with pytest.warns(DisconnectedGraphWarning, match="7 of 19 points are not reached"):
        model.fit(X, y)
    with pytest.warns(DisconnectedGraphWarning, match="7 of 7"):
        scores = model.decision_function(X[12:])
    assert len(np.unique(scores)) == 1
    np.testing.assert_allclose(model.class_prior_, [0.75, 0.25])
    if isinstance(model, RLSClassifier):
        np.testing.assert_allclose(scores, 0.25 - 0.75)
    if hasattr(model, "predict_proba"):
        with pytest.warns(DisconnectedGraphWarning):
            P = model.predict_proba(X[12:])
        np.testing.assert_allclose(P, [[0.75, 0.25]] * 7)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_probabilities_of_an_island_are_the_prior_with_three_classes(multi_class):
    X, y = islands()
    y[3] = 2
    model = KernelLogisticRegression(
        DiffusionLearner(n_neighbors=6), multi_class=multi_class
    )
    with pytest.warns(DisconnectedGraphWarning):
        P = model.fit(X, y).predict_proba(X[12:])
    np.testing.assert_allclose(P, [[0.6, 0.2, 0.2]] * 7)


@pytest.mark.parametrize("machine", ON_POINTS[:4], ids=repr)
def test_an_island_of_the_graph_is_left_to_the_ambient_kernel(machine):
    X, y = islands()
    message = "7 of 19 points are in components of the graph without a label"
    with pytest.warns(DisconnectedGraphWarning, match=message) as caught:
        clone(machine).fit(X, y)
    assert len(caught) == 1


@pytest.mark.parametrize("machine", ON_POINTS[:4], ids=repr)
def test_an_island_that_nothing_reaches_gets_the_prior(machine):
    X, y = islands()
    model = clone(machine).set_params(kernel=RBF(gamma=1.0))
    with pytest.warns(DisconnectedGraphWarning, match="7 of 19 points") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    np.testing.assert_array_equal(model.transduction_[12:], 0)


@each_machine
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_points_get_the_prior(machine, value):
    check_equal_points(clone(machine), value)


@each_on_kernels
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_points_of_a_learned_kernel_get_the_prior(machine, value):
    check_equal_points(clone(machine).set_params(kernel=DiffusionLearner(4)), value)


@pytest.mark.parametrize(
    "machine", [AnnealedKernelMachine(), GraphAnnealedKernelMachine()], ids=repr
)
def test_equal_points_get_the_class_ratio(machine):
    check_equal_points(clone(machine), 1.0)


@each_machine
@pytest.mark.parametrize("gamma", [1e-300, 1e-16])
def test_a_kernel_too_wide_for_the_points_gives_the_prior(machine, gamma):
    check_wide_kernel(clone(machine), RBF(gamma=gamma))


def test_a_kernel_too_wide_for_the_points_gives_the_class_ratio():
    check_wide_kernel(AnnealedKernelMachine(), RBF(gamma=1e-300))


def check_wide_kernel(model, kernel):
    """The kernel is 1 but for rounding: the majority of the labels decides for all."""
    several = hasattr(model, "kernels")
    model.set_params(**({"kernels": [kernel]} if several else {"kernel": kernel}))
    X, _ = blobs(2)
    y = np.full(16, -1)
    y[[0, 1, 8, 9, 10]] = [0, 0, 1, 1, 1]
    with pytest.warns(NearlyConstantKernelWarning, match="is constant over the"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.transduction_[y == -1], 1)
    with pytest.warns(NearlyConstantKernelWarning):
        np.testing.assert_array_equal(model.predict(X), 1)


def check_equal_points(model, value):
    """Nothing tells the points apart: the majority of the labels decides for all."""
    if isinstance(model, SimpleMKL):
        model.set_params(kernels=["rbf"])
    y = np.full(30, -1)
    y[[3, 8, 20, 21, 29]] = [0, 1, 1, 0, 1]
    with pytest.warns(NearlyConstantKernelWarning, match="all training points are equ"):
        model.fit(np.full((30, 2), value), y)
    np.testing.assert_array_equal(model.transduction_[y == -1], 1)
    with pytest.warns(NearlyConstantKernelWarning):
        scores = model.decision_function(np.full((2, 2), value))
    assert scores[0] == scores[1] > 0


@each_machine
def test_a_column_of_labels_warns_once(machine):
    X, truth = blobs()
    model = clone(machine)
    if machine in ON_KERNELS:
        model.set_params(kernel=DiffusionLearner(12))
    with pytest.warns(DataConversionWarning) as caught:
        model.fit(X, truth[:, None])
    assert len(caught) == 1
    np.testing.assert_array_equal(model.transduction_, truth)


def test_an_island_may_have_the_last_class():
    """The majority of the labels decides, never the first class by default."""
    X, y = islands()
    y[[0, 1, 2, 6]] = [1, 1, 1, 0]
    for machine in ON_KERNELS:
        model = clone(machine).set_params(kernel=DiffusionLearner(n_neighbors=6))
        with pytest.warns(DisconnectedGraphWarning):
            model.fit(X, y)
        np.testing.assert_array_equal(model.transduction_[12:], 1)


@each_machine
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_sums_over_labelled_points(machine, n_classes):
    X, truth = blobs(n_classes)
    model = clone(machine).fit(X, some_labels(truth))
    new = X + 0.1
    sums = model.similarity(new) @ model.dual_coef_ + model.intercept_
    f = model.decision_function(new)
    if n_classes == 2:
        np.testing.assert_allclose(sums[:, 0], f, atol=1e-6)
    elif not isinstance(model, KernelSVC):  # votes of pairs are no sum
        np.testing.assert_allclose(sums, f, atol=1e-6)


@each_machine
def test_order_of_points_does_not_matter(machine):
    X, truth = blobs()
    y = some_labels(truth, per_class=2)
    order = np.random.default_rng(3).permutation(len(y))
    if hasattr(machine, "cv"):
        # Folds are dealt in order: keep it among the labelled points.
        order = np.concatenate([np.flatnonzero(y != -1), np.flatnonzero(y == -1)[::-1]])
    one = clone(machine).fit(X, y).decision_function(X)
    other = clone(machine).fit(X[order], y[order]).decision_function(X)
    # LIBSVM stops at 1e-3 and multiple kernels at a gap of 1e-3.
    loose = isinstance(machine, KernelSVC | SimpleMKL)
    atol = (5e-3 if loose else 1e-6) * np.abs(one).max()
    np.testing.assert_allclose(one, other, atol=atol)


@each_machine
def test_sparse_points_equal_dense_ones(machine):
    X, truth = blobs()
    y = some_labels(truth)
    dense = clone(machine).fit(X, y)
    thin = clone(machine).fit(csr_array(X), y)
    np.testing.assert_allclose(
        thin.decision_function(csr_array(X)), dense.decision_function(X), atol=1e-6
    )


@each_machine
def test_round_trips_and_untouched_arguments(machine, tmp_path):
    X, truth = blobs()
    y = some_labels(truth)
    X0, y0 = X.copy(), y.copy()
    model = clone(machine).fit(X, y)
    np.testing.assert_array_equal(X, X0)
    np.testing.assert_array_equal(y, y0)
    f = model.decision_function(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), f)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.decision_function(X), f)


@each_on_kernels
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_way_to_say_a_kernel_gives_the_same_machine(machine, n_classes):
    X, truth = blobs(n_classes)
    y = some_labels(truth)
    ways = {
        "kernel": RBF(gamma=0.5),
        "name": "rbf",  # one over two features
        "callable": lambda A, B: rbf_kernel(A, B, gamma=0.5),
    }
    values = [
        clone(machine).set_params(kernel=way).fit(X, y).decision_function(X)
        for way in ways.values()
    ]
    K = rbf_kernel(X, gamma=0.5)
    model = clone(machine).set_params(kernel="precomputed").fit(K, y)
    values.append(model.decision_function(K))
    for f in values[1:]:
        np.testing.assert_allclose(f, values[0], atol=1e-6)


@each_on_kernels
@pytest.mark.parametrize("n_classes", [2, 3])
def test_features_and_gram_matrix_of_a_learned_kernel_agree(machine, n_classes):
    X, truth = blobs(n_classes, n=10)
    y = some_labels(truth)
    basis = GraphBasis(None, n_neighbors=12).fit(X)
    kernel = SpectralKernel(basis, diffusion(basis.values_))
    K = kernel()
    by_features = clone(machine).set_params(kernel=kernel).fit(X, y)
    learner = DiffusionLearner(n_neighbors=12)
    learned = clone(machine).set_params(kernel=learner).fit(X, y)
    f = by_features.decision_function(X)
    # LeaveOneOutRLS measures the variance over all points, of which kernel values with
    # labelled points show their span alone.
    if not isinstance(machine, LeaveOneOutRLS):
        by_gram = clone(machine).set_params(kernel="precomputed").fit(K, y)
        np.testing.assert_allclose(by_gram.decision_function(K), f, atol=1e-5)
    np.testing.assert_allclose(learned.decision_function(X), f, atol=1e-8)
    assert learned.learner_ is not learner
    assert not hasattr(learner, "kernel_")


@each_on_kernels
def test_solving_on_features_equals_fitting_on_points(machine):
    X, truth = blobs()
    y = some_labels(truth)
    fitted = clone(machine).set_params(kernel=DiffusionLearner(12)).fit(X, y)
    kernel = fitted.learner_.kernel_
    solved = clone(machine).solve(kernel, y)
    for name in ("transduction_", "classes_", "labeled_"):
        np.testing.assert_array_equal(getattr(solved, name), getattr(fitted, name))
    np.testing.assert_allclose(
        solved.decision_function(X), fitted.decision_function(X), atol=1e-8
    )
    np.testing.assert_allclose(
        solved.training_proba_, solved.predict_proba(X), atol=1e-8
    )
    with pytest.raises(ValueError, match=f"{len(X)}.*{len(X) - 1}"):
        clone(machine).solve(kernel, Labels.read(y[:-1], min_classes=2))


@each_on_kernels
def test_a_learner_may_work_on_a_graph(machine):
    X, truth = blobs()
    y = some_labels(truth)
    graph = neighbor_graph(X, 12, rng=np.random.default_rng(0))
    on_graph = clone(machine).set_params(kernel=DiffusionLearner(12)).fit(graph, y)
    on_points = clone(machine).set_params(kernel=DiffusionLearner(12)).fit(X, y)
    np.testing.assert_array_equal(on_graph.transduction_, on_points.transduction_)
    with pytest.raises(TypeError, match="X is a Graph"):
        clone(machine).fit(graph, y)


@pytest.mark.parametrize(
    "machine", [*ON_POINTS, AnnealedKernelMachine(), GraphAnnealedKernelMachine()]
)
def test_a_graph_has_no_points_to_compare(machine):
    X, truth = blobs()
    graph = neighbor_graph(X, 12, rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match="compares points"):
        clone(machine).fit(graph, truth)


@each_on_kernels
def test_a_frozen_learner_is_refused(machine):
    X, truth = blobs()
    y = some_labels(truth)
    frozen = FrozenEstimator(DiffusionLearner(12).fit(X, y))
    with pytest.raises(TypeError, match=r"frozen learner.*kernel_"):
        clone(machine).set_params(kernel=frozen).fit(X, y)


@each_on_kernels
def test_what_is_no_kernel_is_refused(machine):
    X, truth = blobs()
    with pytest.raises(NotPSDError, match="smallest eigenvalue"):
        clone(machine).set_params(kernel=lambda A, B: -(A @ B.T)).fit(X, truth)
    with pytest.raises(ValueError, match=r"\(n, n\); got shape"):
        clone(machine).set_params(kernel="precomputed").fit(X, truth)


WITH_PROBABILITIES = [
    *MACHINES,
    AnnealedKernelMachine(beta=0.1),
    GraphAnnealedKernelMachine(n_neighbors=(3, 5)),
]


@pytest.mark.parametrize("machine", WITH_PROBABILITIES, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_machine_has_probabilities(machine, n_classes):
    X, truth = blobs(n_classes)
    fitted = clone(machine).fit(X, some_labels(truth))
    P = fitted.predict_proba(X)
    assert P.shape == (len(X), n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(P.argmax(axis=1), fitted.predict(X))
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), P)


@pytest.mark.parametrize(
    "machine",
    [RLSClassifier(), KernelSVC(), LapRLS(n_neighbors=4), SimpleMKL([RBF(gamma=1e3)])],
    ids=repr,
)
def test_probabilities_of_points_out_of_reach_are_the_shares(machine):
    X, truth = blobs(2)
    y = some_labels(truth)
    y[np.flatnonzero(truth == 0)[:2]] = -1
    machine = clone(machine)
    if hasattr(machine, "kernel") and not isinstance(machine, SimpleMKL):
        machine.set_params(kernel=RBF(gamma=50.0))
    machine.fit(X, y)
    with pytest.warns(DisconnectedGraphWarning, match="not reached"):
        P = machine.predict_proba([[1e3, 1e3]])
    np.testing.assert_allclose(P, [machine.class_prior_])


def test_an_svm_that_trusts_its_intercept_has_its_probability():
    X, truth = blobs(2)
    machine = KernelSVC(RBF(gamma=50.0), unreached="intercept")
    machine.fit(X, some_labels(truth))
    with pytest.warns(DisconnectedGraphWarning, match="intercept"):
        P = machine.predict_proba([[1e3, 1e3]])
    np.testing.assert_allclose(P[0, 1], 1 / (1 + np.exp(-machine.intercept_[0])))


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e4])
def test_the_scale_of_the_kernel_does_not_change_the_default_machine(factor):
    """Ridges are in units of the kernel's own variance, and so is what is spread."""
    X, truth = blobs(n=40)
    y = some_labels(truth)
    for options in ({}, {"class_sizes": None}):
        one = LeaveOneOutRLS(RBF(gamma=0.5), **options).fit(X, y)
        other = LeaveOneOutRLS(Weighted([RBF(gamma=0.5)], [factor]), **options)
        np.testing.assert_allclose(
            other.fit(X, y).predict_proba(X), one.predict_proba(X), atol=1e-7
        )
    learner = DiffusionLearner(12).fit(X, y)
    basis = learner.kernel_.basis
    labels = Labels.read(y, min_classes=2)
    small = SpectralKernel(basis, learner.kernel_.core)
    large = SpectralKernel(basis, factor * learner.kernel_.core)
    np.testing.assert_allclose(
        LeaveOneOutRLS().solve(large, labels).training_proba_,
        LeaveOneOutRLS().solve(small, labels).training_proba_,
        atol=1e-7,
    )
