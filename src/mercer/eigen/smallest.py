"""Smallest eigenpairs of a Laplacian, with evidence that none is missing."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse.csgraph import reverse_cuthill_mckee

from mercer._base.threads import in_blocks
from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.eigen.chebyshev import copy_rows
from mercer.eigen.components import in_small_components, small_component_pairs
from mercer.eigen.policy import OnFailure
from mercer.eigen.ritz import residuals_of, rounding_errors
from mercer.eigen.search import SAME, SINGLE_FROM, Found, searched_pairs
from mercer.exceptions import EigenpairError

DENSE_UP_TO = 1200
# Where single precision is enough, a search is faster from here on.
ROUGH_DENSE_UP_TO = 700
# Where values lie so close that Lanczos gives up, dense algebra answers up to here.
DENSE_AT_MOST = 5000
# Components of at most this many points are solved one by one.
SMALL_COMPONENT = 100
# Values of dense algebra are exact up to this share of the largest one.
LAPACK = 64 * np.finfo(float).eps
_PER_BLOCK = 4096  # rows that a thread takes at a time, at least
# Residuals below this share of the matrix's typical diagonal entry are none.
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Eigenpairs:
    """The r smallest eigenpairs of a symmetric matrix A."""

    values: FloatArray  # (r,) ascending
    vectors: FloatArray  # (n, r) orthonormal columns
    next_value: float  # smallest value found outside the vectors; inf when r = n
    floor: float  # no eigenvalue outside the vectors is below it...
    failure: float  # ... but for this probability
    residual: float  # largest |A u - value u|
    method: str  # "components", "dense", "filtered lanczos" or "band cholesky"
    note: str = ""  # why there are fewer, or less exact, pairs than asked for


def smallest_eigenpairs(
    A: SparseArray,
    r: int,
    *,
    upper: float,
    null: FloatArray | SparseArray,
    rng: np.random.Generator,
    tol: float = 1e-7,
    on_failure: OnFailure = "raise",
    most_work: float = np.inf,
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
    null : ndarray or sparse array of shape (n, c)
        Orthonormal basis of the null space; of more than r vectors, any r + 1.
    rng : numpy.random.Generator
        Starts the iteration.
    tol : float, default=1e-7
        Residuals must fall below `tol` times the r-th value, or to rounding.
    on_failure : {"raise", "fewer", "rough"}, default="raise"
        What to do where r pairs cannot be certified: raise, return those that can be,
        or return all as they are; `note` says why.
    most_work : float, default=inf
        Multiplications with entries of A that a search may take, about. With less
        than it needs, r pairs are not certified.

    Raises
    ------
    EigenpairError
        If a residual is too large or a pair may be missing.

    Notes
    -----
    The null vectors are known and split off. Connected components of at most 100
    points are solved one by one (LAPACK), so that many equal ones cost nothing. The
    rest is dense up to 1200 points, or 700 if `tol` is 1e-4 or more, beyond that
    `searched_pairs`, which proves that no eigenvalue below the r-th was skipped, with a
    probability of failure of 1e-6. Where that search gives up LAPACK takes over, up to
    5000 points, if none may be rough.

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
    settings = (upper, tol, rng, on_failure, most_work)
    null = sparse.csr_array(null)
    if A.shape[0] <= _dense_up_to(tol):
        return _solved_in_parts(A, null, r, *settings)
    # Neighbours close in memory make the products faster; nothing else changes.
    order = reverse_cuthill_mckee(sparse.csr_array(A), symmetric_mode=True)
    A = _reordered(A, order)  # the one that was given is needed no more
    pairs = _solved_in_parts(A, null[order], r, *settings)
    vectors = np.empty(pairs.vectors.shape)

    def put_back(rows: slice) -> None:
        vectors[order[rows]] = pairs.vectors[rows]

    in_blocks(put_back, len(order), _PER_BLOCK)
    return replace(pairs, vectors=vectors)


def _solved_in_parts(
    A: SparseArray,
    null: SparseArray,
    r: int,
    upper: float,
    tol: float,
    rng: np.random.Generator,
    on_failure: OnFailure,
    most_work: float,
) -> Eigenpairs:
    """Solve small components one by one, the rest together."""
    n, c = null.shape
    if c > r or c == n:
        next_value = 0.0 if c > r else np.inf
        nothing = np.empty((n, 0))
        found = Found(np.empty(0), nothing, next_value, next_value, 0.0, "components")
        return _assembled(A, null[:, :r], found, upper, tol, on_failure)
    k = r - c
    settings = (upper, tol, rng, on_failure, most_work)
    small, labels = in_small_components(A, null, at_most=SMALL_COMPONENT)
    if not small.any():
        found = _solved(A, null, k, *settings)
        return _assembled(A, null, found, upper, tol, on_failure)
    rows = np.flatnonzero(small)
    belongs = np.bincount(null[rows].indices, minlength=c) > 0
    m = min(k + 1, len(rows) - int(belongs.sum()))
    values, vectors = small_component_pairs(
        A[rows][:, rows], null[rows][:, belongs], labels[rows], m, upper=upper
    )
    rest = np.flatnonzero(~small)
    left = null[rest][:, ~belongs]
    if left.shape[1] == len(rest):
        other = Found(
            np.empty(0), np.empty((len(rest), 0)), np.inf, np.inf, 0.0, "dense"
        )
    else:
        B = A[rest][:, rest]
        most = min(k, len(rest) - left.shape[1])
        other = _solved(B, left, most, *settings)
    found = _joined(n, k, (rows, values, vectors), rest, other)
    return _assembled(A, null, found, upper, tol, on_failure)


def _joined(
    n: int,
    k: int,
    small: tuple[IntArray, FloatArray, FloatArray],
    rest: IntArray,
    other: Found,
) -> Found:
    """Merge the pairs of the small components with those of the others."""
    rows, values, vectors = small
    every = np.concatenate([values, other.values])
    order = np.argsort(every, kind="stable")
    if other.note and not other.is_rough:  # above the floor nothing is certain
        k = min(k, int(np.count_nonzero(every < other.floor)))
    kept, dropped = order[:k], every[order[k:]]
    U = np.zeros((n, len(kept)))
    from_small = kept < len(values)
    U[np.ix_(rows, from_small)] = vectors[:, kept[from_small]]
    U[np.ix_(rest, ~from_small)] = other.vectors[:, kept[~from_small] - len(values)]
    first = float(dropped.min(initial=np.inf))
    return Found(
        every[kept],
        U,
        min(first, other.next_value),
        min(first, other.floor),
        other.failure,
        other.method,
        other.note,
        other.is_rough,
    )


def _solved(
    A: SparseArray,
    null: SparseArray,
    k: int,
    upper: float,
    tol: float,
    rng: np.random.Generator,
    on_failure: OnFailure,
    most_work: float,
) -> Found:
    """Compute k pairs by dense algebra where that is cheap, else by a search."""
    n = null.shape[0]
    if 4 * k > n or n <= _dense_up_to(tol):
        return _dense(A, null, k, upper, tol)
    may_be_dense = n <= DENSE_AT_MOST and on_failure != "rough"
    try:
        return searched_pairs(
            A,
            null,
            k,
            upper=upper,
            tol=tol,
            rng=rng,
            on_failure="raise" if may_be_dense else on_failure,
            most_work=most_work,
        )
    except EigenpairError:
        if not may_be_dense:
            raise
        return _dense(A, null, k, upper, tol)


def _dense_up_to(tol: float) -> int:
    """Return up to how many points dense algebra is as fast as a search."""
    return DENSE_UP_TO if tol < SINGLE_FROM else min(DENSE_UP_TO, ROUGH_DENSE_UP_TO)


def _dense(
    A: SparseArray, null: SparseArray, k: int, upper: float, tol: float
) -> Found:
    """Compute k pairs by LAPACK; of the inverse where entries hide small values."""
    # Null vectors are moved beyond the end of the spectrum.
    N = null.toarray()
    lifted = A.toarray() + (2 * upper) * (N @ N.T)
    m = min(k + 1, A.shape[0] - null.shape[1])
    values, vectors = _lowest(lifted, m)
    error = LAPACK * upper
    last = float(values[max(k, 1) - 1])
    usual = float(np.median(np.abs(A.diagonal())))
    if error > max(min(tol, SAME) * last, _NEGLIGIBLE * usual) and last > 0:
        shift = last / 8
        values, vectors = _inverted(A, N, m, shift)
        error = LAPACK * float(values[-1] + shift) ** 2 / shift
    next_value = float(values[k]) if k < m else np.inf
    return Found(
        values[:k], vectors[:, :k], next_value, float(next_value - error), 0.0, "dense"
    )


def _lowest(A: FloatArray, m: int) -> tuple[FloatArray, FloatArray]:
    """Return the m lowest eigenpairs; LAPACK's usual method may fail at equal ones."""
    try:
        values, vectors = eigh(A, subset_by_index=[0, m - 1])
    except LinAlgError:
        values, vectors = eigh(A, driver="evd")
    return values[:m], vectors[:, :m]


def _inverted(
    A: SparseArray, null: FloatArray, m: int, shift: float
) -> tuple[FloatArray, FloatArray]:
    """Compute m pairs from the largest of s (A + s I)^-1, without the null vectors."""
    n = A.shape[0]
    factor = cho_factor(A.toarray() + shift * np.eye(n), lower=True)
    G = shift * cho_solve(factor, np.eye(n)) - null @ null.T
    heights, vectors = eigh((G + G.T) / 2, subset_by_index=[n - m, n - 1])
    return shift / heights[::-1] - shift, vectors[:, ::-1]


def _assembled(
    A: SparseArray,
    null: SparseArray,
    found: Found,
    upper: float,
    tol: float,
    on_failure: OnFailure,
) -> Eigenpairs:
    """Join null vectors and pairs, and check the residuals of both."""
    c = null.shape[1]
    values = np.concatenate([np.zeros(c), np.maximum(found.values, 0.0)])
    vectors = np.empty((null.shape[0], len(values)))
    vectors[:, :c] = null.toarray()
    copy_rows(found.vectors, vectors[:, c:])
    residuals = residuals_of(A, vectors, values)
    usual = float(np.median(np.abs(A.diagonal())))
    most = np.full(len(values), 1e-8 * upper)
    most[c:] = max(tol * float(values[-1]), _NEGLIGIBLE * usual)
    large = np.flatnonzero(residuals > most)
    most[large] = np.maximum(most[large], rounding_errors(A, vectors, large))
    wrong = np.flatnonzero(~(residuals <= most))
    note, next_value, floor = found.note, found.next_value, found.floor
    if len(wrong) and not (found.is_rough and wrong[0] >= c):
        first = int(wrong[0])
        note = f"pair {first + 1} has the residual {residuals[first]:.1e}"
        if first < c:
            msg = f"{note}; is the matrix symmetric, and `null` its null space?"
            raise EigenpairError(msg)
        note += (
            f", above {most[first]:.1e}: entries of the matrix up to {upper / 2:.1e} "
            f"hide values of {values[-1]:.1e}"
        )
        if on_failure == "raise":
            msg = f"{note}."
            raise EigenpairError(msg)
        if on_failure == "fewer":
            next_value = floor = float(values[first] - residuals[first])
            values, vectors = values[:first], vectors[:, :first]
            residuals = residuals[:first]
    return Eigenpairs(
        values,
        vectors,
        next_value,
        floor,
        found.failure,
        float(residuals.max(initial=0.0)),
        found.method,
        note,
    )


def _reordered(A: SparseArray, order: IntArray) -> SparseArray:
    """Return A[order][:, order] with one copy of A, not two."""
    back = np.empty_like(order)
    back[order] = np.arange(len(order), dtype=order.dtype)
    B = A[order]
    B.indices = back[B.indices]
    B.has_sorted_indices = False
    C = B.tocsc()  # sorted; A is symmetric, so its columns are the rows wanted
    return _compact(sparse.csr_array((C.data, C.indices, C.indptr), shape=A.shape))


def _compact(A: SparseArray) -> SparseArray:
    """Return A with short indices where they suffice: less memory to read."""
    if max(A.nnz, A.shape[0]) >= 2**31:
        return sparse.csr_array(A)
    indices = A.indices.astype(np.int32, copy=False)
    indptr = A.indptr.astype(np.int32, copy=False)
    return sparse.csr_array((A.data, indices, indptr), shape=A.shape)
