"""Residuals of approximate eigenpairs, and what rounding may add to them."""

import numpy as np
from scipy import sparse

from mercer._base.threads import in_blocks
from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.eigen.recurrence import times

_TOGETHER = 16  # columns in double precision that are multiplied together
_PER_BLOCK = 2048  # rows that a thread takes at a time, at least
# A residual cannot be below this share of what a product with the matrix adds up.
ROUNDING = 64 * np.finfo(float).eps


def residuals_of(A: SparseArray, X: FloatArray, values: FloatArray) -> FloatArray:
    """Return the norms of the columns of A X - X diag(values)."""
    squares = np.empty(len(values))
    for some in blocks(len(values)):
        part = X[:, some]
        squares[some] = squared_errors(times(A, part), part, values[some])
    return np.sqrt(squares)


def squared_errors(AX: FloatArray, X: FloatArray, values: FloatArray) -> FloatArray:
    """Return the squared norms of the columns of A X - X diag(values); AX is lost."""
    parts: dict[int, FloatArray] = {}

    def add(rows: slice) -> None:
        errors = AX[rows]
        errors -= X[rows] * values
        parts[rows.start] = np.einsum("ij,ij->j", errors, errors)

    in_blocks(add, len(X), _PER_BLOCK)
    each = [parts[start] for start in sorted(parts)]
    squares: FloatArray = np.sum(each, axis=0, dtype=float)
    return squares


def rounding_errors(A: SparseArray, X: FloatArray, columns: IntArray) -> FloatArray:
    """Return what rounding of some columns, unit vectors, may add to residuals."""
    errors = np.empty(len(columns))
    if not len(columns):
        return errors
    size = sparse.csr_array((np.abs(A.data), A.indices, A.indptr), shape=A.shape)
    for some in blocks(len(columns)):
        errors[some] = np.linalg.norm(size @ np.abs(X[:, columns[some]]), axis=0)
    return ROUNDING * errors


def blocks(m: int) -> list[slice]:
    """Return a few of m columns at a time."""
    return [slice(start, start + _TOGETHER) for start in range(0, m, _TOGETHER)]
