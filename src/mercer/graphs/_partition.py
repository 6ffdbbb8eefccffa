"""Principal coordinates and the k-means partition behind the approximate search."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from mercer.graphs._exact import DensePoints, Float32Array, Int32Array
from mercer.graphs._select import (
    BLOCK,
    group_by_cell,
    load_points,
    load_visitors,
    merge,
)

_MAX_AXES = 96
_AXES = 64
_ROWS = 1024
_VISITORS = 512  # rows of a product that stays in the cache


def principal_axes(
    points: DensePoints, rng: np.random.Generator
) -> Float32Array | None:
    """Return leading principal directions of a sample, (d, r); None if d is small."""
    n, d = points.X.shape
    if d <= _MAX_AXES:
        return None
    rows = np.sort(rng.choice(n, min(n, 8192), replace=False))
    sample = points.augmented(points.X[rows])[:, :-1]
    seed = int(rng.integers(2**31))
    _, _, axes = randomized_svd(sample, _AXES, n_iter=2, random_state=seed)
    return np.ascontiguousarray(axes.T, dtype=np.float32)


def coordinates(points: DensePoints, X: Any, axes: Float32Array | None) -> Float32Array:
    """Return the scaled, centred rows of X along the axes."""
    r = X.shape[1] if axes is None else axes.shape[1]
    P = np.empty((len(X), r), dtype=np.float32)
    for start in range(0, len(X), _ROWS):
        part = slice(start, start + _ROWS)
        local = points.augmented(X[part])[:, :-1]
        P[part] = local if axes is None else local @ axes
    return P


def nearest_center(P: Float32Array, centers: Float32Array) -> NDArray[np.intp]:
    """Return the index of the nearest centre of every row."""
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    nearest = np.empty(len(P), dtype=np.intp)
    G = np.empty((_ROWS, len(centers)), dtype=np.float32)
    for start in range(0, len(P), _ROWS):
        rows = P[start : start + _ROWS]
        g = np.matmul(rows, centers.T, out=G[: len(rows)])
        g -= half
        g.argmax(axis=1, out=nearest[start : start + _ROWS])
    return nearest


def kmeans(P: Float32Array, m: int, rng: np.random.Generator) -> Float32Array:
    """Return m centres by a few steps of Lloyd on a sample of the rows."""
    rows = rng.choice(len(P), min(len(P), 16 * m), replace=False)
    sample = P[rows]
    centers = sample[:m].copy()
    for _ in range(4):
        labels = nearest_center(sample, centers)
        count = np.bincount(labels, minlength=m)
        ones = np.ones(len(sample), dtype=np.float32)
        places = (labels, np.arange(len(sample)))
        sums = sparse.csr_array((ones, places), shape=(m, len(sample))) @ sample
        used = count > 0
        centers[used] = sums[used] / count[used, None]
    return centers


def split(
    labels: NDArray[np.intp], centers: Float32Array, size: int
) -> tuple[NDArray[np.intp], Float32Array]:
    """Cut cells of many (near-)equal points into pieces around the same centre."""
    sizes = np.bincount(labels, minlength=len(centers))
    pieces = [centers]
    total = len(centers)
    for cell in np.flatnonzero(sizes > 8 * size):
        members = np.flatnonzero(labels == cell)
        piece = np.arange(len(members)) // (4 * size)
        labels[members[piece > 0]] = total + piece[piece > 0] - 1
        pieces.append(np.repeat(centers[cell : cell + 1], piece[-1], axis=0))
        total += int(piece[-1])
    return labels, np.concatenate(pieces)


def nearest_centers(
    Q: Float32Array, centers: Float32Array, at_most: int, *, others: bool = False
) -> Int32Array:
    """Return the nearest centres of each row of Q; with `others`, not row i for i."""
    width = min(len(centers) - others, at_most)
    near = np.empty((len(Q), width), dtype=np.int32)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    for start in range(0, len(Q), _ROWS):
        G = half - Q[start : start + _ROWS] @ centers.T
        if others:
            own = np.arange(len(G))
            G[own, start + own] = np.inf
        if width < G.shape[1]:
            near[start : start + _ROWS] = np.argpartition(G, width, axis=1)[:, :width]
        else:
            near[start : start + _ROWS] = np.arange(width)
    return near


def products(
    P: Float32Array,
    visits: Any,
    centers: Float32Array,
    points_of: Callable[[int], Float32Array],
) -> Iterator[tuple[int, Int32Array, Float32Array]]:
    """Yield squared distances of rows of P to the points of the cells they visit.

    Rows that visit one cell do so together: the cell, the rows and their distances
    come from one matrix product of ``[-2 q, 1, |q|^2]`` and ``[c, |c|^2, 1]``, as seen
    from the centre of the cell. Infinite columns fill the last block.
    """
    columns = P.shape[1] + 2
    A = np.empty((_VISITORS, columns), dtype=np.float32)
    values = np.empty(0, dtype=np.float32)
    grouped, stops = group_by_cell(visits, len(centers))
    for cell in np.flatnonzero(np.diff(stops)).tolist():
        points = points_of(cell)
        B = np.empty((len(points), columns), dtype=np.float32)
        load_points(points, centers[cell], B)
        width = -(-len(B) // BLOCK) * BLOCK
        if len(values) < _VISITORS * width:
            values = np.empty(_VISITORS * width, dtype=np.float32)
        for begin in range(stops[cell], stops[cell + 1], _VISITORS):
            rows = grouped[begin : min(begin + _VISITORS, stops[cell + 1])]
            load_visitors(P, rows, centers[cell], A)
            G = values[: len(rows) * width].reshape(len(rows), width)
            np.matmul(A[: len(rows)], B.T, out=G[:, : len(B)])
            G[:, len(B) :] = np.inf
            yield cell, rows, G


def empty_lists(n: int, kept: int) -> tuple[Float32Array, Int32Array]:
    """Return lists of infinite distances and of no points, (n, kept) each."""
    best = np.full((n, kept), np.inf, dtype=np.float32)
    return best, np.full((n, kept), -1, dtype=np.int32)


def choose_cells(
    P: Float32Array,
    home: NDArray[np.intp],
    anchors: Float32Array,
    centers: Float32Array,
    near: Int32Array,
    count: int,
) -> Int32Array:
    """Return each row's nearest centres of those near its home anchor, (n, count)."""
    best, chosen = empty_lists(len(P), count)
    nobody = np.full(len(P), -1, dtype=np.int32)
    if count:
        around = products(P, home[:, None], anchors, lambda a: centers[near[a]])
        for _, rows, G in around:
            merge(G, rows, 0, nobody, best, chosen)
    return np.take_along_axis(near[home], chosen, axis=1)


def home_cells(
    P: Float32Array, regions: Float32Array, centers: Float32Array, near: Int32Array
) -> NDArray[np.intp]:
    """Return the nearest cell of every row, among those near its region."""
    region = nearest_center(P, regions)
    home = np.empty(len(P), dtype=np.intp)
    around = products(P, region[:, None], regions, lambda a: centers[near[a]])
    for a, rows, G in around:
        home[rows] = near[a][G.argmin(axis=1)]
    return home


def ranks_by_coordinates(
    P: Float32Array, queries: Int32Array, found: Int32Array
) -> NDArray[np.intp]:
    """Tell how many rows of P seem nearer to each query than those found, (s, k)."""
    half = 0.5 * np.einsum("ij,ij->i", P, P)
    rank = np.empty(found.shape, dtype=np.intp)
    for start in range(0, len(queries), 64):
        G = half - P[queries[start : start + 64]] @ P.T
        for t, g in enumerate(G, start):
            rank[t] = [np.count_nonzero(g < g[place]) for place in found[t]]
    return rank
