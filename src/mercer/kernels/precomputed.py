"""A kernel given as its Gram matrix over numbered points."""

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from mercer._base.checks import check_finite, check_square, check_symmetric
from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.kernels.base import Kernel


class Precomputed(Kernel):
    """A Gram matrix; points are row numbers.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric. It is shared, not copied, also by `sklearn.base.clone`.

    See Also
    --------
    as_kernel : Wraps a function or a name.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> Precomputed(K)([1], [0, 1])
    array([[1., 3.]])
    """

    def __init__(self, K: FloatArray) -> None:
        self.K = K

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> FloatArray:
        """Return the rows numbered X and columns numbered Z, (n, m)."""
        rows = self._numbers(X)
        K = np.asarray(self.K)[np.ix_(rows, rows if Z is None else self._numbers(Z))]
        check_finite(K)
        if Z is None:
            check_symmetric(K)
        return K.astype(np.float64)

    def diag(self, X: ArrayLike) -> FloatArray:
        """Return the diagonal at the rows numbered X, (n,).

        Parameters
        ----------
        X : array-like of shape (m,)
            Numbers of rows.
        """
        values = np.asarray(self.K).diagonal()[self._numbers(X)]
        check_finite(values)
        return values.astype(np.float64)

    def _numbers(self, X: Any) -> IntArray:
        check_square(self.K)
        values = column_or_1d(X)
        numbers: IntArray = values.astype(np.intp)
        n = np.shape(self.K)[0]
        if not (
            np.array_equal(numbers, values) and np.all((numbers >= 0) & (numbers < n))
        ):
            msg = (
                f"points of Precomputed(K) are row numbers 0 to {n - 1}, in a vector "
                f"or one column; got {values!r}."
            )
            raise ValueError(msg)
        return numbers

    def __sklearn_clone__(self) -> "Precomputed":
        return Precomputed(self.K)
