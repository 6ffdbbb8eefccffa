"""Points of cells as panels, and distances of rows to them.

Points and rows are seen from the centre of a cell and rounded to 16 bits relative to
their length L, ``x = L / 32767 round(32767 x / L)``, so that sums of products of two
fit into 32 bits. Distances are those of the rounded, exact but for single precision at
the end: each is wrong by at most ``sqrt(r) / 65534`` of the two lengths. The points of
a cell make panels of `WIDTH` columns. Rows are loaded in groups whose distances to a
cell stay in the cache.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._base.machine_code.compiled import compiled
from mercer._base.machine_code.instructions import (
    ROWS,
    WIDTH,
    below,
    count_bits,
    lowest_bit,
    minima,
    smallest,
    tile,
)

GROUP = 16  # rows that are loaded together

# Sums may be reordered, so that they run in vector registers; NaN never gets here.
_SUMS = {"reassoc", "contract", "nsz", "nnan"}
_LARGEST = np.float32(32767)


class Rounded(NamedTuple):
    """Vectors rounded to 16 bits, in pairs of coordinates."""

    entries: NDArray[np.int16]
    heads: NDArray[np.float32]  # squared lengths, and factors of the entries


@compiled()
def empty_rows(r: int) -> Any:
    """Return room for a group of rows, and for what follows an odd coordinate."""
    entries = np.zeros((GROUP, r + r % 2), np.int16)
    return Rounded(entries, np.zeros((GROUP, 2), np.float32))


@compiled()
def empty_panels(p: int, r: int) -> Any:
    """Return room for panels."""
    entries = np.zeros((p, (r + 1) // 2, WIDTH, 2), np.int16)
    return Rounded(entries, np.zeros((p, 2, WIDTH), np.float32))


@compiled()
def longest(stops: Any, lo: int, hi: int) -> int:
    """Return the length of the longest panel of `lo` to `hi`."""
    longest = 0
    for c in range(lo, hi):
        longest = max(longest, stops[c + 1] - stops[c])
    return longest


class Grid(NamedTuple):
    """Cells in the form the compiled search wants."""

    centers: NDArray[np.float32]  # (m, r)
    near: NDArray[np.int32]  # (m, w) other cells around each cell, nearest first
    starts: NDArray[np.int64]  # (m + 1,) first point of each cell
    panels: "Rounded"  # (p, pairs, WIDTH, 2), heads (p, 2, WIDTH)
    firsts: NDArray[np.int64]  # (m + 1,) first panel of each cell


class Queries(NamedTuple):
    """Rows to search for, sorted by the cell they lie in."""

    rows: NDArray[np.float32]  # (n, r)
    stops: NDArray[np.int64]  # (m + 1,) first row of each cell
    probes: NDArray[np.uint32]  # (n, w / WIDTH) one bit per cell around


def queries_of(rows: Any, stops: Any, grid: Grid) -> Queries:
    """Return rows, sorted by cell, that probe no other cell yet."""
    words = -(-grid.near.shape[1] // WIDTH)
    return Queries(rows, stops, np.zeros((len(rows), words), dtype=np.uint32))


def grid_of(rows: Any, starts: Any, centers: Any, near: Any) -> Grid:
    """Lay out points, sorted by cell, as panels."""
    firsts = np.zeros_like(starts)
    np.cumsum(-(-np.diff(starts) // WIDTH), out=firsts[1:])
    panels = empty_panels(int(firsts[-1]), rows.shape[1])
    _fill_panels(rows, starts, centers, panels, firsts)
    return Grid(centers, near, starts, panels, firsts)


@compiled()
def _fill_panels(
    rows: Any, starts: Any, centers: Any, panels: Any, firsts: Any
) -> None:
    every = np.arange(longest(starts, 0, len(starts) - 1), dtype=np.int32)
    for c in range(len(starts) - 1):
        count = starts[c + 1] - starts[c]
        _load_panels(rows, starts[c], every, count, centers, c, panels, firsts[c])


@compiled(fastmath=_SUMS)
def _round(rows: Any, row: int, origins: Any, c: int, out: Any, t: int) -> Any:
    """Write a row, seen from an origin, as the 16-bit entries out[t].

    Return the squared length of what is written, and its factor.
    """
    r = rows.shape[1]
    total = np.float32(0)
    for i in range(r):
        x = rows[row, i] - origins[c, i]
        total += x * x
    length = np.sqrt(total)
    inverse = _LARGEST / length if length > 0 else np.float32(0)
    square = np.float32(0)
    for i in range(r):
        x = (rows[row, i] - origins[c, i]) * inverse
        # Made positive, as conversion rounds towards zero.
        y = np.int32(np.int32(x + np.float32(32768.5)) - np.int32(32768))
        out[t, i] = y
        square += np.float32(y) * np.float32(y)
    factor = length / _LARGEST
    return factor * factor * square, factor


@compiled()
def _load_panels(
    rows: Any,
    first: int,
    which: Any,
    count: int,
    origins: Any,
    c: int,
    panels: Any,
    p: int,
) -> None:
    """Write rows as columns of panels, infinitely far ones to the end."""
    r = rows.shape[1]
    entries = np.empty((1, r), np.int16)
    for j in range(-(-count // WIDTH) * WIDTH):
        panel = p + j // WIDTH
        lane = j % WIDTH
        if j < count:
            square, factor = _round(rows, first + which[j], origins, c, entries, 0)
            for i in range(r):
                panels.entries[panel, i // 2, lane, i % 2] = entries[0, i]
            panels.heads[panel, 0, lane] = square
            panels.heads[panel, 1, lane] = factor
        else:
            panels.heads[panel, 0, lane] = np.inf
            panels.heads[panel, 1, lane] = 0


@compiled()
def load(
    rows: Any, q: int, who: Any, w: int, count: int, origins: Any, c: int, A: Any
) -> None:
    """Load the rows ``q + who[w:w + count]``, seen from ``origins[c]``."""
    entries, heads = A
    for t in range(count):
        square, factor = _round(rows, q + who[w + t], origins, c, entries, t)
        heads[t, 0] = square
        heads[t, 1] = np.float32(-2) * factor


@compiled()
def _load_directions(own: int, centers: Any, near: Any, U: Any) -> None:
    """Write panels of e / (2 |e|) and |e| / 2, with e the ways to the cells around."""
    _load_panels(centers, 0, near[own], near.shape[1], centers, own, U, 0)
    for p in range(len(U.heads)):
        for lane in range(WIDTH):
            length = np.sqrt(U.heads[p, 0, lane])
            U.heads[p, 0, lane] = np.float32(0.5) * length
            if length > 0:
                U.heads[p, 1, lane] *= np.float32(0.5) / length


@compiled()
def multiply(A: Any, count: int, B: Any, first: int, panels: int, G: Any) -> None:
    """Write distances of `count` loaded rows to some panels of B, row by row, to G."""
    rows, heads = A
    entries, tops = B
    pairs = entries.shape[1]
    step = panels * WIDTH
    for p in range(panels):
        for t in range(0, count, ROWS):
            g = t * step + p * WIDTH
            tile(rows, heads, t, entries, tops, first + p, pairs, G, g, step)


@compiled()
def kth_bound(G: Any, g: int, panels: int, k: int, least: Any) -> Any:
    """Bound the k-th smallest of a row of G from above, tightly and cheaply.

    It is the k-th smallest of interleaved minima, of twice as many if there are.
    """
    used = min(panels, -(-2 * k // WIDTH))
    if used * WIDTH < k:
        return np.float32(np.inf)
    for u in range(used):
        count = (panels - u + used - 1) // used
        minima(G, g + u * WIDTH, used * WIDTH, count, least, u * WIDTH)
    bound = np.float32(-np.inf)
    for j in range(used * WIDTH):
        smaller = 0
        for p in range(used):
            smaller += count_bits(below(least, p * WIDTH, least[j]))
        if smaller < k:
            bound = max(bound, least[j])
    return np.nextafter(bound, np.float32(np.inf))


@compiled()
def choose_probes(lo: int, hi: int, queries: Any, grid: Any, reach: Any) -> int:
    """Set the bits of the cells that queries in cells `lo` to `hi` probe; count them.

    These are the cells whose border with the query's own, the plane midway between
    the two centres, is nearer than `reach`.
    """
    rows, stops, probes = queries.rows, queries.stops, queries.probes
    centers, near = grid.centers, grid.near
    r = rows.shape[1]
    panels = probes.shape[1]
    A = empty_rows(r)
    G = np.empty(GROUP * panels * WIDTH, np.float32)
    U = empty_panels(panels, r)
    every = np.arange(GROUP, dtype=np.int32)
    total = 0
    for own in range(lo, hi):
        if stops[own] < stops[own + 1]:
            _load_directions(own, centers, near, U)
        for q in range(stops[own], stops[own + 1], GROUP):
            count = min(GROUP, stops[own + 1] - q)
            load(rows, q, every, 0, count, centers, own, A)
            A.heads[:, 0] = 0
            multiply(A, count, U, 0, panels, G)
            for t in range(count):
                for p in range(panels):
                    mask = below(G, (t * panels + p) * WIDTH, reach)
                    probes[q + t, p] = mask
                    total += count_bits(mask)
    return total


@compiled()
def nearest_around(
    rows: Any, order: Any, stops: Any, origins: Any, centers: Any, near: Any
) -> Any:
    """Return the nearest centre of every row, among ``near[a]`` for rows of group a.

    These are ``order[stops[a]:stops[a + 1]]``; all are seen from ``origins[a]``.
    """
    r = rows.shape[1]
    panels = -(-near.shape[1] // WIDTH)
    A = empty_rows(r)
    G = np.empty(GROUP * panels * WIDTH, np.float32)
    B = empty_panels(panels, r)
    least = np.empty(WIDTH, np.float32)
    nearest = np.empty(len(rows), np.int32)
    for a in range(len(stops) - 1):
        if stops[a] < stops[a + 1]:
            _load_panels(centers, 0, near[a], near.shape[1], origins, a, B, 0)
        for q in range(stops[a], stops[a + 1], GROUP):
            count = min(GROUP, stops[a + 1] - q)
            load(rows, 0, order, q, count, origins, a, A)
            multiply(A, count, B, 0, panels, G)
            for t in range(count):
                j = _nearest(G, t * panels * WIDTH, panels, least)
                nearest[order[q + t]] = near[a, j]
    return nearest


@compiled()
def _nearest(G: Any, g: int, panels: int, least: Any) -> int:
    """Return the column of the smallest entry of a row of G, the first of equals."""
    minima(G, g, WIDTH, panels, least, 0)
    bound = np.nextafter(smallest(least), np.float32(np.inf))
    for p in range(panels):
        mask = below(G, g + p * WIDTH, bound)
        if mask:
            return p * WIDTH + int(lowest_bit(mask))
    return 0
