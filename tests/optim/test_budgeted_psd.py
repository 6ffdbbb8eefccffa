import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.optim.budgeted_psd import solve_budgeted_psd
from mercer.optim.psd_ball import project_psd_ball


def symmetric(seed, side):
    A = np.random.default_rng(seed).normal(size=(side, side))
    return A + A.T


@given(seed=st.integers(0, 10**6), side=st.integers(1, 8), budget=st.floats(0.1, 100))
@settings(max_examples=50, deadline=None)
def test_solution_satisfies_kkt(seed, side, budget):
    A = symmetric(seed, side)
    best = solve_budgeted_psd(A, budget=budget)
    K = (best.vectors * best.values) @ best.vectors.T
    lam = np.trace(A @ K) / (2 * budget)
    Z = 2 * lam * K - A  # multiplier of K >= 0
    tol = 1e-9 * (1 + np.abs(A).max()) * (1 + np.sqrt(budget))
    assert np.sum(K * K) <= budget * (1 + 1e-12)
    assert np.linalg.eigvalsh(Z).min() >= -tol
    assert np.abs(K @ Z).max() <= tol
    assert best.objective == pytest.approx(best.bound, rel=1e-12, abs=tol)


def test_no_positive_eigenvalue_gives_the_zero_kernel():
    best = solve_budgeted_psd(-np.eye(3), budget=2.0)
    assert best.values.size == 0
    assert best.objective == best.bound == 0.0


@pytest.mark.parametrize("budget", [0.0, -1.0, np.nan])
def test_budget_must_be_positive(budget):
    with pytest.raises(ValueError, match="budget must be positive"):
        solve_budgeted_psd(np.eye(2), budget=budget)


@pytest.mark.parametrize("budget", [1e-2, 1e3])
def test_projection_is_nearest(budget):
    """<W - P(W), K - P(W)> <= 0 for every feasible K: the projection's theorem."""
    rng = np.random.default_rng(3)
    W = symmetric(1, 6)
    near = project_psd_ball(W.copy(), budget=budget)
    projected = (near.range * near.values) @ near.range.T
    for _ in range(200):
        V = rng.normal(size=(6, rng.integers(1, 7)))
        K = V @ V.T
        K *= min(1.0, np.sqrt(budget) / np.linalg.norm(K))
        assert np.sum((W - projected) * (K - projected)) <= 1e-9


@pytest.mark.parametrize("budget", [1e-2, 1e3], ids=["ball active", "ball inactive"])
def test_derivative_of_the_projection(budget):
    W, H, step = symmetric(1, 6), symmetric(2, 6), 1e-6

    def project(M):
        near = project_psd_ball(M.copy(), budget=budget)
        return (near.range * near.values) @ near.range.T

    near = project_psd_ball(W.copy(), budget=budget)
    Z, Q = near.derivative(H @ near.range, near.scale)
    difference = (project(W + step * H) - project(W - step * H)) / (2 * step)
    np.testing.assert_allclose(Z @ Q.T + Q @ Z.T, difference, atol=1e-7)
