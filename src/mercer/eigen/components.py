"""Eigenpairs of the small connected components of a matrix, by dense algebra."""

import itertools

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mercer._base.typing import BoolArray, FloatArray, IntArray, SparseArray


def component_vectors(
    labels: IntArray, entries: FloatArray, *, at_most: int
) -> tuple[SparseArray, int]:
    """Split a vector over the components of a graph and normalise the parts.

    Parameters
    ----------
    labels : int array of shape (n,)
        Component of each point, 0, 1, ...
    entries : ndarray of shape (n,)
        The vector, >= 0. Components where it vanishes are left out.
    at_most : int
        Return at most this many parts, of the largest components.

    Returns
    -------
    vectors : csr_array of shape (n, min(at_most, n_parts))
        Orthonormal columns.
    n_parts : int

    Examples
    --------
    >>> labels, entries = np.array([0, 1, 1]), np.array([2.0, 3.0, 4.0])
    >>> vectors, n_parts = component_vectors(labels, entries, at_most=1)
    >>> vectors.toarray(), n_parts
    (array([[0. ], [0.6], [0.8]]), 2)
    """
    norms = np.sqrt(np.bincount(labels, weights=entries**2))
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    order = order[norms[order] > 0]
    column = np.full(len(sizes), -1)
    column[order[:at_most]] = np.arange(min(len(order), at_most))
    own = column[labels]
    inside = own >= 0
    data = entries[inside] / norms[labels[inside]]
    starts = np.append(0, np.cumsum(inside))
    shape = (len(labels), min(len(order), at_most))
    return sparse.csr_array((data, own[inside], starts), shape=shape), len(order)


def in_small_components(
    A: SparseArray, null: SparseArray, *, at_most: int
) -> tuple[BoolArray, IntArray]:
    """Tell which points lie in small components.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric.
    null : csr_array of shape (n, c)
        Its null vectors; one that vanishes nowhere tells that A is connected. If one of
        several reaches over several components none is called small: it could not be
        told which null vector belongs where.
    at_most : int
        Points of a small component.

    Returns
    -------
    small : bool ndarray of shape (n,)
    labels : int ndarray of shape (n,)
        Component of each point.
    """
    if null.shape[1] == 1 and null.nnz == len(null.indptr) - 1:
        return np.zeros(null.nnz, dtype=bool), np.zeros(null.nnz, dtype=np.intp)
    n_parts, labels = connected_components(A, directed=False)
    small = (np.bincount(labels) <= at_most)[labels]
    if n_parts == 1 or not small.any():
        return np.zeros(len(labels), dtype=bool), labels
    columns = sparse.csc_array(null)
    for first, last in itertools.pairwise(columns.indptr):
        support = labels[columns.indices[first:last]]
        if (support != support[0]).any():
            return np.zeros(len(labels), dtype=bool), labels
    return small, labels


def small_component_pairs(
    A: SparseArray, null: SparseArray, labels: IntArray, k: int, *, upper: float
) -> tuple[FloatArray, FloatArray]:
    """Compute the k smallest eigenpairs of a matrix of many small components.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric with eigenvalues in [0, upper].
    null : csr_array of shape (n, c)
        Orthonormal null vectors, each in one component, at most one for each.
    labels : int ndarray of shape (n,)
        Component of each point.
    k : int
        Number of pairs, at most n - c.
    upper : float

    Returns
    -------
    values : ndarray of shape (k,)
        Ascending.
    vectors : ndarray of shape (n, k)
    """
    n = A.shape[0]
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n) - np.repeat(starts, sizes)
    entries = A.tocoo()
    sources = labels[entries.row]
    moved = np.asarray(null.sum(axis=1)).ravel()
    values, origins = [], []
    solved: list[tuple[IntArray, FloatArray]] = []
    for size in np.unique(sizes):
        parts = np.flatnonzero(sizes == size)
        rows = order[starts[parts][:, None] + np.arange(size)]  # (m, size)
        number = np.full(len(sizes), -1)
        number[parts] = np.arange(len(parts))
        here = number[sources] >= 0
        blocks = np.zeros((len(parts), size, size))
        blocks[
            number[sources[here]], place[entries.row[here]], place[entries.col[here]]
        ] = entries.data[here]
        # Null vectors are moved beyond the end of the spectrum.
        shifts = moved[rows]
        blocks += 2 * upper * shifts[:, :, None] * shifts[:, None, :]
        found, vectors = np.linalg.eigh(blocks)
        inside = found < 1.5 * upper
        values.append(found[inside])
        which, column = np.nonzero(inside)
        origins.append(
            np.column_stack([np.full(len(which), len(solved)), which, column])
        )
        solved.append((rows, vectors))
    every, origin = np.concatenate(values), np.concatenate(origins)
    smallest = np.argsort(every, kind="stable")[:k]
    U = np.zeros((n, k))
    for j, (group, part, column) in enumerate(origin[smallest]):
        rows, vectors = solved[group]
        U[rows[part], j] = vectors[part, :, column]
    return every[smallest], U
