"""Compiled loops of the neighbour searches; each releases the interpreter lock."""

from typing import Any

import numpy as np
from numba import njit

BLOCK = 64

# Sums may be reordered, so that they run in vector registers; NaN never gets here.
_SUMS = {"reassoc", "contract", "nsz", "nnan"}


@njit(nogil=True, cache=True)
def kth_bound(values: Any, k: int) -> Any:
    """Bound the k-th smallest of `values` from above, tightly and cheaply.

    It is the k-th smallest of 64 interleaved minima; infinity if there are too few.
    """
    lanes = np.full(BLOCK, np.inf, values.dtype)
    full = len(values) - len(values) % BLOCK
    bound = lanes[0]
    if k > BLOCK or full == 0:
        return bound
    for first in range(0, full, BLOCK):
        for lane in range(BLOCK):
            lanes[lane] = min(lanes[lane], values[first + lane])
    bound = -bound
    for lane in range(BLOCK):
        x = lanes[lane]
        smaller = 0
        for other in range(BLOCK):
            smaller += lanes[other] < x
        if smaller < k and x > bound:
            bound = x
    return bound


@njit(nogil=True, cache=True)
def merge(G: Any, rows: Any, first: int, own: Any, best: Any, ids: Any) -> None:
    """Offer a block of columns to the ascending lists of the best of some rows.

    ``G[t, j]`` is the distance of row ``rows[t]`` to point ``first + j``; a row's
    `own` point is passed over. Among equals the one offered first stays.
    """
    m = G.shape[1]
    last = best.shape[1] - 1
    full = m // BLOCK
    hits = np.ones(full + 1, np.int64)
    for t in range(len(rows)):
        r = rows[t]
        me = own[r] - first
        bound = best[r, last]
        if bound == np.inf:
            # One more than the list holds, as the row's own point may be among them.
            bound = np.nextafter(kth_bound(G[t], best.shape[1] + 1), bound)
        worst = bound
        # A loop of its own becomes vector instructions; few blocks are hit.
        for b in range(full):
            hit = 0
            for j in range(BLOCK):
                hit |= G[t, b * BLOCK + j] < worst
            hits[b] = hit
        for b in range(full + 1):
            if hits[b]:
                for j in range(b * BLOCK, min(b * BLOCK + BLOCK, m)):
                    if G[t, j] < worst and j != me:
                        _insert(best, ids, r, G[t, j], first + j)
                        worst = min(bound, best[r, last])


@njit(nogil=True, cache=True)
def _insert(best: Any, ids: Any, r: int, x: Any, who: int) -> None:
    p = best.shape[1] - 1
    while p > 0 and best[r, p - 1] > x:
        best[r, p] = best[r, p - 1]
        ids[r, p] = ids[r, p - 1]
        p -= 1
    best[r, p] = x
    ids[r, p] = who


@njit(nogil=True, cache=True)
def column_hits(
    G: Any, rows: Any, first: int, limits: Any, pairs: Any, values: Any, count: int
) -> Any:
    """Note the entries of G that are below their column's limit.

    Column j is point ``first + j``; it and the row are written to `pairs`, which
    grows as needed, from `count` on. The width of G is a multiple of 64.
    """
    m = G.shape[1]
    limits = limits[first : first + m]
    blocks = m // BLOCK
    hits = np.empty(blocks, np.int64)
    for t in range(len(rows)):
        if count + m > len(values):
            more = np.empty((2 * len(values) + m, 2), np.int32)
            more[:count] = pairs[:count]
            pairs = more
            longer = np.empty(len(more), np.float32)
            longer[:count] = values[:count]
            values = longer
        for b in range(blocks):
            hit = 0
            for j in range(BLOCK):
                hit |= G[t, b * BLOCK + j] < limits[b * BLOCK + j]
            hits[b] = hit
        for b in range(blocks):
            if hits[b]:
                for j in range(b * BLOCK, b * BLOCK + BLOCK):
                    if G[t, j] < limits[j]:
                        pairs[count, 0] = first + j
                        pairs[count, 1] = rows[t]
                        values[count] = G[t, j]
                        count += 1
    return pairs, values, count


@njit(nogil=True, cache=True)
def insert_hits(
    pairs: Any, values: Any, shift: int, visits: Any, best: Any, ids: Any
) -> None:
    """Put noted rows into the lists of their columns' points.

    Rows are numbered from `shift`; a row whose home, ``visits[row, 0]``, the point
    visits itself is passed over, as it has been or will be seen there.
    """
    for c in range(len(values)):
        b = pairs[c, 0]
        if values[c] < best[b, -1]:
            q = shift + pairs[c, 1]
            seen = False
            for v in range(visits.shape[1]):
                seen |= visits[b, v] == visits[q, 0]
            if not seen:
                _insert(best, ids, b, values[c], q)


@njit(nogil=True, cache=True)
def pairs_below(G: Any, bounds: Any, first: int, own: Any) -> Any:
    """List the rows and points of all entries of G up to their row's bound."""
    count = 0
    for t in range(len(G)):
        for j in range(G.shape[1]):
            count += G[t, j] <= bounds[t]
    rows = np.empty(count, np.int32)
    points = np.empty(count, np.int32)
    count = 0
    for t in range(len(G)):
        for j in range(G.shape[1]):
            if G[t, j] <= bounds[t] and first + j != own[t]:
                rows[count] = t
                points[count] = first + j
                count += 1
    return rows[:count], points[:count]


@njit(nogil=True, cache=True)
def insert_pairs(rows: Any, points: Any, values: Any, distances: Any, ids: Any) -> None:
    """Put points into their row's list, ascending by distance, then by index."""
    last = distances.shape[1] - 1
    for c in range(len(rows)):
        t = rows[c]
        j = points[c]
        d = values[c]
        row = distances[t]
        who = ids[t]
        p = last
        if d > row[p] or (d == row[p] and j > who[p]):
            continue
        while p > 0 and (row[p - 1] > d or (row[p - 1] == d and who[p - 1] > j)):
            row[p] = row[p - 1]
            who[p] = who[p - 1]
            p -= 1
        row[p] = d
        who[p] = j


@njit(nogil=True, cache=True, fastmath=_SUMS)
def dense_pair_squares(Q: Any, X: Any, scale: float, rows: Any, points: Any) -> Any:
    """Squared lengths of ``scale * (Q[row] - X[point])``, summed in double."""
    squares = np.empty(len(rows))
    for c in range(len(rows)):
        q = Q[rows[c]]
        x = X[points[c]]
        total = 0.0
        for i in range(len(q)):
            difference = scale * np.float64(q[i]) - scale * np.float64(x[i])
            total += difference * difference
        squares[c] = total
    return squares


@njit(nogil=True, cache=True, fastmath=_SUMS)
def load_rows(X: Any, scale: float, center: Any, out: Any) -> None:
    """Write ``[x, |x|^2]`` of the scaled and centred rows x into `out`."""
    d = X.shape[1]
    for t in range(len(X)):
        for i in range(d):
            out[t, i] = scale * np.float64(X[t, i]) - center[i]
        total = 0.0
        for i in range(d):
            total += np.float64(out[t, i]) * np.float64(out[t, i])
        out[t, d] = total


@njit(nogil=True, cache=True)
def group_by_cell(visits: Any, m: int) -> Any:
    """List the rows that visit each cell: cell c has rows[stops[c]:stops[c + 1]]."""
    stops = np.zeros(m + 1, np.int64)
    for t in range(visits.shape[0]):
        for v in range(visits.shape[1]):
            stops[visits[t, v] + 1] += 1
    for c in range(m):
        stops[c + 1] += stops[c]
    following = stops[:-1].copy()
    rows = np.empty(visits.size, np.int32)
    for t in range(visits.shape[0]):
        for v in range(visits.shape[1]):
            c = visits[t, v]
            rows[following[c]] = t
            following[c] += 1
    return rows, stops


@njit(nogil=True, cache=True, fastmath=_SUMS)
def load_points(P: Any, center: Any, B: Any) -> None:
    """Write [x, |x|^2, 1] of the rows x of P, seen from the centre."""
    r = P.shape[1]
    for t in range(len(P)):
        total = np.float32(0)
        for i in range(r):
            B[t, i] = P[t, i] - center[i]
        for i in range(r):
            total += B[t, i] * B[t, i]
        B[t, r] = total
        B[t, r + 1] = 1


@njit(nogil=True, cache=True, fastmath=_SUMS)
def load_visitors(P: Any, rows: Any, center: Any, A: Any) -> None:
    """Write [-2 q, 1, |q|^2] of some rows q of P, seen from the centre."""
    r = P.shape[1]
    for t in range(len(rows)):
        total = np.float32(0)
        for i in range(r):
            difference = P[rows[t], i] - center[i]
            A[t, i] = np.float32(-2) * difference
            total += difference * difference
        A[t, r] = 1
        A[t, r + 1] = total
