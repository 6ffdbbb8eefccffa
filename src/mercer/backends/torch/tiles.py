"""Which tiles of points a block of queries meets: all, or those of cells near it.

For many points, rows are sorted by the cells of a k-means partition, so that a tile and
a block of queries belong to one or a few cells each. A block meets the tiles whose
cells have the nearest centres, as many as hold the wanted share of the neighbours of
sampled rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.tensors import generator, torch

MEMBERS = 32  # points of a group
COLUMNS = 64  # groups of a tile
ROWS = 128  # queries of a block
_PER_CELL = 2048  # points in a cell, on average
_LLOYD = 4  # steps of k-means, on a sample
_MISSED = 0.25  # share of the neighbours that may be missed, that tiles may miss
_ROWS_AT_A_TIME = 2**17


def every_tile(n: int, device: Any) -> Any:
    """Return a list of all tiles of n points for each block of as many queries."""
    t = torch()
    n_tiles = -(-n // (MEMBERS * COLUMNS))
    every = t.arange(n_tiles, dtype=t.int32, device=device)
    return every.expand(-(-n // ROWS), -1)


def in_halves(rows: Any, *, are_points: bool) -> Any:
    r"""Return rows of float16 whose products tell points apart as distances do.

    Points are sums of numbers of 16 bits and a rest. Queries are rounded: a query that
    is moved a little has nearly the same neighbours, while rounding that differs from
    point to point would hide differences of products. :math:`q_1 \cdot c_1 + q_1 \cdot
    c_2` is a product of rows twice as long.

    Parameters
    ----------
    rows : tensor of shape (n, d)
        Entries up to about 1, float32.
    are_points : bool
        Whether these are the points c or the queries q.

    Returns
    -------
    tensor of shape (n, 2d)
    """
    t = torch()
    first = rows.half()
    return t.cat([first, (rows - first).half() if are_points else first], dim=1)


@dataclass(frozen=True, eq=False)
class Listing:
    """An order of the points, and the tiles of it that each block of queries meets."""

    order: Any  # (n,) the point at each place
    tiles: Any  # (blocks, t) int32
    is_fine: bool = False  # whether points are in more than 16 bits (`in_halves`)


def near_tiles(
    P: Any, rows: Any, truth: Any, recall: float, rng: np.random.Generator
) -> Listing:
    """List the tiles near each block, as many as the recall wanted needs.

    Parameters
    ----------
    P : tensor of shape (n, d)
        Points, float32.
    rows, truth : integer tensors of shape (s,) and (s, k)
        Sampled rows and their neighbours.
    recall : float
        The share of neighbours wanted.
    rng : numpy.random.Generator
        For k-means.
    """
    t = torch()
    cells = _cells(P, max(2, len(P) // _PER_CELL), rng)
    labels, order = cells.sort(stable=True)
    near = nearest_tiles(P, labels, order)
    place = t.empty_like(order)
    place[order] = t.arange(len(P), device=P.device)
    ranks = _ranks(near, place[rows], place[truth])
    share = 1 - (1 - recall) * _MISSED
    count = int(np.quantile(ranks, share, method="higher")) + 1
    return Listing(order, near[:, :count])


def nearest_tiles(P: Any, labels: Any, order: Any) -> Any:
    """Return all tiles for each block of queries, nearest first, int32.

    Parameters
    ----------
    P : tensor of shape (n, d)
    labels : integer tensor of shape (n,)
        Cells of the points as they are sorted, ascending.
    order : integer tensor of shape (n,)
        The points as they are sorted.
    """
    t = torch()
    m = int(labels[-1]) + 1
    n = len(labels)
    centers = P.new_zeros((m, P.shape[1])).index_add_(0, labels, P[order])
    counts = t.bincount(labels, minlength=m).clamp_(min=1)
    centers /= counts[:, None]
    distance = t.cdist(centers, centers)
    tile_size = MEMBERS * COLUMNS
    tiles, cells = _overlaps(labels, tile_size)
    to_tiles = distance.new_full((m, -(-n // tile_size)), t.inf)
    to_tiles.scatter_reduce_(
        1, tiles.expand(m, -1), distance[:, cells].contiguous(), "amin"
    )
    blocks, cells = _overlaps(labels, ROWS)
    # A block overlaps few cells: most one, some two.
    near = to_tiles.new_full((-(-n // ROWS), to_tiles.shape[1]), t.inf)
    for start in range(0, len(blocks), 2**14):
        part = slice(start, start + 2**14)
        index = blocks[part, None].expand(-1, to_tiles.shape[1])
        near.scatter_reduce_(0, index, to_tiles[cells[part]], "amin")
    return near.argsort(dim=1).int()


def _overlaps(labels: Any, size: int) -> tuple[Any, Any]:
    """Return the pairs of a run of `size` places and a cell that has points there."""
    t = torch()
    runs = t.arange(len(labels), device=labels.device) // size
    first = t.ones(len(labels), dtype=t.bool, device=labels.device)
    first[1:] = (runs[1:] != runs[:-1]) | (labels[1:] != labels[:-1])
    return runs[first], labels[first]


def _ranks(near: Any, queries: Any, neighbors: Any) -> Any:
    """Return the place of the tile of each neighbour in the list of its query."""
    listed = near[queries // ROWS].long()
    tile = neighbors // (MEMBERS * COLUMNS)
    is_there = listed[:, None, :] == tile[:, :, None]
    return is_there.int().argmax(dim=2).cpu().numpy()


def _cells(P: Any, m: int, rng: np.random.Generator) -> Any:
    """Return the cell of every row, numbered so that near cells follow each other."""
    t = torch()
    draw = generator(rng, P.device)
    some = t.randint(len(P), (min(len(P), 64 * m),), generator=draw, device=P.device)
    sample = P[some]
    centers = _lloyd(sample, m)
    regions = _lloyd(centers, max(1, m // 16))
    centers = centers[_nearest(centers, regions).argsort(stable=True)]
    return _nearest(P, centers)


def _lloyd(sample: Any, m: int) -> Any:
    t = torch()
    centers = sample[:m].clone()
    for _ in range(_LLOYD):
        labels = _nearest(sample, centers)
        sums = t.zeros_like(centers).index_add_(0, labels, sample)
        counts = t.bincount(labels, minlength=m)
        used = counts > 0
        centers[used] = sums[used] / counts[used, None]
    return centers


def _nearest(P: Any, centers: Any) -> Any:
    """Return the nearest centre of every row."""
    t = torch()
    half = 0.5 * (centers * centers).sum(dim=1)
    labels = t.empty(len(P), dtype=t.int64, device=P.device)
    for start in range(0, len(P), _ROWS_AT_A_TIME):
        part = slice(start, start + _ROWS_AT_A_TIME)
        labels[part] = (half - P[part] @ centers.T).argmin(dim=1)
    return labels
