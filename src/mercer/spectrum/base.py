"""What a basis is, and what bases share."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from mercer._base.html import Shown
from mercer._base.mixins import NestedParameters
from mercer._base.typing import ArrayLike, FloatArray
from mercer.backends.torch.features import TorchFeatures
from mercer.backends.torch.vectors import DeviceVectors
from mercer.eigen.orthogonal import inner
from mercer.spectrum.features import DenseFeatures, Features, column_moments


@dataclass(frozen=True, slots=True)
class BasisCertificate(Shown):
    """How a basis knows that it is right.

    Parameters
    ----------
    method : str
        How the eigenpairs were computed.
    reason : str
        Why this basis or method was picked.
    residual : float
        Largest error of a kept pair, ``|A u - value u|``.
    orthogonality : float
        Largest entry of ``|U'U - I|``; 0 is exact.
    gap : float
        Distance from the last kept to the first dropped value; infinite if none
        was dropped.
    cuts_repeated_value : bool
        Whether the last kept value continues among the dropped ones.
    n_null : int
        Connected components of the graph, each with a value of zero.
    recall : float
        Share of the true neighbours that the search found, estimated on sampled
        rows.
    lost_trace : float
        Share of the Gram matrix's trace that is outside the basis.
    floor : float
        No value outside the basis is below this one, but for the chance stated
        next.
    failure : float
        Chance that the statement about `floor` is wrong.
    note : str
        Why there are fewer directions than asked for, or less exact ones; empty if
        there are not.

    See Also
    --------
    GraphBasis : Has one after `fit`.

    Examples
    --------
    >>> from mercer import GraphBasis
    >>> basis = GraphBasis(2, n_neighbors=1, random_state=0).fit([[0.0], [1.0], [3.0]])
    >>> bool(basis.certificate_.residual < 1e-12), basis.certificate_.n_null
    (True, 1)
    """

    method: str
    reason: str
    residual: float
    orthogonality: float
    gap: float
    cuts_repeated_value: bool
    n_null: int = 0
    recall: float = 1.0
    lost_trace: float = 0.0
    floor: float = 0.0
    failure: float = 0.0
    note: str = ""


@runtime_checkable
class Basis(Protocol):
    """Directions over the data, most important first, and their values elsewhere.

    An estimator: after `fit(X)` it has the attributes below. `fit_transform` returns
    `vectors_`, and `extend` at a training point returns that point's row of them.

    See Also
    --------
    BasisMixin : What bases share; docs/project/architecture.md has an example.
    """

    vectors_: FloatArray  # (n, r) columns, orthonormal where `is_orthonormal`
    values_: FloatArray  # (r,) Laplacian values ascending, or kernel ones descending
    certificate_: BasisCertificate

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compute the directions over the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : ignored
        """

    def extend(self, X: ArrayLike) -> FloatArray:
        """Return the values of the directions at new points, (m, r).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """

    @property
    def is_orthonormal(self) -> bool:
        """Whether the columns of `vectors_` are orthonormal."""

    def weighted(self, root: FloatArray) -> Features:
        """Return the features U R of the training points.

        Parameters
        ----------
        root : ndarray of shape (r, q)
            The matrix R.
        """


class BasisMixin(NestedParameters, TransformerMixin, BaseEstimator):
    """Fitted attributes and methods that every basis has.

    Subclasses write `fit`, which sets `vectors_`, `values_` and `certificate_`, and
    `extend`: docs/project/architecture.md has an example.

    See Also
    --------
    GramBasis : A short subclass.
    Basis : What the library expects of it.
    """

    vectors_: Any  # (n, r) array, or `DeviceVectors`
    values_: FloatArray  # (r,)
    certificate_: BasisCertificate
    _moments: tuple[FloatArray, FloatArray]  # of the columns of `vectors_`

    def __copy__(self) -> Self:
        """Return a basis with the same arrays; nothing is computed again."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compute the basis over the rows of X; y is ignored.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : ignored
        """
        raise NotImplementedError

    def extend(self, X: ArrayLike) -> FloatArray:
        """Return the values of the basis vectors at new points, (m, r).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        raise NotImplementedError

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return `extend(X)`; at a training point, its row of `vectors_`.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return self.extend(X)

    def fit_transform(self, X: ArrayLike, y: object = None) -> FloatArray:
        """Fit and return `vectors_`, with no search for the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : ignored
        """
        vectors: FloatArray = self.fit(X, y).vectors_
        return vectors

    @property
    def is_orthonormal(self) -> bool:
        """Whether the columns of `vectors_` are orthonormal."""
        return True

    def without_rows(self) -> Self:
        """Return a basis that extends to new points and forgets its own if it can."""
        return self

    def weighted(self, root: FloatArray) -> Features:
        """Return the features U R of the training points, without a copy of U.

        Parameters
        ----------
        root : ndarray of shape (r, q)
            The matrix R.
        """
        if isinstance(self.vectors_, DeviceVectors):
            return TorchFeatures(self.vectors_.tensor, root)
        if not hasattr(self, "_moments"):
            self._moments = column_moments(self.vectors_)
        return DenseFeatures(self.vectors_, root, self._moments)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self, "vectors_")
        return int(self.vectors_.shape[1])

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """Return names of the directions, the class name and a number.

        Parameters
        ----------
        input_features : ignored
        """
        stem = type(self).__name__.lower()
        return np.array([f"{stem}{i}" for i in range(self._n_features_out)], object)


def check_n_components(n_components: float | None, n: int) -> int:
    """Return how many directions to compute: at most n, all of them for None."""
    if n_components is None:
        return n
    check_scalar(n_components, "n_components", Integral, min_val=1)
    return min(int(n_components), n)


def orthogonality(U: FloatArray) -> float:
    """Return the largest entry of the modulus of UᵀU - I."""
    return float(np.abs(inner(U, U) - np.eye(U.shape[1])).max())
