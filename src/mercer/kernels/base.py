"""What every kernel is: callable on two sets of points, with a diagonal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel

from mercer._base.checks import checked_points
from mercer._base.typing import ArrayLike, FloatArray

# Fourth powers of it, as in a squared Gram matrix, are still far from overflow.
_LARGEST = 1e70


class Kernel(BaseEstimator, ABC):
    """A positive semi-definite function of two points.

    Calling it on two sets of points gives their Gram matrix, so a kernel goes into
    scikit-learn as ``SVC(kernel=kernel)``. Parameters are set like those of any
    estimator (``kernel__gamma`` in a grid search). Kernels are added and multiplied
    with ``+`` and ``*``, and scaled by a number. Two are equal if they are of one kind
    with equal parameters.

    Called on two vectors it returns a number. scikit-learn's `KernelRidge`,
    `KernelPCA`, `Nystroem` and `SpectralClustering` call it once on two matrices, as
    they do with kernels of Gaussian processes, and not once per pair.

    See Also
    --------
    PointKernel : For a formula of your own.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> kernel = Linear() + 2 * RBF(gamma=1.0)
    >>> kernel([[1.0], [2.0]], [[1.0]]).round(3)
    array([[3.   ],
           [2.736]])
    """

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the Gram matrix of X and Z, (n, m); Z is X when None."""

    @abstractmethod
    def diag(self, X: Any) -> FloatArray:
        """Return k(x, x) of every point, (n,), without the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """

    def resolve(self, X: Any) -> Kernel:
        """Return this kernel with all that depends on training points fixed by X.

        A kernel that takes nothing from the data returns itself.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        return self

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return mine.keys() == theirs.keys() and all(
            _equal(value, theirs[name]) for name, value in mine.items()
        )

    def __hash__(self) -> int:
        return hash(type(self))  # parameters may be set later

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
    """A kernel on rows of numbers, dense or sparse; subclasses write the formula.

    See Also
    --------
    RBF : The Gaussian kernel.

    Examples
    --------
    >>> class Product(PointKernel):
    ...     def _gram(self, X, Z):
    ...         return X @ (X if Z is None else Z).T
    ...     def _diag(self, X):
    ...         return (X**2).sum(axis=1)
    >>> Product()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    >>> (2 * Product()).diag([[1.0, 2.0]])
    array([10.])
    """

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> FloatArray:
        """Return the Gram matrix of the rows of X and Z, (n, m); Z is X when None.

        Two vectors in place of two matrices give one number.
        """
        if are_two_vectors(X, Z):
            return one_number(self, X, Z)
        rows = check_points(X)
        return self._gram(rows, None if Z is None else check_points(Z, like=rows))

    def diag(self, X: ArrayLike) -> FloatArray:
        """Return k(x, x) of every row, (n,), without the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return self._diag(check_points(X))

    @abstractmethod
    def _gram(self, X: Any, Z: Any) -> FloatArray: ...

    @abstractmethod
    def _diag(self, X: Any) -> FloatArray: ...


# scikit-learn calls these on two matrices, other functions once per pair.
GaussianProcessKernel.register(Kernel)


def are_two_vectors(X: Any, Z: Any) -> bool:
    """Tell whether a kernel is asked for one number."""
    return Z is not None and np.ndim(X) == 1 and np.ndim(Z) == 1


def one_number(kernel: Any, x: Any, z: Any) -> FloatArray:
    """Return the value of a kernel of matrices at two vectors."""
    return np.asarray(kernel(np.atleast_2d(x), np.atleast_2d(z))[0, 0])


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    same = one is other or one == other
    return bool(np.all(same))


def check_points(X: Any, *, like: Any = None) -> Any:
    """Return points as a float64 ndarray or CSR matrix, not empty, none too large.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
    like : array of shape (m, d), default=None
        Points X must have the same number of features as.
    """
    rows = checked_points(X)
    entries = rows.data if issparse(rows) else rows
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))
    if largest > _LARGEST:
        msg = (
            f"X holds values up to {largest:.1e}, too large to compute with. Scale the "
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
