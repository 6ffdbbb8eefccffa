"""Values of Laplacian eigenvectors at points that joined the graph later."""

import numpy as np
from scipy import sparse

from mercer._base.typing import BoolArray, FloatArray, IntArray, SparseArray
from mercer.graphs.laplacians import LaplacianKind, degrees

# Where |1 - gamma| is smaller, the factor 1 / |1 - gamma| is damped.
SMALLEST_DIVISOR = 0.1
# Of the distance to the last neighbour.
EQUAL = 1e-4


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
