"""Largest eigenpairs of a Gram matrix, exact or from some of its columns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from mercer._typing import FloatArray, IntArray
from mercer.spectrum._base import column_signs
from mercer.spectrum.nystrom import pivoted_cholesky

# Directions with less of the largest eigenvalue are lost in rounding at new points.
RANK_TOL = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class KernelPairs:
    """The r largest eigenpairs of a Gram matrix K, centred or not.

    At a point x they are ``(k - offset) @ weights``, k holding its kernel values with
    the landmarks.
    """

    values: FloatArray  # (r,) descending
    vectors: FloatArray  # (n, r) orthonormal columns
    landmarks: IntArray  # (m,) rows
    weights: FloatArray  # (m, r)
    offset: FloatArray  # (m,)
    next_value: float  # first eigenvalue that was left out
    trace: float  # of K
    residual: float  # largest |K u - value u|


def exact_pairs(K: FloatArray, r: int, *, centered: bool) -> KernelPairs:
    r"""Compute eigenpairs of :math:`K`, or of :math:`HKH` with H = I - 11ᵀ/n.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semi-definite.
    r : int
        Largest number of pairs; those below the numerical rank are left out.
    centered : bool
        Whether to centre.

    Returns
    -------
    KernelPairs

    Notes
    -----
    Vectors of HKH are orthogonal to 1, so that centring a new row of kernel values
    comes down to subtracting the mean row.

    Examples
    --------
    >>> pairs = exact_pairs(np.diag([1.0, 3.0, 2.0]), 2, centered=False)
    >>> pairs.values, pairs.next_value
    (array([3., 2.]), 1.0)
    """
    n = len(K)
    offset = K.mean(axis=0) if centered else np.zeros(n)
    if centered:
        K = K - offset - offset[:, None] + offset.mean()
    trace = float(np.trace(K))
    k = min(r + 1, n)
    values, vectors = eigh(K, subset_by_index=[n - k, n - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = _rank(values[:r])
    U, e = vectors[:, :kept], values[:kept].copy()
    U = U * column_signs(U)
    return KernelPairs(
        values=e,
        vectors=U,
        landmarks=np.arange(n),
        weights=U / e,
        offset=offset,
        next_value=float(values[kept]) if kept < k else 0.0,
        trace=trace,
        residual=_worst(K @ U - U * e),
    )


def landmark_pairs(
    columns: Callable[[IntArray], FloatArray],
    diagonal: FloatArray,
    r: int,
    n_landmarks: int,
    *,
    centered: bool,
    rng: np.random.Generator,
) -> KernelPairs:
    r"""Compute eigenpairs of Nyström's :math:`K_{:S} K_{SS}^{-1} K_{S:} = F F^\top`.

    Parameters
    ----------
    columns, diagonal, rng
        See `mercer.spectrum.nystrom.pivoted_cholesky`, which chooses S.
    r : int
        Largest number of pairs.
    n_landmarks : int
        Largest number of landmarks.
    centered : bool
        Whether to centre, as `exact_pairs` does.

    Returns
    -------
    KernelPairs
        Exact eigenpairs of the approximation; `trace` is that of K itself.

    Examples
    --------
    >>> K = np.diag([1.0, 3.0, 2.0])
    >>> rng = np.random.default_rng(0)
    >>> pairs = landmark_pairs(
    ...     lambda rows: K[:, rows], K.diagonal(), 2, 3, centered=False, rng=rng
    ... )
    >>> pairs.values
    array([3., 2.])
    """
    found = pivoted_cholesky(columns, diagonal, n_landmarks, rng=rng)
    F, L = found.factor, found.factor[found.pivots]
    mean = F.mean(axis=0) if centered else np.zeros(F.shape[1])
    F = F - mean
    e, V = eigh(F.T @ F)
    e, V = e[::-1], V[:, ::-1]
    kept = _rank(e[:r])
    T = V[:, :kept] / np.sqrt(e[:kept])
    # F T is orthonormal up to the condition of F; one Cholesky step repairs that.
    FT = F @ T
    T = solve_triangular(cholesky(FT.T @ FT), T.T, trans="T").T
    U = F @ T
    signs = column_signs(U)
    U, T = U * signs, T * signs
    return KernelPairs(
        values=e[:kept].copy(),
        vectors=U,
        landmarks=found.pivots,
        weights=solve_triangular(L, T, lower=True, trans="T"),
        offset=L @ mean,
        next_value=float(e[kept]) if kept < len(e) else 0.0,
        trace=float(e.sum()) + found.lost,
        residual=_worst(F @ (F.T @ U) - U * e[:kept]),
    )


def _rank(values: FloatArray) -> int:
    """Count the eigenvalues, in descending order, that rounding did not make."""
    if len(values) == 0 or values[0] <= 0:
        msg = (
            "the Gram matrix is zero (after centring, if asked for): all points are "
            "equal in feature space and there is no direction to keep."
        )
        raise ValueError(msg)
    return int(np.count_nonzero(values > RANK_TOL * values[0]))


def _worst(difference: FloatArray) -> float:
    return float(np.linalg.norm(difference, axis=0).max())
