"""Points of cells as panels, and products of rows with them.

The points of a cell are stored as panels of `WIDTH` columns, seen from the centre of
the cell: squared lengths first, then one row per coordinate. Rows are loaded in groups
whose products with a cell stay in the cache.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mercer.graphs._tiles import (
    ROWS,
    WIDTH,
    below,
    count_bits,
    lower,
    lowest_bit,
    tile,
)

GROUP = 16  # rows that are loaded together

# Sums may be reordered, so that they run in vector registers; NaN never gets here.
_SUMS = {"reassoc", "contract", "nsz", "nnan"}


@njit(nogil=True, cache=True)
def longest(stops: Any, lo: int, hi: int) -> int:
    longest = 0
    for c in range(lo, hi):
        longest = max(longest, stops[c + 1] - stops[c])
    return longest


class Grid(NamedTuple):
    """Cells in the form the compiled search wants."""

    centers: NDArray[np.float32]  # (m, r)
    near: NDArray[np.int32]  # (m, w) other cells around each cell, nearest first
    starts: NDArray[np.int64]  # (m + 1,) first point of each cell
    panels: NDArray[np.float32]  # (p, r + 1, WIDTH)
    firsts: NDArray[np.int64]  # (m + 1,) first panel of each cell


class Guests(NamedTuple):
    """Rows that are searched, those of one home together."""

    rows: NDArray[np.float32]  # (n, r)
    stops: NDArray[np.int64]  # (m + 1,) first row of each home
    visits: NDArray[np.uint32]  # (n, w / WIDTH) one bit per cell around home


def guests_of(rows: Any, stops: Any, grid: Grid) -> Guests:
    """Return rows, sorted by home, that visit nobody yet."""
    words = -(-grid.near.shape[1] // WIDTH)
    return Guests(rows, stops, np.zeros((len(rows), words), dtype=np.uint32))


def grid_of(rows: Any, starts: Any, centers: Any, near: Any) -> Grid:
    """Lay out points, sorted by cell, as panels."""
    firsts = np.zeros_like(starts)
    np.cumsum(-(-np.diff(starts) // WIDTH), out=firsts[1:])
    shape = (int(firsts[-1]), rows.shape[1] + 1, WIDTH)
    panels = np.empty(shape, dtype=np.float32)
    _fill_panels(rows, starts, centers, panels, firsts)
    return Grid(centers, near, starts, panels, firsts)


@njit(nogil=True, cache=True)
def _fill_panels(
    rows: Any, starts: Any, centers: Any, panels: Any, firsts: Any
) -> None:
    every = np.arange(longest(starts, 0, len(starts) - 1), dtype=np.int32)
    for c in range(len(starts) - 1):
        count = starts[c + 1] - starts[c]
        _load_panels(rows, starts[c], every, count, centers, c, panels, firsts[c])


@njit(nogil=True, cache=True, fastmath=_SUMS)
def _load_panels(
    rows: Any,
    first: int,
    which: Any,
    count: int,
    centers: Any,
    c: int,
    panels: Any,
    p: int,
) -> None:
    """Write [|x|^2, x] of rows x seen from a centre as columns, infinite to the end."""
    for j in range(-(-count // WIDTH) * WIDTH):
        panel = p + j // WIDTH
        lane = j % WIDTH
        if j < count:
            total = np.float32(0)
            for i in range(rows.shape[1]):
                x = rows[first + which[j], i] - centers[c, i]
                panels[panel, 1 + i, lane] = x
                total += x * x
            panels[panel, 0, lane] = total
        else:
            panels[panel, :, lane] = 0
            panels[panel, 0, lane] = np.inf


@njit(nogil=True, cache=True, fastmath=_SUMS)
def load(
    rows: Any, q: int, who: Any, w: int, count: int, centers: Any, c: int, A: Any
) -> None:
    """Write [|x|^2, -2 x] of rows x seen from a centre; the last fills the tile."""
    r = rows.shape[1]
    for t in range(-(-count // ROWS) * ROWS):
        row = q + who[w + min(t, count - 1)]
        total = np.float32(0)
        for i in range(r):
            x = rows[row, i] - centers[c, i]
            A[t * (r + 1) + 1 + i] = np.float32(-2) * x
            total += x * x
        A[t * (r + 1)] = total


@njit(nogil=True, cache=True)
def _load_directions(home: int, centers: Any, near: Any, U: Any) -> None:
    """Write panels [|e| / 2, e / (2 |e|)] of the ways e to the cells around."""
    _load_panels(centers, 0, near[home], near.shape[1], centers, home, U, 0)
    for p in range(len(U)):
        for lane in range(WIDTH):
            length = np.sqrt(U[p, 0, lane])
            U[p, 0, lane] = np.float32(0.5) * length
            if length > 0:
                for i in range(1, U.shape[1]):
                    U[p, i, lane] *= np.float32(0.5) / length


@njit(nogil=True, cache=True)
def multiply(
    A: Any, count: int, flat: Any, first: int, panels: int, r: int, G: Any
) -> None:
    """Write the products of `count` loaded rows and some panels, row by row, to G."""
    for p in range(panels):
        b = (first + p) * (r + 1) * WIDTH
        for t in range(0, count, ROWS):
            g = (t * panels + p) * WIDTH
            tile(A, t * (r + 1), flat, b, r, G, g, panels * WIDTH)


@njit(nogil=True, cache=True)
def kth_bound(G: Any, g: int, panels: int, k: int, least: Any) -> Any:
    """Bound the k-th smallest of a row of G from above, tightly and cheaply.

    It is the k-th smallest of interleaved minima, of twice as many if there are.
    """
    used = min(panels, -(-2 * k // WIDTH))
    if used * WIDTH < k:
        return np.float32(np.inf)
    for j in range(used * WIDTH):
        least[j] = np.inf
    for p in range(panels):
        lower(least, p % used * WIDTH, G, g + p * WIDTH)
    bound = np.float32(-np.inf)
    for j in range(used * WIDTH):
        smaller = 0
        for p in range(used):
            smaller += count_bits(below(least, p * WIDTH, least[j]))
        if smaller < k:
            bound = max(bound, least[j])
    return np.nextafter(bound, np.float32(np.inf))


@njit(nogil=True, cache=True)
def choose_visits(lo: int, hi: int, guests: Any, grid: Any, reach: Any) -> int:
    """Set the bits of the cells that guests from homes `lo` to `hi` visit; count them.

    These are the cells whose border with home, the plane midway between the two
    centres, is nearer than `reach`.
    """
    rows, stops, visits = guests.rows, guests.stops, guests.visits
    centers, near = grid.centers, grid.near
    r = rows.shape[1]
    panels = visits.shape[1]
    A = np.empty(GROUP * (r + 1), np.float32)
    G = np.empty(GROUP * panels * WIDTH, np.float32)
    U = np.empty((panels, r + 1, WIDTH), np.float32)
    flat = U.reshape(-1)
    every = np.arange(GROUP, dtype=np.int32)
    total = 0
    for home in range(lo, hi):
        if stops[home] < stops[home + 1]:
            _load_directions(home, centers, near, U)
        for q in range(stops[home], stops[home + 1], GROUP):
            count = min(GROUP, stops[home + 1] - q)
            load(rows, q, every, 0, count, centers, home, A)
            for t in range(GROUP):
                A[t * (r + 1)] = 0
            multiply(A, count, flat, 0, panels, r, G)
            for t in range(count):
                for p in range(panels):
                    mask = below(G, (t * panels + p) * WIDTH, reach)
                    visits[q + t, p] = mask
                    total += count_bits(mask)
    return total


@njit(nogil=True, cache=True)
def nearest_around(
    rows: Any, order: Any, stops: Any, origins: Any, centers: Any, near: Any
) -> Any:
    """Return the nearest centre of every row, among ``near[a]`` for rows of group a.

    These are ``order[stops[a]:stops[a + 1]]``; all are seen from ``origins[a]``.
    """
    r = rows.shape[1]
    panels = -(-near.shape[1] // WIDTH)
    A = np.empty(GROUP * (r + 1), np.float32)
    G = np.empty(GROUP * panels * WIDTH, np.float32)
    B = np.empty((panels, r + 1, WIDTH), np.float32)
    flat = B.reshape(-1)
    least = np.empty(WIDTH, np.float32)
    nearest = np.empty(len(rows), np.int32)
    for a in range(len(stops) - 1):
        if stops[a] < stops[a + 1]:
            _load_panels(centers, 0, near[a], near.shape[1], origins, a, B, 0)
        for q in range(stops[a], stops[a + 1], GROUP):
            count = min(GROUP, stops[a + 1] - q)
            load(rows, 0, order, q, count, origins, a, A)
            multiply(A, count, flat, 0, panels, r, G)
            for t in range(count):
                g = t * panels * WIDTH
                bound = kth_bound(G, g, panels, 1, least)
                for p in range(panels):
                    mask = below(G, g + p * WIDTH, bound)
                    if mask:
                        j = p * WIDTH + lowest_bit(mask)
                        nearest[order[q + t]] = near[a, j]
                        break
    return nearest
