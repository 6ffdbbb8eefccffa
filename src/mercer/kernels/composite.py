"""Kernels made of kernels."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer._base.checks import check_finite, check_number
from mercer._base.typing import ArrayLike, FloatArray
from mercer.kernels.base import Kernel
from mercer.kernels.spec import as_kernel


class _OfTwo(Kernel):
    """Two kernels, joined entry by entry."""

    _join: Callable[..., FloatArray]

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return both Gram matrices, joined."""
        return self._join(self.left(X, Z), self.right(X, Z))

    def diag(self, X: Any) -> FloatArray:
        """Return both diagonals, joined.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return self._join(self.left.diag(X), self.right.diag(X))

    def resolve(self, X: Any) -> Kernel:
        """Return both kernels resolved on X, joined."""
        return type(self)(self.left.resolve(X), self.right.resolve(X))


class Sum(_OfTwo):
    """The sum of two kernels, written ``left + right``.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.

    See Also
    --------
    Weighted : With weights.
    Product : Multiplies kernels.

    Examples
    --------
    >>> from mercer.kernels.parametric import RBF, Linear
    >>> (Linear() + RBF(gamma=1.0))([[1.0]])
    array([[2.]])
    """

    _join = staticmethod(np.add)


class Product(_OfTwo):
    """The product of two kernels, written ``left * right``.

    Parameters
    ----------
    left, right : Kernel
        The two kernels.

    See Also
    --------
    Sum : Adds kernels.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> (Linear() * Linear())([[3.0]])
    array([[81.]])
    """

    _join = staticmethod(np.multiply)


class Scaled(Kernel):
    """A kernel times a number, written ``2 * kernel``.

    Parameters
    ----------
    kernel : Kernel
        The kernel to scale.
    factor : float
        At least 0.

    See Also
    --------
    Weighted : Several kernels with their weights.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> (0.5 * Linear())([[2.0]])
    array([[2.]])
    """

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the scaled Gram matrix."""
        self._check()
        return self.factor * self.kernel(X, Z)

    def diag(self, X: Any) -> FloatArray:
        """Return the scaled diagonal.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        self._check()
        return self.factor * self.kernel.diag(X)

    def resolve(self, X: Any) -> Kernel:
        """Return the scaled kernel resolved on X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        return Scaled(self.kernel.resolve(X), self.factor)

    def _check(self) -> None:
        check_number(self.factor, "factor", at_least=0)


class Weighted(Kernel):
    r"""A combination :math:`\sum_b w_b k_b` of any number of kernels.

    Parameters
    ----------
    kernels : sequence of Kernel, str or callable
        The kernels to combine.
    weights : array-like of shape (n_kernels,)
        Negative weights are allowed, as in the affine combinations of Abbasnejad et
        al. (eq. 17); that the sum is then positive semi-definite is up to the caller.

    See Also
    --------
    Sum : All weights are 1.
    AverageKernel : The average as a learner.

    Examples
    --------
    >>> from mercer.kernels.parametric import RBF, Linear
    >>> Weighted([Linear(), RBF(gamma=1.0)], [2.0, 0.5])([[1.0]])
    array([[2.5]])
    """

    def __init__(self, kernels: Sequence[Kernel], weights: ArrayLike) -> None:
        self.kernels = kernels
        self.weights = weights

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the weighted sum of the Gram matrices."""
        weights = self._weights()
        kernels = [as_kernel(kernel) for kernel in self.kernels]
        K: FloatArray = weights[0] * kernels[0](X, Z)
        for weight, kernel in zip(weights[1:], kernels[1:], strict=True):
            K += weight * kernel(X, Z)
        return K

    def diag(self, X: Any) -> FloatArray:
        """Return the weighted sum of the diagonals.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        weights = self._weights()
        diagonals = np.array([as_kernel(kernel).diag(X) for kernel in self.kernels])
        total: FloatArray = weights @ diagonals
        return total

    def resolve(self, X: Any) -> Kernel:
        """Return the combination of the kernels resolved on X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        return Weighted(
            [as_kernel(kernel).resolve(X) for kernel in self.kernels], self.weights
        )

    def _weights(self) -> FloatArray:
        weights = np.asarray(self.weights, dtype=np.float64)
        if len(self.kernels) == 0 or weights.shape != (len(self.kernels),):
            msg = (
                f"Weighted has {len(self.kernels)} kernels and weights of shape "
                f"{weights.shape}; it needs one weight for each, and at least one."
            )
            raise ValueError(msg)
        check_finite(weights, "weights")
        return weights
