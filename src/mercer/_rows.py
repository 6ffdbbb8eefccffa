"""Taking rows of whatever a person passes as X or y."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._typing import IntArray


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return the given rows of an array, sparse array, data frame or list.

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
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    return X[rows]


def row_ids(X: Any, n: int) -> NDArray[Any]:
    """Return the row labels of a data frame of n rows, or positions.

    Examples
    --------
    >>> row_ids([[1.0], [2.0]], 2)
    array([0, 1])
    """
    index = getattr(X, "index", None)
    if index is not None and hasattr(index, "to_numpy"):
        labels: NDArray[Any] = index.to_numpy()
        return labels
    return np.arange(n)
