"""Pseudo-inverses of graph Laplacians as kernels, many graphs at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._base.checks import check_several
from mercer._base.typing import ArrayLike, SparseArray
from mercer.graphs.image_distances import AffineDistance, TangentDistance
from mercer.graphs.neighbors import Graph, Weights, graph_from_neighbors
from mercer.neighbors.index import Metric, NeighborIndex, Neighbors
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel

IMAGE_METRICS: tuple[Metric, ...] = ("euclidean", AffineDistance(), TangentDistance())


def laplacian_kernels(
    X: ArrayLike | SparseArray,
    *,
    n_neighbors: Sequence[int] = tuple(range(1, 11)),
    metrics: Sequence[Metric] = ("euclidean",),
    weights: Weights = "gaussian",
    n_components: int | None = None,
    rng: np.random.Generator,
) -> list[SpectralKernel]:
    r"""Return the graph Laplacian kernels :math:`L^+` of several neighbour graphs.

    Parameters
    ----------
    X : array-like or sparse array of shape (n, n_features)
        The points.
    n_neighbors : sequence of int, default=1..10
        One graph for each; those beyond n - 1 are left out.
    metrics : sequence, default=("euclidean",)
        Metrics of `mercer.neighbors.index.nearest_neighbors`, the image distances
        included; one search for each serves all `n_neighbors`. With `IMAGE_METRICS`
        the result is the paper's set of 30.
    weights : {"gaussian", "binary", "self_tuning"}, default="gaussian"
        How edges are weighed.
    n_components : int or None, default=None
        Keep this many of the smoothest directions that are not null; None for all.
    rng : numpy.random.Generator
        For the search and the eigensolver.

    Returns
    -------
    list of SpectralKernel
        Metric by metric, in the order of `n_neighbors`.

    See Also
    --------
    AnnealedKernelMachine : Chooses among such kernels.
    mercer.machines.candidate_kernels : Kernels of points to choose from.

    Notes
    -----
    Dai and Yeung (2007), section 3.3, after Argyriou, Herbster and Pontil (2006):
    :math:`L = D - W` of the symmetric ("or") graph. Null directions, one for each
    component, have weight zero: on a component without labels such a kernel says
    nothing.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> rng = np.random.default_rng(0)
    >>> kernels = laplacian_kernels(X, n_neighbors=(1, 2), weights="binary", rng=rng)
    >>> L = np.array([[1, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 1]])
    >>> bool(np.allclose(kernels[0](), np.linalg.pinv(L)))
    True
    """
    check_several(n_neighbors, "n_neighbors")
    check_several(metrics, "metrics")
    kernels = []
    for metric in metrics:
        index = NeighborIndex.fit(X, metric=metric, rng=rng)
        n = np.shape(X)[0]
        used = [k for k in n_neighbors if k < n]
        if not used:
            msg = f"n_neighbors={n_neighbors!r} are all too many for {n} points."
            raise ValueError(msg)
        found = index.neighbors_and_ties(max(used))
        for k in used:
            basis = _SharedSearchBasis(
                n_components,
                n_neighbors=k,
                metric=metric,
                weights=weights,
                laplacian="combinatorial",
                random_state=rng,
            )
            kernels.append(_pseudo_inverse(basis.fit_found(X, index, found)))
    return kernels


class _SharedSearchBasis(GraphBasis):
    """A graph basis on the first k neighbours of a search that serves many k."""

    def fit_found(
        self, X: ArrayLike | SparseArray, index: NeighborIndex, found: Neighbors
    ) -> "_SharedSearchBasis":
        self._shared: tuple[NeighborIndex, Neighbors] | None = (index, found)
        asked = self.n_components
        if asked is not None:  # null directions come on top
            graph = graph_from_neighbors(found, self.n_neighbors, weights="binary")
            self.n_components = asked + graph.n_components
        self.fit(X)
        self.n_components, self._shared = asked, None
        return self

    def _build_graph(self, X: Any, rng: np.random.Generator) -> Graph:
        if self._shared is None:
            return super()._build_graph(X, rng)
        self._points = self._checked_points(X, reset=True)
        self.index_, found = self._shared
        return graph_from_neighbors(found, self.n_neighbors, weights=self.weights)


def _pseudo_inverse(basis: GraphBasis) -> SpectralKernel:
    values = basis.values_
    core = np.zeros_like(values)
    n_null = basis.certificate_.n_null
    core[n_null:] = 1 / values[n_null:]
    return SpectralKernel(basis, core)
