"""Names of rows: the labels of a data frame's rows, or their positions."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import IntArray
from mercer._base.words import counted, some

_NOT_UNIQUE = "row labels are not unique; reset the index of the data frame."


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


def check_once(positions: IntArray, ids: NDArray[Any]) -> None:
    """Raise if a row was named twice.

    Examples
    --------
    >>> check_once(np.array([4, 7, 4]), np.array(["e", "h", "e"]))
    Traceback (most recent call last):
    ValueError: row e appears twice; give each row one label.
    """
    _, first, counts = np.unique(positions, return_index=True, return_counts=True)
    if (counts > 1).any():
        twice = ids[first[counts > 1][0]]
        msg = f"row {twice} appears twice; give each row one label."
        raise ValueError(msg)


def check_unique(ids: NDArray[Any]) -> None:
    """Raise if two rows have the same label: an answer could be about either.

    Examples
    --------
    >>> check_unique(np.array(["a", "b", "a"]))
    Traceback (most recent call last):
    ValueError: row labels are not unique; reset the index of the data frame.
    """
    if len(set(ids.tolist())) < len(ids):
        raise ValueError(_NOT_UNIQUE)


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
        raise ValueError(_NOT_UNIQUE)
    wanted = ids.tolist()
    wrong = next((row for row in wanted if row not in place), None)
    if wrong is not None:
        ids_are = f"0 to {n - 1}" if is_counted else some(map(repr, known.tolist()), 3)
        msg = f"there is no row {wrong!r}; the row ids are {ids_are}."
        raise ValueError(msg)
    return np.array([place[row] for row in wanted], dtype=np.intp)


def warn_if_reordered(X: Any, y: Any) -> None:
    """Warn if X and y name the same rows in a different order; they are not joined."""
    if _are_shuffled(getattr(X, "index", None), getattr(y, "index", None)):
        msg = (
            "X and y have the same row labels in a different order, and are matched "
            "row by row, not by labels. Give y.loc[X.index]; or y.to_numpy(), if the "
            "order is right as it is."
        )
        warnings.warn(msg, UserWarning, stacklevel=3)


def _are_shuffled(index: Any, other: Any) -> bool:
    """Tell whether two indices of pandas hold the same row labels in another order."""
    homes = {type(i).__module__.partition(".")[0] for i in (index, other)}
    if homes != {"pandas"}:
        return False
    if len(index) != len(other) or index.equals(other) or not index.is_unique:
        return False
    return bool(other.is_unique and other.isin(index).all())
