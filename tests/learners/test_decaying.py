"""Alignment learners against the printed QP and QCQP, from kernel matrices."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances

from mercer.learners.decaying import DecayingKernel
from mercer.learners.ordered import OrderedKernel
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from oracles.learners import (
    GivenBasis,
    alignment,
    decaying_spectrum_by_qp,
    ordered_spectrum_by_qcqp,
    rotate_eigenspaces,
)


def blobs(n_classes: int, n: int = 60, seed: int = 0):
    X, y = make_blobs(n, centers=n_classes, cluster_std=4.0, random_state=seed)
    return X, np.where(np.arange(n) % 4 == 0, y, -1)


def target(y):
    signs = [np.where(y[y >= 0] == c, 1.0, -1.0) for c in np.unique(y[y >= 0])]
    return sum(np.outer(s, s) for s in signs)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("decay", [1.0, 1.5, 3.0])
def test_learned_kernel_is_the_optimum_of_the_qp(n_classes, decay) -> None:
    pytest.importorskip("cvxpy")
    X, y = blobs(n_classes)
    learner = DecayingKernel(decay, 8).fit(X, y)
    V = learner.basis_.vectors_
    l = y >= 0  # noqa: E741
    base = [np.outer(v, v) for v in V[l].T]
    mu = decaying_spectrum_by_qp(base, target(y), decay)
    ours = alignment(learner.kernel_()[np.ix_(l, l)], target(y))
    assert ours == pytest.approx(learner.certificate_.alignment, rel=1e-10)
    assert ours == pytest.approx(alignment((V[l] * mu) @ V[l].T, target(y)), abs=1e-8)
    assert (learner.weights_[:-1] >= decay * learner.weights_[1:] - 1e-12).all()


def test_default_basis_is_the_gaussian_of_mean_squared_distance() -> None:
    X, y = blobs(2)
    learner = DecayingKernel(n_components=6).fit(X, y)
    squares = euclidean_distances(X, squared=True)
    K = np.exp(-squares / squares[np.triu_indices(len(X), 1)].mean())
    expected = np.linalg.eigvalsh(K)[::-1][:6]
    assert learner.basis_.values_ == pytest.approx(expected, rel=1e-8)


def test_one_target_per_class_is_the_binary_problem_of_that_class() -> None:
    X, y = blobs(3)
    learner = DecayingKernel(1.2, 10, target="each").fit(X, y)
    assert len(learner.kernels_) == len(learner.certificate_) == 3
    for c, kernel in enumerate(learner.kernels_):
        binary = np.where(y < 0, -1, (y == c).astype(int))
        alone = DecayingKernel(1.2, 10).fit(X, binary)
        assert kernel() == pytest.approx(alone.kernel_(), abs=1e-10)
    mean = np.mean([kernel() for kernel in learner.kernels_], axis=0)
    assert learner.kernel_() == pytest.approx(mean, abs=1e-12)


def test_three_classes_stay_feasible_where_the_printed_target_is_not() -> None:
    X, y = blobs(3)
    for decay in (2.0, 10.0, 100.0):
        learner = DecayingKernel(decay).fit(X, y)
        assert learner.certificate_.alignment > 0
        assert learner.certificate_.kkt_residual <= 1e-10


def test_directions_stop_at_the_numerical_rank() -> None:
    X, y = blobs(2)
    learner = DecayingKernel(n_components=20, basis=GramBasis(20, kernel="linear"))
    assert learner.fit(X, y).weights_.shape == (2,)


def test_only_the_first_components_of_a_larger_basis_count() -> None:
    X, y = blobs(2)
    large = DecayingKernel(1.1, 5, basis=GramBasis(30)).fit(X, y)
    small = DecayingKernel(1.1, 5, basis=GramBasis(5)).fit(X, y)
    assert np.array_equal(large.weights_[5:], np.zeros(25))
    assert large.weights_[:5] == pytest.approx(small.weights_, rel=1e-8)


def test_mean_diagonal_is_one() -> None:
    X, y = blobs(3)
    for learner in (DecayingKernel(), OrderedKernel(), OrderedKernel(improved=True)):
        assert learner.fit(X, y).kernel_.diag().mean() == pytest.approx(1.0)


@pytest.mark.parametrize("improved", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_ordered_kernel_is_the_optimum_of_the_qcqp(improved, seed) -> None:
    pytest.importorskip("cvxpy")
    X, y = blobs(2 + seed % 2, seed=seed)
    learner = OrderedKernel(improved, n_components=10).fit(X, y)
    assert learner.basis_.graph_.n_components == 1
    V = learner.basis_.vectors_
    assert np.ptp(V[:, 0]) <= 1e-12
    l = y >= 0  # noqa: E741
    base = [np.outer(v, v) for v in V[l].T]
    free = np.arange(10) == 0 if improved else None
    mu = ordered_spectrum_by_qcqp(base, target(y), free)
    ours = alignment(learner.kernel_()[np.ix_(l, l)], target(y))
    assert ours == pytest.approx(alignment((V[l] * mu) @ V[l].T, target(y)), abs=1e-8)
    start = 1 if improved else 0
    assert (np.diff(learner.weights_[start:]) <= 1e-12).all()


def test_improvement_frees_the_offset() -> None:
    X, y = blobs(2, seed=1)
    plain, improved = (OrderedKernel(flag).fit(X, y) for flag in (False, True))
    assert improved.weights_[0] < improved.weights_[1]
    assert improved.certificate_.alignment > plain.certificate_.alignment + 1e-3


def test_without_a_constant_eigenvector_improved_changes_nothing() -> None:
    X, y = blobs(2, seed=1)
    basis = GraphBasis(20, weights="binary", laplacian="normalized")
    plain, improved = (OrderedKernel(flag, basis=basis).fit(X, y) for flag in (0, 1))
    assert np.array_equal(plain.weights_, improved.weights_)


def test_default_graph_is_unweighted_with_ten_neighbours() -> None:
    X, y = blobs(2)
    basis = OrderedKernel().fit(X, y).basis_
    assert basis.vectors_.shape == (60, 20)
    assert set(basis.graph_.adjacency.data) == {1.0}
    assert np.diff(basis.graph_.adjacency.indptr).min() == 10


@pytest.mark.parametrize("learner", [OrderedKernel(True, 12), DecayingKernel(1.3, 12)])
def test_kernel_does_not_depend_on_bases_of_eigenspaces(learner) -> None:
    ring = np.roll(np.eye(6), 1, axis=0)
    path = np.diag(np.ones(8), 1)
    W = block_diag(ring + ring.T, ring + ring.T, path + path.T)
    # 14 directions end between two eigenvalues.
    basis = GraphBasis(12, affinity="precomputed", laplacian="combinatorial").fit(W)
    assert not basis.certificate_.cuts_repeated_value
    y = np.full(len(W), -1)
    y[[0, 3, 7, 14, 18]] = [0, 1, 1, 0, 1]
    turned = rotate_eigenspaces(basis.vectors_, basis.values_, 2)
    K, K_turned = (
        learner.set_params(basis=GivenBasis(U, basis.values_)).fit(W, y).kernel_()
        for U in (basis.vectors_, turned)
    )
    assert np.abs(turned - basis.vectors_).max() > 0.1
    assert np.allclose(K, K_turned, rtol=0, atol=1e-10 * np.abs(K).max())


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (DecayingKernel(0.5), "decay"),
        (DecayingKernel(n_components=0), "n_components"),
        (DecayingKernel(target="all"), "target must be 'sum' or 'each'"),
        (OrderedKernel(n_components=0), "n_components"),
        (OrderedKernel(basis=GramBasis()), "values of a Laplacian"),
    ],
)
def test_bad_parameters_are_named(learner, match) -> None:
    X, y = blobs(2)
    with pytest.raises(ValueError, match=match):
        learner.fit(X, y)


@pytest.mark.parametrize("energy", [0.5, 0.95])
def test_directions_by_cumulative_energy(energy) -> None:
    X, y = blobs(2)
    by_share = DecayingKernel(n_components=energy).fit(X, y)
    squared = euclidean_distances(X, squared=True)
    spectrum = np.linalg.eigvalsh(np.exp(-squared / squared.mean()))[::-1]
    wanted = int(np.searchsorted(np.cumsum(spectrum) / spectrum.sum(), energy)) + 1
    assert by_share.basis_.vectors_.shape[1] == wanted
    whole = GramBasis(None, kernel=by_share.basis_.kernel).fit(X)
    given = DecayingKernel(n_components=energy, basis=whole).fit(X, y)
    assert np.flatnonzero(given.weights_).max() < wanted
    np.testing.assert_allclose(given.kernel_(), by_share.kernel_(), atol=1e-8)
    by_number = DecayingKernel(n_components=wanted).fit(X, y)
    np.testing.assert_allclose(by_number.kernel_(), by_share.kernel_(), atol=1e-8)


def test_energy_is_that_of_a_kernel_and_must_be_there() -> None:
    X, y = blobs(2)
    with pytest.raises(ValueError, match="values of this basis rise"):
        DecayingKernel(n_components=0.9, basis=GraphBasis(10)).fit(X, y)
    few = GramBasis(2, kernel="rbf")
    with pytest.raises(ValueError, match="the 2 directions of the basis have"):
        DecayingKernel(n_components=0.99, basis=few).fit(X, y)
    for wrong in (1.5, 1.0):
        with pytest.raises(ValueError, match="share of the trace below 1"):
            DecayingKernel(n_components=wrong).fit(X, y)
    with pytest.raises(ValueError, match="finite number above 0"):
        DecayingKernel(n_components=0.0).fit(X, y)
