"""Nearest neighbours among points, and of new points."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, Self, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from mercer._base.checks import check_choice
from mercer._base.threads import using_threads
from mercer._base.typing import ArrayLike, FloatArray, SparseArray
from mercer.neighbors.approximate import CellSearch
from mercer.neighbors.exact import DensePoints, ExactSearch
from mercer.neighbors.interface import (
    Found,
    Neighbors,
    Search,
    check_far,
    checked_array,
    unit_rows,
)
from mercer.neighbors.pairwise import PairwisePoints
from mercer.neighbors.sparse import SparsePoints

Metric: TypeAlias = (
    Literal["euclidean", "cosine", "precomputed"] | Callable[[Any, Any], float]
)
T = TypeVar("T")
Method = Literal["auto", "exact", "cells"]

__all__ = ["Method", "Metric", "NeighborIndex", "Neighbors", "nearest_neighbors"]

_EXACT_UP_TO = 8192  # points; below, the exact search costs no more
_TIES = 8  # at least this many are looked for beyond k
_DENSE_BYTES = 2**26  # sparse points that fit in here are made dense


@dataclass(frozen=True, slots=True, eq=False)
class NeighborIndex:
    """Points made ready for neighbour searches; made by `NeighborIndex.fit`.

    See Also
    --------
    nearest_neighbors : The search in one call.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> index = NeighborIndex.fit(X, rng=np.random.default_rng(0))
    >>> indices, distances = index.query([[2.5]], 2)
    >>> indices, distances
    (array([[2, 1]], dtype=int32), array([[0.5, 1.5]]))
    """

    search: Search  # the prepared points
    metric: Metric  # "euclidean", "cosine", "precomputed" or a function

    @classmethod
    def fit(
        cls,
        X: ArrayLike | SparseArray,
        *,
        metric: Metric = "euclidean",
        method: Method = "auto",
        recall: float = 0.99,
        rng: np.random.Generator,
    ) -> Self:
        """Check the points and prepare them; parameters as `nearest_neighbors`.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
        metric, method, recall, rng
            As in `nearest_neighbors`.
        """
        _check_options(metric, method, recall)
        points = _prepared(X, metric)
        if method == "cells" and not isinstance(points, DensePoints):
            msg = (
                "method='cells' needs dense points and metric 'euclidean' or 'cosine'; "
                "use method='exact', or reduce sparse X, e.g. by TruncatedSVD."
            )
            raise ValueError(msg)
        if isinstance(points, PairwisePoints):
            return cls(points, metric)
        if isinstance(points, DensePoints) and (
            method == "cells" or (method == "auto" and len(points) > _EXACT_UP_TO)
        ):
            with using_threads():
                search = CellSearch.prepare(points, recall=recall, rng=rng)
            return cls(search, metric)
        return cls(ExactSearch(points), metric)

    @property
    def points(self) -> Any:
        """The points, as prepared; ``points.X`` are their rows."""
        return self.search.points

    def compares_all(self, k: int) -> bool:
        """Tell whether `query` compares new points with all points: no cells help.

        Parameters
        ----------
        k : int
            Less than n.
        """
        if not isinstance(self.search, CellSearch):
            return True
        with using_threads():
            return self.search.plan(k, mutual=False) is None

    def neighbors(self, k: int) -> Neighbors:
        """Find the `k` nearest neighbours of every point but itself.

        Parameters
        ----------
        k : int
            Less than n.

        Returns
        -------
        Neighbors
        """
        n = self.points.X.shape[0]
        if not isinstance(k, Integral) or not 1 <= k < n:
            msg = (
                f"k must be an integer from 1 to n - 1 = {n - 1}, got {k!r}: "
                f"each of the {n} points has only the others as neighbours."
            )
            raise ValueError(msg)
        with using_threads():
            found = self.search.neighbors(int(k))
        return replace(found, distances=self._finish(found.distances))

    def neighbors_and_ties(self, k: int) -> Neighbors:
        """Find the `k` nearest neighbours of each point, and all as near as the k-th.

        Parameters
        ----------
        k : int
            Number of neighbours.

        Returns
        -------
        Neighbors
            Of at least `k` columns. Ties are looked for by the exact search, up to
            `k` + 8 of them; beyond that the order of rows decides.
        """
        most = self.points.X.shape[0] - 1
        return self._and_ties(self.neighbors, lambda found: found.distances, k, most)

    def query_and_ties(self, X_new: ArrayLike | SparseArray, k: int) -> Found:
        """Find the `k` nearest points of each new point, and all as near as the k-th.

        Parameters and results as `query`, `neighbors_and_ties`.

        Parameters
        ----------
        X_new : array-like or sparse array of shape (m, n_features)
            New points.
        k : int
            Number of neighbours.
        """
        most = self.points.X.shape[0]
        return self._and_ties(
            lambda k: self.query(X_new, k), lambda found: found[1], k, most
        )

    def _and_ties(
        self,
        find: Callable[[int], T],
        distances: Callable[[T], FloatArray],
        k: int,
        most: int,
    ) -> T:
        if isinstance(self.search, CellSearch) or not 1 <= k < most:
            return find(k)
        found = find(k + 1)
        d = distances(found)
        if (d[:, k] > d[:, k - 1]).all():
            return found
        return find(min(2 * k + _TIES, most))

    def query(self, X_new: ArrayLike | SparseArray, k: int) -> Found:
        """Find the `k` nearest points of each new point.

        Parameters
        ----------
        X_new : array-like or sparse array of shape (m, d)
            New points; with ``metric="precomputed"`` their (m, n) distances.
        k : int
            At most n.

        Returns
        -------
        indices : int32 ndarray of shape (m, k)
        distances : ndarray of shape (m, k)
            Ascending.
        """
        n = self.points.X.shape[0]
        if not isinstance(k, Integral) or not 1 <= k <= n:
            msg = f"k must be an integer from 1 to n = {n}, got {k!r}."
            raise ValueError(msg)
        Q = checked_array(X_new)
        if self.metric == "cosine":
            Q = unit_rows(Q)
        if Q.shape[1] != self.points.X.shape[1]:
            extra = 1 if self.metric == "cosine" else 0
            msg = (
                f"X_new has {Q.shape[1] - extra} columns, "
                f"but the index was made with {self.points.X.shape[1] - extra}."
            )
            raise ValueError(msg)
        if not isinstance(self.points, PairwisePoints):
            check_far(Q, self.points.scale)
        if isinstance(self.points, SparsePoints):
            Q = sparse.csr_array(Q)
        elif sparse.issparse(Q):
            Q = Q.toarray()
        with using_threads():
            indices, distances = self.search.query(Q, int(k))
        return indices, self._finish(distances)

    def _finish(self, distances: FloatArray) -> FloatArray:
        # Unit vectors at distance d have the cosine 1 - d^2 / 2.
        return distances**2 / 2 if self.metric == "cosine" else distances


def nearest_neighbors(
    X: ArrayLike | SparseArray,
    k: int,
    *,
    metric: Metric = "euclidean",
    method: Method = "auto",
    recall: float = 0.99,
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
        The cosine distance is one minus the cosine; a row of zeros is at distance 1
        from all others and 0 from further rows of zeros. A callable takes two rows
        and returns their distance; it is called for all pairs.
    method : {"auto", "exact", "cells"}, default="auto"
        ``"cells"`` is approximate: every point looks into the cells of a k-means
        partition that are nearest to it, as many as reach `recall` on sampled rows;
        where the exact search is cheaper than that, it is used. ``"auto"`` takes
        cells for more than 8192 dense points.
    recall : float, default=0.99
        Share of true neighbours that the approximate search aims at.
    rng : numpy.random.Generator
        Used by the approximate search alone.
    n_jobs : int, optional
        Threads, as in scikit-learn; the result does not depend on it.

    Returns
    -------
    Neighbors
        Its `recall` is measured on further sampled rows: a neighbour counts if it is
        no farther than the true k-th.

    See Also
    --------
    NeighborIndex : Keeps the index for new points.
    neighbor_graph : A graph of the neighbours.

    Notes
    -----
    Distances are sums of squared differences in double precision, right for
    near-duplicates and at any scale. The exact search orders equal distances by
    index. Sparse X is always searched exactly, row by row through the columns two
    points share; where its dense form is small it is made dense.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> nearest_neighbors(X, 1, rng=np.random.default_rng(0)).indices.ravel()
    array([1, 0, 1, 2], dtype=int32)
    """
    with using_threads(n_jobs):
        index = NeighborIndex.fit(
            X, metric=metric, method=method, recall=recall, rng=rng
        )
        return index.neighbors(k)


def _check_options(metric: Metric, method: str, recall: float) -> None:
    if not callable(metric) and metric not in ("euclidean", "cosine", "precomputed"):
        msg = (
            "metric must be 'euclidean', 'cosine', 'precomputed' or a callable of two "
            f"rows, got {metric!r}."
        )
        raise ValueError(msg)
    check_choice(method, "method", ("auto", "exact", "cells"))
    if not 0 < recall < 1:
        msg = f"recall must lie between 0 and 1, got {recall!r}; 1 is method='exact'."
        raise ValueError(msg)


def _prepared(
    X: ArrayLike | SparseArray, metric: Metric
) -> DensePoints | SparsePoints | PairwisePoints:
    points = checked_array(X)
    if metric == "precomputed":
        if sparse.issparse(points) or points.shape[0] != points.shape[1]:
            msg = (
                "metric='precomputed' needs a dense (n, n) array of distances, got "
                f"shape {points.shape}; an adjacency goes to Graph.from_adjacency."
            )
            raise ValueError(msg)
        if not np.allclose(points, points.T, rtol=1e-8, atol=0):
            msg = "precomputed distances must be symmetric; pass e.g. (D + D.T) / 2."
            raise ValueError(msg)
    if metric == "cosine":
        points = unit_rows(points)
    elif metric != "euclidean":
        return PairwisePoints(points, metric)
    if not sparse.issparse(points):
        return DensePoints.of(np.ascontiguousarray(points))
    if points.shape[0] * points.shape[1] * points.dtype.itemsize <= _DENSE_BYTES:
        return DensePoints.of(points.toarray())
    return SparsePoints.of(points)
