"""Kernels with a formula: linear, polynomial, Gaussian, and scikit-learn's by name."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel
from sklearn.metrics.pairwise import (
    PAIRWISE_KERNEL_FUNCTIONS,
    linear_kernel,
    pairwise_kernels,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.utils import check_scalar, gen_batches
from sklearn.utils.extmath import row_norms

from mercer._base.checks import check_number
from mercer._base.ranges import far_origin, moved
from mercer._base.typing import FloatArray
from mercer.kernels.bandwidth import RULES
from mercer.kernels.base import Kernel, PointKernel


class Linear(PointKernel):
    r"""The inner product :math:`k(x, z) = x^\top z`.

    See Also
    --------
    RBF : The Gaussian kernel.
    Polynomial : Products of columns.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def _gram(self, X: Any, Z: Any) -> FloatArray:
        if issparse(X) or issparse(Z):
            return np.asarray(linear_kernel(X, Z, dense_output=True))
        return np.asarray(X @ (X if Z is None else Z).T)

    def _diag(self, X: Any) -> FloatArray:
        return np.asarray(row_norms(X, squared=True))


class Polynomial(PointKernel):
    r"""The polynomial kernel :math:`k(x, z) = (\gamma x^\top z + c)^p`.

    Parameters
    ----------
    degree : int, default=3
        p, at least 1.
    gamma : float, default=None
        Above 0; None means one over the number of features.
    coef0 : float, default=1.0
        c, at least 0: with a negative one the function is not a kernel.

    See Also
    --------
    Linear : Of degree 1.
    RBF : The Gaussian kernel.

    Examples
    --------
    >>> Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(
        self, degree: int = 3, *, gamma: float | None = None, coef0: float = 1.0
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _check(self) -> None:
        check_scalar(self.degree, "degree", Integral, min_val=1)
        check_number(self.coef0, "coef0", at_least=0)
        if self.gamma is not None:
            check_number(self.gamma, "gamma", above=0)

    def _gram(self, X: Any, Z: Any) -> FloatArray:
        self._check()
        with np.errstate(over="ignore"):  # said in words
            K = polynomial_kernel(
                X, Z, degree=self.degree, gamma=self.gamma, coef0=self.coef0
            )
        return self._finite(K)

    def _diag(self, X: Any) -> FloatArray:
        self._check()
        gamma = 1 / X.shape[1] if self.gamma is None else self.gamma
        with np.errstate(over="ignore"):
            return self._finite(
                (gamma * row_norms(X, squared=True) + self.coef0) ** self.degree
            )

    def _finite(self, values: Any) -> FloatArray:
        finite: FloatArray = np.asarray(values)
        if not np.isfinite(finite).all():
            msg = (
                f"a polynomial of degree {self.degree} overflows at these points. "
                "Scale the columns first, e.g. by MaxAbsScaler."
            )
            raise ValueError(msg)
        return finite


class RBF(PointKernel):
    r"""The Gaussian kernel :math:`k(x, z) = \exp(-\gamma \|x - z\|^2)`.

    Parameters
    ----------
    gamma : float or {"mean_norm", "mean_distance", "median"}, default=None
        A number above 0; None means one over the number of features, as in
        scikit-learn. A name is a rule of `mercer.kernels.bandwidth`: call
        `resolve(X)` with the training points for the kernel it gives. With
        :math:`\gamma = 1 / (2 \sigma^2)`,

        - ``"mean_norm"``: sigma is the mean norm of x (Mao and Tsang 2010);
        - ``"mean_distance"``: :math:`2 \sigma^2` is the mean squared distance;
        - ``"median"``: sigma is the median distance.

    See Also
    --------
    Polynomial : A polynomial of the inner product.
    Linear : The inner product.
    as_kernel : Any name or callable as a kernel.

    Examples
    --------
    >>> kernel = RBF(gamma="median").resolve([[0.0], [1.0], [3.0]])
    >>> kernel
    RBF(gamma=0.125)
    >>> kernel([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel with the rule, if gamma is one, applied to X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            Training points.
        """
        return RBF(gamma=_rule(self.gamma)(X)) if isinstance(self.gamma, str) else self

    def _check(self) -> None:
        if isinstance(self.gamma, str):
            _rule(self.gamma)
            msg = (
                f"RBF(gamma={self.gamma!r}) is a rule and needs the training points: "
                "use kernel.resolve(X_train) in its place."
            )
            raise ValueError(msg)
        if self.gamma is not None:
            check_number(self.gamma, "gamma", above=0)

    def _gram(self, X: Any, Z: Any) -> FloatArray:
        self._check()
        origin = None if issparse(X) else far_origin(X if Z is None else Z)
        X = moved(X, origin)
        Z = None if Z is None else moved(Z, origin)
        if issparse(X) or issparse(Z):
            return np.asarray(rbf_kernel(X, Z, gamma=self.gamma))
        gamma: Any = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        K: FloatArray = np.exp(-gamma * _squared_distances(X, Z))
        return K

    def _diag(self, X: Any) -> FloatArray:
        self._check()
        return np.ones(X.shape[0])


def _squared_distances(X: FloatArray, Z: FloatArray | None) -> FloatArray:
    """Return squared distances as scikit-learn does, of points that are checked."""
    others = X if Z is None else Z
    D: FloatArray = -2 * (X @ others.T)
    D += row_norms(X, squared=True)[:, None]
    D += row_norms(others, squared=True)
    np.maximum(D, 0, out=D)
    if Z is None:
        np.fill_diagonal(D, 0)
    return D


def _rule(name: str) -> Callable[[Any], float]:
    if name not in RULES:
        msg = f"gamma must be a number, None or one of {sorted(RULES)}; got {name!r}."
        raise ValueError(msg)
    return RULES[name]


class PairwiseKernelFunction(PointKernel):
    """A kernel of scikit-learn by name, or a function of two sets of points.

    Parameters
    ----------
    function : str or callable
        A name from `sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS`, or a function
        of two arrays of rows that returns their Gram matrix, as `SVC` takes it, or a
        kernel of `sklearn.gaussian_process.kernels`, whose noise (`WhiteKernel`) is on
        the diagonal of points with themselves.
        Whether it is positive semi-definite is up to the caller ("sigmoid" and
        "additive_chi2" are not).
    params : dict, default=None
        Keyword arguments for it.

    See Also
    --------
    as_kernel : Wraps a function or a name.

    Examples
    --------
    >>> PairwiseKernelFunction("laplacian", {"gamma": 1.0})([[0.0]], [[0.0], [1.0]])
    array([[1.        , 0.36787944]])
    >>> PairwiseKernelFunction(lambda X, Z: (X @ Z.T) ** 2)([[1.0]], [[3.0]])
    array([[9.]])
    """

    def __init__(
        self,
        function: str | Callable[..., Any],
        params: dict[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.params = params

    def _gram(self, X: Any, Z: Any) -> FloatArray:
        params = self.params or {}
        if isinstance(self.function, str):
            if self.function not in PAIRWISE_KERNEL_FUNCTIONS:
                raise ValueError(unknown_kernel_name(self.function))
            return np.asarray(pairwise_kernels(X, Z, metric=self.function, **params))
        other = X if Z is None else Z
        if Z is None and isinstance(self.function, GaussianProcessKernel):
            K = np.asarray(self.function(X), dtype=np.float64)
        else:
            K = np.asarray(self.function(X, other, **params), dtype=np.float64)
        if K.shape != (X.shape[0], other.shape[0]):
            msg = (
                f"the kernel function returned shape {K.shape} for {X.shape[0]} and "
                f"{other.shape[0]} points. It must take two arrays of rows and return "
                "one value for each pair."
            )
            raise ValueError(msg)
        return K

    def _diag(self, X: Any) -> FloatArray:
        if isinstance(self.function, GaussianProcessKernel):
            return np.asarray(self.function.diag(X), dtype=np.float64)
        return np.concatenate(
            [
                self._gram(X[rows], None).diagonal()
                for rows in gen_batches(X.shape[0], 128)
            ]
        )


def unknown_kernel_name(name: str) -> str:
    """Return the message for a name that is not a kernel's."""
    known = sorted({*PAIRWISE_KERNEL_FUNCTIONS} - {"precomputed"})
    return f"No kernel is named {name!r}; the names are {', '.join(known)}."
