"""The smoothest directions of a graph that is there already."""

from dataclasses import dataclass

import numpy as np

from mercer._base.tensors import column_signs
from mercer._base.typing import FloatArray, SparseArray
from mercer.backends.torch.basis import DeviceBasis
from mercer.eigen.components import component_vectors
from mercer.eigen.policy import OnFailure
from mercer.eigen.search import SAME
from mercer.eigen.smallest import smallest_eigenpairs
from mercer.graphs.laplacians import LaplacianKind, degrees, laplacian
from mercer.graphs.neighbors import Graph
from mercer.spectrum.base import BasisCertificate, orthogonality


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Directions over n points, and how well they are known."""

    vectors: FloatArray  # (n, r)
    values: FloatArray  # (r,)
    certificate: BasisCertificate


def graph_directions(
    graph: Graph,
    r: int,
    *,
    kind: LaplacianKind = "normalized",
    tol: float = 1e-7,
    on_failure: OnFailure = "rough",
    most_work: float = np.inf,
    rng: np.random.Generator,
) -> Directions:
    """Compute the r smallest eigenpairs of the Laplacian of a graph.

    Parameters
    ----------
    graph : Graph
    r : int
        Directions, at most as many as there are points.
    kind : {"normalized", "combinatorial", "random_walk"}
        Which Laplacian.
    tol, on_failure, most_work
        As in `GraphBasis`.
    rng : numpy.random.Generator
        Starts the eigensolver.

    Returns
    -------
    Directions
        Vectors of the random walk are scaled to the mean degree, see `GraphBasis`.

    Examples
    --------
    >>> path = Graph.from_adjacency([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> graph_directions(path, 2, rng=np.random.default_rng(0)).values.round(6)
    array([0., 1.])
    """
    W = graph.adjacency
    symmetric: LaplacianKind = "normalized" if kind == "random_walk" else kind
    d = degrees(W)
    usual, upper = 1.0, 2.0  # of the Laplacian: a diagonal entry, all values
    if symmetric == "combinatorial":
        usual, upper = float(np.median(d)), max(2.0 * float(d.max()), 1e-300)
    null, n_null = graph_null_vectors(graph, symmetric, at_most=r + 1)
    pairs = smallest_eigenpairs(
        laplacian(W, symmetric),  # large, and nobody else's
        r,
        upper=upper,
        null=null,
        rng=rng,
        tol=tol,
        on_failure=on_failure,
        most_work=most_work,
    )
    U = pairs.vectors
    U *= column_signs(U)
    gap = pairs.next_value - float(pairs.values[-1])
    same = SAME * max(abs(pairs.next_value), 1e-8 * usual)
    certificate = BasisCertificate(
        method=pairs.method,
        reason="asked for",
        residual=pairs.residual,
        orthogonality=orthogonality(U),
        gap=gap,
        cuts_repeated_value=abs(gap) <= same < np.inf,
        n_null=n_null,
        recall=graph.recall,
        floor=pairs.floor,
        failure=pairs.failure,
        note=pairs.note,
    )
    if kind == "random_walk":
        share = np.where(d > 0, d / (d.mean() or 1.0), 1.0)
        U /= np.sqrt(share)[:, None]
    return Directions(U, pairs.values, certificate)


def certificate_on_device(found: DeviceBasis) -> BasisCertificate:
    """Return how well directions are known that PyTorch has computed."""
    return BasisCertificate(
        method=found.pairs.method,
        reason="asked for",
        residual=found.pairs.residual,
        orthogonality=found.orthogonality,
        gap=found.gap,
        cuts_repeated_value=abs(found.gap) <= 2e-6,
        n_null=found.n_null,
        recall=found.graph.recall,
        floor=found.pairs.floor,
        failure=found.pairs.failure,
        note=found.pairs.note,
    )


def graph_null_vectors(
    graph: Graph, kind: LaplacianKind, *, at_most: int
) -> tuple[SparseArray, int]:
    """Return null vectors of a symmetric Laplacian, and how many there are.

    Parameters
    ----------
    graph : Graph
        Its components carry one null vector each; for the normalised Laplacian an
        isolated point carries none.
    kind : {"normalized", "combinatorial"}
        Which Laplacian.
    at_most : int
        Return at most this many, of the largest components.

    Returns
    -------
    vectors : csr_array of shape (n, min(at_most, n_null))
    n_null : int
    """
    if kind == "combinatorial":
        entries = np.ones(graph.n_points)
    else:
        entries = np.sqrt(degrees(graph.adjacency))
    return component_vectors(graph.component_labels, entries, at_most=at_most)
