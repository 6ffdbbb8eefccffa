"""SKL with given and with chosen C and mu."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import make_blobs

from mercer.learners.closed_form import (
    C_GRID,
    MU_GRID,
    ClosedFormKernel,
    ClosedFormKernelCV,
)
from mercer.machines.rls import RLSClassifier
from mercer.optim.manifold import inverted_folds
from mercer.spectrum.graph import GraphBasis
from oracles.learners import GivenBasis, problem_seven, rotate_eigenspaces


def blobs(n: int = 60, seed: int = 0, every: int = 3):
    X, y = make_blobs(n, n_features=2, centers=3, cluster_std=2.0, random_state=seed)
    return X, y, np.where(np.arange(n) % every == 0, y, -1)


def test_kernel_minimises_problem_seven() -> None:
    X, _, y = blobs(24)
    C, mu, eps = 20.0, 0.05, 1e-3
    learner = ClosedFormKernel(
        C, mu, basis=GraphBasis(None, n_neighbors=4), eps=eps
    ).fit(X, y)
    U, gamma = learner.basis_.vectors_, learner.basis_.values_
    L = (U * (gamma**2 + eps)) @ U.T
    Y = np.zeros((24, 3))
    Y[y >= 0, y[y >= 0]] = 1.0
    best = problem_seven(learner.kernel_(), L, Y, C, mu)
    assert learner.certificate_.objective == pytest.approx(best, rel=1e-10)
    assert learner.certificate_.kkt_residual <= 1e-10
    rng = np.random.default_rng(0)
    for _ in range(30):
        scale = np.exp(0.1 * rng.normal(size=len(gamma)))
        other = (U * (learner.weights_ * scale + 1e-3 * rng.random(len(gamma)))) @ U.T
        assert problem_seven(other, L, Y, C, mu) > best


def test_invariant_under_rotation_of_eigenspaces() -> None:
    ring = np.roll(np.eye(7), 1, axis=0)
    W = block_diag(ring + ring.T, ring + ring.T)
    basis = GraphBasis(None, affinity="precomputed").fit(W)
    y = np.full(14, -1)
    y[[0, 3, 9]] = [0, 1, 0]
    K, turned = (
        ClosedFormKernel(10.0, 0.1, basis=GivenBasis(U, basis.values_))
        .fit(W, y)
        .kernel_()
        for U in (
            basis.vectors_,
            rotate_eigenspaces(basis.vectors_, basis.values_, 0),
        )
    )
    assert np.allclose(K, turned, rtol=0, atol=1e-10 * np.abs(K).max())


def test_everything_cut_at_zero_is_an_error() -> None:
    X, _, y = blobs()
    with pytest.raises(ValueError, match="raise C or lower mu"):
        ClosedFormKernel(C=1e-9, mu=1e3).fit(X, y)


def test_cv_scores_are_those_of_the_learner_and_machine_fold_by_fold() -> None:
    X, truth, y = blobs()
    Cs, mus = (10.0, 0.5), (1e-3, 1.0, 1e-1)
    basis = GraphBasis(20, n_neighbors=6, random_state=0)
    cv = ClosedFormKernelCV(Cs, mus, basis=basis, random_state=3).fit(X, y)
    labeled = np.flatnonzero(y >= 0)
    folds = inverted_folds(y[labeled], 5)
    expected = np.zeros((2, 3))
    for i, C in enumerate(Cs):
        for j, mu in enumerate(mus):
            for train, test in folds:
                partly = np.full(len(y), -1)
                partly[labeled[train]] = y[labeled[train]]
                kernel = ClosedFormKernel(C, mu, basis=basis)
                machine = RLSClassifier(kernel, C=C).fit(X, partly)
                hits = machine.transduction_ == truth
                expected[i, j] += hits[labeled[test]].mean() / len(folds)
    assert cv.scores_ == pytest.approx(expected, abs=1e-12)
    assert cv.scores_.max() == expected[Cs.index(cv.C_), mus.index(cv.mu_)]
    refitted = ClosedFormKernel(cv.C_, cv.mu_, basis=basis).fit(X, y)
    assert np.array_equal(cv.weights_, refitted.weights_)


def test_ties_go_to_the_smallest_c_then_the_largest_mu() -> None:
    X, y = make_blobs(60, centers=[[0, 0], [90, 90]], random_state=0)  # all cells right
    few = np.where(np.arange(60) % 3 == 0, y, -1)
    cv = ClosedFormKernelCV((10.0, 1.0, 100.0), (1e-4, 1e-2, 1e-3), random_state=0)
    cv.fit(X, few)
    assert (cv.scores_ == 1.0).all()
    assert (cv.C_, cv.mu_) == (1.0, 1e-2)


def test_cells_without_a_kernel_are_never_chosen() -> None:
    X, _, y = blobs()
    cv = ClosedFormKernelCV((1e-9, 100.0), (1.0, 1e-2), random_state=0).fit(X, y)
    assert np.isnan(cv.scores_[0]).all()
    assert cv.C_ == 100.0
    with pytest.raises(ValueError, match="no pair of C and mu leaves a kernel"):
        ClosedFormKernelCV((1e-9,), (1.0,)).fit(X, y)


def test_grids_are_those_of_the_paper() -> None:
    assert ClosedFormKernelCV().Cs == C_GRID == tuple(10.0**k for k in range(-3, 4))
    assert ClosedFormKernelCV().mus == MU_GRID
    assert MU_GRID == (1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)


def test_few_labels_of_a_class_serve_in_several_folds() -> None:
    X, _, _ = blobs()
    y = np.full(60, -1)
    y[:6] = [0, 0, 0, 1, 1, 2]
    cv = ClosedFormKernelCV((10.0, 100.0), (1e-2, 1e-1)).fit(X, y)
    assert np.isfinite(cv.scores_).all()
    assert np.isfinite(cv.kernel_()).all()


def test_one_label_per_class_leaves_nothing_to_validate_on() -> None:
    X, truth, _ = blobs()
    y = np.full(60, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[0]] = c
    with pytest.raises(ValueError, match="nothing to validate on"):
        ClosedFormKernelCV().fit(X, y)


def test_bad_grids_are_named() -> None:
    X, _, y = blobs()
    with pytest.raises(
        ValueError, match=r"Cs\[0\] must be a finite number above 0; got 0"
    ):
        ClosedFormKernelCV(Cs=(0.0, 1.0)).fit(X, y)
