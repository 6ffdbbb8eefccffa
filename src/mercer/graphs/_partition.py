"""Principal coordinates and the k-means partition behind the approximate search."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from mercer.graphs._exact import DensePoints, Float32Array, Int32Array

_MAX_AXES = 96
_AXES = 64
_ROWS = 1024


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
    rows = rng.choice(len(P), min(len(P), 24 * m), replace=False)
    sample = P[rows]
    centers = sample[:m].copy()
    for _ in range(5):
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


def cells_around(centers: Float32Array, at_most: int) -> Int32Array:
    """Return the nearest cells of each cell, itself first."""
    m = len(centers)
    width = min(m, at_most)
    near = np.empty((m, width), dtype=np.int32)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    for start in range(0, m, _ROWS):
        G = half - centers[start : start + _ROWS] @ centers.T
        own = np.arange(len(G))
        G[own, start + own] = -np.inf
        near[start : start + _ROWS] = np.argsort(G, axis=1, kind="stable")[:, :width]
    return near
