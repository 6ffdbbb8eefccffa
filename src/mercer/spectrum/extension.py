"""Values of Laplacian eigenvectors at points that joined the graph later."""

import numpy as np
from scipy import sparse

from mercer._typing import FloatArray, IntArray, SparseArray
from mercer.graphs.laplacian import LaplacianKind
from mercer.graphs.search import Metric

# Where |1 - gamma| is smaller, the factor 1 / (1 - gamma) is damped.
SMALLEST_DIVISOR = 0.1
_BLOCK = 1024


def extend_vectors(
    weights: SparseArray,
    vectors: FloatArray,
    values: FloatArray,
    degrees: FloatArray,
    kind: LaplacianKind,
) -> FloatArray:
    r"""Solve the eigenvector equation of a Laplacian at new points.

    Parameters
    ----------
    weights : csr_array of shape (m, n)
        Edges from new points to the points of the graph.
    vectors, values : ndarray of shape (n, r) and (r,)
        Eigenpairs of the Laplacian.
    degrees : ndarray of shape (n,)
        Of the points of the graph.
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
        # (d - gamma) u = sum_j w_j u_j
        factor = damped_inverse(1.0 - values * _inverse(d_new)[:, None])
    else:
        factor = damped_inverse(1.0 - values)
    if kind == "normalized":
        smallest = degrees[degrees > 0].min() if degrees.any() else 1.0
        factor = factor * np.sqrt(np.maximum(d_new, smallest))[:, None]
        vectors = vectors * np.sqrt(_inverse(degrees))[:, None]
    extended: FloatArray = (step @ vectors) * factor
    return extended


def damped_inverse(x: FloatArray) -> FloatArray:
    """Return 1 / x, and x / delta² where x is closer to 0 than delta = 0.1."""
    inverse: FloatArray = x / np.maximum(x * x, SMALLEST_DIVISOR**2)
    return inverse


def equal_training_rows(
    points: SparseArray,
    metric: Metric,
    X: SparseArray,
    indices: IntArray,
    distances: FloatArray,
) -> IntArray:
    """Find for every new point the training point it equals, or -1.

    Parameters
    ----------
    points : array or sparse array of shape (n, n_features)
        Training points.
    metric : str or callable
        Of the distances.
    X : array or sparse array of shape (m, n_features)
        New points.
    indices, distances : ndarray of shape (m, k)
        Their nearest training points.

    Returns
    -------
    int array of shape (m,)
        The first of several equal training points.
    """
    same = distances == 0
    if metric in ("euclidean", "cosine"):
        # Fast searches leave a rounding error in the distance of equal points.
        near = 1e-3 * _norms(X)[:, None] if metric == "euclidean" else 1e-3
        rows, slots = np.nonzero((distances <= near) & ~same)
        for start in range(0, len(rows), _BLOCK):
            i, j = rows[start : start + _BLOCK], slots[start : start + _BLOCK]
            difference = abs(X[i] - points[indices[i, j]])
            same[i, j] = np.asarray(difference.sum(axis=1)).ravel() == 0
    n = points.shape[0]
    first = np.min(indices, axis=1, where=same, initial=n)
    return np.where(first < n, first, -1)


def row_codes(weights: SparseArray) -> FloatArray:
    """Return one number a row, equal for equal rows and, almost surely, only then."""
    probe = np.random.default_rng(0).standard_normal(weights.shape[1])
    return np.asarray(weights @ probe)


def _inverse(x: FloatArray) -> FloatArray:
    inverse = np.zeros_like(x)
    np.divide(1.0, x, out=inverse, where=x > 0)
    return inverse


def _norms(X: SparseArray) -> FloatArray:
    if sparse.issparse(X):
        X = X.multiply(X).sum(axis=1)
        return np.sqrt(np.asarray(X, dtype=np.float64).ravel())
    norms: FloatArray = np.linalg.norm(X, axis=1)
    return norms
