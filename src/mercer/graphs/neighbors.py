"""Symmetric weighted neighbour graphs."""

from dataclasses import dataclass
from numbers import Real
from typing import Literal, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mercer._base.checks import check_choice
from mercer._base.threads import in_blocks, using_threads
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray, SparseArray
from mercer.graphs._edges import (
    checked_adjacency,
    gaussian,
    joined,
    no_farther,
    positive,
    root_mean_square,
    self_tuning,
    sparse_edges,
)
from mercer.neighbors.index import Method, Metric, NeighborIndex, Neighbors

_PER_BLOCK = 4096  # rows that a thread takes at a time, at least
Weights = Literal["gaussian", "binary", "self_tuning"]
Symmetry = Literal["union", "mutual"]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Symmetric weighted graph over n points; made by `neighbor_graph`.

    See Also
    --------
    GraphBasis : The smooth directions of a graph.

    Examples
    --------
    >>> graph = Graph.from_adjacency([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> graph.n_points, graph.n_components, graph.isolated
    (3, 2, array([2]))
    """

    adjacency: SparseArray  # (n, n) csr_array, symmetric, zero diagonal, entries > 0
    recall: float  # share of true neighbours found, estimated; 1.0 when exact
    n_components: int  # connected components
    component_labels: IntArray  # (n,) in 0..n_components-1
    weights: Weights | None = None  # None for a ready-made adjacency
    sigma: float | None = None  # width of the Gaussian weights
    scales: FloatArray | None = None  # (n,) local scales of the self-tuning weights

    @property
    def n_points(self) -> int:
        """Number of points, n."""
        return int(self.adjacency.shape[0])

    @property
    def isolated(self) -> IntArray:
        """Points without any edge, ascending."""
        return np.flatnonzero(np.diff(self.adjacency.indptr) == 0)

    @classmethod
    def from_adjacency(cls, W: ArrayLike | SparseArray) -> Self:
        """Check a ready-made adjacency and wrap it.

        Parameters
        ----------
        W : array or sparse array of shape (n, n)
            Symmetric, finite, non-negative. The diagonal (self-loops) is dropped.

        Returns
        -------
        Graph

        Examples
        --------
        >>> Graph.from_adjacency([[0, 1, 0], [1, 0, 0], [0, 0, 0]]).n_components
        2
        """
        return cls._of(checked_adjacency(W), recall=1.0)

    @classmethod
    def from_distances(
        cls,
        D: SparseArray,
        *,
        weights: Weights = "gaussian",
        sigma: float | None = None,
        symmetry: Symmetry = "union",
    ) -> Self:
        """Make a graph of distances to neighbours that were found elsewhere.

        Parameters
        ----------
        D : sparse array of shape (n, n)
            Row i holds the distances of i to its neighbours, as
            `sklearn.neighbors.kneighbors_graph` gives them with ``mode="distance"``, or
            a `KNeighborsTransformer` or one of its relatives (faiss, pynndescent,
            hnswlib). Entries that are stored count, also zeros; the diagonal does not.
        weights, sigma, symmetry
            As in `neighbor_graph`.

        Examples
        --------
        >>> from sklearn.neighbors import kneighbors_graph
        >>> D = kneighbors_graph([[0.0], [1.0], [3.0]], 1, mode="distance")
        >>> Graph.from_distances(D, weights="binary").adjacency.toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        i, j, lengths, scales = sparse_edges(D, mutual=symmetry == "mutual")
        n = D.shape[0]
        if weights == "binary":
            values = np.ones(len(lengths))
        elif weights == "gaussian":
            sigma = root_mean_square(lengths) if sigma is None else sigma
            values = gaussian(lengths, sigma)
        else:
            values = self_tuning(lengths, scales[i], scales[j])
        upper = sparse.coo_array((values, (i, j)), shape=(n, n))
        tuned = scales if weights == "self_tuning" else None
        return cls._of(
            sparse.csr_array(upper + upper.T),
            recall=1.0,
            weights=weights,
            sigma=sigma if weights == "gaussian" else None,
            scales=tuned,
        )

    @classmethod
    def _of(
        cls,
        adjacency: SparseArray,
        *,
        recall: float,
        weights: Weights | None = None,
        sigma: float | None = None,
        scales: FloatArray | None = None,
    ) -> Self:
        # Of a symmetric graph they are the strong ones, found without a second copy.
        n_components, labels = connected_components(adjacency, connection="strong")
        _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))  # in the order of first points
        return cls(
            adjacency,
            recall,
            int(n_components),
            numbers[labels],
            weights,
            sigma,
            scales,
        )

    def weigh(self, indices: IntArray, distances: FloatArray, k: int) -> SparseArray:
        """Weigh the edges from new points to points of the graph, as in the graph.

        Parameters
        ----------
        indices : int array of shape (m, at least k)
            Neighbours of each new point among the points of the graph.
        distances : ndarray of shape (m, at least k)
            Their distances, ascending along each row.
        k : int
            How many neighbours are joined, and those as near as the last of them.

        Returns
        -------
        csr_array of shape (m, n)
            A new point's own self-tuning scale is the distance of its k-th neighbour,
            `sigma` and the scales of the graph's points are those of the graph.
        """
        if self.weights is None:
            msg = (
                "this graph is a ready-made adjacency: how its weights depend on "
                "distances is not known. Give the rows of weights themselves."
            )
            raise ValueError(msg)
        if self.weights == "self_tuning":
            assert self.scales is not None
            return self_tuning_edges(indices, distances, k, self.scales)
        used = no_farther(distances, k, self.n_points)
        if self.weights == "binary":
            return _edges_of(indices, np.ones(indices.shape), used, self.n_points)
        assert self.sigma is not None
        weights = gaussian(distances, self.sigma)
        return _edges_of(indices, weights, used, self.n_points)


def self_tuning_edges(
    indices: IntArray, distances: FloatArray, k: int, scales: FloatArray
) -> SparseArray:
    """Weigh the edges from new points to points of a self-tuning graph.

    Parameters
    ----------
    indices, distances : ndarray of shape (m, at least k)
        Neighbours of each new point and their distances, ascending.
    k : int
        How many are joined, and those as near as the last of them.
    scales : ndarray of shape (n,)
        Of the points of the graph; a new point's own is the k-th distance.

    Returns
    -------
    csr_array of shape (m, n)
    """
    own = distances[:, k - 1 : k]
    own = np.where(own > 0, own, scales.min())
    weights = self_tuning(distances, own, scales[indices])
    used = no_farther(distances, k, len(scales))
    return _edges_of(indices, weights, used, len(scales))


def _edges_of(
    indices: IntArray, values: FloatArray, used: BoolArray, n: int
) -> SparseArray:
    indptr = np.append(0, np.cumsum(np.count_nonzero(used, axis=1)))
    shape = (len(indices), n)
    return sparse.csr_array((values[used], indices[used], indptr), shape=shape)


def neighbor_graph(
    X: ArrayLike | SparseArray,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    weights: Weights = "gaussian",
    sigma: float | None = None,
    symmetry: Symmetry = "union",
    method: Method = "auto",
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Graph:
    r"""Join every point to its nearest neighbours and weigh the edges.

    Points i and j are joined if one is (``"union"``) or both are (``"mutual"``) among
    the other's `n_neighbors` nearest. Points as near as the last of these are
    neighbours too, so that the order of rows does not decide. The edge weighs 1
    (``"binary"``),

    .. math::

        \exp\frac{-d_{ij}^2}{2\sigma^2} \text{ ("gaussian")} \quad\text{or}\quad
        \exp\frac{-d_{ij}^2}{s_i s_j} \text{ ("self\_tuning")},

    where :math:`s_i` is the distance of i to its last neighbour. A self-tuning edge
    weighs at least 0.001, so that no point is all but separate from its neighbours.

    Parameters
    ----------
    X : array-like or sparse array of shape (n, d)
        Points; with ``metric="precomputed"`` their (n, n) distances.
    n_neighbors : int, default=10
        Less than n.
    metric : {"euclidean", "cosine", "precomputed"} or callable, default="euclidean"
        See `nearest_neighbors`.
    weights : {"gaussian", "binary", "self_tuning"}, default="gaussian"
        How edges are weighed. Weights lie in (0, 1].
    sigma : float, optional
        Width of the Gaussian. By default :math:`\sigma^2` is the mean squared length
        of the edges; it is 0 if all edges join equal points, which then weigh 1.
    symmetry : {"union", "mutual"}, default="union"
        A mutual graph may leave points without an edge.
    method : {"auto", "exact", "cells"}, default="auto"
        See `nearest_neighbors`.
    rng : numpy.random.Generator
        Used by the approximate search alone.
    n_jobs : int, optional
        Threads of the search, as in scikit-learn; the result does not depend on it.

    Returns
    -------
    Graph

    See Also
    --------
    graph_from_neighbors : From neighbours that are known.
    GraphBasis : Its smooth directions.

    Notes
    -----
    The default is the graph of Mao and Tsang (UAI 2010), section 5.2. Self-tuning
    weights are those of Zelnik-Manor and Perona (NIPS 2004); a point with more than
    `n_neighbors` copies has no scale of its own and takes the smallest positive one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> graph = neighbor_graph(X, 1, weights="binary", rng=np.random.default_rng(0))
    >>> graph.n_components
    2
    >>> graph.adjacency.sum()
    np.float64(6.0)
    """
    with using_threads(n_jobs):
        index = NeighborIndex.fit(X, metric=metric, method=method, rng=rng)
        found = index.neighbors_and_ties(n_neighbors)
    return graph_from_neighbors(
        found,
        n_neighbors,
        weights=weights,
        sigma=sigma,
        symmetry=symmetry,
    )


def graph_from_neighbors(
    neighbors: Neighbors,
    n_neighbors: int | None = None,
    *,
    weights: Weights = "gaussian",
    sigma: float | None = None,
    symmetry: Symmetry = "union",
) -> Graph:
    """Build the graph of `neighbor_graph` from a finished search.

    One search for many neighbours serves every smaller graph.

    Parameters
    ----------
    neighbors : Neighbors
        From `nearest_neighbors`.
    n_neighbors : int, optional
        Use this many nearest neighbours, and those found that are as near as the last
        of them; all by default.
    weights, sigma, symmetry
        See `neighbor_graph`.

    Returns
    -------
    Graph

    See Also
    --------
    neighbor_graph : Search and graph in one call.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neighbors.index import nearest_neighbors
    >>> X = np.arange(6.0)[:, None] ** 2
    >>> found = nearest_neighbors(X, 3, rng=np.random.default_rng(0))
    >>> [graph_from_neighbors(found, k).adjacency.nnz for k in (1, 2, 3)]
    [10, 14, 22]
    """
    n, k_found = neighbors.indices.shape
    k = k_found if n_neighbors is None else n_neighbors
    if not 1 <= k <= k_found:
        msg = f"n_neighbors must be in 1..{k_found}, the neighbours found; got {k}."
        raise ValueError(msg)
    _check_options(weights, sigma, symmetry)
    indptr, columns, lengths = joined(
        neighbors.indices,
        neighbors.distances,
        no_farther(neighbors.distances, k, n - 1),
        mutual=symmetry == "mutual",
    )
    scales = None
    if weights == "gaussian":
        sigma = root_mean_square(lengths) if sigma is None else sigma
    elif weights == "self_tuning":
        scales = positive(neighbors.distances[:, k - 1])

    def weigh(rows: slice) -> None:
        stops = indptr[rows.start : rows.stop + 1]
        at = slice(stops[0], stops[-1])
        if weights == "binary":
            lengths[at] = 1.0
        elif sigma is not None:
            lengths[at] = gaussian(lengths[at], sigma)
        elif scales is not None:
            own = np.repeat(scales[rows], np.diff(stops))
            lengths[at] = self_tuning(lengths[at], own, scales[columns[at]])

    in_blocks(weigh, n, _PER_BLOCK)
    W = sparse.csr_array((lengths, columns, indptr), shape=(n, n))
    return Graph._of(
        W, recall=neighbors.recall, weights=weights, sigma=sigma, scales=scales
    )


def _check_options(weights: str, sigma: float | None, symmetry: str) -> None:
    check_choice(weights, "weights", ("gaussian", "binary", "self_tuning"))
    check_choice(symmetry, "symmetry", ("union", "mutual"))
    if sigma is None:
        return
    if weights != "gaussian":
        msg = f"sigma={sigma!r} belongs to weights='gaussian', got weights={weights!r}."
        raise ValueError(msg)
    if not isinstance(sigma, Real) or not 0 < float(sigma) < np.inf:
        msg = f"sigma must be a positive number, or None for the default, got {sigma!r}"
        raise ValueError(msg)
