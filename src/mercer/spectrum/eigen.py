"""Smallest eigenpairs of a Laplacian, with evidence that none is missing."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import reverse_cuthill_mckee

from mercer._typing import FloatArray, IntArray, SparseArray
from mercer.exceptions import EigenpairError
from mercer.spectrum.lanczos import BLOCK, RitzPairs, filtered_lanczos

DENSE_UP_TO = 1200
# Where values crowd so much that Lanczos gives up, dense algebra answers up to here.
DENSE_AT_MOST = 5000
# Values closer than this share of the spectrum's width count as equal.
SAME = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Eigenpairs:
    """The r smallest eigenpairs of a symmetric matrix A."""

    values: FloatArray  # (r,) ascending
    vectors: FloatArray  # (n, r) orthonormal columns
    next_value: float  # smallest value outside the vectors; inf when r = n
    residual: float  # largest |A u - value u|
    method: str  # "components", "dense" or "filtered lanczos"


def smallest_eigenpairs(
    A: SparseArray,
    r: int,
    *,
    upper: float,
    null: FloatArray,
    rng: np.random.Generator,
    tol: float = 1e-8,
) -> Eigenpairs:
    r"""Compute the r smallest eigenpairs of a positive semi-definite matrix.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric with eigenvalues in [0, upper].
    r : int
        Number of pairs, 1 to n.
    upper : float
        Bound on the eigenvalues.
    null : ndarray of shape (n, c)
        Orthonormal basis of the null space; of more than r vectors, any r + 1.
    rng : numpy.random.Generator
        Starts the iteration.
    tol : float, default=1e-8
        Residuals must fall below `tol` times `upper`.

    Returns
    -------
    Eigenpairs

    Raises
    ------
    EigenpairError
        If a residual is too large or a pair remains missing.

    Notes
    -----
    The null vectors are known and split off. The rest is dense up to 1200 points
    (LAPACK), beyond that `filtered_lanczos`, whose pairs are then checked: a second
    search, with a new random start, for the smallest value in the complement of all
    that was found. A Krylov method that skipped a pair, such as one of many copies of
    a repeated eigenvalue, has it there. What the search finds below the last kept
    value is computed and merged until it finds nothing more. Values may crowd so much
    that this search does not end; up to 5000 points LAPACK then takes over.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.diag([0.0, 3.0, 1.0, 1.0]))
    >>> null = np.eye(4)[:, :1]
    >>> rng = np.random.default_rng(0)
    >>> pairs = smallest_eigenpairs(A, 3, upper=3.0, null=null, rng=rng)
    >>> pairs.values, pairs.next_value
    (array([0., 1., 1.]), 3.0)
    """
    n, c = null.shape
    if c > r:
        return _assembled(A, np.empty(0), null[:, :r], 0.0, upper, tol, "components")
    k = r - c
    if c == n:
        return _assembled(A, np.empty(0), null, np.inf, upper, tol, "components")
    if n <= DENSE_UP_TO or 4 * k > n:
        values, vectors = _dense(A, null, min(k + 1, n - c), upper)
        method = "dense"
    else:
        try:
            values, vectors = _searched(A, null, k, upper, tol, rng)
            method = "filtered lanczos"
        except EigenpairError:
            if n > DENSE_AT_MOST:
                raise
            values, vectors = _dense(A, null, min(k + 1, n - c), upper)
            method = "dense"
    next_value = float(values[k]) if k < len(values) else np.inf
    vectors = np.hstack([null, vectors[:, :k]])
    return _assembled(A, values[:k], vectors, next_value, upper, tol, method)


def component_vectors(
    labels: IntArray, entries: FloatArray, *, at_most: int
) -> tuple[FloatArray, int]:
    """Split a vector over the components of a graph and normalise the parts.

    Parameters
    ----------
    labels : int array of shape (n,)
        Component of each point, 0, 1, ...
    entries : ndarray of shape (n,)
        The vector, >= 0. Components where it vanishes are left out.
    at_most : int
        Return so many parts, of the largest components.

    Returns
    -------
    vectors : ndarray of shape (n, min(at_most, n_parts))
        Orthonormal columns.
    n_parts : int

    Examples
    --------
    >>> component_vectors(np.array([0, 1, 1]), np.array([2.0, 3.0, 4.0]), at_most=1)
    (array([[0. ], [0.6], [0.8]]), 2)
    """
    norms = np.sqrt(np.bincount(labels, weights=entries**2))
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    order = order[norms[order] > 0]
    column = np.full(len(sizes), -1)
    column[order[:at_most]] = np.arange(min(len(order), at_most))
    vectors = np.zeros((len(labels), min(len(order), at_most)))
    rows = np.flatnonzero(column[labels] >= 0)
    parts = labels[rows]
    vectors[rows, column[parts]] = entries[rows] / norms[parts]
    return vectors, len(order)


def _assembled(
    A: SparseArray,
    values: FloatArray,
    vectors: FloatArray,
    next_value: float,
    upper: float,
    tol: float,
    method: str,
) -> Eigenpairs:
    zeros = np.zeros(vectors.shape[1] - len(values))
    values = np.concatenate([zeros, np.maximum(values, 0.0)])
    difference = A @ vectors - vectors * values
    residual = float(np.linalg.norm(difference, axis=0).max(initial=0.0))
    if residual > 2 * tol * upper:
        msg = (
            f"an eigenpair has the residual {residual:.1e}, above {tol * upper:.1e}; "
            "is the matrix symmetric, and `null` its null space?"
        )
        raise EigenpairError(msg)
    return Eigenpairs(values, vectors, next_value, residual, method)


def _dense(
    A: SparseArray, null: FloatArray, k: int, upper: float
) -> tuple[FloatArray, FloatArray]:
    # Null vectors are moved beyond the end of the spectrum.
    lifted = A.toarray() + (2 * upper) * (null @ null.T)
    values, vectors = eigh(lifted, subset_by_index=[0, k - 1])
    return values, vectors


def _searched(
    A: SparseArray,
    null: FloatArray,
    k: int,
    upper: float,
    tol: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Compute k pairs and one value more, and look for pairs that were skipped."""
    # Neighbours close in memory make the products faster; nothing else changes.
    order = reverse_cuthill_mckee(sparse.csr_array(A), symmetric_mode=True)
    A, null = _compact(A[order][:, order]), null[order]
    pairs = filtered_lanczos(A, max(k, 1), outside=null, upper=upper, tol=tol, rng=rng)
    for _ in range(3 + k // BLOCK):
        outside = np.hstack([null, pairs.vectors])
        seen = filtered_lanczos(
            A, 1, outside=outside, upper=upper, tol=1e-5, rng=rng, cut=pairs.cut
        )
        skipped = float(seen.values[0])
        if skipped >= pairs.values[max(k, 1) - 1] - SAME * upper:
            values = np.append(pairs.values, skipped)[: k + 1]
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            return np.sort(values), pairs.vectors[back, :k]
        pairs = _merged(A, pairs, skipped, null, k, upper, tol, rng)
    msg = (
        f"a search outside the {k} smallest eigenpairs still finds the value "
        f"{skipped:.6g}, below the last kept one; ask for fewer directions."
    )
    raise EigenpairError(msg)


def _merged(
    A: SparseArray,
    pairs: RitzPairs,
    skipped: float,
    null: FloatArray,
    k: int,
    upper: float,
    tol: float,
    rng: np.random.Generator,
) -> RitzPairs:
    """Add the pairs that were skipped to those that were found."""
    exact = pairs.residuals <= tol * upper
    kept = pairs.vectors[:, exact]
    outside = np.hstack([null, kept])
    n_above = max(1, k - int(np.count_nonzero(pairs.values[exact] < skipped)))
    more = filtered_lanczos(A, n_above, outside=outside, upper=upper, tol=tol, rng=rng)
    values = np.concatenate([pairs.values[exact], more.values])
    order = np.argsort(values, kind="stable")
    return RitzPairs(
        values[order],
        np.hstack([kept, more.vectors])[:, order],
        np.concatenate([pairs.residuals[exact], more.residuals])[order],
        more.cut,
    )


def _compact(A: SparseArray) -> SparseArray:
    """Return A with short indices where they suffice: less memory to read."""
    if max(A.nnz, A.shape[0]) >= 2**31:
        return sparse.csr_array(A)
    indices, indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return sparse.csr_array((A.data, indices, indptr), shape=A.shape)
