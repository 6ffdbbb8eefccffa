"""Rows of whatever a person passes as X: taken, thinned, cut into batches, joined."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse

from mercer._base.tensors import joined
from mercer._base.threads import in_blocks, in_threads
from mercer._base.typing import FloatArray, IntArray

BATCH = 32_768  # rows whose features are in memory at a time
_PER_BLOCK = 4096  # rows that a thread takes at a time, at least
# In half precision, smaller numbers are multiples of 2 ** -24, as are sums with these.
_LEAST_HALF, _HALVES = 2.0**-14, 1.5 * 2.0**28


def is_dask(X: Any) -> bool:
    """Tell whether X is an array or a frame of Dask, without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


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


def distinct_rows(X: Any) -> tuple[Any, Any, NDArray[Any]]:
    """Return the first of every group of equal rows, the group of each row, and sizes.

    Two slices of everything where all rows differ, where all are equal, and for sparse
    rows, which are not compared.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)

    Examples
    --------
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    (array([0, 1]), array([0, 1, 0]), array([2, 1]))
    >>> distinct_rows(np.array([[1.0], [2.0]]))
    (slice(None, None, None), slice(None, None, None), array([1, 1]))
    """
    n, every = X.shape[0], slice(None)
    none_equal = every, every, np.ones(n, np.intp)
    if issparse(X):
        return none_equal
    # Equal rows are next to each other along any direction.
    direction = np.random.default_rng(0).random(X.shape[1])
    along = in_batches(lambda rows: rows @ direction, X)
    rounding = 1e-14 * X.shape[1] * max(float(X.max()), -float(X.min()))
    order = np.argsort(along, kind="stable")
    is_near = np.diff(along[order]) <= rounding
    near = np.sort(order[np.r_[is_near, False] | np.r_[False, is_near]])
    _, index, group = np.unique(X[near], axis=0, return_index=True, return_inverse=True)
    if len(index) == len(near) or (len(index) == 1 and len(near) == n):
        return none_equal
    like = np.arange(n)
    like[near] = near[index[group.ravel()]]
    first, groups, counts = np.unique(like, return_inverse=True, return_counts=True)
    return first, groups, counts


def in_half(X: FloatArray) -> NDArray[np.float16]:
    """Return X in half precision, in the threads of `using_threads`.

    Examples
    --------
    >>> in_half(np.array([[1.0, 1e-6, 1e-9]]))
    array([[1.e+00, 1.e-06, 0.e+00]], dtype=float16)
    """
    half = np.empty(X.shape, np.float16)

    def write(rows: slice) -> None:
        x = X[rows]
        # Numbers that underflow take thirty times as long, unless they are exact.
        half[rows] = np.where(np.abs(x) < _LEAST_HALF, (x + _HALVES) - _HALVES, x)

    in_blocks(write, len(X), _PER_BLOCK)
    return half


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
    starts = range(0, X.shape[0], BATCH)
    parts: list[Any] = [None] * len(starts)

    def task(start: int) -> None:
        parts[start // BATCH] = method(X[start : start + BATCH])

    in_threads(task, starts)
    return np.concatenate(parts)


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
    return joined([X, more])
