"""One step of a three-term recurrence with a sparse matrix, in plain loops.

It serves where llvmlite's vectors do not compile, see `instructions`, and takes two to
three times as long.
"""

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def recur(
    indptr: Any,
    indices: Any,
    data: Any,
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    c: Any,
) -> None:
    """Replace Y by a A X + b X + c Y, in one pass over the rows."""
    n, k = X.shape
    for i in range(n):
        for t in range(k):
            Y[i, t] = b * X[i, t] + c * Y[i, t]
        for p in range(indptr[i], indptr[i + 1]):
            weight, j = a * data[p], indices[p]
            for t in range(k):
                Y[i, t] += weight * X[j, t]
