"""The smoothest directions of a graph, and their values at points that join later."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer._base.tensors import column_signs
from mercer._base.typing import BoolArray, FloatArray, IntArray, SparseArray
from mercer.backends.torch.basis import DeviceBasis
from mercer.eigen.components import component_vectors
from mercer.eigen.policy import OnFailure
from mercer.eigen.search import SAME
from mercer.eigen.smallest import smallest_eigenpairs
from mercer.graphs.laplacians import LaplacianKind, degrees, laplacian
from mercer.graphs.neighbors import Graph
from mercer.spectrum.base import BasisCertificate, orthogonality

# Where |1 - gamma| is smaller, the factor 1 / |1 - gamma| is damped.
SMALLEST_DIVISOR = 0.1
# Of the distance to the last neighbour.
EQUAL = 1e-4


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


def extend_vectors(
    weights: SparseArray,
    vectors: FloatArray,
    values: FloatArray,
    adjacency: SparseArray | None,
    kind: LaplacianKind,
) -> FloatArray:
    r"""Solve the eigenvector equation of a Laplacian at new points.

    Parameters
    ----------
    weights : csr_array of shape (m, n)
        Edges from new points to the points of the graph.
    vectors, values : ndarray of shape (n, r) and (r,)
        Eigenpairs of the Laplacian.
    adjacency : csr_array of shape (n, n) or None
        Adjacency of the graph; the normalised Laplacian alone needs it.
    kind : {"normalized", "combinatorial", "random_walk"}
        Which Laplacian.

    Returns
    -------
    ndarray of shape (m, r)
        Zeros for a new point without an edge.

    Notes
    -----
    The formula is in the docstring of `GraphBasis`.
    """
    d_new = np.asarray(weights.sum(axis=1)).ravel()
    step = sparse.diags_array(_inverse(d_new)) @ weights  # of the random walk
    if kind == "combinatorial":
        # (d - gamma) u = sum_j w_j u_j; far out, where d < gamma, with this sign.
        rest = 1.0 - values * _inverse(d_new)[:, None]
        factor = np.sign(rest) * damped_inverse(rest)
    else:
        factor = damped_inverse(1.0 - values)
    if kind == "normalized":
        assert adjacency is not None
        d = degrees(adjacency)
        smallest = d[d > 0].min() if d.any() else 1.0
        factor = factor * np.sqrt(np.maximum(d_new, smallest))[:, None]
        vectors = vectors * np.sqrt(_inverse(d))[:, None]
    extended: FloatArray = (step @ vectors) * factor
    return extended


def damped_inverse(x: FloatArray) -> FloatArray:
    """Return 1 / |x|, and |x| / delta² where x is closer to 0 than delta = 0.1."""
    inverse: FloatArray = np.abs(x) / np.maximum(x * x, SMALLEST_DIVISOR**2)
    return inverse


def equal_training_points(
    indices: IntArray, distances: FloatArray, k: int, n: int
) -> tuple[BoolArray, SparseArray]:
    """Tell which new points equal training points, and which.

    Points equal each other if they are closer than 1e-4 of the distance to the k-th
    neighbour: a copy in single precision, or read back from text, is the same point.

    Parameters
    ----------
    indices, distances : ndarray of shape (m, at least k)
        Nearest training points, nearest first.
    k : int
    n : int
        Number of training points.

    Returns
    -------
    known : bool array of shape (m,)
    shares : csr_array of shape (known.sum(), n)
        1 at the training point; among equally near ones it is shared evenly, so that
        their order does not decide.
    """
    equal = distances <= EQUAL * distances[:, k - 1 : k]
    known: BoolArray = equal[:, 0]
    nearest = (equal & (distances <= distances[:, :1]))[known]
    counts = np.count_nonzero(nearest, axis=1)
    indptr = np.append(0, np.cumsum(counts))
    shares = np.repeat(1.0 / counts, counts)
    found = (shares, indices[known][nearest], indptr)
    return known, sparse.csr_array(found, shape=(len(counts), n))


def equal_training_rows(
    adjacency: SparseArray, weights: SparseArray
) -> tuple[BoolArray, SparseArray]:
    """Tell which rows of weights equal a row of the adjacency, and the first of them.

    Rows without an edge equal none. Rows are told apart by one random combination of
    their entries, which unequal rows share with probability 0.

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
    weights : csr_array of shape (m, n)
        Both with sorted indices.

    Returns
    -------
    known : bool array of shape (m,)
    shares : csr_array of shape (known.sum(), n)
        1 at the row of the adjacency.
    """
    probe = np.random.default_rng(0).standard_normal(adjacency.shape[1])
    codes, new_codes = adjacency @ probe, weights @ probe
    order = np.argsort(codes, kind="stable")
    place = np.minimum(np.searchsorted(codes[order], new_codes), len(codes) - 1)
    equal = (codes[order][place] == new_codes) & (np.diff(weights.indptr) > 0)
    first = order[place[equal]]
    one = (np.ones(len(first)), first, np.arange(len(first) + 1))
    return equal, sparse.csr_array(one, shape=(len(first), adjacency.shape[0]))


def _inverse(x: FloatArray) -> FloatArray:
    inverse = np.zeros_like(x)
    np.divide(1.0, x, out=inverse, where=x > 0)
    return inverse
