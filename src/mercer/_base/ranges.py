"""Where points lie: far from zero, of unusual sizes, or all at one place."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import normalize

from mercer._base.rows import thinned
from mercer._base.typing import FloatArray

# Squares of distances of larger or smaller entries overflow or vanish, in single
# precision at least.
_USUAL = (1e-10, 1e10)
_LOOKED_AT = 1_000  # rows that tell where points lie
_FAR = 1e3  # from zero, in units of the spread: squared distances lose six digits
_BLOCK = 64  # mostly the first one tells


def usual_exponent(X: Any) -> int:
    """Return e such that points times 2**e have usual sizes; 0 if they do already.

    Examples
    --------
    >>> usual_exponent(np.array([[-3.0]])), usual_exponent(np.array([[2.0**-500]]))
    (0, 499)
    """
    largest = max(float(X.max()), -float(X.min()))
    if largest == 0 or _USUAL[0] <= largest <= _USUAL[1]:
        return 0
    return -int(np.frexp(largest)[1])


def times_power(X: Any, exponent: int) -> Any:
    """Return an array or csr array times a power of two, which changes no digit.

    Examples
    --------
    >>> times_power(np.array([3.0]), 2)
    array([12.])
    """
    if exponent == 0:
        return X
    with np.errstate(over="ignore"):  # far points are refused by who compares them
        if not issparse(X):
            return np.ldexp(X, exponent)
        entries = np.ldexp(X.data, exponent)
    return type(X)((entries, X.indices, X.indptr), shape=X.shape)


def far_origin(X: Any) -> FloatArray | None:
    """Return where points lie that are far from zero next to their spread, (d,).

    Distances do not depend on it, but for rounding. None where it would not help, and
    for sparse points; 0 for columns that are near.

    Examples
    --------
    >>> far_origin(np.array([[1e6, 1.0], [1e6 + 2, 2.0]]))
    array([1000001.,       0.])
    >>> far_origin(np.array([[1.0], [2.0]])) is None
    True
    """
    if issparse(X):
        return None
    X = thinned(X, _LOOKED_AT)
    mean = X.mean(axis=0, dtype=np.float64)
    spread = np.linalg.norm(X.std(axis=0, dtype=np.float64))
    is_far = np.abs(mean) > _FAR * spread
    return np.where(is_far, mean, 0.0) if is_far.any() else None


def moved(X: Any, origin: FloatArray | None) -> Any:
    """Return points as seen from an origin, in their precision.

    Examples
    --------
    >>> moved(np.array([[3.0, 4.0]]), np.array([1.0, 0.0]))
    array([[2., 4.]])
    """
    if origin is None:
        return X
    return np.subtract(X, origin, dtype=X.dtype, casting="same_kind")


def unit_rows(X: Any) -> Any:
    """Return rows of an array, sparse array or tensor at length 1; zeros stay so.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    if issparse(X):
        return normalize(X)
    size = abs(X).sum(1)[:, None]
    usual = X / (size + (size == 0))  # squares must not overflow
    length = (usual * usual).sum(1)[:, None] ** 0.5
    return usual / (length + (length == 0))


def all_equal(X: Any, *, rtol: float = 0.0) -> bool:
    """Tell whether all rows of an array or sparse array are equal.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
    rtol : float, default=0.0
        Share of the largest entry of the first row up to which differences count as
        none.

    Examples
    --------
    >>> all_equal(np.ones((3, 2))), all_equal(np.eye(2))
    (True, False)
    """
    n = X.shape[0]
    least = rtol * abs(X[:1]).max() if rtol else 0.0
    for start in range(0, n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, n))
        if abs(X[rows] - X[np.zeros_like(rows)]).max() > least:
            return False
    return True
