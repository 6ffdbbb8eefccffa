"""Taking rows of whatever a person passes as X or y."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from mercer._typing import FloatArray, IntArray

_BLOCK = 64  # mostly the first one tells
BATCH = 32_768  # rows whose features are in memory at a time
# Squares of distances of larger or smaller entries overflow or vanish, in single
# precision at least.
_USUAL = (1e-10, 1e10)
_LOOKED_AT = 10_000  # rows that tell where points lie
_FAR = 1e3  # from zero, in units of the spread: squared distances lose six digits


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return the given rows of an array, sparse array, data frame, table or list.

    Examples
    --------
    >>> import numpy as np
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    if type(X).__module__.startswith("pyarrow"):
        return X.take(rows)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    return X[rows]


def thinned(X: Any, most: int) -> Any:
    """Return at most this many rows of an array or a tensor, evenly spaced, as a view.

    Examples
    --------
    >>> thinned(np.arange(7), 3), thinned(np.arange(2), 3)
    (array([0, 3, 6]), array([0, 1]))
    """
    return X[:: max(-(-X.shape[0] // most), 1)]


def in_batches(method: Callable[[Any], Any], X: Any) -> NDArray[Any]:
    """Return what a method says of each row, without the features of all at once.

    Parameters
    ----------
    method : callable
        Takes rows; what it says of one does not depend on the others.
    X : ndarray, sparse array, tensor or Graph
        The last two are taken whole.

    Examples
    --------
    >>> in_batches(np.negative, np.arange(3))
    array([ 0, -1, -2])
    """
    is_cut = isinstance(X, np.ndarray) or issparse(X)
    if not is_cut or X.shape[0] <= BATCH:
        return np.asarray(method(X))
    return np.concatenate([method(X[rows]) for rows in gen_batches(X.shape[0], BATCH)])


def stacked(X: Any, more: Any) -> Any:
    """Return rows below rows, sparse if both are.

    Examples
    --------
    >>> stacked(np.zeros((1, 2)), np.ones((1, 2)))
    array([[0., 0.],
           [1., 1.]])
    """
    if issparse(X) or issparse(more):
        return sparse.csr_array(sparse.vstack([X, more]))
    return np.vstack([X, more])


def row_ids(X: Any, n: int, *, first: int = 0) -> NDArray[Any]:
    """Return the row labels of a data frame of n rows, or positions from `first` on.

    Examples
    --------
    >>> row_ids([[1.0], [2.0]], 2)
    array([0, 1])
    """
    index = getattr(X, "index", None)
    if index is not None and hasattr(index, "to_numpy"):
        labels: NDArray[Any] = index.to_numpy()
        return labels
    return np.arange(first, first + n)


def named_rows(rows: Any, known: NDArray[Any]) -> NDArray[Any]:
    """Return the ids that a person gave, one or several, in one dimension.

    Ids of several levels, as of a `MultiIndex`, are tuples.

    Examples
    --------
    >>> named_rows(3, np.arange(5))
    array([3])
    """
    if len(known) and isinstance(known[0], tuple):
        is_tuple = isinstance(rows, tuple) and len(rows) > 0
        is_one = not isinstance(rows[0], tuple) if is_tuple else np.isscalar(rows)
        return np.fromiter([rows] if is_one else rows, dtype=object)
    return np.atleast_1d(np.asarray(rows))


def positions_of(ids: NDArray[Any], known: NDArray[Any]) -> IntArray:
    """Return where the given row labels are among all of them.

    Examples
    --------
    >>> positions_of(np.array(["c", "a"]), np.array(["a", "b", "c"]))
    array([2, 0])
    """
    if not len(ids):
        return np.empty(0, dtype=np.intp)
    n = len(known)
    is_counted = known.dtype.kind == ids.dtype.kind == "i" and np.array_equal(
        known, np.arange(n)
    )
    place: Any = range(n)
    if not is_counted:
        place = {row: i for i, row in enumerate(known.tolist())}
    if len(place) < n:
        msg = "row labels are not unique; reset the index of the data frame."
        raise ValueError(msg)
    wanted = ids.tolist()
    wrong = next((row for row in wanted if row not in place), None)
    if wrong is not None:
        names = ", ".join(map(repr, known[:3].tolist())) + (", ..." if n > 3 else "")
        ids_are = f"0 to {n - 1}" if is_counted else names
        msg = f"there is no row {wrong!r}; the row ids are {ids_are}."
        raise ValueError(msg)
    return np.array([place[row] for row in wanted], dtype=np.intp)


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
