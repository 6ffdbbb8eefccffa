"""What every kernel is: callable on two sets of points, with a diagonal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from mercer._typing import ArrayLike, FloatArray

# Sums of many squares of it are still far from overflow.
_LARGEST = 1e150


class Kernel(BaseEstimator, ABC):
    """A positive semi-definite function of two points.

    Calling it on two sets of points gives their Gram matrix, so a kernel goes into
    scikit-learn as ``SVC(kernel=kernel)``. Parameters are set like those of any
    estimator (``kernel__gamma`` in a grid search). Kernels are added and multiplied
    with ``+`` and ``*``, and scaled by a number.
    """

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the Gram matrix of X and Z, (n, m); Z is X when None."""

    @abstractmethod
    def diag(self, X: Any) -> FloatArray:
        """Return k(x, x) of every point, (n,), without the Gram matrix."""

    def resolve(self, X: Any) -> Kernel:
        """Return this kernel with all that depends on training points fixed by X.

        A kernel that takes nothing from the data returns itself.
        """
        return self

    def __add__(self, other: Any) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        from mercer.kernels.composite import Sum

        return Sum(self, other)

    def __mul__(self, other: Any) -> Kernel:
        from mercer.kernels.composite import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, Real):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__


class PointKernel(Kernel):
    """A kernel on rows of numbers, dense or sparse; subclasses write the formula."""

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> FloatArray:
        """Return the Gram matrix of the rows of X and Z, (n, m); Z is X when None."""
        rows = check_points(X)
        return self._gram(rows, None if Z is None else check_points(Z, like=rows))

    def diag(self, X: ArrayLike) -> FloatArray:
        """Return k(x, x) of every row, (n,), without the Gram matrix."""
        return self._diag(check_points(X))

    @abstractmethod
    def _gram(self, X: Any, Z: Any) -> FloatArray: ...

    @abstractmethod
    def _diag(self, X: Any) -> FloatArray: ...


def check_points(X: Any, *, like: Any = None) -> Any:
    """Return points as a float64 ndarray or CSR matrix, not empty, with finite squares.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
    like : array of shape (m, d), default=None
        Points X must have the same number of features as.
    """
    rows = check_array(X, accept_sparse="csr", dtype=np.float64)
    entries = rows.data if issparse(rows) else rows
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))
    if largest > _LARGEST:
        msg = (
            f"X holds values up to {largest:.1e}, whose squares overflow. Scale the "
            "columns first, e.g. by MaxAbsScaler."
        )
        raise ValueError(msg)
    if like is not None and rows.shape[1] != like.shape[1]:
        msg = (
            f"X has {like.shape[1]} features and Z has {rows.shape[1]}; "
            "a kernel compares points with the same features."
        )
        raise ValueError(msg)
    return rows
