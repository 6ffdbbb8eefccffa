"""Neighbour graphs on a device: edges, weights, components, the normalised matrix."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mercer._base.tensors import torch
from mercer.backends.torch.files import InFiles
from mercer.backends.torch.search import TorchNeighbors
from mercer.graphs._edges import LEAST_TUNED

Weights = Literal["gaussian", "binary", "self_tuning"]


@dataclass(frozen=True, eq=False)
class TorchGraph(InFiles):
    """Symmetric weighted graph over n points, as tensors."""

    starts: Any  # (n + 1,) int64: row i has the entries starts[i]:starts[i + 1]
    columns: Any  # (nnz,) int32, ascending within a row
    weights: Any  # (nnz,) float32, > 0
    degrees: Any  # (n,) float64
    kind: Weights
    sigma: float | None  # width of the Gaussian weights
    scales: Any  # (n,) local scales of the self-tuning weights, or None
    recall: float

    @property
    def n_points(self) -> int:
        """Number of points, n."""
        return len(self.degrees)

    def rows(self) -> Any:
        """Return the row of each entry, (nnz,)."""
        t = torch()
        counts = self.starts.diff()
        every = t.arange(self.n_points, device=self.columns.device)
        return every.repeat_interleave(counts)

    def weigh(self, ids: Any, distances: Any) -> Any:
        """Weigh the edges from new points to points of the graph, (m, k) float64."""
        t = torch()
        if self.kind == "binary":
            return t.ones_like(distances)
        if self.kind == "gaussian":
            assert self.sigma is not None
            return _gaussian(distances, self.sigma)
        return tuned_weights(ids, distances, self.scales)

    def normalized(self) -> Any:
        """Return the entries of D^-1/2 W D^-1/2, float32."""
        root = self.degrees.rsqrt()
        root[self.degrees == 0] = 0
        scaled = root[self.rows()] * root[self.columns.long()]
        return (self.weights * scaled).float()


def graph_of(
    found: TorchNeighbors,
    n_neighbors: int | None = None,
    *,
    weights: Weights = "gaussian",
    sigma: float | None = None,
    mutual: bool = False,
) -> TorchGraph:
    """Join points to their neighbours; see `mercer.graphs.neighbors.neighbor_graph`.

    Parameters
    ----------
    found : TorchNeighbors
    n_neighbors : int, optional
        Use only this many nearest neighbours; all by default.
    weights, sigma
        As there.
    mutual : bool, default=False
        Whether both points must be among the other's nearest.
    """
    t = torch()
    n, k = found.indices.shape
    k = k if n_neighbors is None else n_neighbors
    lengths = found.distances[:, :k].double().reshape(-1)
    i = t.arange(n, device=lengths.device).repeat_interleave(k)
    j = found.indices[:, :k].reshape(-1).long()
    keys = t.minimum(i, j) * n + t.maximum(i, j)
    keys, order = keys.sort(stable=True)
    first = t.ones(len(keys), dtype=t.bool, device=keys.device)
    first[1:] = keys[1:] != keys[:-1]
    if mutual:
        again = t.zeros_like(first)
        again[:-1] = ~first[1:]
        first &= again
    keys, lengths = keys[first], lengths[order[first]]
    i, j = keys // n, keys % n
    scales = None
    if weights == "binary":
        values, sigma = t.ones_like(lengths), None
    elif weights == "gaussian":
        if sigma is None:
            sigma = _root_mean_square(lengths)
        values = _gaussian(lengths, sigma)
    else:
        scales, sigma = _positive(found.distances[:, k - 1].double()), None
        values = _self_tuning(lengths, scales[i], scales[j])
    keys = t.cat([keys, j * n + i])
    keys, order = keys.sort()
    values = t.cat([values, values])[order]
    rows, columns = keys // n, keys % n
    degrees = t.zeros(n, dtype=t.float64, device=keys.device)
    degrees.index_add_(0, rows, values)
    starts = t.searchsorted(rows, t.arange(n + 1, device=rows.device))
    return TorchGraph(
        starts,
        columns.int(),
        values.float(),
        degrees,
        weights,
        sigma,
        scales,
        found.recall,
    )


def _root_mean_square(lengths: Any) -> float:
    longest = float(lengths.max()) if len(lengths) else 0.0
    if longest == 0:
        return 0.0
    return longest * float((lengths / longest).square().mean().sqrt())


def _gaussian(lengths: Any, sigma: float) -> Any:
    t = torch()
    if sigma == 0:  # only equal points weigh
        values = (lengths == 0).to(lengths.dtype)
    else:
        values = t.exp(-0.5 * (lengths / sigma) ** 2)
    return values.clamp_(min=np.finfo(np.float32).tiny)


def tuned_weights(ids: Any, distances: Any, scales: Any) -> Any:
    """Weigh the edges from new points to points with local scales, (m, k)."""
    own = distances[:, -1:]
    own = torch().where(own > 0, own, scales.min())
    return _self_tuning(distances, own, scales[ids])


def _self_tuning(lengths: Any, left: Any, right: Any) -> Any:
    t = torch()
    values = t.exp(-(lengths / left) * (lengths / right))
    return values.clamp_(min=LEAST_TUNED)


def _positive(scales: Any) -> Any:
    """Replace scales of 0, of points with many copies, by the smallest others."""
    t = torch()
    positive = scales > 0
    least = scales[positive].min() if bool(positive.any()) else scales.new_ones(())
    return t.where(positive, scales, least)


def component_labels(graph: TorchGraph) -> Any:
    """Return the component of each point, numbered from 0 in the order of first points.

    Every point takes the smallest label around it until none changes; labels jump to
    the labels of their points, so that long paths take few rounds.
    """
    t = torch()
    n = graph.n_points
    labels = t.arange(n, device=graph.columns.device)
    rows, columns = graph.rows(), graph.columns.long()
    while True:
        least = labels.scatter_reduce(0, rows, labels[columns], "amin")
        # The point that gave its name to a component follows its members.
        joined = labels.scatter_reduce(0, labels, least, "amin")
        joined = t.minimum(joined, least)
        for _ in range(3):
            joined = joined[joined]
        if bool((joined == labels).all()):
            return t.unique(labels, return_inverse=True)[1]
        labels = joined


def null_vectors(graph: TorchGraph, labels: Any, *, at_most: int) -> tuple[Any, int]:
    """Return null vectors of the normalised Laplacian, and how many there are.

    They are the roots of the degrees on one component each, large components first;
    a point without an edge carries none.
    """
    t = torch()
    m = int(labels.max()) + 1
    volumes = t.zeros(m, dtype=t.float64, device=labels.device)
    volumes.index_add_(0, labels, graph.degrees)
    sizes = t.bincount(labels, minlength=m)
    order = t.argsort(sizes, descending=True, stable=True)
    order = order[volumes[order] > 0]
    count = min(len(order), at_most)
    column = t.full((m,), -1, dtype=t.int64, device=labels.device)
    column[order[:count]] = t.arange(count, device=labels.device)
    vectors = t.zeros((len(labels), count), device=labels.device)
    points = (column[labels] >= 0).nonzero()[:, 0]
    parts = labels[points]
    entries = (graph.degrees[points] / volumes[parts]).sqrt()
    vectors[points, column[parts]] = entries.float()
    return vectors, len(order)
