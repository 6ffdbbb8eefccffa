"""A kernel that looks at some of the columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._base.typing import FloatArray
from mercer.kernels.base import Kernel, are_two_vectors, one_number
from mercer.kernels.spec import as_kernel


class OnColumns(Kernel):
    """A kernel on a block of columns: one view of points that have several.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The kernel that this one is made from.
    columns : sequence of int or str
        Positions, or names if the points come as a data frame.

    See Also
    --------
    Weighted : Combines kernels of several groups of columns.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> OnColumns(Linear(), [0, 2])([[1.0, 9.0, 2.0]])
    array([[5.]])
    """

    def __init__(self, kernel: Any, columns: Sequence[int | str]) -> None:
        self.kernel = kernel
        self.columns = columns

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the Gram matrix over the chosen columns."""
        if are_two_vectors(X, Z):
            return one_number(self, X, Z)
        kernel = as_kernel(self.kernel)
        return kernel(self._block(X), None if Z is None else self._block(Z))

    def diag(self, X: Any) -> FloatArray:
        """Return k(x, x) over the chosen columns.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return as_kernel(self.kernel).diag(self._block(X))

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel resolved on the chosen columns of X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        return OnColumns(as_kernel(self.kernel).resolve(self._block(X)), self.columns)

    def _block(self, X: Any) -> Any:
        columns = list(self.columns)
        if not columns:
            msg = "OnColumns has no columns; name at least one."
            raise ValueError(msg)
        if hasattr(X, "columns"):
            named = isinstance(columns[0], str)
            return X[columns] if named else X.iloc[:, columns]
        array: Any = X if hasattr(X, "tocsr") else np.asarray(X)
        if not all(isinstance(c, int | np.integer) for c in columns):
            msg = f"columns {columns} are names, and X has none; give positions."
            raise TypeError(msg)
        if max(columns) >= array.shape[1]:
            msg = f"column {max(columns)} is beyond the {array.shape[1]} columns of X."
            raise ValueError(msg)
        return array[:, columns]
