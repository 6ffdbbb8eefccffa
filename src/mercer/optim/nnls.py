"""Non-negative least squares from the normal equations."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from mercer._base.typing import FloatArray

# A column this close (squared sine of the angle) to the span of the columns already
# in use adds nothing but rounding error.
_DEPENDENT = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class NonNegativeLeastSquares:
    """Optimum of `solve_nnls`."""

    x: FloatArray  # (d,), all >= 0
    objective: float  # x'Hx/2 - c'x
    kkt_residual: float  # largest violation, columns and target of unit length
    n_iter: int


def solve_nnls(
    H: FloatArray, c: FloatArray, *, tol: float = 1e-11, max_iter: int | None = None
) -> NonNegativeLeastSquares:
    r"""Minimise :math:`\tfrac12 x^\top H x - c^\top x` over :math:`x \ge 0`.

    With :math:`H = A^\top A` and :math:`c = A^\top t` this is non-negative least
    squares; only the small d x d matrix is needed, never A.

    Parameters
    ----------
    H : ndarray of shape (d, d)
        Symmetric positive semi-definite; may be singular.
    c : ndarray of shape (d,)
        In the range of H (it is, when both come from the same A).
    tol : float, default=1e-11
        Stop when no gradient entry, each divided by the length of its column and
        by the largest such entry at x = 0, is below ``-tol``.
    max_iter : int, optional
        Bound on the number of inner solves, default ``10 * d``.

    Notes
    -----
    Active set method of Lawson and Hanson (1974), on the normal equations, with a
    Cholesky factor that grows by one row per step. A column that depends on those
    already in use is passed over: its gradient vanishes with theirs.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> solve_nnls(A.T @ A, A.T @ np.array([2.0, -1.0, 0.5])).x
    array([2., 0.])
    """
    limit = 10 * len(c) if max_iter is None else max_iter
    x, kkt_residual, n_iter = _solve_scaled(H, c, tol, limit)
    return NonNegativeLeastSquares(
        x=x,
        objective=float(x @ (H @ x) / 2 - c @ x),
        kkt_residual=kkt_residual,
        n_iter=n_iter,
    )


@njit(cache=True)
def _solve_scaled(H, c, tol, max_iter):  # type: ignore[no-untyped-def]
    """Bring columns and target to unit length, solve, and measure optimality."""
    d = len(c)
    length = np.ones(d)
    for i in range(d):
        if H[i, i] > 0.0:
            length[i] = np.sqrt(H[i, i])
    c_unit = c / length
    target = np.abs(c_unit).max() if d > 0 else 0.0
    if target == 0.0:
        return np.zeros(d), 0.0, 0
    c_unit /= target
    H_unit = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            H_unit[i, j] = H[i, j] / (length[i] * length[j])
    x, n_iter = _lawson_hanson(H_unit, c_unit, tol, max_iter)
    residual = 0.0
    for i in range(d):
        descent = c_unit[i]
        for j in range(d):
            descent -= H_unit[i, j] * x[j]
        residual = max(residual, abs(descent) if x[i] > 0.0 else descent)
    return x * target / length, residual, n_iter


@njit(cache=True)
def _lawson_hanson(H, c, tol, max_iter):  # type: ignore[no-untyped-def]
    """Return x and the number of solves; H has unit (or zero) diagonal."""
    d = len(c)
    x = np.zeros(d)
    L = np.zeros((d, d))  # Cholesky factor of H[used][:, used]
    used = np.empty(d, np.int64)
    n_used = 0
    is_used = np.zeros(d, np.bool_)
    passed_over = np.zeros(d, np.bool_)
    n_iter = 0
    while n_iter < max_iter:
        best, j = tol, -1
        for i in range(d):
            if is_used[i] or passed_over[i]:
                continue
            descent = c[i]
            for k in range(n_used):
                descent -= H[i, used[k]] * x[used[k]]
            if descent > best:
                best, j = descent, i
        if j < 0:
            break
        if not _append(L, H, used, n_used, j):
            passed_over[j] = True
            continue
        is_used[j] = True
        n_used += 1
        while n_iter < max_iter:
            n_iter += 1
            z = _solve(L, c, used, n_used)
            step, blocking = 1.0, -1
            for k in range(n_used):
                if z[k] <= 0.0:
                    ratio = x[used[k]] / (x[used[k]] - z[k]) if z[k] < 0.0 else 0.0
                    if ratio < step or blocking < 0:
                        step, blocking = ratio, k
            for k in range(n_used):
                x[used[k]] += step * (z[k] - x[used[k]])
            if blocking < 0:
                break
            x[used[blocking]] = 0.0
            is_used[used[blocking]] = False
            for k in range(blocking + 1, n_used):
                _append(L, H, used, k - 1, used[k])
            n_used -= 1
        if is_used[j]:
            passed_over[:] = False
        else:
            passed_over[j] = True
    return x, n_iter


@njit(cache=True)
def _append(L, H, used, n_used, j):  # type: ignore[no-untyped-def]
    """Add column j behind the first `n_used`; False if it depends on them."""
    used[n_used] = j
    pivot = H[j, j]
    for k in range(n_used):
        entry = H[j, used[k]]
        for m in range(k):
            entry -= L[n_used, m] * L[k, m]
        L[n_used, k] = entry / L[k, k]
        pivot -= L[n_used, k] ** 2
    if pivot <= _DEPENDENT:
        return False
    L[n_used, n_used] = np.sqrt(pivot)
    return True


@njit(cache=True)
def _solve(L, c, used, n_used):  # type: ignore[no-untyped-def]
    """Solve L L' z = c[used] for the first `n_used` columns."""
    z = np.empty(n_used)
    for k in range(n_used):
        z[k] = c[used[k]]
        for m in range(k):
            z[k] -= L[k, m] * z[m]
        z[k] /= L[k, k]
    for k in range(n_used - 1, -1, -1):
        for m in range(k + 1, n_used):
            z[k] -= L[m, k] * z[m]
        z[k] /= L[k, k]
    return z
