"""A kernel from pairs beside the plain distance, each with its share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from mercer._base.html import Shown
from mercer._base.rows import thinned
from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.kernels.base import Kernel
from mercer.learners.clustering import unit_rows

# Limit of work: points whose distances tell how far apart points usually are.
_COMPARED = 500


@dataclass(frozen=True, eq=False)
class BlendedKernel(Shown, Kernel):
    r"""Inner products of the learned features and the columns themselves.

    .. math:: F(x) = \left(\sqrt{w}\, \Phi(x) / \|\Phi(x)\|,\;
        \sqrt{1 - w}\, x / s\right)

    The squared distance of two points is then w times that of their learned features,
    on the unit sphere, and 1 - w times the plain one.

    Parameters
    ----------
    learned : kernel with features
    points : ndarray of shape (n, n_features)
        Training points of the learned kernel.
    share : float
        The share w of the learned kernel.
    scale : float
        The scale s of the columns.
    """

    learned: Any
    points: FloatArray
    share: float
    scale: float

    def features(self, X: ArrayLike | None = None) -> FloatArray:
        """Return F, (m, r + n_features), of new or of the training points."""
        plain = self.points if X is None else np.asarray(X, dtype=np.float64)
        mapped = unit_rows(np.asarray(self.learned.features(X)))
        w = self.share
        return np.hstack([np.sqrt(w) * mapped, np.sqrt(1 - w) / self.scale * plain])

    def __call__(
        self, X: ArrayLike | None = None, Z: ArrayLike | None = None
    ) -> FloatArray:
        """Return the Gram matrix between X and Z (or X); None is the training rows."""
        left = self.features(X)
        right = left if Z is None else self.features(Z)
        return left @ right.T

    def diag(self, X: ArrayLike | None = None) -> FloatArray:
        """Return k(x, x) for each row."""
        features = self.features(X)
        return np.asarray(np.einsum("ij,ij->i", features, features))


def usual_distance(points: FloatArray) -> float:
    """Return the scale: the root of twice the median squared distance of points."""
    some = np.asarray(thinned(points, _COMPARED), dtype=np.float64)
    squares = euclidean_distances(some, squared=True)
    far = squares[squares > 0]
    return float(np.sqrt(2 * np.median(far))) if len(far) else 1.0


def similarity(F: FloatArray, ends: IntArray) -> FloatArray:
    """Return 1 - half the squared distance of both ends of pairs, (m,).

    Examples
    --------
    >>> similarity(np.eye(3), np.array([[0, 1], [2, 2]]))
    array([0., 1.])
    """
    apart = F[ends[:, 0]] - F[ends[:, 1]]
    near: FloatArray = 1 - np.einsum("ij,ij->i", apart, apart) / 2
    return near
