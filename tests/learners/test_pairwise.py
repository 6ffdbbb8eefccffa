import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import persist
from mercer.evidence.pairs import ContradictionWarning, Pairs
from mercer.graphs.laplacians import laplacian
from mercer.learners.clustering import cluster
from mercer.learners.pairwise import PairwiseKernel
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from oracles.npkl import npkl_sdp

LOSSES = ["linear", "squared_hinge", "hinge"]
FULL = GraphBasis(n_components=None, n_neighbors=4)


@parametrize_with_checks([PairwiseKernel(random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def moons(n=60, n_pairs=40, seed=0):
    X, y = make_moons(n, noise=0.1, random_state=seed)
    return X, y, Pairs.from_labels(y, n_pairs=n_pairs, random_state=seed)


@pytest.mark.parametrize("loss", LOSSES)
def test_full_basis_solves_the_problem_of_the_paper(loss):
    X, _, pairs = moons(n=18, n_pairs=30)
    learner = PairwiseKernel(loss, C=2.0, basis=FULL, tol=1e-8).fit(X, pairs=pairs)
    L = laplacian(learner.basis_.graph_.adjacency).toarray()
    reference = npkl_sdp(
        L, pairs.matrix().toarray(), loss=loss, C=2.0, budget=learner.budget_
    )
    certificate = learner.certificate_
    size = abs(reference.objective)
    assert certificate.objective == pytest.approx(reference.objective, abs=1e-6 * size)
    assert certificate.relative_gap <= 1e-8
    assert certificate.family == "all kernels on 18 points"
    np.testing.assert_allclose(learner.kernel_(), reference.K, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_inside_a_basis_is_optimal_there(loss):
    """The SDP over cores of the same basis, through the same oracle's objective."""
    cp = pytest.importorskip("cvxpy")
    X, _, pairs = moons(n=40, n_pairs=30)
    basis = GraphBasis(n_components=8, n_neighbors=4)
    learner = PairwiseKernel(loss, C=2.0, basis=basis, tol=1e-8).fit(X, pairs=pairs)
    U, gamma = learner.basis_.vectors_, learner.basis_.values_
    M = cp.Variable((8, 8), PSD=True)
    margins = cp.multiply(
        pairs.signs,
        cp.sum(cp.multiply(U[pairs.first] @ M, U[pairs.second]), axis=1),
    )
    losses = {
        "linear": -cp.sum(margins),
        "hinge": cp.sum(cp.pos(1 - margins)),
        "squared_hinge": cp.sum_squares(cp.pos(1 - margins)) / 2,
    }
    problem = cp.Problem(
        cp.Minimize(cp.trace(np.diag(gamma) @ M) + 2.0 * losses[loss]),
        [cp.norm(M, "fro") <= np.sqrt(learner.budget_)],
    )
    problem.solve(solver=cp.CLARABEL)
    assert learner.certificate_.objective == pytest.approx(problem.value, rel=1e-6)
    assert "span of 8 directions over 40 points" in learner.certificate_.family


def test_larger_basis_is_never_worse():
    X, _, pairs = moons()
    objectives = [
        PairwiseKernel(basis=GraphBasis(n_components=r)).fit(X, pairs=pairs)
        for r in (5, 20, None)
    ]
    values = [learner.certificate_.objective for learner in objectives]
    assert values[0] > values[1] > values[2]


@pytest.mark.parametrize("loss", LOSSES)
def test_ordered_convention_doubles_the_weight(loss):
    X, _, pairs = moons()
    ordered = PairwiseKernel(loss, C=1.0, ordered=True).fit(X, pairs=pairs)
    doubled = PairwiseKernel(loss, C=2.0).fit(X, pairs=pairs)
    np.testing.assert_allclose(ordered.kernel_(), doubled.kernel_(), atol=1e-3)
    assert ordered.certificate_.objective == pytest.approx(
        doubled.certificate_.objective, rel=1e-5
    )


def test_order_of_points_and_pairs_does_not_matter():
    X, _, pairs = moons()
    order = np.random.default_rng(0).permutation(len(X))
    place = np.argsort(order)
    shuffled = Pairs(place[pairs.second], place[pairs.first], pairs.signs, len(X))
    one = PairwiseKernel(basis=FULL, tol=1e-9).fit(X, pairs=pairs)
    two = PairwiseKernel(basis=FULL, tol=1e-9).fit(X[order], pairs=shuffled)
    np.testing.assert_allclose(
        one.kernel_()[np.ix_(order, order)], two.kernel_(), atol=1e-3
    )


def test_linear_kernel_only_scales_with_the_budget():
    X, _, pairs = moons()
    one, four = (
        PairwiseKernel("linear", budget=b).fit(X, pairs=pairs).kernel_()
        for b in (1.0, 16.0)
    )
    np.testing.assert_allclose(4 * one, four, atol=1e-12)


def test_labels_are_all_their_pairs():
    X, y, _ = moons()
    few = np.where(np.arange(60) % 6 == 0, y, -1)
    labels = PairwiseKernel().fit(X, few)
    pairs = PairwiseKernel().fit(X, pairs=Pairs.from_labels(few))
    np.testing.assert_array_equal(labels.core_, pairs.core_)


def test_labels_and_pairs_together():
    X, y, pairs = moons()
    few = np.where(np.arange(60) % 6 == 0, y, -1)
    both = PairwiseKernel().fit(X, few, pairs=pairs)
    assert both.certificate_.n_pairs == len(Pairs.from_labels(few) + pairs)
    np.testing.assert_array_equal(
        both.core_, PairwiseKernel().fit(X, pairs=Pairs.from_labels(few) + pairs).core_
    )


def test_features_are_the_kernel_and_extend():
    X, _, pairs = moons()
    learner = PairwiseKernel()
    Phi = learner.fit_transform(X, pairs=pairs)
    np.testing.assert_allclose(Phi @ Phi.T, learner.kernel_(), atol=1e-9)
    np.testing.assert_allclose(learner.transform(X), Phi, atol=1e-9)
    new = learner.transform(X + 1e-3)
    assert new.shape == Phi.shape
    cosine = np.sum(new * Phi, axis=1) / np.linalg.norm(new, axis=1)
    assert np.median(cosine / np.linalg.norm(Phi, axis=1)) > 0.9


def test_dual_variables_mark_the_pairs_that_matter():
    """A pair with dual variable 0 is met; without it nothing moves."""
    X, _, pairs = moons(n_pairs=80)
    basis = GraphBasis(n_components=10)
    learner = PairwiseKernel(C=10.0, basis=basis, tol=1e-9).fit(X, pairs=pairs)
    idle = learner.dual_ == 0
    assert 0 < idle.sum() < len(pairs)
    K = learner.kernel_()
    assert (pairs.signs * K[pairs.first, pairs.second])[idle].min() >= 1 - 1e-4
    without = PairwiseKernel(C=10.0, budget=learner.budget_, basis=basis, tol=1e-9).fit(
        X, pairs=pairs[~idle]
    )
    np.testing.assert_allclose(without.kernel_(), K, atol=1e-3)


def test_pipeline_with_kmeans_predicts_new_points():
    X, y = make_moons(400, noise=0.08, random_state=0)
    pairs = Pairs.from_labels(y[:200], n_pairs=80, random_state=0)
    model = make_pipeline(
        StandardScaler(),
        PairwiseKernel(random_state=0),
        Normalizer(),
        KMeans(2, n_init=10, random_state=0),
    )
    model.fit(X[:200], pairwisekernel__pairs=pairs)
    assert rand_score(y[200:], model.predict(X[200:])) > 0.95


def test_metadata_routing_carries_pairs():
    X, _, pairs = moons()
    with config_context(enable_metadata_routing=True):
        learner = PairwiseKernel(random_state=0).set_fit_request(pairs=True)
        model = make_pipeline(learner, KMeans(2, n_init=2, random_state=0))
        routed = model.fit(X, pairs=pairs)[0]
    direct = PairwiseKernel(random_state=0).fit(X, pairs=pairs)
    np.testing.assert_array_equal(routed.core_, direct.core_)


def test_kernel_goes_into_svc():
    X, y, pairs = moons(n=120, n_pairs=80)
    learner = PairwiseKernel(random_state=0).fit(X, pairs=pairs)
    machine = SVC(kernel=learner.kernel_).fit(X[::10], y[::10])
    assert machine.score(X, y) > 0.9


def test_graph_and_fitted_basis_stand_in():
    X, _, pairs = moons()
    basis = GraphBasis(n_components=15).fit(X)
    fresh = PairwiseKernel(basis=GraphBasis(n_components=15)).fit(X, pairs=pairs)
    kept = PairwiseKernel().learn(basis, pairs=pairs)
    graph = PairwiseKernel(basis=clone(basis)).fit(basis.graph_, pairs=pairs)
    np.testing.assert_array_equal(kept.core_, fresh.core_)
    np.testing.assert_allclose(graph.kernel_(), fresh.kernel_(), atol=1e-6)


def test_gram_basis_penalises_small_eigenvalues():
    """L = I - G / top: the constant-like leading direction is free."""
    X, _, pairs = moons()
    learner = PairwiseKernel("linear", C=1e-3, basis=GramBasis(10)).fit(X, pairs=pairs)
    values = learner.basis_.values_
    U = learner.basis_.vectors_
    S = pairs.matrix().toarray() * 1e-3 / 2
    A = U.T @ S @ U - np.diag(1 - values / values[0])
    eigenvalues, vectors = np.linalg.eigh(A)
    expected = (vectors * np.maximum(eigenvalues, 0)) @ vectors.T
    expected *= np.sqrt(learner.budget_) / np.linalg.norm(expected)
    np.testing.assert_allclose(learner.core_, expected, atol=1e-8)


def test_algorithm_1_is_there_and_further_from_the_optimum():
    X, _, pairs = moons()
    settings = {"C": 10.0, "budget": 60.0, "basis": FULL}
    newton = PairwiseKernel(**settings).fit(X, pairs=pairs).certificate_
    paper = PairwiseKernel(solver="paper", max_eigh=20, **settings)
    paper = paper.fit(X, pairs=pairs).certificate_
    assert paper.n_eigh == 20
    assert paper.relative_gap > 1e-6 >= newton.relative_gap
    assert paper.bound <= newton.objective <= paper.objective


def test_pickle_keeps_the_kernel():
    X, _, pairs = moons()
    learner = PairwiseKernel().fit(X, pairs=pairs)
    copied = pickle.loads(pickle.dumps(learner))
    np.testing.assert_allclose(copied.kernel_(X), learner.kernel_(X), atol=1e-12)


def test_saved_and_loaded_kernel_is_the_same(tmp_path):
    X, _, pairs = moons()
    learner = PairwiseKernel().fit(X, pairs=pairs)
    persist.save(learner, tmp_path / "pairs.skops")
    loaded = persist.load(tmp_path / "pairs.skops")
    np.testing.assert_allclose(loaded.kernel_(X), learner.kernel_(X), atol=1e-12)
    assert loaded.certificate_ == learner.certificate_


def test_default_budget_is_the_size_of_the_ideal_kernel():
    X, y = make_blobs(90, centers=3, random_state=0)
    pairs = Pairs.from_labels(y, n_pairs=1000, random_state=0)
    ideal = float(np.sum(np.equal.outer(y, y)))
    budget = PairwiseKernel().fit(X, pairs=pairs).budget_
    assert budget == pytest.approx(ideal, rel=0.1)


def test_tiny_budget_warns_that_the_hinge_never_acts():
    X, _, pairs = moons()
    for loss in ("hinge", "squared_hinge"):
        with pytest.warns(UserWarning, match="acts as the linear one"):
            hinge = PairwiseKernel(loss, budget=1e-4).fit(X, pairs=pairs)
        linear = PairwiseKernel("linear", budget=1e-4).fit(X, pairs=pairs)
        np.testing.assert_allclose(hinge.core_, linear.core_, rtol=0, atol=2e-5)


def test_contradictory_pairs_warn_and_are_weighed():
    X, _, _ = moons()
    pairs = ([(0, 1), (1, 2), (3, 4)], [(0, 2)])
    with pytest.warns(ContradictionWarning, match="0 -> 1 -> 2"):
        learner = PairwiseKernel().fit(X, pairs=pairs)
    assert learner.certificate_.relative_gap <= 1e-6


def test_duplicate_pairs_count_once():
    X, _, _ = moons()
    once = PairwiseKernel().fit(X, pairs=([(0, 1)], [(2, 3)]))
    twice = PairwiseKernel().fit(X, pairs=([(0, 1), (1, 0)], [(2, 3), (2, 3)]))
    np.testing.assert_array_equal(once.core_, twice.core_)


@pytest.mark.parametrize("pairs", [([(0, 1)], []), ([], [(0, 1)])])
def test_one_kind_of_pair_is_enough(pairs):
    X, _, _ = moons()
    learner = PairwiseKernel(C=10.0).fit(X, pairs=pairs)
    K = learner.kernel_()
    assert (K[0, 1] > 0) == bool(pairs[0])
    assert learner.certificate_.relative_gap <= 1e-6


def test_one_component_of_must_links_joins_everything():
    X, _, _ = moons()
    chain = [(i, i + 1) for i in range(59)]
    learner = PairwiseKernel(C=10.0).fit(X, pairs=(chain, []))
    assert learner.pairs_.n_components == 1
    assert (learner.kernel_() > 0).mean() > 0.99
    assert len(np.unique(cluster(learner.kernel_, 1, random_state=0))) == 1


@pytest.mark.parametrize("evidence", [{}, {"pairs": ([], [])}, {"y": [-1] * 60}])
def test_no_evidence_is_an_error(evidence):
    X, _, _ = moons()
    with pytest.raises(ValueError, match="PairwiseKernel has no evidence"):
        PairwiseKernel().fit(X, **evidence)


def test_too_many_labels_ask_for_a_sample():
    X = np.zeros((2001, 1))
    with pytest.raises(ValueError, match="2001 labels, which make 2001000 pairs"):
        PairwiseKernel().fit(X, np.arange(2001) % 2)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (([(4, 4)], []), r"\(4, 4\) links a point to itself"),
        (([(0, 60)], []), r"\(0, 60\) is outside the 60 points"),
    ],
)
def test_bad_pairs_are_an_error(pairs, message):
    X, _, _ = moons()
    with pytest.raises(ValueError, match=message):
        PairwiseKernel().fit(X, pairs=pairs)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0.0}, "C == 0.0, must be > 0"),
        ({"C": -1.0}, "C == -1.0, must be > 0"),
        ({"budget": 0.0}, "budget == 0.0, must be > 0"),
        ({"budget": -2.0}, "budget == -2.0, must be > 0"),
        ({"loss": "logistic"}, "loss must be one of 'squared_hinge'"),
        ({"solver": "sdp"}, "solver must be one of 'newton', 'paper'"),
        ({"max_eigh": 0}, "max_eigh == 0, must be >= 1"),
    ],
)
def test_bad_settings_are_an_error(setting, message):
    X, _, pairs = moons()
    with pytest.raises(ValueError, match=message):
        PairwiseKernel(**setting).fit(X, pairs=pairs)


def test_too_small_weight_is_an_error_not_a_zero_kernel():
    X, _, _ = moons()
    with pytest.raises(ValueError, match="C=1e-06 is too small"):
        # Cannot-links alone cannot use the free constant direction.
        PairwiseKernel(C=1e-6).fit(X, pairs=([], [(0, 1), (5, 6)]))


def test_default_weight_is_raised_until_the_hinge_acts():
    X, _, _ = moons()
    evidence = {"pairs": ([], [(0, 1), (5, 6)])}
    learner = PairwiseKernel().fit(X, **evidence)
    assert learner.C_ > 1
    assert learner.certificate_.largest_margin >= 0.1
    with pytest.warns(UserWarning, match="acts as the linear one"):
        PairwiseKernel(C=1.0).fit(X, **evidence)


def test_default_weight_falls_with_many_pairs():
    X, y, _ = moons()
    assert PairwiseKernel().fit(X, y).C_ == 4 * 60 / (60 * 59 / 2)


def test_basis_must_be_orthonormal():
    X, _, pairs = moons()
    basis = GraphBasis(n_components=5, laplacian="random_walk")
    with pytest.raises(TypeError, match="needs orthonormal directions"):
        PairwiseKernel(basis=basis).fit(X, pairs=pairs)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([0, 1, -1], "X has 10 rows and y has 3; they must describe the same points"),
        ({"a": 1}, "y must hold one label per point; got dict"),
    ],
)
def test_labels_that_do_not_belong_to_the_points(y: object, said: str) -> None:
    X = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(ValueError, match=said):
        PairwiseKernel().fit(X, y)


@pytest.mark.parametrize("shape", [(), (10,), (1, 10, 2)])
def test_points_of_another_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"X has the shape .* one row per point"):
        PairwiseKernel().fit(np.ones(shape), [0, 1] * 5)


def test_pairs_that_cancel_are_told() -> None:
    X = np.random.default_rng(0).normal(size=(150, 4))
    with (
        pytest.warns(ContradictionWarning),
        pytest.raises(ValueError, match="cancel each other, and no kernel is left"),
    ):
        PairwiseKernel(random_state=0).fit(X, pairs=([(0, 1)], [(1, 0)]))
