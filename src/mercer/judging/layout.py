"""The map of the points in report, studio and plot, from the kernel's features."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import svd
from sklearn.manifold import TSNE

from mercer._base.typing import FloatArray, IntArray

LANDMARKS = 2000
_DIRECTIONS, _NEAREST, _BLOCK = 30, 8, 4096
# 500 steps at perplexity 30 take twice as long, and on digits and wine leave no more
# points beside points of their own class.
_STEPS, _PERPLEXITY = 300, 20.0


def place_points(
    features_of: Callable[[IntArray], FloatArray],
    n: int,
    rng: np.random.Generator,
    *,
    landmarks: int = LANDMARKS,
) -> FloatArray:
    """Return coordinates between -1 and 1 such that similar rows are close, (n, 2).

    t-SNE places some rows; every other row goes to the mean place of the nearest of
    them, with weights that fall with the distance. The cost grows linearly with n.

    Parameters
    ----------
    features_of : callable
        Returns the features of rows, (m, r).
    n : int
        Rows.
    rng : Generator
        Draws the rows that t-SNE places.
    landmarks : int, default=2000
        How many those are.
    """
    chosen = np.sort(rng.choice(n, min(n, landmarks), replace=False))
    known = features_of(chosen)
    mean = known.mean(axis=0)
    axes = svd(known - mean, full_matrices=False)[2][:_DIRECTIONS]
    known = (known - mean) @ axes.T
    if known.shape[1] < 2:  # t-SNE starts from two principal directions
        known = np.hstack([known, np.zeros_like(known)])
        axes = np.vstack([axes, np.zeros_like(axes)])
    if len(known) <= 4:
        places = known[:, :2]
    else:
        places = TSNE(
            perplexity=min(_PERPLEXITY, (len(known) - 1) / 3),
            max_iter=_STEPS,
            random_state=int(rng.integers(2**31)),
        ).fit_transform(known.astype(np.float32))
    xy = np.empty((n, 2))
    xy[chosen] = places
    others = np.setdiff1d(np.arange(n), chosen)
    for start in range(0, len(others), _BLOCK):
        rows = others[start : start + _BLOCK]
        xy[rows] = _between((features_of(rows) - mean) @ axes.T, known, places)
    xy -= (xy.max(axis=0) + xy.min(axis=0)) / 2
    return np.asarray(xy / max(float(np.abs(xy).max()), 1e-12))


def _between(points: FloatArray, known: FloatArray, places: FloatArray) -> FloatArray:
    """Return the mean place of the nearest known points."""
    squares = np.einsum("ij,ij->i", known, known) - 2 * points @ known.T
    squares += np.einsum("ij,ij->i", points, points)[:, None]
    k = min(_NEAREST, len(known))
    nearest = np.argpartition(squares, k - 1, axis=1)[:, :k]
    near = np.take_along_axis(squares, nearest, axis=1)
    near = np.maximum(near - near.min(axis=1, keepdims=True), 0)
    weight = np.exp(-4 * near / np.maximum(near.max(axis=1, keepdims=True), 1e-12))
    weight /= weight.sum(axis=1, keepdims=True)
    # Neighbours in the kernel may lie in two places on the map: follow the closest.
    first = nearest[np.arange(len(near)), near.argmin(axis=1)]
    spread = np.linalg.norm(places[nearest] - places[first][:, None], axis=2)
    weight *= spread <= 2 * np.median(spread, axis=1, keepdims=True) + 1e-12
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ijd->id", weight, places[nearest]))
