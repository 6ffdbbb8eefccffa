"""What a basis is."""

from typing import Protocol, Self, runtime_checkable

from mercer._base.typing import ArrayLike, FloatArray
from mercer.spectrum.base import BasisCertificate
from mercer.spectrum.features import Features


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
