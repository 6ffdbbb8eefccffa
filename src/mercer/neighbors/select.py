"""Compiled loops of the neighbour searches; each releases the interpreter lock."""

from typing import Any

import numpy as np

from mercer._base.machine_code.compiled import compiled

BLOCK = 64

# Sums may be reordered, so that they run in vector registers; NaN never gets here.
_SUMS = {"reassoc", "contract", "nsz", "nnan"}


@compiled()
def kth_bound(G: Any, t: int, k: int, lanes: Any) -> Any:
    """Bound the k-th smallest entry of a row from above, tightly and cheaply.

    It is the k-th smallest of 64 interleaved minima; infinity if there are too few.
    """
    lanes[:] = np.inf
    full = G.shape[1] - G.shape[1] % BLOCK
    bound = lanes[0]
    if k > BLOCK or full == 0:
        return bound
    for first in range(0, full, BLOCK):
        for lane in range(BLOCK):
            lanes[lane] = min(lanes[lane], G[t, first + lane])
    bound = -bound
    for lane in range(BLOCK):
        x = lanes[lane]
        smaller = 0
        for other in range(BLOCK):
            smaller += lanes[other] < x
        if smaller < k and x > bound:
            bound = x
    return bound


@compiled()
def merge(
    G: Any, rows: Any, first: int, own: Any, best: Any, ids: Any, lanes: Any
) -> None:
    """Offer a block of columns to the ascending lists of the best of some rows.

    ``G[t, j]`` is the distance of row ``rows[t]`` to point ``first + j``; a row's
    `own` point is passed over. Among equals the one offered first stays. `lanes` is
    room for `BLOCK` numbers of the type of G; a function that makes it takes longer to
    compile.
    """
    m = G.shape[1]
    last = best.shape[1] - 1
    for t in range(len(rows)):
        r = rows[t]
        me = own[r] - first
        bound = best[r, last]
        if bound == np.inf:
            # One more than the list holds, as the row's own point may be among them.
            bound = np.nextafter(kth_bound(G, t, best.shape[1] + 1, lanes), bound)
        worst = bound
        for start in range(0, m, BLOCK):
            stop = min(start + BLOCK, m)
            hit = 0
            # A loop of its own becomes vector instructions; few blocks are hit.
            for j in range(start, stop):
                hit |= G[t, j] < worst
            if hit:
                for j in range(start, stop):
                    if G[t, j] < worst and j != me:
                        _insert(best, ids, r, G[t, j], first + j)
                        worst = min(bound, best[r, last])


@compiled()
def _insert(best: Any, ids: Any, r: int, x: Any, who: int) -> None:
    """Put x into the ascending list of row r; among equals the first one stays."""
    p = best.shape[1] - 1
    while p > 0 and best[r, p - 1] > x:
        best[r, p] = best[r, p - 1]
        ids[r, p] = ids[r, p - 1]
        p -= 1
    best[r, p] = x
    ids[r, p] = who


@compiled()
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


@compiled()
def insert_pairs(rows: Any, points: Any, values: Any, distances: Any, ids: Any) -> None:
    """Put points into their row's list, ascending by distance, then by index."""
    last = distances.shape[1] - 1
    for c in range(len(rows)):
        t = rows[c]
        j = points[c]
        d = values[c]
        p = last
        if d > distances[t, p] or (d == distances[t, p] and j > ids[t, p]):
            continue
        while p > 0 and (
            distances[t, p - 1] > d or (distances[t, p - 1] == d and ids[t, p - 1] > j)
        ):
            distances[t, p] = distances[t, p - 1]
            ids[t, p] = ids[t, p - 1]
            p -= 1
        distances[t, p] = d
        ids[t, p] = j


@compiled(fastmath=_SUMS)
def dense_pair_squares(Q: Any, X: Any, scale: float, rows: Any, points: Any) -> Any:
    """Squared lengths of ``scale * (Q[row] - X[point])``, summed in double."""
    squares = np.empty(len(rows))
    for c in range(len(rows)):
        q = rows[c]
        x = points[c]
        total = 0.0
        for i in range(Q.shape[1]):
            difference = scale * np.float64(Q[q, i]) - scale * np.float64(X[x, i])
            total += difference * difference
        squares[c] = total
    return squares


@compiled(fastmath=_SUMS)
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


@compiled()
def group_rows(labels: Any, m: int) -> Any:
    """List the rows of each label, in order: c has rows[stops[c]:stops[c + 1]]."""
    stops = np.zeros(m + 1, np.int64)
    for t in range(len(labels)):
        stops[labels[t] + 1] += 1
    for c in range(m):
        stops[c + 1] += stops[c]
    following = stops[:-1].copy()
    rows = np.empty(len(labels), np.int32)
    for t in range(len(labels)):
        rows[following[labels[t]]] = t
        following[labels[t]] += 1
    return rows, stops


@compiled(fastmath=_SUMS)
def measure(
    Q: Any,
    which: Any,
    X: Any,
    scale: float,
    order: Any,
    places: Any,
    ids: Any,
    distances: Any,
) -> None:
    """Write the nearest of candidates into the rows `which`, by distance and index.

    The candidates of row ``which[t]`` of Q are ``X[order[places[t]]]``, -1 being none;
    distances are summed in double precision, after scaling.
    """
    k = ids.shape[1]
    columns = X.shape[1]
    squares = np.empty(places.shape[1])
    for t in range(len(which)):
        row = which[t]
        for p in range(k):
            distances[row, p] = np.inf
            ids[row, p] = np.iinfo(np.int32).max
        for c in range(places.shape[1]):
            j = order[max(places[t, c], 0)]
            total = 0.0
            for i in range(columns):
                difference = scale * np.float64(Q[row, i]) - scale * np.float64(X[j, i])
                total += difference * difference
            squares[c] = total
        for c in range(places.shape[1]):
            if places[t, c] < 0:
                continue
            j = order[places[t, c]]
            d = squares[c]
            p = k
            while p > 0 and (
                distances[row, p - 1] > d
                or (distances[row, p - 1] == d and ids[row, p - 1] > j)
            ):
                if p < k:
                    distances[row, p] = distances[row, p - 1]
                    ids[row, p] = ids[row, p - 1]
                p -= 1
            if p < k:
                distances[row, p] = d
                ids[row, p] = j
        for p in range(k):
            distances[row, p] = np.sqrt(distances[row, p]) / scale
