"""A primal-dual method for one small linear matrix inequality in few variables."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer._base.typing import FloatArray

_CENTER_POWER = 3  # Mehrotra's exponent in the choice of the centring weight
_BACK_OFF = 0.95  # share of the way to the boundary that a step may take


@dataclass(frozen=True, slots=True, eq=False)
class SmallSDP:
    """Approximate optimum of `solve_small_sdp`."""

    y: FloatArray  # (q,) strictly feasible
    lower_bound: float  # on the optimum without the box; -inf if none was found
    n_iter: int


def solve_small_sdp(
    B: FloatArray,
    c: FloatArray,
    *,
    box: FloatArray,
    radius: FloatArray,
    tol: float,
    max_iter: int = 60,
) -> SmallSDP:
    r"""Minimise :math:`c^\top y` subject to one linear matrix inequality and a box.

    .. math:: I + \sum_j y_j B_j \succeq 0, \qquad |y_j| \le \text{box}_j.

    The dual is :math:`\max -\operatorname{tr} Z` over :math:`Z \succeq 0` with
    :math:`\langle B_j, Z\rangle = c_j`. Predictor-corrector steps along the HKM
    direction; the Schur complement is used through a QR factor, never formed, since
    its condition number is the square of that of the factor.

    Parameters
    ----------
    B : ndarray of shape (q, k, k)
        Symmetric matrices.
    c : ndarray of shape (q,)
    box : ndarray of shape (q,)
        Keeps the problem bounded while the inequality alone does not.
    radius : ndarray of shape (q,)
        Bounds on ``|y_j|`` known to hold for the points one cares for; they turn
        the rounding error of the dual equations into a rigorous bound.
    tol : float
        Gap at which to stop.
    max_iter : int, default=60

    Examples
    --------
    Minimise y subject to ``[[1, y], [y, 1]]`` being positive semi-definite.

    >>> B = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> ten = np.array([10.0])
    >>> solution = solve_small_sdp(B, np.ones(1), box=ten, radius=ten, tol=1e-9)
    >>> solution.y.round(6)
    array([-1.])
    """
    q, k, _ = B.shape
    boxed = _with_box(B, box)
    flat = boxed.reshape(q, -1)
    size = boxed.shape[1]
    y, F, Z = np.zeros(q), np.eye(size), np.eye(size)
    lower = -np.inf
    for n_iter in range(max_iter + 1):  # noqa: B007
        residual = c - flat @ Z.ravel()
        gap = c @ y + np.trace(Z) + box @ np.abs(residual)
        if gap <= tol:
            lower = _dual_bound(B, c, F[:k, :k], Z[:k, :k], radius)
            if c @ y - lower <= tol or gap <= 0.1 * tol:
                break
        try:
            y, F, Z = _advance(flat, c, y, F, Z)
        except np.linalg.LinAlgError:  # rounding has used up the interior
            lower = _dual_bound(B, c, F[:k, :k], Z[:k, :k], radius)
            break
    return SmallSDP(y, float(lower), n_iter)


def _with_box(B: FloatArray, box: FloatArray) -> FloatArray:
    """Append 1 + y_j / box_j and 1 - y_j / box_j to the diagonal."""
    q, k, _ = B.shape
    boxed = np.zeros((q, k + 2 * q, k + 2 * q))
    boxed[:, :k, :k] = B
    j = np.arange(q)
    boxed[j, k + j, k + j] = 1 / box
    boxed[j, k + q + j, k + q + j] = -1 / box
    return boxed


def _advance(
    flat: FloatArray, c: FloatArray, y: FloatArray, F: FloatArray, Z: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    size = len(F)
    Lf, Lz = _cholesky(F), _cholesky(Z)
    inverse_Lf = _lower_solve(Lf, np.eye(size))
    inverse_F = inverse_Lf.T @ inverse_Lf
    R = _schur_factor(flat, inverse_Lf, Lz)
    mu = float(np.vdot(Z, F)) / size

    dy = -_normal_solve(R, c)
    dF = (dy @ flat).reshape(size, size)
    dZ = -Z - _symmetric(Z @ dF @ inverse_F)
    step_F = min(1.0, _BACK_OFF * _room(Lf, dF))
    step_Z = min(1.0, _BACK_OFF * _room(Lz, dZ))
    mu_ahead = float(np.vdot(Z + step_Z * dZ, F + step_F * dF)) / size
    target = mu * max(mu_ahead / mu, 1e-12) ** _CENTER_POWER

    second_order = dZ @ dF @ inverse_F
    rhs = target * (flat @ inverse_F.ravel()) - c - flat @ second_order.ravel()
    dy = _normal_solve(R, rhs)
    dF = (dy @ flat).reshape(size, size)
    dZ = target * inverse_F - Z - _symmetric(Z @ dF @ inverse_F + second_order)
    step_F = min(1.0, _BACK_OFF * _room(Lf, dF))
    step_Z = min(1.0, _BACK_OFF * _room(Lz, dZ))
    return y + step_F * dy, F + step_F * dF, Z + step_Z * dZ


def _dual_bound(
    B: FloatArray, c: FloatArray, F: FloatArray, Z: FloatArray, radius: FloatArray
) -> float:
    """Move Z onto the dual equations and bound the objective from below by it."""
    flat = B.reshape(len(B), -1)
    try:
        Lf, Lz = _cholesky(F), _cholesky(Z)
        inverse_Lf = _lower_solve(Lf, np.eye(len(F)))
        R = _schur_factor(flat, inverse_Lf, Lz)
    except np.linalg.LinAlgError:
        return -np.inf
    shift = (_normal_solve(R, c - flat @ Z.ravel()) @ flat).reshape(F.shape)
    correction = _symmetric(Z @ shift @ inverse_Lf.T @ inverse_Lf)
    if _room(Lz, correction) < 1:
        return -np.inf
    Z = Z + correction
    residual = np.abs(c - flat @ Z.ravel())
    return float(-np.trace(Z) - radius @ residual)


def _schur_factor(
    flat: FloatArray, inverse_Lf: FloatArray, Lz: FloatArray
) -> FloatArray:
    """R of a QR factorisation with RᵀR = (tr(B_i Z B_j F⁻¹))_ij."""
    B = flat.reshape(len(flat), *Lz.shape)
    scaled = (inverse_Lf @ B @ Lz).reshape(len(flat), -1)
    R = np.asarray(np.linalg.qr(scaled.T, mode="r"))
    if np.abs(np.diag(R)).min() == 0:
        raise np.linalg.LinAlgError
    return R


def _normal_solve(R: FloatArray, v: FloatArray) -> FloatArray:
    half = solve_triangular(R, v, trans=1, check_finite=False)
    solution: FloatArray = solve_triangular(R, half, check_finite=False)
    return solution


def _room(L: FloatArray, direction: FloatArray) -> float:
    """Largest t with L Lᵀ + t direction still positive semi-definite."""
    half = _lower_solve(L, direction)
    lowest = np.linalg.eigvalsh(_symmetric(_lower_solve(L, half.T)))[0]
    return np.inf if lowest >= 0 else float(-1 / lowest)


def _cholesky(M: FloatArray) -> FloatArray:
    L: FloatArray = cholesky(M, lower=True, check_finite=False)
    return L


def _lower_solve(L: FloatArray, M: FloatArray) -> FloatArray:
    solution: FloatArray = solve_triangular(L, M, lower=True, check_finite=False)
    return solution


def _symmetric(M: FloatArray) -> FloatArray:
    return (M + M.T) / 2
