"""Largest eigenpairs of a Gram matrix, exact or from some of its columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from mercer._base.tensors import column_signs
from mercer._base.typing import FloatArray, IntArray

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
    if len(values) < k:  # LAPACK may miss some of very many equal eigenvalues
        values, vectors = eigh(K)
        values, vectors = values[n - k :], vectors[:, n - k :]
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
        See `mercer.spectrum.kernel_pairs.pivoted_cholesky`, which chooses S.
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
    F = found.factor
    L = F[found.pivots]
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


def leading_pairs(pairs: KernelPairs, r: int) -> KernelPairs:
    """Return the first r pairs.

    Examples
    --------
    >>> pairs = exact_pairs(np.diag([1.0, 3.0, 2.0]), 3, centered=False)
    >>> leading_pairs(pairs, 1).values, leading_pairs(pairs, 1).next_value
    (array([3.]), 2.0)
    """
    if r == len(pairs.values):
        return pairs
    return replace(
        pairs,
        values=pairs.values[:r],
        vectors=pairs.vectors[:, :r],
        weights=pairs.weights[:, :r],
        next_value=float(pairs.values[r]),
    )


def _rank(values: FloatArray) -> int:
    """Count the eigenvalues, in descending order, that rounding did not make."""
    if len(values) == 0 or values[0] <= 0:
        msg = (
            "the Gram matrix is zero (after centring, if asked for), so there is no "
            "direction to keep: in feature space all points are equal, or so close "
            "that squares of differences are 0. If they differ, multiply X by a large "
            "number."
        )
        raise ValueError(msg)
    return int(np.count_nonzero(values > RANK_TOL * values[0]))


def _worst(difference: FloatArray) -> float:
    return float(np.linalg.norm(difference, axis=0).max())


_BLOCK = 50
# Pivots below this share of the largest diagonal entry of K are rounding errors...
_SMALLEST_PIVOT = 1e-10
# ... if none was below this share of the largest entry left at its time: eliminating
# a pivot multiplies the rounding errors of the other entries by entry / pivot.
_SMALLEST_SHARE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class PivotedCholesky:
    """K is close to F Fᵀ, and equal to it in the rows and columns of the pivots."""

    factor: FloatArray  # F, (n, m)
    pivots: IntArray  # (m,); F[pivots] is lower triangular
    lost: float  # trace of K - F Fᵀ, which is positive semi-definite


def _eliminated(
    G: FloatArray, left: FloatArray, smallest: float, least: float
) -> tuple[IntArray, FloatArray, IntArray]:
    """Eliminate a block one by one: the first pivots may leave nothing of others.

    Parameters
    ----------
    G : ndarray of shape (b, b)
        What is left of the Gram matrix of the block; used up.
    left : ndarray of shape (b,)
        What is left of its diagonal.
    smallest, least : float
        Not above the first, a pivot is a rounding error; not above the second, it
        waits until the others are as small.

    Returns
    -------
    chosen : int ndarray of shape (a,)
    L : ndarray of shape (a, a)
        Cholesky factor of the block of those chosen.
    zero : int ndarray
        Rounding errors.
    """
    chosen: list[int] = []
    zero: list[int] = []
    rows = []
    for j in range(len(G)):
        if left[j] <= smallest or G[j, j] <= smallest:
            zero.append(j)
        elif left[j] > least:
            column = G[:, j] / np.sqrt(G[j, j])
            G -= np.outer(column, column)
            left = np.maximum(left - column**2, 0.0)
            chosen.append(j)
            rows.append(column)
    at = np.array(chosen, dtype=np.intp)
    L = np.tril(np.array(rows).T[at]) if rows else np.empty((0, 0))
    return at, L, np.array(zero, dtype=np.intp)


def pivoted_cholesky(
    columns: Callable[[IntArray], FloatArray],
    diagonal: FloatArray,
    m: int,
    *,
    rng: np.random.Generator,
) -> PivotedCholesky:
    r"""Choose landmarks at random and factorise a Gram matrix over them.

    Landmarks are drawn in blocks, each with probability proportional to
    :math:`(K - F F^\top)_{ii}`, what the landmarks so far leave unexplained.

    Parameters
    ----------
    columns : callable
        Takes indices and returns those columns of K, (n, number of indices).
    diagonal : ndarray of shape (n,)
        Of K.
    m : int
        Largest number of landmarks; fewer if the rank of K is smaller.
    rng : numpy.random.Generator
        Draws the landmarks.

    Returns
    -------
    PivotedCholesky

    Notes
    -----
    Randomly pivoted Cholesky, Chen, Epperly, Tropp and Webber (2025), algorithm 3.1,
    in blocks; the expected loss is close to that of the best rank-m matrix. Unlike
    there, points of which less than a thousandth of the most is left wait until the
    others are as small.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4.0)[:, None]
    >>> K = x @ x.T + 1.0
    >>> rng = np.random.default_rng(0)
    >>> result = pivoted_cholesky(lambda i: K[:, i], K.diagonal(), 4, rng=rng)
    >>> result.factor.shape  # K has rank 2
    (4, 2)
    >>> bool(np.allclose(result.factor @ result.factor.T, K))
    True
    """
    n = len(diagonal)
    left = diagonal + 0.0  # of the diagonal of K - F Fᵀ
    F = np.zeros((n, m))
    smallest = _SMALLEST_PIVOT * float(left.max())
    pivots: list[int] = []
    while len(pivots) < m and float(left.max()) > smallest:
        large = left > max(smallest, _SMALLEST_SHARE * left.max())
        weights = np.where(large, left, 0.0)
        size = min(_BLOCK, m - len(pivots), int(np.count_nonzero(weights)))
        block = rng.choice(n, size, replace=False, p=weights / weights.sum())
        first = len(pivots)
        rest = columns(block) - F[:, :first] @ F[block, :first].T
        chosen, L, zero = _eliminated(
            rest[block],
            weights[block],
            smallest,
            _SMALLEST_SHARE * float(weights.max()),
        )
        if len(chosen):
            inverse = solve_triangular(L, np.eye(len(L)), lower=True)
            more = rest[:, chosen] @ inverse.T
            F[:, first : first + len(chosen)] = more
            left = (left - (more * more).sum(1)).clip(0.0)
        left[block[np.append(chosen, zero)]] = 0.0
        pivots += block[chosen].tolist()
    return PivotedCholesky(
        F[:, : len(pivots)], np.array(pivots, dtype=np.intp), float(left.sum())
    )
