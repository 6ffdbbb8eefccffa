"""The columns of a table as trees ask about them."""

from collections.abc import Mapping

import numpy as np
from sklearn.decomposition import PCA

from mercer._base.rows import thinned
from mercer._base.typing import FloatArray

# Directions of a text or of names that trees see: among thirty of them a column of
# numbers would hardly be drawn.
_DIRECTIONS = 3
# Principal directions of an embedding that trees see. On four sets of texts without a
# part in the choice, 2 per class to 100 labels: 3.5 points more than if they see words
# alone, and 0.1 more than without trees (1.0 on the four choosing sets), which other
# columns need: up to 7 points. 5 were up to 1.5 worse than 10, and 20 within 0.6.
_AXES = 10
# Limit of work: rows by which these directions are found.
_TURNED_BY = 20_000


def asked_columns(
    Z: FloatArray,
    places: Mapping[str, tuple[int, int]],
    kinds: Mapping[str, str],
    axes: Mapping[str, FloatArray],
    below: FloatArray,
) -> tuple[FloatArray, dict[str, slice]]:
    """Return the columns that trees ask about, and which belong to which column.

    Numbers as they are, and parts of dates; categories as codes, in their order; the
    first directions of texts and names. Empty cells lie below all others, so that one
    question tells them apart. A single coordinate of a vector says little: of vectors
    trees see some directions.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Unscaled coordinates, NaN where cells are empty.
    places : mapping of names to (start, stop)
        Coordinates of each column.
    kinds : mapping of names to kinds
        What skrub took columns for; the others are numbers.
    axes : mapping of names to ndarray of shape (d, k)
        Columns of vectors, and the directions that trees see of each.
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
        kind, block = kinds.get(name, "number"), Z[:, first:last]
        if name in axes:
            block = block @ axes[name]
        elif kind == "low_cardinality":
            block = block @ np.arange(1, last - first + 1, dtype=Z.dtype)[:, None]
        elif kind not in ("number", "numeric", "datetime"):
            block = block[:, :_DIRECTIONS]
        width = block.shape[1]
        parts.append(np.where(np.isnan(block), below[first : first + width], block))
        found[name] = slice(start, start + width)
        start += width
    return np.hstack([np.empty((len(Z), 0), Z.dtype), *parts]), found


def axes_of(block: FloatArray, random_state: int) -> FloatArray:
    """Return the directions in which vectors vary most, (d, k).

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 9.0, 0.1]
    >>> abs(axes_of(X, 0)[:, 0]).round(1).tolist(), axes_of(X, 0).shape
    ([0.0, 1.0, 0.0], (3, 3))
    """
    some = thinned(block, _TURNED_BY)
    found = PCA(min(_AXES, *some.shape), random_state=random_state).fit(some)
    return np.asarray(found.components_.T)


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
