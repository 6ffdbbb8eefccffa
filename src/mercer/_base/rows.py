"""Taking rows of whatever a person passes as X or y."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from mercer._base.typing import IntArray
from mercer._base.words import counted, some

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


def check_answers(n_rows: int, n_labels: int) -> None:
    """Raise unless every row that was named has a label.

    Examples
    --------
    >>> check_answers(1, 2)
    Traceback (most recent call last):
    ValueError: 1 row named, 2 labels given; give one for each.
    """
    if n_rows != n_labels:
        msg = (
            f"{counted(n_rows, 'row')} named, {counted(n_labels, 'label')} given; give "
            "one for each."
        )
        raise ValueError(msg)


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
        ids_are = f"0 to {n - 1}" if is_counted else some(map(repr, known.tolist()), 3)
        msg = f"there is no row {wrong!r}; the row ids are {ids_are}."
        raise ValueError(msg)
    return np.array([place[row] for row in wanted], dtype=np.intp)
