"""Edges of a symmetric graph, their weights, and checks of a ready-made one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer._base.machine_code.compiled import compiled
from mercer._base.threads import in_blocks
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray, SparseArray

Int32Array = NDArray[np.int32]

# Weights stay above zero however far the points are, so an edge remains an edge.
_SMALLEST = float(np.finfo(np.float64).tiny)
# A self-tuning edge weighs at least this. Groups of points very close to each other
# would be all but separate, with degrees of 1e-300 and random-walk vectors of 1e80.
LEAST_TUNED = 1e-3

_PER_BLOCK = 4096  # rows that a thread takes at a time, at least
# Distances that differ by less than this share are equal.
_TIE = 1e-9


def no_farther(distances: FloatArray, k: int, n_others: int) -> BoolArray:
    """Tell which neighbours are no farther than the k-th.

    Where the last one that was found is as near as the k-th there may be others, unless
    all `n_others` were found: the first k are taken then.

    Examples
    --------
    >>> no_farther(np.array([[1.0, 2.0, 2.0, 3.0], [1.0, 2.0, 2.0, 2.0]]), 2, 10)
    array([[ True,  True,  True, False],
           [ True,  True, False, False]])
    """
    kth = distances[:, k - 1 : k] * (1 + _TIE)
    near: BoolArray = distances <= kth
    if distances.shape[1] < n_others:
        near &= distances[:, -1:] > kth
    near[:, :k] = True
    return near


def joined(
    indices: Int32Array, distances: FloatArray, used: BoolArray, *, mutual: bool
) -> tuple[IntArray, Int32Array, FloatArray]:
    """Join points that are used neighbours, in either direction or in both.

    Parameters
    ----------
    indices, distances : ndarray of shape (n, k)
        Neighbours of each point, and their distances.
    used : bool ndarray of shape (n, k)
        The first ones of each row.
    mutual : bool

    Returns
    -------
    indptr, indices, lengths : ndarrays
        Of a symmetric csr array, sorted. A length is as the first of two points has it,
        if both do.
    """
    n = len(indices)
    stops = np.append(0, np.cumsum(np.count_nonzero(used, axis=1)))
    lists = sparse.csr_array((distances[used], indices[used], stops), shape=(n, n))
    back = lists.tocsc()  # whose neighbour a point is, in order
    lists = back.tocsr()  # in order
    sides = [(side.indptr, side.indices, side.data) for side in (lists, back)]
    indptr = np.zeros(n + 1, np.int64)
    nothing = np.empty(0, np.int32), np.empty(0)

    def count(rows: slice) -> None:
        _merge(*sides[0], *sides[1], mutual, indptr, *nothing, rows.start, rows.stop)

    in_blocks(count, n, _PER_BLOCK)
    np.cumsum(indptr, out=indptr)
    columns, lengths = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])

    def write(rows: slice) -> None:
        out = indptr, columns, lengths
        _merge(*sides[0], *sides[1], mutual, *out, rows.start, rows.stop)

    in_blocks(write, n, _PER_BLOCK)
    short = np.int32 if indptr[-1] < 2**31 else np.int64
    return indptr.astype(short), columns, lengths


@compiled()
def _merge(
    stops: Any, own: Any, distances: Any, ends: Any, others: Any, back: Any,
    mutual: bool, indptr: Any, columns: Any, lengths: Any, begin: int, end: int,
) -> None:  # fmt: skip
    """Merge the neighbours of points with those whose neighbours they are.

    Into `columns` and `lengths`, or count them if there are none.
    """
    for a in range(begin, end):
        s, t, first = stops[a], ends[a], indptr[a]
        m = first
        while s < stops[a + 1] or t < ends[a + 1]:
            here = s < stops[a + 1] and (t == ends[a + 1] or own[s] <= others[t])
            there = t < ends[a + 1] and (not here or own[s] == others[t])
            if (here and there) or not mutual:
                if len(columns) > 0:
                    columns[m] = own[s] if here else others[t]
                    mine = here and (not there or a < own[s])
                    lengths[m] = distances[s] if mine else back[t]
                m += 1
            s += here
            t += there
        if len(columns) == 0:
            indptr[a + 1] = m - first  # the next row begins there when all are known


def sparse_edges(
    D: SparseArray, *, mutual: bool
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """List every undirected edge of stored distances once, and the longest per row."""
    if not sparse.issparse(D) or D.shape[0] != D.shape[1]:
        msg = (
            "distances to neighbours are a sparse (n, n) array, as "
            f"kneighbors_graph(mode='distance') gives; got {type(D).__name__} of shape "
            f"{np.shape(D)}."
        )
        raise ValueError(msg)
    D = sparse.coo_array(D)
    d = D.data.astype(np.float64)
    if not np.isfinite(d).all() or (d < 0).any():
        msg = "distances must be finite and not negative."
        raise ValueError(msg)
    off = D.row != D.col
    rows, columns, d = D.row[off].astype(np.intp), D.col[off].astype(np.intp), d[off]
    n = D.shape[0]
    scales = np.zeros(n)
    np.maximum.at(scales, rows, d)
    keys = np.minimum(rows, columns) * n + np.maximum(rows, columns)
    order = np.lexsort((d, keys))
    keys, d = keys[order], d[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1) != 0)
    if mutual:
        starts = starts[np.diff(starts, append=len(keys)) == 2]
    return keys[starts] // n, keys[starts] % n, d[starts], positive(scales)


def gaussian(lengths: FloatArray, sigma: float) -> FloatArray:
    """Return exp(-d^2 / 2 sigma^2); at sigma = 0 only equal points weigh."""
    if sigma == 0:
        return np.where(lengths == 0, 1.0, _SMALLEST)
    return np.maximum(np.exp(-0.5 * (lengths / sigma) ** 2), _SMALLEST)


def self_tuning(lengths: FloatArray, s_i: FloatArray, s_j: FloatArray) -> FloatArray:
    """Return exp(-d^2 / s_i s_j), at least 1e-3."""
    return np.maximum(np.exp(-(lengths / s_i) * (lengths / s_j)), LEAST_TUNED)


def positive(scales: FloatArray) -> FloatArray:
    """Replace zero scales by the smallest positive one, or by 1 if there is none."""
    smallest = np.min(scales, where=scales > 0, initial=np.inf)
    return np.where(scales > 0, scales, smallest if np.isfinite(smallest) else 1.0)


def root_mean_square(lengths: FloatArray) -> float:
    """Return the root of the mean square, 0 for no lengths."""
    longest = float(lengths.max(initial=0.0))
    if longest == 0:
        return 0.0
    # Divided first, so that squares neither overflow nor vanish.
    return longest * float(np.sqrt(np.mean((lengths / longest) ** 2)))


def checked_adjacency(W: ArrayLike | SparseArray) -> SparseArray:
    """Return a symmetric csr copy with a zero diagonal, or say what is wrong."""
    try:
        A = sparse.csr_array(W, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        msg = f"adjacency must be a numeric matrix, dense or sparse: {error}"
        raise ValueError(msg) from error
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        msg = f"adjacency must be square and not empty, got shape {A.shape}."
        raise ValueError(msg)
    A.sum_duplicates()
    if not np.isfinite(A.data).all():
        msg = "adjacency holds NaN or infinity; leave out edges that are not known."
        raise ValueError(msg)
    if A.nnz and A.data.min() < 0:
        msg = f"adjacency has a negative weight ({A.data.min():.3g}); weights are >= 0."
        raise ValueError(msg)
    A.setdiag(0)
    A.eliminate_zeros()
    gap = abs(A - A.T).max() if A.nnz else 0.0
    # Rounding of a symmetric formula is forgiven and removed; anything more is not.
    if gap > 1e-10 * (A.data.max() if A.nnz else 1.0):
        msg = (
            f"adjacency is not symmetric: |W - W.T| reaches {gap:.3g}. "
            "Pass e.g. W.maximum(W.T) or (W + W.T) / 2."
        )
        raise ValueError(msg)
    A = sparse.csr_array((A + A.T) / 2) if gap > 0 else A
    A.sort_indices()
    return A
