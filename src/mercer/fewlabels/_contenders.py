"""Leads of the classes that contend for a point.

What a class needs to know is the lead at which its last point is let in. It lies near
zero once the offsets are nearly right, and most points are far from any border: they
are counted, and only the leads of the others are listed.
"""

import numpy as np
from numba import njit

from mercer._typing import FloatArray, IntArray


def leads_at(
    columns: FloatArray, b: FloatArray, places: IntArray, margin: float
) -> FloatArray:
    """Return order statistics of the leads of every class over the best other one.

    Parameters
    ----------
    columns : ndarray of shape (C, n)
        Scores of classes for points, C > 1.
    b : ndarray of shape (C,)
        Offsets of the classes.
    places : int ndarray of shape (C, 2)
        Two positions, equal or adjacent, in the ascending order of the n leads.
    margin : float
        Leads larger than this in size are listed only where fewer do not suffice; it
        changes the cost and not the result.

    Returns
    -------
    ndarray of shape (C, 2)
        Leads at these places.

    Examples
    --------
    >>> scores = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    >>> leads_at(scores.T, np.zeros(2), np.array([[1, 2], [0, 0]]), 1.0)
    array([[ 1.,  2.],
           [-3., -3.]])
    """
    columns = np.ascontiguousarray(columns)
    places = np.asarray(places, np.int64)
    while True:
        above, starts, leads = _list_leads(columns, b, margin)
        found: FloatArray = _select(above, starts, leads, places, columns.shape[1])
        if not np.isnan(found).any():
            return found
        margin *= 4


# Points are looked at in blocks that stay in the cache. No score is NaN, so that the
# loops over a block become vector instructions.
_BLOCK = 1024
_FAST = {"nnan", "nsz", "reassoc"}


@njit(cache=True, fastmath=_FAST)
def _best_two(columns, b, start, top, second):  # type: ignore[no-untyped-def]
    """Fill in the two largest of columns + b, for a block of points."""
    m = len(top)
    for j in range(m):
        top[j], second[j] = -np.inf, -np.inf
    for c in range(len(columns)):
        scores, offset = columns[c, start : start + m], b[c]
        for j in range(m):
            v = scores[j] + offset
            second[j] = max(second[j], min(top[j], v))
            top[j] = max(top[j], v)


@njit(cache=True, fastmath=_FAST)
def _list_leads(columns, b, margin):  # type: ignore[no-untyped-def]
    """Count leads above the margin, and list those within: of c from starts[c] on."""
    C, n = columns.shape
    above = np.zeros(C, np.int64)
    contested, n_contested = np.empty(n, np.int64), 0
    tops, seconds = np.empty(n), np.empty(n)
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        top, second = tops[start : start + m], seconds[start : start + m]
        _best_two(columns, b, start, top, second)
        for c in range(C):
            scores, offset, count = columns[c, start : start + m], b[c], 0
            for j in range(m):
                ahead = scores[j] + offset - second[j] > margin
                count += 1 if ahead else 0
            above[c] += count
        for j in range(m):
            if top[j] - second[j] <= margin:
                contested[n_contested] = start + j
                n_contested += 1
    contested = contested[:n_contested]
    starts = np.zeros(C + 1, np.int64)
    for c in range(C):
        for i in contested:
            if columns[c, i] + b[c] >= tops[i] - margin:
                starts[c + 1] += 1
    starts = np.cumsum(starts)
    leads = np.empty(starts[C])
    for c in range(C):
        filled = starts[c]
        for i in contested:
            v = columns[c, i] + b[c]
            if v >= tops[i] - margin:
                leads[filled] = v - (seconds[i] if v == tops[i] else tops[i])
                filled += 1
    return above, starts, leads


@njit(cache=True)
def _select(above, starts, leads, places, n):  # type: ignore[no-untyped-def]
    """Return the leads at the places, NaN where they are not listed."""
    C = len(places)
    found = np.full((C, 2), np.nan)
    for c in range(C):
        mine = leads[starts[c] : starts[c + 1]]
        low, high = places[c] - (n - above[c] - len(mine))
        if low < 0 or high >= len(mine):
            continue
        ordered = np.partition(mine, low)
        found[c, 0] = ordered[low]
        found[c, 1] = ordered[low] if high == low else ordered[low + 1 :].min()
    return found


@njit(cache=True, fastmath=_FAST)
def decided(columns, b, level, undecided):  # type: ignore[no-untyped-def]
    """Return the class with the largest columns + b, undecided within the level."""
    C, n = columns.shape
    decision = np.full(n, undecided)
    tops, seconds = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        top, second = tops[:m], seconds[:m]
        _best_two(columns, b, start, top, second)
        chosen = decision[start : start + m]
        for c in range(C):
            scores, offset = columns[c, start : start + m], b[c]
            for j in range(m):
                if scores[j] + offset - second[j] > level:
                    chosen[j] = c
    return decision
