"""The columns of a table as trees ask about them."""

from collections.abc import Mapping

import numpy as np

from mercer._base.typing import FloatArray

# Directions of a text or of names that trees see: among thirty of them a column of
# numbers would hardly be drawn.
_DIRECTIONS = 3


def asked_columns(
    Z: FloatArray,
    places: Mapping[str, tuple[int, int]],
    kinds: Mapping[str, str],
    vectors: Mapping[str, int],
    below: FloatArray,
) -> tuple[FloatArray, dict[str, slice]]:
    """Return the columns that trees ask about, and which belong to which column.

    Numbers as they are, and parts of dates; categories as codes, in their order; the
    first directions of texts and names. Empty cells lie below all others, so that one
    question tells them apart. Vectors are left out: one of their directions says
    little.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Unscaled coordinates, NaN where cells are empty.
    places : mapping of names to (start, stop)
        Coordinates of each column.
    kinds : mapping of names to kinds
        What skrub took columns for; the others are numbers.
    vectors : mapping
        Columns of vectors.
    below : ndarray of shape (d,)
        What empty cells become.

    Examples
    --------
    >>> Z = np.array([[5.0, 1.0, 0.0, 0.0], [np.nan, 0.0, 0.0, 1.0]])
    >>> places = {"size": (0, 1), "colour": (1, 4)}
    >>> kinds, below = {"colour": "low_cardinality"}, np.full(4, 2.0)
    >>> asked_columns(Z, places, kinds, {}, below)[0]
    array([[5., 1.],
           [2., 3.]])
    """
    parts, found, start = [], {}, 0
    for name, (first, last) in places.items():
        if name in vectors:
            continue
        kind, block = kinds.get(name, "number"), Z[:, first:last]
        if kind == "low_cardinality":
            block = block @ np.arange(1, last - first + 1, dtype=Z.dtype)[:, None]
        elif kind not in ("number", "numeric", "datetime"):
            block = block[:, :_DIRECTIONS]
        width = block.shape[1]
        parts.append(np.where(np.isnan(block), below[first : first + width], block))
        found[name] = slice(start, start + width)
        start += width
    return np.hstack([np.empty((len(Z), 0), Z.dtype), *parts]), found


def below_all(Z: FloatArray) -> FloatArray:
    """Return numbers below those of each column, as far as they reach, (d,).

    Examples
    --------
    >>> below_all(np.array([[1.0, np.nan], [4.0, 2.0]]))
    array([-2.,  1.])
    """
    low = np.where(np.isnan(Z), np.inf, Z).min(axis=0)
    high = np.where(np.isnan(Z), -np.inf, Z).max(axis=0)
    some = low <= high
    low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
    return np.asarray(low - np.where(high > low, high - low, 1.0)).astype(Z.dtype)
