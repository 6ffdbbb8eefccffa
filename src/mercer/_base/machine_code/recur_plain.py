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
    begin: int,
    end: int,
) -> None:
    """Replace rows of Y, `begin` to `end`, by those of a A X + b X + c Y."""
    k = X.shape[1]
    for i in range(begin, end):
        for t in range(k):
            Y[i, t] = b * X[i, t] + c * Y[i, t]
        for p in range(indptr[i], indptr[i + 1]):
            weight, j = a * data[p], indices[p]
            for t in range(k):
                Y[i, t] += weight * X[j, t]
