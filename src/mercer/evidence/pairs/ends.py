"""Checks of row numbers that come as pairs."""

import numpy as np

from mercer._base.typing import ArrayLike, IntArray


def as_ends(ends: ArrayLike, name: str) -> IntArray:
    """Read `ends` as whole numbers of shape (n_pairs, 2)."""
    array = np.asarray(ends)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2:
        msg = f"{name} must have shape (n_pairs, 2), got {array.shape}."
        raise ValueError(msg)
    try:
        whole = array.astype(np.intp)
    except (TypeError, ValueError):  # text
        whole = None
    if whole is None or not np.array_equal(whole, array):
        msg = f"{name} must hold whole row numbers, got dtype {array.dtype}."
        raise ValueError(msg)
    return whole


def check_ends(ends: IntArray, n_points: int) -> None:
    """Raise where a pair leaves the points or links a point to itself."""
    outside = np.flatnonzero(((ends < 0) | (ends >= n_points)).any(axis=1))
    if len(outside):
        p = outside[0]
        msg = (
            f"pairs[{p}] = {tuple(ends[p].tolist())} is outside the {n_points} points "
            f"0 to {n_points - 1}."
        )
        raise ValueError(msg)
    alone = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(alone):
        p = alone[0]
        msg = f"pairs[{p}] = {tuple(ends[p].tolist())} links a point to itself."
        raise ValueError(msg)
