"""Chebyshev polynomials of a sparse symmetric matrix, applied to blocks of vectors.

Each step is a three-term recurrence. Blocks have a multiple of 8 columns, and rows
start where lines of memory do.
"""

from typing import Any

import numpy as np

from mercer._base.machine_code.instructions import PLAIN
from mercer._base.threads import in_blocks
from mercer._base.typing import SparseArray

if PLAIN:
    from mercer._base.machine_code.recur_plain import recur as _recur
else:
    from mercer._base.machine_code.recur_vectors import recur as _recur

_COLUMNS = 8
_LINE = 64  # bytes that processors read at a time
_PER_BLOCK = 4096  # rows that a thread takes at a time, at least
_COPIED = 512  # rows that are copied together, which stay in the cache


def parts(A: SparseArray, dtype: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of A, row numbers unsigned."""
    return (
        A.indptr.view(f"u{A.indptr.itemsize}"),
        A.indices.view(f"u{A.indices.itemsize}"),
        A.data.astype(dtype, copy=False),
    )


def recur(
    indptr: Any, indices: Any, data: Any, X: Any, Y: Any, a: Any, b: Any, c: Any
) -> None:
    """Replace Y by a A X + b X + c Y, in one pass over the rows.

    All numbers are of one type, which decides the precision; A is from `parts`, X and
    Y are from `zero_block` or `aligned`.
    """

    def block(rows: slice) -> None:
        _recur(indptr, indices, data, X, Y, a, b, c, rows.start, rows.stop)

    in_blocks(block, len(X), _PER_BLOCK)


def zero_block(shape: tuple[int, int], dtype: Any) -> Any:
    """Return zeros, with columns added up to a multiple of 8."""
    n, k = shape[0], -(-shape[1] // _COLUMNS) * _COLUMNS
    size = n * k * np.dtype(dtype).itemsize
    memory = np.zeros(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(dtype).reshape(n, k)


def aligned(X: Any, dtype: Any, *, copy: bool = True) -> Any:
    """Return a copy of X, with columns of zeros added up to a multiple of 8.

    Without `copy` it may be X itself.
    """
    if not copy and _is_aligned(X, dtype):
        return X
    block = zero_block(X.shape, dtype)
    copy_rows(X, block[:, : X.shape[1]])
    return block


def _is_aligned(X: Any, dtype: Any) -> bool:
    fits = X.flags.c_contiguous and X.ctypes.data % _LINE == 0
    return bool(fits and X.dtype == dtype and X.shape[1] % _COLUMNS == 0)


def copy_rows(X: Any, out: Any) -> None:
    """Write X to `out`, a few rows at a time where columns follow each other."""

    def write(block: slice) -> None:
        for first in range(block.start, block.stop, _COPIED):
            rows = slice(first, min(first + _COPIED, block.stop))
            out[rows] = X[rows]

    in_blocks(write, len(X), _PER_BLOCK)


def times(A: SparseArray, X: Any) -> Any:
    """Return A X, in the precision of X."""
    k, number = X.shape[1], X.dtype.type
    product = zero_block(X.shape, number)
    one = number(1)
    X = aligned(X, number, copy=False)
    recur(*parts(A, number), X, product, one, 0 * one, 0 * one)
    return product[:, :k]


def chebyshev_filter(
    A: SparseArray,
    X: Any,
    degree: int,
    low: float,
    high: float,
    *,
    overwrite: bool = False,
) -> Any:
    r"""Return :math:`T_m\big((2A - (h + l) I) / (h - l)\big) X`.

    Components of X along eigenvectors with values in [low, high] shrink to at most
    their size; those below `low` grow, the more the farther they are below.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric, with no eigenvalue above `high`.
    X : ndarray of shape (n, k)
        Vectors in columns. Single precision stays single.
    degree : int
        m >= 1.
    low, high : float
        Ends l < h of the interval that is damped.
    overwrite : bool, default=False
        Whether the memory of X may be used.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.diag([0.0, 1.0, 3.0]))
    >>> chebyshev_filter(A, np.ones((3, 1)), 2, 1.0, 3.0).ravel()
    array([7., 1., 1.])
    """
    radius, centre = (high - low) / 2, (high + low) / 2
    number = np.float32 if X.dtype == np.float32 else np.float64
    before = aligned(X, number, copy=not overwrite)
    now = zero_block(X.shape, number)
    matrix = parts(A, number)
    a, b, one = number(1 / radius), number(-centre / radius), number(1)
    recur(*matrix, before, now, a, b, 0 * one)
    for _ in range(degree - 1):
        recur(*matrix, now, before, 2 * a, 2 * b, -one)
        before, now = now, before
    return now[:, : X.shape[1]]
