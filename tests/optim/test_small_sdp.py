import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.optim.small_sdp import solve_small_sdp


def random_problem(seed, q, k):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((q, k, k))
    B = (B + B.transpose(0, 2, 1)) / 2
    return B, rng.standard_normal(q)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), q=st.integers(1, 5), k=st.integers(4, 9))
def test_solution_is_feasible_and_bound_is_below(seed, q, k):
    B, c = random_problem(seed, q, k)
    box = np.full(q, 50.0)
    tol = 1e-7
    solution = solve_small_sdp(B, c, box=box, radius=box, tol=tol)
    F = np.eye(k) + np.tensordot(solution.y, B, axes=1)
    assert np.linalg.eigvalsh(F)[0] >= -1e-10
    assert (np.abs(solution.y) <= box).all()
    assert solution.lower_bound <= c @ solution.y
    if (np.abs(solution.y) < 0.5 * box).all():
        assert c @ solution.y - solution.lower_bound <= tol


@pytest.mark.parametrize("seed", range(4))
def test_optimum_agrees_with_a_general_solver(seed):
    cp = pytest.importorskip("cvxpy")
    B, c = random_problem(seed, 3, 6)
    box = np.full(3, 5.0)
    y = cp.Variable(3)
    inequality = np.eye(6) + sum(y[j] * B[j] for j in range(3)) >> 0
    problem = cp.Problem(cp.Minimize(c @ y), [inequality, cp.abs(y) <= 5])
    problem.solve(solver=cp.CLARABEL)
    ours = solve_small_sdp(B, c, box=box, radius=box, tol=1e-8)
    assert c @ ours.y == pytest.approx(problem.value, abs=1e-6)


def test_no_bound_is_claimed_when_only_the_box_stops_the_descent():
    B = np.array([np.diag([1.0, 2.0])])  # y may grow without end
    box, radius = np.array([10.0]), np.array([1e6])
    solution = solve_small_sdp(B, np.array([-1.0]), box=box, radius=radius, tol=1e-6)
    assert solution.y[0] == pytest.approx(10.0, abs=1e-4)
    assert solution.lower_bound < -1e5
