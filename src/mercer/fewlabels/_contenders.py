"""Leads of classes that contend for a point, where there are many classes.

For most points all but a few of many classes are far behind the best. What a class
needs to know is the lead at which its last point is let in, and that is found among
the leads that are not far below zero.
"""

import numpy as np
from numba import njit

from mercer._typing import FloatArray, IntArray


def leads_at(
    scores: FloatArray, b: FloatArray, places: IntArray, margin: float
) -> FloatArray:
    """Return order statistics of the leads of every class over the best other one.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Scores of points against classes.
    b : ndarray of shape (C,)
        Offsets of the classes.
    places : int ndarray of shape (C, 2)
        Two positions, equal or adjacent, in the ascending order of the n leads.
    margin : float
        Leads below minus this are listed only where fewer do not suffice; it changes
        the cost and not the result.

    Returns
    -------
    ndarray of shape (C, 2)
        Leads at these places.

    Examples
    --------
    >>> scores = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    >>> leads_at(scores, np.zeros(2), np.array([[1, 2], [0, 0]]), 1.0)
    array([[ 1.,  2.],
           [-3., -3.]])
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    while True:
        starts, leads = _list_leads(scores, b, margin)
        found: FloatArray = _select(
            starts, leads, np.asarray(places, np.int64), len(scores)
        )
        if not np.isnan(found).any():
            return found
        margin *= 4


# The scores may be compared in any order, and none is NaN.
@njit(cache=True, fastmath={"reassoc", "nnan", "nsz"})
def _list_leads(scores, b, margin):  # type: ignore[no-untyped-def]
    """Return the leads above -margin, class by class: those of c from starts[c] on."""
    n, C = scores.shape
    best, second = np.empty(n), np.empty(n)
    starts = np.zeros(C + 1, np.int64)
    for i in range(n):
        top = -np.inf
        for c in range(C):
            top = max(top, scores[i, c] + b[c])
        next_best, n_best = -np.inf, 0
        for c in range(C):
            v = scores[i, c] + b[c]
            if v >= top - margin:
                starts[c + 1] += 1
            if v == top:
                n_best += 1
            else:
                next_best = max(next_best, v)
        best[i], second[i] = top, next_best if n_best == 1 else top
    starts = np.cumsum(starts)
    leads, filled = np.empty(starts[C]), starts.copy()
    for i in range(n):
        for c in range(C):
            v = scores[i, c] + b[c]
            if v >= best[i] - margin:
                leads[filled[c]] = v - (second[i] if v == best[i] else best[i])
                filled[c] += 1
    return starts, leads


@njit(cache=True)
def _select(starts, leads, places, n):  # type: ignore[no-untyped-def]
    """Return the leads at the places, NaN where too few are listed."""
    C = len(places)
    found = np.full((C, 2), np.nan)
    for c in range(C):
        mine = leads[starts[c] : starts[c + 1]]
        low, high = places[c] - (n - len(mine))
        if low < 0:
            continue
        ordered = np.partition(mine, low)
        found[c, 0] = ordered[low]
        found[c, 1] = ordered[low] if high == low else ordered[low + 1 :].min()
    return found
