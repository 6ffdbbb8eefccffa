"""Non-negative least squares: optimality, an independent solver, degenerate input."""

from itertools import combinations

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


def least_norm(A, t) -> float:
    """Return the distance to the cone of the columns, by trying all subsets of them.

    The nearest point is a least-squares fit on independent columns. SciPy is no
    reference here: 1.13 gives up on dependent columns.
    """
    unit = A / np.linalg.norm(A, axis=0)
    best = float(np.linalg.norm(t))
    for size in range(1, min(A.shape) + 1):
        for chosen in combinations(range(A.shape[1]), size):
            x, _, rank, _ = np.linalg.lstsq(unit[:, chosen], t, rcond=1e-10)
            if rank == size and (x >= 0).all():
                best = min(best, float(np.linalg.norm(unit[:, chosen] @ x - t)))
    return best


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 12),
    columns=st.integers(1, 8),
    rank=st.integers(1, 8),
)
def test_solution_satisfies_kkt_and_beats_all_subsets(
    seed, rows, columns, rank
) -> None:
    check_optimum(*problem(seed, rows, columns, min(rank, rows, columns)))


@pytest.mark.parametrize(("seed", "n"), [(2187, 5), (461, 6), (5805, 5)])
def test_nearly_dependent_columns_cost_what_rounding_explains(seed, n) -> None:
    """Seed 2187: four columns within 6e-5 of a plane have coordinates of 20,000."""
    check_optimum(*problem(seed, 4, n, 4))


def check_optimum(A, t) -> None:
    result = solve_nnls(A.T @ A, A.T @ t)
    rounding = 10 * rounding_error(A, t, result.x)
    length = np.linalg.norm(t)
    assert (result.x >= 0).all()
    assert result.kkt_residual <= 1e-11 + rounding  # tol, and rounding
    ours = np.linalg.norm(A @ result.x - t)
    assert abs(ours - least_norm(A, t)) <= (1e-7 + rounding) * length
    # Optimality from A itself, not from the normal equations.
    unit = A / np.linalg.norm(A, axis=0)
    descent = unit.T @ (t - A @ result.x) / length
    assert descent.max() <= 1e-7 + rounding
    assert np.abs(descent[result.x > 0]).max(initial=0.0) <= 1e-7 + rounding


def rounding_error(A, t, x) -> float:
    """Return what rounding of A'A and A't does to the gradient, to first order.

    It moves x by eps (|t| + |x|) / s**2 along the direction of the smallest singular
    value s of the columns in use; A times that is 1 / s of it.
    """
    lengths = np.linalg.norm(A, axis=0)
    used = x > 0
    if not used.any():
        return 0.0
    target = np.abs(A.T @ t / lengths).max()
    s = np.linalg.svd(A[:, used] / lengths[used], compute_uv=False)[-1]
    size = np.linalg.norm(t) + np.abs(x * lengths).sum()
    return float(np.finfo(float).eps * size / (target * s))


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
