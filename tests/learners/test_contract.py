"""Every learner is a scikit-learn transformer, and its features are its kernel."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer.learners
from mercer.evidence.labels import Labels
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.learners.closed_form import ClosedFormKernel, ClosedFormKernelCV
from mercer.learners.combination import AverageKernel, CenteredAlignmentKernel
from mercer.learners.decaying import DecayingKernel
from mercer.learners.filter_kernel import FilterKernel
from mercer.learners.influence import InfluenceKernel
from mercer.learners.ordered import OrderedKernel
from mercer.learners.pairwise import PairwiseKernel
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from mercer.spectrum.graph import GraphBasis

SPECTRAL = [
    ParameterFreeKernel(random_state=0),
    ClosedFormKernel(C=100.0, mu=0.01, random_state=0),
    ClosedFormKernelCV(Cs=(1.0, 100.0), mus=(0.01, 1.0), random_state=0),
    DecayingKernel(random_state=0),
    DecayingKernel(target="each", random_state=0),
    OrderedKernel(random_state=0),
    OrderedKernel(improved=True, random_state=0),
    FilterKernel(random_state=0),
    FilterKernel("truncated", {"n_kept": 1}, random_state=0),
]
COMBINED = [AverageKernel(), CenteredAlignmentKernel()]


@parametrize_with_checks(SPECTRAL + COMBINED)
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


def points(n: int = 60, seed: int = 0):
    X, y = make_blobs(n, n_features=3, centers=3, cluster_std=3.0, random_state=seed)
    return X, np.where(np.arange(n) % 4 == 0, y, -1)


def name(learner) -> str:
    return repr(learner)


@pytest.mark.parametrize("learner", SPECTRAL, ids=name)
def test_features_are_the_kernel(learner) -> None:
    X, y = points()
    fitted = clone(learner).fit(X, y)
    Phi = fitted.transform(X)
    K = fitted.kernel_()
    assert np.allclose(Phi @ Phi.T, K, rtol=0, atol=1e-10 * np.abs(K).max())
    direct = (fitted.basis_.vectors_ * fitted.weights_) @ fitted.basis_.vectors_.T
    assert np.allclose(K, direct, rtol=0, atol=1e-12 * np.abs(K).max())
    again = clone(learner).fit_transform(X, y)
    assert np.allclose(again, Phi, rtol=0, atol=1e-10 * np.abs(Phi).max())
    assert fitted.get_feature_names_out().shape == (Phi.shape[1],)


@pytest.mark.parametrize("learner", SPECTRAL + COMBINED, ids=name)
def test_order_of_points_does_not_matter(learner) -> None:
    X, y = points()
    order = np.random.default_rng(1).permutation(len(X))
    first, second = clone(learner).fit(X, y), clone(learner).fit(X[order], y[order])
    K, shuffled = first.kernel_(X), second.kernel_(X)
    if isinstance(learner, ClosedFormKernelCV):  # other folds may choose another pair
        second = ClosedFormKernel(first.C_, first.mu_).fit(X[order], y[order])
        shuffled = second.kernel_(X)
    assert np.allclose(K, shuffled, rtol=0, atol=1e-8 * np.abs(K).max())


@pytest.mark.parametrize("learner", SPECTRAL + COMBINED, ids=name)
def test_pickle_keeps_the_kernel(learner) -> None:
    X, y = points()
    fitted = clone(learner).fit(X, y)
    copied = pickle.loads(pickle.dumps(fitted))
    K = fitted.kernel_(X)
    # Arrays may come back in another memory order, and sums round in another way.
    assert np.allclose(copied.kernel_(X), K, rtol=0, atol=1e-12 * np.abs(K).max())


@pytest.mark.parametrize(
    "learner", [x for x in SPECTRAL if "truncated" not in repr(x)], ids=name
)
def test_a_fitted_basis_is_used_as_it_is(learner) -> None:
    X, y = points()
    basis = GraphBasis(n_components=15, n_neighbors=5).fit(X)
    kept = clone(learner).learn(basis, y)
    fresh = clone(learner).set_params(basis=clone(basis)).fit(X, y)
    assert kept.basis_ is basis
    assert np.allclose(kept.weights_, fresh.weights_, rtol=1e-12)
    with pytest.raises(ValueError, match=r"60.*59"):
        kept.learn(basis, Labels.read(y[:-1], min_classes=2))
    with pytest.raises(TypeError, match="frozen"):
        clone(learner).set_params(basis=FrozenEstimator(basis)).fit(X, y)


def test_graph_stands_in_for_points() -> None:
    X, y = points()
    basis = GraphBasis(n_components=20).fit(X)
    from_points = ParameterFreeKernel(GraphBasis(n_components=20)).fit(X, y)
    from_graph = ParameterFreeKernel(GraphBasis(n_components=20)).fit(basis.graph_, y)
    assert np.allclose(from_points.kernel_(), from_graph.kernel_(), rtol=1e-9)


@pytest.mark.parametrize(
    "learner", [DecayingKernel(), *COMBINED, InfluenceKernel()], ids=name
)
def test_a_graph_has_no_points_to_compare(learner) -> None:
    X, y = points()
    graph = GraphBasis(n_components=20).fit(X).graph_
    with pytest.raises(TypeError, match=r"X is a Graph, and .* compares points"):
        learner.fit(graph, y)


def test_a_decaying_kernel_of_a_graph() -> None:
    X, y = points()
    basis = GraphBasis(n_components=20)
    from_graph = DecayingKernel(basis=basis).fit(GraphBasis().fit(X).graph_, y)
    from_points = DecayingKernel(basis=basis).fit(X, y)
    assert np.allclose(from_points.kernel_(), from_graph.kernel_(), rtol=1e-9)


@pytest.mark.parametrize("learner", [*SPECTRAL, PairwiseKernel()], ids=name)
@pytest.mark.parametrize("n", [0, 1])
def test_too_few_points(learner, n) -> None:
    wanted = "X has one sample" if n else "X has no sample"
    with pytest.raises(ValueError, match=wanted):
        clone(learner).fit(np.empty((n, 2)), np.zeros(n))


def test_anything_else_is_no_basis() -> None:
    X, y = points()
    with pytest.raises(TypeError, match="basis must be an estimator with `extend`"):
        ParameterFreeKernel("graph").fit(X, y)


def test_lengths_of_points_and_labels_must_agree() -> None:
    X, y = points()
    with pytest.raises(ValueError, match="X has 60 rows and y has 59"):
        ParameterFreeKernel().fit(X, y[:-1])
    with pytest.raises(ValueError, match="X has 60 rows and y has 59"):
        CenteredAlignmentKernel().fit(X, y[:-1])


# A classifier of pairs is given pairs of points, not points.
@pytest.mark.parametrize(
    "name", sorted({*mercer.learners.__all__} - {"PairClassifier", "SpectralLearner"})
)
def test_equal_points_are_equal_to_the_kernel_or_refused(name) -> None:
    if name == "NPKL":
        pytest.importorskip("cvxpy")
    X, y = np.ones((20, 3)), np.where(np.arange(20) < 4, np.arange(20) % 2, -1)
    learner = getattr(mercer.learners, name)()
    if name in {"CenteredAlignmentKernel", "InfluenceKernel"}:
        with pytest.raises(ValueError, match=f"all 20 points are equal, and {name}"):
            learner.fit(X, y)
        return
    K = learner.fit(X, y).kernel_(X)
    assert np.isfinite(K).all()
    assert np.ptp(K) <= 1e-10 * K.max()
    with pytest.warns(NearlyConstantKernelWarning, match="points are equal"):
        machine = RLSClassifier(learner).fit(X, y)
    np.testing.assert_array_equal(machine.transduction_[:4], y[:4])
    with pytest.warns(NearlyConstantKernelWarning):
        np.testing.assert_allclose(machine.decision_function(X), 0)
