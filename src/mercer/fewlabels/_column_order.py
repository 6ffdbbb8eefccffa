"""An order of columns, and a side of each, that follow from what they hold.

Trees draw columns by their place and thresholds from one of their ends. Here place and
end depend on the values alone, so that columns in another order, or times -1, or in
other units, get the same trees.
"""

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import BoolArray, FloatArray, IntArray

Words = NDArray[np.uint64]
_STEPS = 2.0**20  # parts of half a range: units in which rounding makes no difference
_ROUNDS = 3  # in which points, classes and columns are distinguished by each other
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def order_columns(
    X: FloatArray, Y: FloatArray, others: FloatArray
) -> tuple[IntArray, BoolArray]:
    """Return the columns in an order of their own, and which are turned around.

    A column is known by its values at the labelled points, as distances from the middle
    of their range, by which of these have the same class, and, where two columns are
    equal in this, by its values at other points.

    Parameters
    ----------
    X : ndarray of shape (l, d)
        Labelled points.
    Y : ndarray of shape (l, C)
        Weights of the classes at each of them.
    others : ndarray of shape (m, d)
        Points without a class.

    Returns
    -------
    order : int ndarray of shape (d,)
        Columns that vary first.
    is_turned : bool ndarray of shape (d,)

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 5.0], [4.0, 7.0]])
    >>> first, turned = order_columns(X, np.eye(3), X)
    >>> again, turned_too = order_columns(-X[:, ::-1], np.eye(3), -X[:, ::-1])
    >>> bool((first == 1 - again).all() and (turned[::-1] != turned_too).all())
    True
    """
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    varies = half > 0

    def distances(points: FloatArray) -> tuple[IntArray, IntArray]:
        """Return how far from the middle values are, and on which side."""
        steps = np.rint((points - middle) / np.where(varies, half, np.inf) * _STEPS)
        steps = np.clip(steps, -1e15, 1e15).astype(np.int64)
        return np.abs(steps), np.sign(steps)

    far, side = distances(X)
    weights = np.rint(Y * _STEPS).astype(np.uint64)
    shares = np.rint(Y / Y.sum(axis=1, keepdims=True) * _STEPS).astype(np.uint64)
    points, counts = np.zeros(len(X), np.uint64), weights.sum(axis=1)[:, None]
    for _ in range(_ROUNDS):
        classes = _mixed((weights * _mixed(points)[:, None]).sum(axis=0))
        points = _mixed(points + (shares * classes).sum(axis=1))
        values = counts * _mixed(points[:, None] + _mixed(far.astype(np.uint64)))
        above, below = _by_side(values, side)
        middles = np.where(side == 0, values, np.uint64(0)).sum(axis=0)
        keys = _keys(above, below, middles)
        turned = np.sign(below.astype(np.float64) - above.astype(np.float64))
        places = (far * side * -turned.astype(np.int64)).astype(np.uint64)
        points = points + _mixed(keys + _mixed(places)).sum(axis=1)
    if len(np.unique(keys[varies])) < varies.sum() or not turned[varies].all():
        far, side = distances(others)
        more, less = _by_side(_mixed(far.astype(np.uint64)), side)
        keys = _mixed(keys) + _keys(more, less, np.zeros_like(more))
        level = turned == 0
        turned = np.where(level, np.where(more < less, 1, -1), turned)
    order = np.lexsort((keys, ~varies))
    return order, turned > 0


def _by_side(values: Words, side: IntArray) -> tuple[Words, Words]:
    """Return the sums of a column's values above and below its middle."""
    none = np.uint64(0)
    above = np.where(side > 0, values, none).sum(axis=0)
    return above, np.where(side < 0, values, none).sum(axis=0)


def _keys(above: Words, below: Words, middles: Words) -> Words:
    """Return numbers that look random, the same for both sides in either order."""
    keys: Words = _mixed(_mixed(above) + _mixed(below)) + _mixed(middles)
    return _mixed(keys)


def _mixed(words: Words) -> Words:
    """Return 64 bits that look random and are a function of others (splitmix64)."""
    z = words + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    mixed: Words = z ^ (z >> np.uint64(31))
    return mixed
