"""Taking rows of whatever a person passes as X or y."""

from typing import Any

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
