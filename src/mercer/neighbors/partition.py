"""Principal coordinates and the k-means partition behind the approximate search."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from mercer._base.threads import in_blocks
from mercer.neighbors.exact import DensePoints, Float32Array, Int32Array
from mercer.neighbors.panels import nearest_around
from mercer.neighbors.select import group_rows

_MAX_AXES = 96
_AXES = 64
_ROWS = 1024
_PER_CENTER = 16  # rows of the sample
_CROWDED = 4  # a cell with more than this many times as many is divided
_PER_BLOCK = 16_384  # rows that a thread takes at a time, at least


def principal_axes(
    points: DensePoints, rng: np.random.Generator
) -> Float32Array | None:
    """Return leading principal directions of a sample, (d, r); None if d is small."""
    n, d = points.X.shape
    if d <= _MAX_AXES:
        return None
    rows = np.sort(rng.choice(n, min(n, 8192), replace=False))
    sample = points.augmented(points.X[rows])[:, :-1]
    sample -= sample.mean(axis=0)
    seed = int(rng.integers(2**31))
    _, _, axes = randomized_svd(sample, _AXES, n_iter=2, random_state=seed)
    return np.ascontiguousarray(axes.T, dtype=np.float32)


def coordinates(points: DensePoints, X: Any, axes: Float32Array | None) -> Float32Array:
    """Return the scaled, centred rows of X along the axes."""
    r = X.shape[1] if axes is None else axes.shape[1]
    P = np.empty((len(X), r), dtype=np.float32)
    for start in range(0, len(X), _ROWS):
        part = slice(start, start + _ROWS)
        local = np.multiply(X[part], points.scale, dtype=float) - points.center
        P[part] = local if axes is None else local.astype(np.float32) @ axes
    return P


def nearest_center(P: Float32Array, centers: Float32Array) -> Int32Array:
    """Return the index of the nearest centre of every row."""
    origin = centers.mean(axis=0, keepdims=True)
    every = np.arange(len(centers), dtype=np.int32)[None]

    def of_rows(rows: Float32Array) -> Int32Array:
        order = np.arange(len(rows), dtype=np.int32)
        stops = np.array([0, len(rows)], dtype=np.int64)
        nearest: Int32Array = nearest_around(rows, order, stops, origin, centers, every)
        return nearest

    return _by_blocks(of_rows, P)


def _by_blocks(
    find: Callable[[Float32Array], Int32Array], P: Float32Array
) -> Int32Array:
    """Return a number for each row of P, found by blocks of rows in threads."""
    found = np.empty(len(P), dtype=np.int32)

    def task(rows: slice) -> None:
        found[rows] = find(P[rows])

    in_blocks(task, len(P), _PER_BLOCK)
    return found


def kmeans(P: Float32Array, m: int, rng: np.random.Generator) -> Float32Array:
    """Return m centres, or up to twice as many, by k-means on a sample of the rows.

    Where lengths of rows differ much, a centre near the mean of all is nearest to most
    of them. Crowded cells are divided by centres of their own, which replace theirs.
    """
    rows = rng.choice(len(P), min(len(P), _PER_CENTER * m), replace=False)
    sample = P[rows]
    centers = _lloyd(sample, m)
    labels = nearest_center(sample, centers)
    count = np.bincount(labels, minlength=m)
    is_crowded = count > _CROWDED * _PER_CENTER
    own = [
        _lloyd(sample[labels == c], int(count[c]) // _PER_CENTER)
        for c in np.flatnonzero(is_crowded)
    ]
    return np.concatenate([centers[~is_crowded], *own])


def _lloyd(sample: Float32Array, m: int) -> Float32Array:
    """Return m centres by a few steps from the first rows of a random sample."""
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
    labels: Int32Array, centers: Float32Array, size: int
) -> tuple[Int32Array, Float32Array]:
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
    """Return the nearest centres of each row of Q, nearest first.

    With `others` the rows are the centres, and each is left out for itself.
    """
    width = min(len(centers) - others, at_most)
    near = np.empty((len(Q), width), dtype=np.int32)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    for start in range(0, len(Q), _ROWS):
        G = half - Q[start : start + _ROWS] @ centers.T
        if others:
            own = np.arange(len(G))
            G[own, start + own] = np.inf
        some = np.argpartition(G, width - 1, axis=1)[:, :width]
        sorting = np.argsort(np.take_along_axis(G, some, axis=1), axis=1)
        near[start : start + _ROWS] = np.take_along_axis(some, sorting, axis=1)
    return near


def assign_cells(
    P: Float32Array, regions: Float32Array, centers: Float32Array, near: Int32Array
) -> Int32Array:
    """Return the nearest cell of every row, among those near its region."""
    return _by_blocks(lambda rows: _assigned(rows, regions, centers, near), P)


def _assigned(
    rows: Float32Array, regions: Float32Array, centers: Float32Array, near: Int32Array
) -> Int32Array:
    order, stops = group_rows(nearest_center(rows, regions), len(regions))
    cells: Int32Array = nearest_around(rows, order, stops, regions, centers, near)
    return cells


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
