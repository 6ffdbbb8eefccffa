"""Kernels brought to a common scale or origin."""

from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np

from mercer._base.typing import FloatArray
from mercer.exceptions import NotPSDError
from mercer.kernels.base import Kernel, are_two_vectors, one_number
from mercer.kernels.composite import Scaled
from mercer.kernels.spec import as_kernel


class Normalized(Kernel):
    r"""The cosine of a kernel, :math:`k(x, z) / \sqrt{k(x, x)\, k(z, z)}`.

    Abbasnejad, Ramachandram and Mandava, eq. (19). The print leaves out points with
    k(x, x) = 0; their rows are zero here, as they were, and every other point has a
    diagonal of exactly 1.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The kernel that this one is made from.

    See Also
    --------
    TraceNormalized : One factor for all points.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> Normalized(Linear())([[3.0, 4.0]], [[1.0, 0.0]])
    array([[0.6]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the cosines of X and Z; one number for two vectors."""
        if are_two_vectors(X, Z):
            return one_number(self, X, Z)
        kernel = as_kernel(self.kernel)
        left = _inverse_norms(kernel.diag(X))
        right = left if Z is None else _inverse_norms(kernel.diag(Z))
        K = left[:, None] * kernel(X, Z) * right
        if Z is None:
            np.fill_diagonal(K, left > 0)
        return K

    def diag(self, X: Any) -> FloatArray:
        """Return ones, and 0 where k(x, x) = 0.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return (_inverse_norms(as_kernel(self.kernel).diag(X)) > 0).astype(np.float64)

    def resolve(self, X: Any) -> Kernel:
        """Return the cosine of the kernel resolved on X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        return Normalized(as_kernel(self.kernel).resolve(X))


def _inverse_norms(diagonal: FloatArray) -> FloatArray:
    if np.any(diagonal < 0):
        i = int(diagonal.argmin())
        msg = (
            f"k(x, x) = {diagonal[i]:.3g} at row {i}; it must be positive to normalise "
            "the kernel."
        )
        raise NotPSDError(msg)
    return np.divide(
        1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0
    )


class _TrainingKernel(Kernel):
    """A kernel that does not exist before it has seen the training points."""

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Raise: resolve first."""
        self._refuse()

    def diag(self, X: Any) -> FloatArray:
        """Raise: resolve first.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Not used.
        """
        self._refuse()

    def _refuse(self) -> NoReturn:
        msg = (
            f"{type(self).__name__} depends on the training points: "
            "use kernel.resolve(X_train) in its place."
        )
        raise ValueError(msg)


class TraceNormalized(_TrainingKernel):
    r"""A kernel scaled so that the training points have :math:`k(x, x) = 1` on average.

    `resolve(X)` returns the kernel times :math:`n / \sum_i k(x_i, x_i)`.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The kernel that this one is made from.

    See Also
    --------
    Normalized : Scales every point to k(x, x) = 1.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> TraceNormalized(Linear()).resolve([[1.0], [3.0]])
    Scaled(factor=0.2, kernel=Linear())
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel scaled to trace n on X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        kernel = as_kernel(self.kernel).resolve(X)
        mean = float(kernel.diag(X).mean())
        if mean <= 0:
            msg = (
                f"{kernel!r} has a mean k(x, x) of {mean:.3g} over X; it must be above "
                "0. Leave this kernel out, or scale X."
            )
            raise NotPSDError(msg)
        return Scaled(kernel, 1 / mean)


class Centered(_TrainingKernel):
    r"""A kernel whose features have mean zero over the training points.

    Parameters
    ----------
    kernel : Kernel, str or callable
        The kernel that this one is made from.

    See Also
    --------
    center : The same for a Gram matrix.

    Examples
    --------
    >>> from mercer.kernels.parametric import Linear
    >>> centered = Centered(Linear()).resolve([[1.0], [3.0]])
    >>> centered([[1.0], [3.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def resolve(self, X: Any) -> "CenteredOn":
        """Return the kernel centred on the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training points.
        """
        kernel = as_kernel(self.kernel).resolve(X)
        return CenteredOn(kernel, X, float(kernel(X).mean()))


@dataclass(frozen=True, eq=False, repr=False)
class CenteredOn(Kernel):
    r"""What `Centered` resolves to: a kernel with its training points.

    .. math:: k(x, z) - \bar k(x) - \bar k(z) + \bar{\bar k}

    with means over the training points; a new point costs as many values of the
    kernel as there are of them.
    """

    kernel: Kernel
    points: Any  # training points, as the kernel takes them
    grand_mean: float  # of the kernel over all pairs of training points

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the centred Gram matrix of X and Z; one number for two vectors."""
        if are_two_vectors(X, Z):
            return one_number(self, X, Z)
        left = self._means(X)
        right = left if Z is None else self._means(Z)
        return self.kernel(X, Z) - left[:, None] - right + self.grand_mean

    def diag(self, X: Any) -> FloatArray:
        """Return the centred diagonal."""
        return self.kernel.diag(X) - 2 * self._means(X) + self.grand_mean

    def _means(self, X: Any) -> FloatArray:
        means: FloatArray = self.kernel(X, self.points).mean(axis=1)
        return means

    def __sklearn_clone__(self) -> Self:
        return self
