"""The smoothest directions of a neighbour graph, computed on a device."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer._base.tensors import column_signs, to_numpy, torch
from mercer._base.typing import FloatArray
from mercer.backends.torch.eigen import TorchEigenpairs, smallest_pairs
from mercer.backends.torch.files import InFiles
from mercer.backends.torch.graph import (
    TorchGraph,
    Weights,
    component_labels,
    graph_of,
    null_vectors,
)
from mercer.backends.torch.search import TorchNeighbors, TorchSearch
from mercer.eigen.components import component_vectors
from mercer.eigen.policy import OnFailure
from mercer.eigen.smallest import DENSE_UP_TO, smallest_eigenpairs
from mercer.graphs.laplacians import degrees, laplacian

_ROWS = 2**14  # new points extended to at a time
_EQUAL = 1e-4  # of the distance to the last neighbour, as on the host
_SMALLEST_DIVISOR = 0.1


@dataclass(frozen=True, eq=False)
class DeviceBasis(InFiles):
    """A graph on a device, its eigenpairs, and the search they came from."""

    search: TorchSearch
    graph: TorchGraph
    pairs: TorchEigenpairs
    vectors: Any  # (n, r) those of the Laplacian asked for, signs fixed; float32 or 64
    orthogonality: float  # of the vectors of the normalised Laplacian
    n_null: int
    walk: bool  # whether the vectors are those of the random walk

    @property
    def gap(self) -> float:
        """Between the last value and the first that was left out."""
        return self.pairs.next_value - float(self.pairs.values[-1])

    def extend(self, X: Any, k: int) -> FloatArray:
        """Return the values of the directions at new points, (m, r)."""
        ids, distances = self.search.query(X, k)
        extended = np.empty((len(ids), self.vectors.shape[1]))
        for start in range(0, len(ids), _ROWS):
            part = slice(start, start + _ROWS)
            extended[part] = to_numpy(self.extended(ids[part], distances[part]))
        return extended

    def extended(self, ids: Any, distances: Any) -> Any:
        """Return the values at points with these neighbours, nearest first."""
        degrees = None if self.walk else self.graph.degrees
        weights = self.graph.weigh(ids, distances)
        return extended_vectors(
            self.vectors, self.pairs.values, weights, ids, distances, degrees
        )


def extended_vectors(
    vectors: Any,
    values: FloatArray,
    weights: Any,
    ids: Any,
    distances: Any,
    degrees: Any = None,
) -> Any:
    """Return the values of directions at new points, (m, r).

    Parameters
    ----------
    vectors : tensor of shape (n, r)
    values : ndarray of shape (r,)
        Of the Laplacian.
    weights, ids, distances : tensor of shape (m, k)
        Of the edges to the nearest points, nearest first.
    degrees : tensor of shape (n,), optional
        Left out where the vectors are those of the random walk.
    """
    t = torch()
    d_new = weights.sum(dim=1, keepdim=True)
    step = t.where(d_new > 0, weights / d_new, 0.0)
    rest = t.as_tensor(1.0 - values, device=step.device)
    factor = rest.abs() / (rest * rest).clamp(min=_SMALLEST_DIVISOR**2)
    if degrees is not None:
        positive = degrees[degrees > 0]
        smallest = positive.min() if len(positive) else degrees.new_ones(())
        root = degrees[ids].rsqrt()
        step = step * t.where(degrees[ids] > 0, root, 0.0)
        factor = factor * t.maximum(d_new, smallest).sqrt()
    step = step.to(vectors.dtype)
    found = t.einsum("mk,mkr->mr", step, vectors[ids]) * factor
    known, own = equal_points(ids, distances)
    found[known] = vectors[own].to(found.dtype)
    return found


def equal_points(ids: Any, distances: Any) -> tuple[Any, Any]:
    """Return which new points equal one of the others, (m,), and the first of these."""
    t = torch()
    equal = distances <= _EQUAL * distances[:, -1:]
    nearest = equal & (distances <= distances[:, :1])
    known = equal[:, 0]
    first = t.where(nearest, ids, t.iinfo(ids.dtype).max).min(dim=1).values
    return known, first[known]


def fit_on_device(
    X: Any,
    r: int,
    k: int,
    *,
    weights: Weights,
    sigma: float | None,
    mutual: bool,
    walk: bool,
    tol: float = 1e-7,
    on_failure: OnFailure = "rough",
    most_work: float = np.inf,
    rng: np.random.Generator,
) -> DeviceBasis:
    r"""Search neighbours, build the graph and compute its r smoothest directions.

    Parameters
    ----------
    X : tensor of shape (n, d)
        Points, on the device that computes.
    r : int
        Number of directions.
    k : int
        Neighbours of each point.
    weights, sigma, mutual
        See `mercer.backends.torch.graph.graph_of`.
    walk : bool
        Whether the vectors are those of the random walk, with the weights
        :math:`d_j / \bar d`, in place of the normalised Laplacian.
    tol, on_failure, most_work
        See `mercer.backends.torch.eigen.smallest_pairs`.
    rng : numpy.random.Generator
    """
    search = TorchSearch.prepare(X, rng=rng)
    n = len(search.points)
    found = search.neighbors(min(k, n - 1))
    return basis_of(
        search, found, r, None, weights=weights, sigma=sigma, mutual=mutual, walk=walk,
        tol=tol, on_failure=on_failure, most_work=most_work, rng=rng,
    )  # fmt: skip


def basis_of(
    search: TorchSearch,
    found: TorchNeighbors,
    r: int,
    k: int | None,
    *,
    weights: Weights,
    sigma: float | None = None,
    mutual: bool = False,
    walk: bool,
    tol: float = 1e-7,
    on_failure: OnFailure = "rough",
    most_work: float = np.inf,
    rng: np.random.Generator,
) -> DeviceBasis:
    """Compute the basis of the graph of the k nearest of a finished search."""
    graph = graph_of(found, k, weights=weights, sigma=sigma, mutual=mutual)
    r = min(r, graph.n_points)
    labels = component_labels(graph)
    policy: Any = {
        "tol": tol, "on_failure": on_failure, "most_work": most_work, "rng": rng
    }  # fmt: skip
    if graph.n_points <= DENSE_UP_TO or 4 * r > graph.n_points:
        pairs, n_null = _pairs_on_host(graph, to_numpy(labels), r, **policy)
    else:
        null, n_null = null_vectors(graph, labels, at_most=r + 1)
        pairs = smallest_pairs(graph, r, null=null, **policy)
    U = pairs.vectors
    orthogonality = float(_off_identity(U))
    U = U * column_signs(U)
    if walk:
        d = graph.degrees
        share = d / (float(d.mean()) or 1.0)
        share[d == 0] = 1.0
        U = (U / share.sqrt()[:, None]).to(U.dtype)
    return DeviceBasis(search, graph, pairs, U, orthogonality, n_null, walk)


def _pairs_on_host(
    graph: TorchGraph, labels: FloatArray, r: int, **policy: Any
) -> tuple[TorchEigenpairs, int]:
    """Compute eigenpairs where dense algebra on the host is cheap."""
    parts = (graph.weights, graph.columns, graph.starts)
    shape = (graph.n_points, graph.n_points)
    W = sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=shape)
    W = W.astype(np.float64)
    null, n_null = component_vectors(
        labels.astype(np.intp), np.sqrt(degrees(W)), at_most=r + 1
    )
    found = smallest_eigenpairs(laplacian(W), r, upper=2.0, null=null, **policy)
    vectors = torch().as_tensor(found.vectors, device=graph.weights.device)
    pairs = TorchEigenpairs(
        found.values,
        vectors,
        found.next_value,
        found.residual,
        found.method,
        found.note,
        found.floor,
        found.failure,
    )
    return pairs, n_null


def _off_identity(U: Any) -> Any:
    t = torch()
    G = U.T @ U
    return (G - t.eye(len(G), dtype=G.dtype, device=G.device)).abs().max()
