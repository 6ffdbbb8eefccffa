"""Low-rank factor of a Gram matrix from some of its columns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._typing import FloatArray, IntArray

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
    left = np.array(diagonal, dtype=np.float64)  # diagonal of K - F Fᵀ
    smallest = _SMALLEST_PIVOT * left.max(initial=0.0)
    F = np.zeros((n, m))
    pivots: list[int] = []
    while len(pivots) < m and left.max(initial=0.0) > smallest:
        large = left > max(smallest, _SMALLEST_SHARE * left.max())
        weights = np.where(large, left, 0.0)
        size = min(_BLOCK, m - len(pivots), int(np.count_nonzero(weights)))
        block = rng.choice(n, size, replace=False, p=weights / weights.sum())
        rest = columns(block) - F[:, : len(pivots)] @ F[block, : len(pivots)].T
        for j, pivot in enumerate(block):
            if left[pivot] <= smallest or rest[pivot, j] <= smallest:
                left[pivot] = 0.0
                continue
            if left[pivot] <= _SMALLEST_SHARE * left.max():
                continue  # drawn again once the others are as small
            column = rest[:, j] / np.sqrt(rest[pivot, j])
            F[:, len(pivots)] = column
            rest -= np.outer(column, column[block])
            left = np.maximum(left - column**2, 0.0)
            left[pivot] = 0.0
            pivots.append(int(pivot))
    return PivotedCholesky(
        F[:, : len(pivots)], np.array(pivots, dtype=np.intp), float(left.sum())
    )
