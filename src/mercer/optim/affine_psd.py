"""Affine combinations of kernel matrices that stay positive semi-definite."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigh, eigvalsh, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from mercer._base.typing import FloatArray
from mercer.optim.small_sdp import solve_small_sdp

# Squared norm, that of the average being one, below which a direction of combination
# is rounding error of the kernels magnified by the whitening.
_INDEPENDENT = 1e-11
_NEAR_ZERO = 1e-3  # whitened eigenvalues below this may be active at the optimum
_SMALLEST_UNIT = 1e-6  # of the gap, over the largest cost: the rest is rounding
_FIRST_BOX = 4.0
_BOX_GROWTH = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class AffineCombination:
    """Optimum of `solve_affine_psd`."""

    weights: FloatArray  # (b,) sum to one, any sign
    objective: float  # cost @ weights
    lower_bound: float  # no feasible combination of `n_directions` costs less
    gap: float  # (objective - lower_bound) / |objective|, or in the unit asked for
    smallest_eigenvalue: float  # of the combined matrix
    n_rounds: int
    n_cuts: int  # dimension of the subspace on which the inequality was imposed
    n_directions: int  # numerically independent ones, at most b - 1


@dataclass(frozen=True, slots=True, eq=False)
class _Whitened:
    """K(alpha) = L (I + sum_j y_j A_j) Lᵀ with alpha = 1/b + D y."""

    A: FloatArray  # (q, n, n), orthonormal in <A, B> / n
    D: FloatArray  # (b, q)
    radius: FloatArray  # (q,) |y_j| of every feasible combination


def solve_affine_psd(
    K: FloatArray,
    cost: FloatArray,
    *,
    tol: float = 1e-6,
    unit: float | None = None,
    slack: float = 1e-10,
    max_rounds: int = 60,
) -> AffineCombination:
    r"""Minimise a linear cost over affine combinations of kernels.

    .. math::
        \min_\alpha \; s^\top \alpha \quad \text{subject to} \quad
        \textstyle\sum_\ell \alpha_\ell K_\ell \succeq 0, \; 1^\top\alpha = 1.

    Parameters
    ----------
    K : ndarray of shape (b, n, n)
        Positive semi-definite with equal diagonals (Eq. 19 makes them ones).
    cost : ndarray of shape (b,)
        The vector s.
    tol : float, default=1e-6
        Largest gap, in units of `unit`.
    unit : float, optional
        By default the objective itself, or a millionth of the largest ``|cost|`` if
        that is more.
    slack : float, default=1e-10
        The combined matrix is kept above ``-slack`` times its mean diagonal. Without
        it the problem is ill posed for smooth kernels, whose smallest eigenvalues are
        rounding errors of either sign.
    max_rounds : int, default=60

    Notes
    -----
    Abbasnejad, Ramachandram, Mandava (2010), Eq. 31. A cutting-plane method in the b
    coefficients. Coordinates in which the plain average is the identity make it
    stable: the average is then far inside the feasible set, every trial point becomes
    feasible by shrinking it towards the average by the factor its smallest eigenvalue
    asks for, and nearly dependent kernels become well-scaled directions. A round cuts
    with the eigenvectors of the smallest eigenvalues; instead of one half-space for
    each eigenvector, the inequality is imposed on the space spanned by all of them,
    which converges superlinearly (Kangal, Meerbergen, Mengi, Michiels 2018). The
    optimum of each round bounds the objective from below, the shrunken point from
    above. Equal diagonals bound all entries of a feasible matrix by its diagonal;
    that gives the radius within which the bound is proved.

    Examples
    --------
    >>> K = np.array([[[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> solve_affine_psd(K, np.array([1.0, 2.0])).weights.round(4)
    array([ 2., -1.])
    """
    b, n, _ = K.shape
    mean_diagonal = float(np.mean([np.trace(k) for k in K])) / n
    whitened = _whiten(K, slack * mean_diagonal, mean_diagonal)
    q = len(whitened.A)
    flat = whitened.A.reshape(q, n * n)
    gradient = whitened.D.T @ cost
    norm, scale = float(np.linalg.norm(gradient)), float(np.abs(cost).max())
    if q == 0 or norm <= np.finfo(float).eps * scale:
        return _report(K, cost, np.full(b, 1 / b), float(cost.mean()), unit, (0, 0, q))
    c = gradient / norm

    def one(value: float) -> float:
        """Return one unit of the gap in the units of c @ y."""
        objective = cost.mean() + norm * value
        return (_unit(objective, cost) if unit is None else unit) / norm

    box = np.minimum(whitened.radius, _FIRST_BOX)
    y, best, lower = -box * np.sign(c), np.zeros(q), -np.inf
    gap = np.inf
    V = np.zeros((n, 0))
    for n_rounds in range(1, max_rounds + 1):  # noqa: B007
        M = (y @ flat).reshape(n, n)
        M.flat[:: n + 1] += 1
        last = min(n, max(4, b // 2)) - 1
        values, vectors = eigh(
            M, subset_by_index=[0, last], overwrite_a=True, check_finite=False
        )
        feasible = y / (1 - min(values[0], 0.0))
        if c @ feasible < c @ best:
            best = feasible
        gap = float(c @ best - lower) / one(float(c @ best))
        if gap <= tol:
            break
        cuts = vectors if np.isinf(lower) else vectors[:, values < _NEAR_ZERO]
        V = np.linalg.qr(np.hstack([V, cuts]))[0]
        master = solve_small_sdp(
            np.stack([V.T @ (A @ V) for A in whitened.A]),
            c,
            box=box,
            radius=whitened.radius,
            tol=one(float(c @ best)) * min(1e-2, max(0.05 * tol, 0.02 * gap)),
        )
        y, lower = master.y, max(lower, master.lower_bound)
        if (np.abs(y) > 0.9 * box).any():
            box = np.minimum(whitened.radius, _BOX_GROWTH * box)
    weights = 1 / b + whitened.D @ best
    if cost.min() < cost @ weights:  # each kernel alone is allowed, too
        weights = (np.arange(b) == cost.argmin()) * 1.0
    lower_bound = float(cost.mean() + norm * lower)
    result = _report(K, cost, weights, lower_bound, unit, (n_rounds, V.shape[1], q))
    if result.gap > tol:
        msg = (
            f"solve_affine_psd: gap {result.gap:.1e} > tol={tol:.1e} after {n_rounds} "
            "rounds; raise tol or slack, or leave out a nearly dependent kernel."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return result


def _whiten(K: FloatArray, shift: float, diagonal: float) -> _Whitened:
    b, n, _ = K.shape
    average = K.mean(axis=0)
    average.flat[:: n + 1] += shift
    L = cholesky(average, lower=True, check_finite=False)
    # An orthonormal basis of the combinations whose coefficients sum to zero.
    P = np.linalg.svd(np.ones((1, b)))[2][1:].T
    differences = np.tensordot(P.T, K, axes=1)
    A = np.empty_like(differences)
    for j, difference in enumerate(differences):
        half = solve_triangular(L, difference, lower=True, check_finite=False)
        whole = solve_triangular(L, half.T, lower=True, check_finite=False)
        A[j] = (whole + whole.T) / 2
    flat = A.reshape(b - 1, n * n)
    values, vectors = np.linalg.eigh(flat @ flat.T / n)
    keep = values > _INDEPENDENT
    T = vectors[:, keep] / np.sqrt(values[keep])
    plain = (T.T @ differences.reshape(b - 1, n * n)) / (2 * n * diagonal)
    # A feasible matrix has entries within the diagonal, the average too.
    spread = np.linalg.inv(plain @ plain.T).diagonal()
    return _Whitened((T.T @ flat).reshape(T.shape[1], n, n), P @ T, np.sqrt(spread))


def _unit(objective: float, cost: FloatArray) -> float:
    return max(abs(objective), _SMALLEST_UNIT * float(np.abs(cost).max()))


def _report(
    K: FloatArray,
    cost: FloatArray,
    weights: FloatArray,
    lower_bound: float,
    unit: float | None,
    counts: tuple[int, int, int],
) -> AffineCombination:
    objective = float(cost @ weights)
    combined = np.tensordot(weights, K, axes=1)
    lowest = eigvalsh(combined, subset_by_index=[0, 0], check_finite=False)[0]
    scale = _unit(objective, cost) if unit is None else unit
    gap = (objective - lower_bound) / scale if scale > 0 else 0.0
    return AffineCombination(
        weights, objective, lower_bound, gap, float(lowest), *counts
    )
