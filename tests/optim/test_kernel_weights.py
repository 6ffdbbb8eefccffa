import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from mercer.optim.kernel_stack import DenseStack, FactoredStack
from mercer.optim.kernel_weights import solve_kernel_weights
from oracles.annealed import best_kernel_weights


def problem(seed, n=15, N=5, m=1):
    rng = np.random.default_rng(seed)
    features = [rng.standard_normal((n, int(r))) for r in rng.integers(1, 6, N)]
    K = np.array([f @ f.T for f in features])
    noise = rng.uniform(0.1, 2, n)
    return features, K, noise, rng.standard_normal((n, m))


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_optimum_agrees_with_a_conic_solver(seed, m):
    pytest.importorskip("cvxpy")
    _, K, noise, targets = problem(seed, m=m)
    start = np.eye(5)[0]
    ours = solve_kernel_weights(
        DenseStack(K, noise), targets, weights=start, tol=1e-9, max_iter=200
    )
    weights, value = best_kernel_weights(K, targets, noise)
    assert ours.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(ours.weights, weights, atol=1e-5)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), start=st.integers(0, 4), m=st.integers(1, 3))
def test_gap_is_an_upper_bound_and_weights_stay_on_the_simplex(seed, start, m):
    _, K, noise, targets = problem(seed, m=m)
    ours = solve_kernel_weights(
        DenseStack(K, noise), targets, weights=np.eye(5)[start], max_iter=200
    )
    assert ours.weights.min() >= 0
    assert ours.weights.sum() == pytest.approx(1, abs=1e-12)
    assert ours.gap <= 1e-7
    total = np.tensordot(ours.weights, K, axes=1) + np.diag(noise)
    c = np.linalg.solve(total, targets)
    assert ours.value == pytest.approx(np.vdot(targets, c), rel=1e-9)
    # No vertex of the simplex does better than the certificate allows.
    for k in K:
        other = np.vdot(targets, np.linalg.solve(k + np.diag(noise), targets))
        assert other >= ours.value * (1 - ours.gap) - 1e-9


@pytest.mark.parametrize("m", [1, 2])
def test_factored_and_dense_kernels_agree(m):
    features, K, noise, targets = problem(7, m=m)
    weights = np.array([0.3, 0.0, 0.5, 0.2, 0.0])
    dense = DenseStack(K, noise).factor(weights)(targets)
    factored = FactoredStack(features, noise).factor(weights)(targets)
    assert factored.value == pytest.approx(dense.value, rel=1e-10)
    np.testing.assert_allclose(factored.scores, dense.scores, rtol=1e-9)
    np.testing.assert_allclose(factored.coef(), dense.coef(), atol=1e-10)
    some = np.array([0, 1, 3])
    np.testing.assert_allclose(
        factored.curvature(some), dense.curvature(some), rtol=1e-8
    )


def test_scores_and_curvature_are_derivatives_of_the_value():
    _, K, noise, targets = problem(3, m=2)
    stack = DenseStack(K, noise)
    weights = np.full(5, 0.2)
    point = stack.factor(weights)(targets)
    everything = np.arange(5)
    hessian = point.curvature(everything)
    step = 1e-5
    for j in range(5):
        ahead = stack.factor(weights + step * np.eye(5)[j])(targets)
        behind = stack.factor(weights - step * np.eye(5)[j])(targets)
        slope = (ahead.value - behind.value) / (2 * step)
        assert slope == pytest.approx(-point.scores[j], rel=1e-6)
        bend = (behind.scores - ahead.scores) / (2 * step)
        np.testing.assert_allclose(bend, hessian[j], rtol=1e-5, atol=1e-7)


def test_too_few_steps_warn_with_the_gap():
    _, K, noise, targets = problem(0)
    with pytest.warns(ConvergenceWarning, match="gap .* > tol"):
        solve_kernel_weights(
            DenseStack(K, noise), targets, weights=np.eye(5)[0], max_iter=0
        )
