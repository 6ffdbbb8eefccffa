"""Plain loops that do what `_tiles` and `_vectors` do in vector registers.

They are the reference of those, and take their place where they cannot run.
"""

from typing import Any

import numpy as np

from mercer._base.machine_code.compiled import compiled

LANES = 8
WIDTH = 2 * LANES  # columns of a panel
ROWS = 4  # rows of a tile


@compiled()
def tile(
    A: Any, heads: Any, t: int, B: Any, tops: Any, p: int, pairs: int,
    G: Any, g: int, step: int,
) -> None:  # fmt: skip
    """Write the squared distances of the rows t, ..., t + 3 and the columns of panel p.

    See `_tiles.tile`.
    """
    for row in range(ROWS):
        square, scale = heads[t + row, 0], heads[t + row, 1]
        for j in range(WIDTH):
            total = np.int32(0)
            for i in range(pairs):
                for half in range(2):
                    x = np.int32(A[t + row, 2 * i + half])
                    total += np.int32(x * np.int32(B[p, i, j, half]))
            product = scale * tops[p, 1, j] * np.float32(total)
            G[g + row * step + j] = square + tops[p, 0, j] + product


@compiled()
def insert(best: Any, ids: Any, first: int, parts: int, x: Any, who: int) -> None:
    """Put x into the ascending list of parts * `LANES` entries from best[first] on."""
    p = first + parts * LANES - 1
    if not best[p] > x:
        return
    while p > first and best[p - 1] > x:
        best[p] = best[p - 1]
        ids[p] = ids[p - 1]
        p -= 1
    best[p] = x
    ids[p] = who


@compiled()
def below(G: Any, g: int, bound: Any) -> Any:
    """Tell by bits which of the `WIDTH` entries from G[g] on are below the bound."""
    mask = np.uint64(0)
    for j in range(WIDTH):
        mask |= np.uint64(G[g + j] < bound) << np.uint64(j)
    return mask


@compiled()
def below_either(G: Any, g: int, bound: Any, limits: Any, first: int) -> Any:
    """Tell which of the `WIDTH` entries are below the bound or their own limits."""
    mask = np.uint64(0)
    for j in range(WIDTH):
        hit = (G[g + j] < bound) | (G[g + j] < limits[first + j])
        mask |= np.uint64(hit) << np.uint64(j)
    return mask


@compiled()
def minima(G: Any, g: int, step: int, count: int, least: Any, first: int) -> None:
    """Write the smallest of G[g + j], G[g + step + j], ... to least[first + j]."""
    for j in range(WIDTH):
        least[first + j] = np.inf
        for i in range(count):
            least[first + j] = min(least[first + j], G[g + i * step + j])


@compiled()
def smallest(least: Any) -> Any:
    """Return the smallest of `WIDTH` entries, none of them NaN."""
    return least[:WIDTH].min()


@compiled()
def lowest_bit(mask: Any) -> int:
    """Return the number of the lowest bit set."""
    bit = 0
    while not mask & np.uint64(1):
        mask >>= np.uint64(1)
        bit += 1
    return bit


@compiled()
def count_bits(mask: Any) -> int:
    """Return the number of bits set."""
    count = 0
    while mask:
        mask &= mask - np.uint64(1)
        count += 1
    return count
