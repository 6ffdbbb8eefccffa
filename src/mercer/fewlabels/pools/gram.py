"""The loops of `anchor_sums`, compiled: the upper triangle of ZᵀZ.

Z is given as in a csr_array, `indices` ascending in each row, none twice.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def ties_by_anchor(indices, indptr, m):  # type: ignore[no-untyped-def]
    """Return where the ties of each anchor begin, which they are, and their row's end.

    Shapes are (m + 1,), (nnz,) and (nnz,). Anchors after this one in the same row are
    those from a tie to the end.
    """
    begins = np.zeros(m + 1, dtype=indptr.dtype)
    for j in indices:
        begins[j + 1] += 1
    for j in range(m):
        begins[j + 1] += begins[j]
    free = begins[:-1].copy()
    ties = np.empty(len(indices), dtype=indptr.dtype)
    ends = np.empty(len(indices), dtype=indptr.dtype)
    for point in range(len(indptr) - 1):
        for tie in range(indptr[point], indptr[point + 1]):
            j = indices[tie]
            ties[free[j]], ends[free[j]] = tie, indptr[point + 1]
            free[j] += 1
    return begins, ties, ends


@njit(nogil=True, cache=True)
def count_pairs(begins, ties, ends, indices):  # type: ignore[no-untyped-def]
    """Return where each row of the triangle begins, (m + 1,)."""
    m = len(begins) - 1
    rows = np.zeros(m + 1, dtype=np.int64)
    met = np.full(m, -1)  # the anchor that each was last met with
    for i in range(m):
        count = 0
        for at in range(begins[i], begins[i + 1]):
            for other in range(ties[at], ends[at]):
                count += met[indices[other]] != i
                met[indices[other]] = i
        rows[i + 1] = rows[i] + count
    return rows


@njit(nogil=True, cache=True)
def sum_pairs(  # type: ignore[no-untyped-def]
    begins, ties, ends, indices, weights, rows, columns, sums
):
    """Write the columns, ascending, and the entries of each row of the triangle."""
    m = len(begins) - 1
    met, total = np.full(m, -1), np.zeros(m)
    for i in range(m):
        free = rows[i]
        for at in range(begins[i], begins[i + 1]):
            weight = np.float64(weights[ties[at]])
            for other in range(ties[at], ends[at]):
                j = indices[other]
                if met[j] != i:
                    met[j], total[j], columns[free] = i, 0.0, j
                    free += 1
                total[j] += weight * weights[other]
        columns[rows[i] : free].sort()
        for at in range(rows[i], free):
            sums[at] = total[columns[at]]
