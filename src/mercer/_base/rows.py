"""Rows of whatever a person passes as X: taken, thinned, cut into batches, joined."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from mercer._base.tensors import as_tensor, is_for_torch, torch
from mercer._base.typing import IntArray

BATCH = 32_768  # rows whose features are in memory at a time


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
    if is_for_torch(X):
        return torch().cat([X, as_tensor(more, str(X.device)).to(X.dtype)])
    if issparse(X) or issparse(more):
        return sparse.csr_array(sparse.vstack([X, more]))
    return np.vstack([X, more])
