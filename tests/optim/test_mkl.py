import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from mercer.optim.mkl import solve_mkl
from oracles.machines import mkl_by_qcqp


def problem(seed, n=24, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    codes = np.argsort(np.argsort(X[:, 0] * X[:, 1] + 0.3 * X[:, 2])) * n_classes // n
    grams = [rbf_kernel(X, gamma=g) for g in (0.05, 0.3, 2.0)]
    grams += [polynomial_kernel(X[:, [j]], degree=2) for j in range(3)]
    grams = np.stack([K / np.trace(K) for K in grams])
    signs = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    return grams, signs[:, 1:] if n_classes == 2 else signs


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_objective_is_within_the_gap_of_the_qcqp(seed, C, n_classes):
    pytest.importorskip("cvxpy")
    grams, signs = problem(seed, n_classes=n_classes)
    fit = solve_mkl(grams, signs, C=C)
    best, _ = mkl_by_qcqp(grams, signs, C)
    slack = 1e-6 * best
    assert fit.relative_gap <= 1e-3
    assert best - slack <= fit.objective <= best + fit.gap + slack
    assert fit.weights.min() >= 0
    np.testing.assert_allclose(fit.weights.sum(), 1.0)


@pytest.mark.parametrize(("seed", "n_used"), [(0, 2), (1, 1), (2, 2), (3, 4)])
def test_tight_gap_finds_the_weights_of_the_qcqp(seed, n_used):
    """The matrices are independent, so that the optimum is one point."""
    pytest.importorskip("cvxpy")
    grams, signs = problem(seed)
    fit = solve_mkl(grams, signs, C=100.0, tol=1e-6)
    best, weights = mkl_by_qcqp(grams, signs, 100.0)
    assert abs(fit.objective - best) <= 2e-6 * best
    np.testing.assert_allclose(fit.weights, weights, atol=5e-5)
    assert np.count_nonzero(fit.weights) == n_used


def test_one_kernel_is_the_support_vector_machine():
    grams, signs = problem(3)
    fit = solve_mkl(grams[:1], signs, C=5.0)
    machine = SVC(C=5.0, kernel="precomputed", tol=1e-8).fit(grams[0], signs[:, 0])
    theirs = machine.decision_function(grams[0])
    ours = grams[0] @ fit.dual_coef[:, 0] + fit.intercept[0]
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_gap_bounds_the_distance_of_any_weights_from_the_optimum():
    """The uniform start is certified too: its gap covers the whole way."""
    pytest.importorskip("cvxpy")
    grams, signs = problem(2)
    with pytest.warns(ConvergenceWarning, match=r"duality gap .* after 0 steps"):
        start = solve_mkl(grams, signs, C=10.0, tol=1e-9, max_iter=0)
    best, _ = mkl_by_qcqp(grams, signs, 10.0)
    assert best <= start.objective <= best + start.gap
    assert start.gap > 1e-3 * start.objective


def test_order_of_kernels_does_not_matter():
    grams, signs = problem(4)
    order = np.array([3, 0, 5, 1, 4, 2])
    one = solve_mkl(grams, signs, C=10.0)
    other = solve_mkl(grams[order], signs, C=10.0)
    np.testing.assert_allclose(one.objective, other.objective, rtol=1e-3)
