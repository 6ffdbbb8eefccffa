"""Non-negative least squares: optimality, an independent solver, degenerate input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls as scipy_nnls

from mercer.optim.nnls import solve_nnls


def problem(seed: int, rows: int, columns: int, rank: int):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    return A * 10.0 ** rng.uniform(-4, 4, size=columns), rng.normal(size=rows)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 12),
    columns=st.integers(1, 12),
    rank=st.integers(1, 12),
)
def test_solution_satisfies_kkt_and_matches_scipy(seed, rows, columns, rank) -> None:
    A, t = problem(seed, rows, columns, min(rank, rows, columns))
    result = solve_nnls(A.T @ A, A.T @ t)
    # The norm that SciPy returns beside x can be wrong (seed 199731, 6 x 11, rank 3).
    norm = np.linalg.norm(A @ scipy_nnls(A, t)[0] - t)
    ours = np.linalg.norm(A @ result.x - t)
    assert (result.x >= 0).all()
    assert result.kkt_residual <= 1e-10
    assert abs(ours - norm) <= 1e-7 * np.linalg.norm(t)
    # Optimality from A itself, not from the normal equations.
    unit = A / np.linalg.norm(A, axis=0)
    descent = unit.T @ (t - A @ result.x) / np.linalg.norm(t)
    assert descent.max() <= 1e-7
    assert np.abs(descent[result.x > 0]).max(initial=0.0) <= 1e-7


def test_large_problem_reaches_rounding() -> None:
    A, t = problem(0, 400, 300, 300)
    result = solve_nnls(A.T @ A, A.T @ t)
    assert result.kkt_residual <= 1e-11
    assert np.count_nonzero(result.x) > 50
    _, norm = scipy_nnls(A, t)
    assert np.linalg.norm(A @ result.x - t) == pytest.approx(norm, rel=1e-10)


def test_descent_nowhere_gives_zero() -> None:
    result = solve_nnls(np.eye(3), np.array([-1.0, -2.0, 0.0]))
    assert np.array_equal(result.x, np.zeros(3))
    assert result.objective == 0.0
    assert result.kkt_residual == 0.0


def test_equal_and_zero_columns_are_harmless() -> None:
    a = np.array([3.0, 4.0])
    A = np.stack([a, a, np.zeros(2), -a], axis=1)
    result = solve_nnls(A.T @ A, A.T @ a)
    assert np.allclose(A @ result.x, a, rtol=0, atol=1e-14)
    assert result.x[2] == 0.0


def test_residual_tells_when_stopped_early() -> None:
    A, t = problem(1, 30, 20, 20)
    early = solve_nnls(A.T @ A, A.T @ t, max_iter=2)
    assert early.n_iter == 2
    assert early.kkt_residual > 1e-3


def test_input_is_left_alone() -> None:
    A, t = problem(2, 9, 5, 5)
    H, c = A.T @ A, A.T @ t
    kept = H.copy(), c.copy()
    solve_nnls(H, c)
    assert np.array_equal(H, kept[0])
    assert np.array_equal(c, kept[1])
