"""Compiled search of cells: queries meet the points of their cell and of those probed.

Queries are searched cell by cell. All that probe another cell from one cell do so
together; their distances stay in the cache until those below the worst of a list are
taken into it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._base.machine_code.compiled import compiled
from mercer._base.machine_code.instructions import (
    LANES,
    WIDTH,
    below_either,
    insert,
    lowest_bit,
)
from mercer.neighbors.panels import (
    GROUP,
    empty_rows,
    kth_bound,
    load,
    longest,
    multiply,
)


class Lists(NamedTuple):
    """For each row the nearest points so far, ascending, -1 being none."""

    best: NDArray[np.float32]  # (n, w) squared distances; w is a multiple of LANES
    ids: NDArray[np.int32]  # (n, w)


def empty_lists(n: int, kept: int) -> Lists:
    """Return lists of infinite distances, as long as `kept` or a little longer."""
    width = -(-kept // LANES) * LANES
    best = np.full((n, width), np.inf, dtype=np.float32)
    return Lists(best, np.full((n, width), -1, dtype=np.int32))


@compiled()
def _scan(
    rows: Any,
    q: int,
    who: Any,
    w: int,
    count: int,
    cell: int,
    grid: Any,
    same: bool,
    A: Any,
    G: Any,
    least: Any,
    lists: Any,
    kept: int,
    limits: Any,
    pairs: Any,
    values: Any,
    hits: int,
) -> int:
    """Offer the points of a cell to the rows ``q + who[w:w + count]``.

    The rows that are below the limits of points are noted as hits.
    """
    best, ids, width = lists
    first = grid.starts[cell]
    p0 = grid.firsts[cell]
    panels = grid.firsts[cell + 1] - p0
    for start in range(0, count, GROUP):
        some = min(GROUP, count - start)
        load(rows, q, who, w + start, some, grid.centers, cell, A)
        multiply(A, some, grid.panels, p0, panels, G)
        for t in range(some):
            row = q + who[w + start + t]
            g = t * panels * WIDTH
            bound = best[row * width + kept - 1]
            if bound == np.inf:
                # One more than the list holds, as the row itself may be among them.
                bound = kth_bound(G, g, panels, kept + 1, least)
            worst = bound
            for p in range(panels):
                mask = below_either(G, g + p * WIDTH, worst, limits, p * WIDTH)
                while mask:
                    j = p * WIDTH + lowest_bit(mask)
                    mask &= mask - np.uint64(1)
                    x = G[g + j]
                    if x < worst and not (same and first + j == row):
                        insert(best, ids, row * width, width // LANES, x, first + j)
                        worst = min(bound, best[row * width + kept - 1])
                    if x < limits[j]:
                        pairs[hits, 0] = first + j
                        pairs[hits, 1] = row
                        values[hits] = x
                        hits += 1
    return hits


@compiled()
def _list_probes(q: int, count: int, probes: Any, most: int, who: Any, m: Any) -> None:
    """List the m[j] queries that probe the j-th cell around, from who[j * most] on."""
    m[:] = 0
    for t in range(count):
        for p in range(probes.shape[1]):
            mask = np.uint64(probes[q + t, p])
            while mask:
                j = p * WIDTH + lowest_bit(mask)
                mask &= mask - np.uint64(1)
                who[j * most + m[j]] = t
                m[j] += 1


@compiled()
def _limit(
    own: int, cell: int, grid: Any, probes: Any, limits: Any, local: Any
) -> None:
    """Copy the limits of the points of a cell, of none that probes the own one."""
    near = grid.near
    first = grid.starts[cell]
    count = grid.starts[cell + 1] - first
    for t in range(count):
        local[t] = limits[first + t]
    for j in range(near.shape[1]):
        if near[cell, j] == own:
            bit = np.uint32(1) << np.uint32(j % WIDTH)
            for t in range(count):
                if probes[first + t, j // WIDTH] & bit:
                    local[t] = -np.inf


@compiled()
def search_cells(
    lo: int,
    hi: int,
    queries: Any,
    grid: Any,
    inside: bool,
    same: bool,
    limits: Any,
    lists: Any,
    kept: int,
) -> Any:
    """Search for the queries of the cells `lo` to `hi`, inside or in cells they probe.

    The first `kept` entries of the lists count. With `same`, queries are the points,
    and none finds itself. With `limits`, a query below the limit of a point it meets
    is returned with that point, unless the point probes the query's cell and so meets
    the query there.
    """
    rows, stops = queries.rows, queries.stops
    flat_lists = (lists.best.reshape(-1), lists.ids.reshape(-1), lists.best.shape[1])
    back = len(limits) > 0
    size = longest(grid.firsts, 0, len(grid.firsts) - 1) * WIDTH
    most = longest(stops, lo, hi)
    A = empty_rows(rows.shape[1])
    G = np.empty(GROUP * size, np.float32)
    least = np.empty(size, np.float32)
    local = np.full(size, -np.inf, np.float32)
    around = 1 if inside else grid.near.shape[1]
    who = np.empty(around * most, np.int32)
    count = np.empty(around, np.int64)
    pairs = np.empty((0, 2), np.int32)
    values = np.empty(0, np.float32)
    hits = 0
    for own in range(lo, hi):
        q = stops[own]
        if inside:
            count[0] = stops[own + 1] - q
            for t in range(count[0]):
                who[t] = t
        else:
            _list_probes(q, stops[own + 1] - q, queries.probes, most, who, count)
        for j in range(around):
            if count[j] == 0:
                continue
            cell = own if inside else grid.near[own, j]
            if back:
                _limit(own, cell, grid, queries.probes, limits, local)
                room = hits + count[j] * (grid.starts[cell + 1] - grid.starts[cell])
                if room > len(values):
                    more = np.empty((2 * room, 2), np.int32)
                    longer = np.empty(2 * room, np.float32)
                    for c in range(hits):  # slices would take seconds to compile
                        more[c, 0], more[c, 1] = pairs[c, 0], pairs[c, 1]
                        longer[c] = values[c]
                    pairs, values = more, longer
            # fmt: off
            hits = _scan(
                rows, q, who, j * most, count[j], cell, grid, same, A, G, least,
                flat_lists, kept, local, pairs, values, hits,
            )
            # fmt: on
    return pairs[:hits], values[:hits]


@compiled()
def insert_hits(pairs: Any, values: Any, lists: Any, kept: int) -> None:
    """Put the queries of hits into the lists of their points."""
    width = lists.best.shape[1]
    best = lists.best.reshape(-1)
    ids = lists.ids.reshape(-1)
    for c in range(len(values)):
        start = pairs[c, 0] * width
        if values[c] < best[start + kept - 1]:
            insert(best, ids, start, width // LANES, values[c], pairs[c, 1])
