"""Combinations of given kernels: the plain average and centred alignment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_finite, checked_points
from mercer._base.html import Shown
from mercer._base.mixins import TakesSparse
from mercer._base.typing import ArrayLike, FloatArray, SparseArray
from mercer.evidence.labels import Labels
from mercer.graphs.points import refuse_equal_points, refuse_graph
from mercer.kernels.aligning import center
from mercer.kernels.composite import Weighted
from mercer.kernels.normalized import TraceNormalized
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.stack import resolve_kernels
from mercer.optim.nnls import solve_nnls


@dataclass(frozen=True, slots=True)
class CombinationCertificate(Shown):
    """How a combination knows that it is right.

    Parameters
    ----------
    alignment : float
        Centred alignment of the combination with the labels; NaN without
        labels.
    base_alignments : tuple of float
        The same of each kernel alone.
    kkt_residual : float
        How far the optimality conditions are from holding; 0 for fixed weights.
    n_iter : int
        Steps of the solver.
    """

    alignment: float
    base_alignments: tuple[float, ...]
    kkt_residual: float
    n_iter: int


class AverageKernel(
    TakesSparse, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""The plain average of kernels: the bar for every combination that learns.

    .. math:: k = \frac1m \sum_{b=1}^m \frac{k_b}{\frac1n \sum_i k_b(x_i, x_i)}

    Parameters
    ----------
    kernels : sequence or "precomputed", default=None
        Each a Kernel, a name, a function of two sets of points, a pair
        ``(kernel, columns)`` for a block of columns, or a matrix over the rows of X.
        None stands for a linear, a quadratic and a Gaussian kernel whose
        :math:`2\sigma^2` is the mean squared distance. "precomputed": `fit` takes a
        list of (n, n) matrices in place of X, and `transform` a list of (m, n) ones, of
        new points with the training points.

    Attributes
    ----------
    kernel_ : Weighted
        Over `kernels_`, with `weights_`.
    kernels_ : list of Kernel
        The given ones, each divided by its mean diagonal over the training points.
    weights_ : ndarray of shape (m,)
        Non-negative, of sum 1.
    certificate_ : CombinationCertificate

    See Also
    --------
    CenteredAlignmentKernel : Weights learned from labels.
    InfluenceKernel : Weights learned without labels.

    Notes
    -----
    Without the scaling, which SimpleMKL uses too, the average is decided by the units
    of the kernels. `transform` returns the kernel between points and the training
    points, for a machine with ``kernel="precomputed"``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> learner = AverageKernel([RBF(gamma=1.0), "linear"]).fit(X)
    >>> learner.weights_
    array([0.5, 0.5])
    >>> float(learner.kernel_.diag(X).mean())
    1.0
    """

    def __init__(self, kernels: Sequence[Any] | None = None) -> None:
        self.kernels = kernels

    def fit(self, X: ArrayLike | SparseArray, y: ArrayLike | None = None) -> Self:
        """Scale the kernels and find their weights.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            All points, labelled or not.
        y : array-like of shape (n,), optional
            Labels; -1, None and NaN mark unlabelled points. They decide nothing
            here, only `certificate_`.
        """
        X = self._resolved(X)
        m = len(self.kernels_)
        self.weights_ = np.full(m, 1 / m)
        if y is None:
            self.certificate_ = CombinationCertificate(np.nan, (np.nan,) * m, 0.0, 0)
        else:
            M, a, norm = self._products(X, y)
            self.certificate_ = _certificate(M, a, norm, self.weights_)
        self.kernel_ = Weighted(self.kernels_, self.weights_)
        return self

    def transform(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the kernel between points and the training points, (m, n).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        check_is_fitted(self, "kernel_")
        if self._is_precomputed():
            stack = _stacked(X, n=len(self.X_fit_), m=len(self.kernels_))
            scales = np.array([kernel.factor for kernel in self.kernels_])
            combined: FloatArray = np.tensordot(self.weights_ * scales, stack, axes=1)
            return combined
        X = checked_points(X, self, reset=False)
        return self.kernel_(X, self.X_fit_)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _resolved(self, X: ArrayLike | SparseArray) -> Any:
        refuse_graph(X, type(self).__name__, "learn from the graph by FilterKernel")
        if self._is_precomputed():
            stack = _stacked(X)
            self.X_fit_ = np.arange(stack.shape[1])
            self.kernels_ = [
                TraceNormalized(Precomputed(K)).resolve(self.X_fit_) for K in stack
            ]
            return self.X_fit_
        X = checked_points(X, self, at_least=2)
        given = self.kernels
        if given is None:
            given = [Linear(), Polynomial(degree=2), RBF(gamma="mean_distance")]
        names = getattr(self, "feature_names_in_", None)
        resolved = resolve_kernels(given, X, names=names)
        self.kernels_ = [TraceNormalized(kernel).resolve(X) for kernel in resolved]
        self.X_fit_ = X
        return X

    def _products(self, X: Any, y: ArrayLike) -> tuple[FloatArray, FloatArray, float]:
        """Return inner products of the centred kernels, with the target, its norm."""
        labels = Labels.read(y, n=X.shape[0], min_classes=2)
        rows = X[labels.labeled]
        Y = labels.one_hot() - labels.prior()
        centred = [center(kernel(rows)) for kernel in self.kernels_]
        flat = np.stack([K.ravel() for K in centred])
        a = np.array([np.vdot(Y, K @ Y) for K in centred])
        return flat @ flat.T, a, float(np.linalg.norm(Y.T @ Y))

    @property
    def _n_features_out(self) -> int:
        return int(self.X_fit_.shape[0])


class CenteredAlignmentKernel(AverageKernel):
    r"""The non-negative combination of kernels that best matches the labels.

    .. math::

        \max_{w \ge 0} \frac{\langle K_c, T_c \rangle_F}{\|K_c\|_F \|T_c\|_F},
        \qquad K = \sum_b w_b K_b,

    over the labelled points, where the index c means centred and T is 1 for two
    points of one class and 0 otherwise.

    Parameters
    ----------
    kernels : sequence of Kernel, str or callable, default=None
        As in `AverageKernel`.

    Attributes
    ----------
    kernel_, kernels_, weights_, certificate_
        As in `AverageKernel`.

    See Also
    --------
    AverageKernel : Equal weights, a strong baseline.
    SimpleMKL : Weights learned with the machine.

    Notes
    -----
    Cortes, Mohri and Rostamizadeh (JMLR 13, 2012), alignment maximisation ("alignf")
    with :math:`w \ge 0`: non-negative least squares on
    :math:`M_{ab} = \langle K_{ac}, K_{bc} \rangle` and
    :math:`a_b = \langle K_{bc}, T \rangle`. For two classes T centred is
    :math:`y y^\top` centred, up to scale. The paper scales w to length 1; here its sum
    is 1, so that mean diagonals stay 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.1], [-1.0], [1.0], [1.2], [-0.9], [0.8]])
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> square = Polynomial(degree=2, gamma=1.0, coef0=0.0)  # forgets the sign
    >>> CenteredAlignmentKernel(["linear", square]).fit(X, y).weights_
    array([1., 0.])
    """

    def fit(self, X: ArrayLike | SparseArray, y: ArrayLike | None = None) -> Self:
        """Scale the kernels and align their combination with the labels.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            All points, labelled or not.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled points.
        """
        if y is None:
            msg = (
                "CenteredAlignmentKernel requires y to be passed, but the target y is "
                "None; AverageKernel needs no labels."
            )
            raise ValueError(msg)
        X = self._resolved(X)
        if not self._is_precomputed():
            refuse_equal_points(X, "CenteredAlignmentKernel")
        M, a, norm = self._products(X, y)
        solution = solve_nnls(M, a)
        if not solution.x.any():
            msg = (
                "every kernel is constant over the labelled points, so none matches "
                "the labels; give other kernels or label other points."
            )
            raise ValueError(msg)
        self.weights_ = solution.x / solution.x.sum()
        self.certificate_ = _certificate(
            M, a, norm, self.weights_, solution.kkt_residual, solution.n_iter
        )
        self.kernel_ = Weighted(self.kernels_, self.weights_)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _stacked(kernels: Any, *, n: int | None = None, m: int | None = None) -> FloatArray:
    """Return a list of kernel matrices as one array, checked."""
    shapes = {np.shape(K) for K in kernels}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        msg = f"give a list of kernel matrices of one shape; got shapes {shapes}."
        raise ValueError(msg)
    stack = np.asarray(kernels, dtype=np.float64)
    check_finite(stack, "the kernels")
    if n is None and stack.shape[1] != stack.shape[2]:
        msg = f"kernels of the training points are square; got {stack.shape[1:]}."
        raise ValueError(msg)
    if n is not None and (stack.shape[2] != n or len(stack) != m):
        msg = (
            f"give {m} kernels of new points with the {n} training points, (m, {n}); "
            f"got {len(stack)} of shape {stack.shape[1:]}."
        )
        raise ValueError(msg)
    return stack


def _certificate(
    M: FloatArray,
    a: FloatArray,
    norm: float,
    weights: FloatArray,
    kkt_residual: float = 0.0,
    n_iter: int = 0,
) -> CombinationCertificate:
    def cosine(product: float, square: float) -> float:
        return product / (float(np.sqrt(square)) * norm) if square > 0 else 0.0

    return CombinationCertificate(
        alignment=cosine(float(weights @ a), float(weights @ M @ weights)),
        base_alignments=tuple(
            cosine(float(p), float(s)) for p, s in zip(a, np.diag(M), strict=True)
        ),
        kkt_residual=kkt_residual,
        n_iter=n_iter,
    )
