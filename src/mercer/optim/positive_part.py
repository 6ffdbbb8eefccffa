"""Eigenpairs of positive eigenvalue, at the cost of those that are wanted."""

import numpy as np
from scipy.linalg import lapack

from mercer._base.typing import FloatArray

_SMALL = 32  # up to here the calls cost more than the work
_FEW = 1 / 5  # the share of vectors up to which inverse iteration pays
_BLOCK = 64  # columns that LAPACK reduces at a time
_ORTHONORMAL = 1e-12


def positive_eigenpairs(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return the eigenpairs of symmetric A with positive eigenvalue, largest first.

    With :math:`A = Q T Q^\top`, T tridiagonal, all eigenvalues come from T. If few are
    positive, so do their vectors, by inverse iteration, else all vectors by divide and
    conquer; Q moves none but the positive ones.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric.

    Returns
    -------
    values : ndarray of shape (r,)
    vectors : ndarray of shape (n, r)

    Notes
    -----
    Eigenvalues up to n times the rounding unit times the largest modulus carry a
    random sign and count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> values, vectors = positive_eigenpairs(np.diag([3.0, -1.0, 4.0, 0.0]))
    >>> values
    array([4., 3.])
    """
    n = len(A)
    if n <= _SMALL:
        values, vectors = np.linalg.eigh(A)
        first = n - n_positive(values)
        return values[first:][::-1], vectors[:, first:][:, ::-1]
    reflectors, d, e, tau, _ = lapack.dsytrd(A.T, lower=1, lwork=_BLOCK * n)
    values, failed = lapack.dsterf(d, e)
    first = n - n_positive(values)
    V = None if failed else _by_inverse_iteration(d, e, values[first:])
    if V is None:
        # SciPy before 1.15 has no divide and conquer here.
        solve = getattr(lapack, "dstevd", lapack.dstev)
        values, V, failed = solve(d, e)
        if failed:
            msg = "the eigenvalues of a tridiagonal matrix did not converge."
            raise np.linalg.LinAlgError(msg)
        first = n - n_positive(values)
        V = np.asfortranarray(V[:, first:])
    V[1:] = lapack.dormqr("L", "N", reflectors[1:, :-1], tau, V[1:], _BLOCK * n)[0]
    return values[first:][::-1], V[:, ::-1]


def _by_inverse_iteration(
    d: FloatArray, e: FloatArray, values: FloatArray
) -> FloatArray | None:
    """Return vectors of a tridiagonal matrix, or None where they are many or wrong."""
    n, r = len(d), len(values)
    falls_apart = np.abs(e).min() <= np.finfo(np.float64).eps * np.abs(d).max()
    if r > _FEW * n or falls_apart:
        return None
    block, end = np.ones(n, dtype=np.intc), np.full(n, n, dtype=np.intc)
    vectors, failed = lapack.dstein(d, e, values, block, end)
    V: FloatArray = vectors
    error = np.abs(V.T @ V - np.eye(r)).max(initial=0.0)
    return V if not failed and error <= _ORTHONORMAL else None


def n_positive(values: FloatArray) -> int:
    """Return how many eigenvalues are positive beyond rounding."""
    noise = len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    return int(np.count_nonzero(values > noise))
