"""A graph over landmarks: eigenvectors in time linear in the number of points."""

from numbers import Integral
from typing import Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._random import as_generator
from mercer._typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.graphs.search import NeighborIndex
from mercer.spectrum._base import (
    BasisCertificate,
    BasisMixin,
    check_n_components,
    fix_signs,
)


class AnchorBasis(BasisMixin):
    r"""The smoothest directions of an anchor graph.

    Every point is tied to its nearest anchors with weights Z (n x m, rows sum to 1),
    and two points are joined through the anchors they share:
    :math:`W = Z \Lambda^{-1} Z^\top`, :math:`\Lambda = \operatorname{diag}(Z^\top 1)`.

    Parameters
    ----------
    n_components : int or None, default=50
        At most so many directions r, and at most as many as there are anchors.
    n_anchors : int, default=1000
        Number of anchors m, k-means centres.
    n_nearest : int, default=3
        Anchors a point is tied to, s.
    random_state : int, Generator, RandomState or None, default=None
        For k-means.

    Attributes
    ----------
    vectors_ : ndarray of shape (n, r)
        Orthonormal columns.
    values_ : ndarray of shape (r,)
        Eigenvalues of the Laplacian I - W, ascending.
    anchors_ : ndarray of shape (m, n_features)
    certificate_ : BasisCertificate

    Notes
    -----
    Liu, He and Chang (ICML 2010). Rows of W sum to 1, so I - W is its own normalised
    Laplacian. Its eigenvectors come from the m x m matrix
    :math:`\Lambda^{-1/2} Z^\top Z \Lambda^{-1/2} = V \Sigma V^\top` as
    :math:`U = Z \Lambda^{-1/2} V \Sigma^{-1/2}`, exactly, and the same formula with
    the weights z(x) of a new point gives u(x).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> basis = AnchorBasis(n_components=3, n_anchors=20, random_state=0).fit(X)
    >>> basis.vectors_.shape
    (200, 3)
    >>> bool(np.allclose(basis.extend(X), basis.vectors_))
    True
    """

    def __init__(
        self,
        n_components: int | None = 50,
        *,
        n_anchors: int = 1000,
        n_nearest: int = 3,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Choose anchors and compute the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : ignored
        """
        check_scalar(self.n_anchors, "n_anchors", Integral, min_val=1)
        check_scalar(self.n_nearest, "n_nearest", Integral, min_val=1)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        rng = as_generator(self.random_state)
        m = min(self.n_anchors, X.shape[0])
        means = MiniBatchKMeans(m, n_init=1, random_state=int(rng.integers(2**31)))
        self.anchors_ = np.unique(means.fit(X).cluster_centers_, axis=0)
        self._index = NeighborIndex.fit(self.anchors_, rng=rng)
        Z = self._weights(X)
        mass = np.asarray(Z.sum(axis=0)).ravel()
        scale = np.zeros_like(mass)
        np.divide(1.0, np.sqrt(mass), out=scale, where=mass > 0)
        Z = sparse.csr_array(Z @ sparse.diags_array(scale))
        sigma, V = eigh((Z.T @ Z).toarray())
        sigma, V = sigma[::-1], V[:, ::-1]
        r = min(check_n_components(self.n_components, X.shape[0]), len(sigma))
        kept = int(np.count_nonzero(sigma[:r] > 1e-10))
        U = Z @ (V[:, :kept] / np.sqrt(sigma[:kept]))
        signs = np.where(np.sum(fix_signs(U) * U, axis=0) < 0, -1.0, 1.0)
        self.vectors_ = U * signs
        self._map = scale[:, None] * V[:, :kept] * (signs / np.sqrt(sigma[:kept]))
        self.values_ = np.clip(1.0 - sigma[:kept], 0.0, 1.0)
        next_value = 1.0 - sigma[kept] if kept < len(sigma) else 1.0
        gap = float(next_value - self.values_[-1])
        residual = Z @ (Z.T @ self.vectors_) - self.vectors_ * sigma[:kept]
        self.certificate_ = BasisCertificate(
            method="anchors",
            reason="asked for",
            residual=float(np.linalg.norm(residual, axis=0).max()),
            orthogonality=float(np.abs(U.T @ U - np.eye(kept)).max()),
            gap=gap,
            cuts_repeated_value=gap <= 1e-6,
        )
        return self

    def extend(self, X: ArrayLike) -> FloatArray:
        """Return the values of the directions at new points, (m, r).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        extended: FloatArray = self._weights(X) @ self._map
        return extended

    def _weights(self, X: FloatArray) -> SparseArray:
        """Return Z: Gaussian weights of the nearest anchors, rows summing to 1."""
        s = min(self.n_nearest + 1, len(self.anchors_))
        indices, distances = self._index.query(X, s)
        width = np.maximum(distances[:, -1:], np.finfo(float).tiny)
        weights = np.exp(-((distances / width) ** 2))
        k = max(s - 1, 1)
        weights = weights[:, :k] / weights[:, :k].sum(axis=1, keepdims=True)
        indptr = np.arange(0, X.shape[0] * k + 1, k)
        return sparse.csr_array(
            (weights.ravel(), indices[:, :k].ravel(), indptr),
            shape=(X.shape[0], len(self.anchors_)),
        )
