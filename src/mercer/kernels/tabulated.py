"""A Gram matrix over given points, found again by their values."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.checks import check_same_length
from mercer._base.typing import FloatArray, IntArray
from mercer.kernels.base import Kernel, are_two_vectors, check_points, one_number


@dataclass(frozen=True, eq=False, repr=False)
class Tabulated(Kernel):
    """A Gram matrix whose points are rows of numbers.

    Where a kernel is known only as a matrix over the training points it has no value
    at others; asked for one, it says so.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Of equal rows the first counts.
    K : ndarray of shape (n, n)
        Kept, not copied.

    Examples
    --------
    >>> kernel = Tabulated([[0.0], [3.0]], np.array([[2.0, 1.0], [1.0, 5.0]]))
    >>> kernel([[3.0]], [[0.0], [3.0]])
    array([[1., 5.]])
    """

    points: Any
    K: FloatArray

    def __post_init__(self) -> None:
        check_same_length(self.points, self.K, "points", "K")

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the tabulated values of X and Z, (n, m); Z is X when None."""
        if are_two_vectors(X, Z):
            return one_number(self, X, Z)
        rows = self._rows(X)
        return self.K[np.ix_(rows, rows if Z is None else self._rows(Z))]

    def diag(self, X: Any) -> FloatArray:
        """Return the tabulated k(x, x)."""
        return self.K.diagonal()[self._rows(X)]

    def _rows(self, X: Any) -> IntArray:
        place: dict[bytes, int] = {}
        for i, key in enumerate(_keys(self.points)):
            place.setdefault(key, i)
        rows: IntArray = np.array([place.get(key, -1) for key in _keys(X)], np.intp)
        if rows.min(initial=0) < 0:
            msg = (
                f"{int((rows < 0).sum())} of {len(rows)} points are new, and this "
                "kernel was given as a matrix over the training points. Give it as a "
                "kernel or function to use it on new points."
            )
            raise ValueError(msg)
        return rows

    def __sklearn_clone__(self) -> Self:
        return self


def _keys(X: Any) -> list[bytes]:
    rows = check_points(X)
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    # Adding zero turns -0.0 into 0.0.
    return [row.tobytes() for row in np.ascontiguousarray(dense) + 0.0]
