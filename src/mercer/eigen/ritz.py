"""Approximate eigenpairs in a space, their residuals, and what rounding may add."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from mercer._base.threads import in_blocks
from mercer._base.typing import BoolArray, FloatArray, IntArray, SparseArray
from mercer.eigen.chebyshev import times
from mercer.eigen.orthogonal import inner, turn
from mercer.eigen.policy import exact_enough

_TOGETHER = 16  # columns in double precision that are multiplied together
_PER_BLOCK = 2048  # rows that a thread takes at a time, at least
# A residual cannot be below this share of what a product with the matrix adds up.
ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True, slots=True, eq=False)
class RitzPairs:
    """Approximate smallest eigenpairs of A in the complement of a given space."""

    values: FloatArray  # (m,) ascending
    vectors: FloatArray  # (n, m) orthonormal
    residuals: FloatArray  # (m,) |A u - value u|
    rounding: FloatArray  # (m,) what rounding may add to the residual

    def converged(self, k: int, tol: float) -> bool:
        """Tell whether the first k residuals are small, relative to the k-th value."""
        return bool(self.exact(k, tol)[:k].all())

    def exact(self, k: int, tol: float) -> BoolArray:
        """Tell which residuals are below `tol` times the k-th value, or rounding."""
        return exact_enough(self.values, self.residuals, k, tol, self.rounding)


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


def largest_residual(A: SparseArray, X: FloatArray) -> float:
    """Return the largest residual of unit vectors as eigenvectors of A."""
    AX = times(A, X)
    values = np.einsum("ij,ij->j", X, AX)
    return float(np.sqrt(squared_errors(AX, X, values).max()))


def rayleigh_ritz(A: SparseArray, X: FloatArray) -> tuple[RitzPairs, FloatArray]:
    """Return the Ritz pairs of A in the span of the columns of X, and residuals.

    And S with X S the vectors. The columns are orthonormal up to their rounding, and
    afterwards exactly. X is overwritten, and a few columns are multiplied at a time:
    it is large.
    """
    m = X.shape[1]
    H = np.hstack([inner(X, times(A, X[:, some])) for some in blocks(m)])
    G = inner(X, X)
    values, S = eigh((H + H.T) / 2, (G + G.T) / 2)
    turn(X, S, X)
    residuals, rounding = residuals_of(A, X, values), np.zeros(m)
    limit = 4 * ROUNDING * float(np.abs(A.diagonal()).max())
    small = np.flatnonzero(residuals <= limit)  # the others are above rounding
    rounding[small] = rounding_errors(A, X, small)
    return RitzPairs(values, X, residuals, rounding), S
