"""Nearest neighbours among points, and of new points."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array

from mercer._typing import ArrayLike, FloatArray, SparseArray

Metric: TypeAlias = (
    Literal["euclidean", "cosine", "precomputed"] | Callable[[Any, Any], float]
)
Method = Literal["auto", "exact", "cells"]

_BLOCK = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The k nearest neighbours of each of n points, the point itself left out."""

    indices: NDArray[np.int32]  # (n, k)
    distances: FloatArray  # (n, k) ascending
    recall: float  # share of true neighbours found, estimated; 1.0 when exact
    method: str  # what was used: "exact" or "cells"


@dataclass(frozen=True, slots=True, eq=False)
class NeighborIndex:
    """Points made ready for neighbour searches; made by `NeighborIndex.fit`."""

    points: Any  # as given, checked
    metric: Metric
    method: Method

    @classmethod
    def fit(
        cls,
        X: ArrayLike | SparseArray,
        *,
        metric: Metric = "euclidean",
        method: Method = "auto",
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> Self:
        """Check the points and prepare them; parameters as `nearest_neighbors`."""
        return cls(_checked_points(X, metric), metric, method)

    def neighbors(self, k: int) -> Neighbors:
        """Find the `k` nearest neighbours of every point but itself."""
        n = self.points.shape[0]
        if not isinstance(k, Integral) or not 1 <= k < n:
            msg = (
                f"k must be an integer from 1 to n - 1 = {n - 1}, got {k!r}: "
                f"each of the {n} points has only the others as neighbours."
            )
            raise ValueError(msg)
        indices, distances = self._search(self.points, int(k), itself=True)
        return Neighbors(indices, distances, 1.0, "exact")

    def query(
        self, X_new: ArrayLike | SparseArray, k: int
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """Find the `k` nearest points of each new point: indices and distances."""
        n = self.points.shape[0]
        if not isinstance(k, Integral) or not 1 <= k <= n:
            msg = f"k must be an integer from 1 to n = {n}, got {k!r}."
            raise ValueError(msg)
        new = _checked_array(X_new)
        if new.shape[1] != self.points.shape[1]:
            msg = (
                f"X_new has {new.shape[1]} columns, "
                f"but the index was made with {self.points.shape[1]}."
            )
            raise ValueError(msg)
        return self._search(new, int(k), itself=False)

    def _search(
        self, new: Any, k: int, *, itself: bool
    ) -> tuple[NDArray[np.int32], FloatArray]:
        m = new.shape[0]
        indices = np.empty((m, k), dtype=np.int32)
        distances = np.empty((m, k))
        for start in range(0, m, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, m))
            D = self._distances(new[rows])
            if itself:
                D[np.arange(len(rows)), rows] = np.inf
            nearest = np.argsort(D, axis=1, kind="stable")[:, :k]
            indices[rows] = nearest
            distances[rows] = np.take_along_axis(D, nearest, axis=1)
        return indices, distances

    def _distances(self, rows: Any) -> FloatArray:
        if self.metric == "precomputed":
            return np.array(rows, dtype=np.float64)
        D: FloatArray = pairwise_distances(rows, self.points, metric=self.metric)
        return D


def nearest_neighbors(
    X: ArrayLike | SparseArray,
    k: int,
    *,
    metric: Metric = "euclidean",
    method: Method = "auto",
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Neighbors:
    """Find the `k` nearest neighbours of every point but itself.

    Parameters
    ----------
    X : array-like or sparse array of shape (n, d)
        Points; with ``metric="precomputed"`` their (n, n) distances.
    k : int
        Less than n.
    metric : {"euclidean", "cosine", "precomputed"} or callable, default="euclidean"
        A callable takes two rows and returns their distance.
    method : {"auto", "exact", "cells"}, default="auto"
        Search.
    rng : numpy.random.Generator
        Used by the approximate search alone.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> nearest_neighbors(X, 1, rng=np.random.default_rng(0)).indices.ravel()
    array([1, 0, 1, 2], dtype=int32)
    """
    index = NeighborIndex.fit(X, metric=metric, method=method, rng=rng, n_jobs=n_jobs)
    return index.neighbors(k)


def _checked_array(X: ArrayLike | SparseArray) -> Any:
    return check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"
    )


def _checked_points(X: ArrayLike | SparseArray, metric: Metric) -> Any:
    points = _checked_array(X)
    if metric == "precomputed" and (
        sparse.issparse(points) or points.shape[0] != points.shape[1]
    ):
        msg = f"metric='precomputed' needs a dense (n, n) X, got shape {points.shape}."
        raise ValueError(msg)
    return points
