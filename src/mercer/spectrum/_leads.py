"""Leads of the classes that contend for a point.

What a class needs to know is the lead at which its last point is let in. It lies near
zero once the offsets are nearly right, and most points are far from any border: they
are counted, and only the leads of the others are listed.
"""

from typing import Any

import numpy as np
from numba import njit

from mercer._base.typing import FloatArray, IntArray


class ArrayLeads:
    """Leads of the classes over each other, for offsets that change.

    Offsets change little by little. Points whose lead they cannot turn are counted
    once, and put aside until the offsets have come too far.
    """

    def __init__(self, scores: FloatArray) -> None:
        C = scores.shape[1]
        self._all = np.ascontiguousarray(scores.T, dtype=np.float64)
        self._near: Any = (self._all, np.zeros(C, np.int64), np.zeros(C), np.inf)
        self._margins = np.ones(C)

    def at(self, b: FloatArray, places: IntArray) -> FloatArray:
        """Return the leads at given places in ascending order, (C, 2)."""
        last: FloatArray
        last, self._near, self._margins = _followed(
            self._all, self._near, self._margins, b, places
        )
        return last

    def matched(
        self, b: FloatArray, places: IntArray, part: FloatArray, max_iter: int
    ) -> FloatArray:
        """Return offsets at which the leads between two places are zero, (C,)."""
        found: FloatArray
        found, self._near, self._margins = _matched(
            self._all, self._near, self._margins, b, places, part, max_iter
        )
        return found


# Points are looked at in blocks that stay in the cache. No score is NaN, so that the
# loops over a block become vector instructions.
_BLOCK = 1024
_FAST = {"nnan", "nsz", "reassoc"}


@njit(cache=True, fastmath=_FAST)
def _best_two(columns, b, start, top, second, first):  # type: ignore[no-untyped-def]
    """Fill in the two largest of columns + b and the class of the largest, by block."""
    m = len(top)
    for j in range(m):
        top[j], second[j], first[j] = -np.inf, -np.inf, 0
    for c in range(len(columns)):
        scores, offset = columns[c, start : start + m], b[c]
        for j in range(m):
            v = scores[j] + offset
            second[j] = max(second[j], min(top[j], v))
            first[j] = c if v > top[j] else first[j]
            top[j] = max(top[j], v)


@njit(cache=True, fastmath=_FAST)
def _list_leads(columns, b, margins):  # type: ignore[no-untyped-def]
    """Count leads above the margin, and list those within: of c from starts[c] on."""
    C, n = columns.shape
    widest = margins.max()
    above = np.zeros(C, np.int64)
    contested, n_contested = np.empty(n, np.int64), 0
    tops, seconds, firsts = np.empty(n), np.empty(n), np.empty(_BLOCK, np.int64)
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        top, second = tops[start : start + m], seconds[start : start + m]
        _best_two(columns, b, start, top, second, firsts)
        for j in range(m):
            lead, first = top[j] - second[j], firsts[j]
            above[first] += lead > margins[first]
            contested[n_contested] = start + j
            n_contested += lead <= widest
    contested = contested[:n_contested]
    starts, leads = np.zeros(C + 1, np.int64), np.empty(C * n_contested + 1)
    filled = 0
    for c in range(C):
        for i in contested:
            v = columns[c, i] + b[c]
            lead = v - (seconds[i] if v == tops[i] else tops[i])
            leads[filled] = lead
            filled += abs(lead) <= margins[c]
        starts[c + 1] = filled
    return above, starts, leads


@njit(cache=True, fastmath=_FAST)
def _put_aside(columns, b, width):  # type: ignore[no-untyped-def]
    """Return the scores of the points that are near a border, and count the others."""
    C, n = columns.shape
    tops, seconds, firsts = (
        np.empty(_BLOCK),
        np.empty(_BLOCK),
        np.empty(_BLOCK, np.int64),
    )
    near, m = np.empty(n, np.int64), 0
    ahead = np.zeros(C, np.int64)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        _best_two(columns, b, start, tops[:size], seconds[:size], firsts)
        for j in range(size):
            is_near = tops[j] - seconds[j] <= width
            ahead[firsts[j]] += not is_near
            near[m] = start + j
            m += is_near
    kept, behind = np.empty((C, m)), np.empty(C, np.int64)
    for c in range(C):
        behind[c] = n - m - ahead[c]
        for k in range(m):
            kept[c, k] = columns[c, near[k]]
    return kept, behind


@njit(cache=True)
def _order_around(values, k):  # type: ignore[no-untyped-def]
    """Move the k-th smallest value to place k, smaller ones before, larger ones after.

    Hoare's selection. That of NumPy takes seconds to compile.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break


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
        _order_around(mine, low)
        found[c, 0] = mine[low]
        found[c, 1] = mine[low] if high == low else mine[low + 1 :].min()
    return found


@njit(cache=True)
def leads_at(columns, b, places, margins):  # type: ignore[no-untyped-def]
    """Return order statistics of the leads of every class over the best other one.

    Parameters
    ----------
    columns : ndarray of shape (C, n)
        Scores of classes for points, C > 1.
    b : ndarray of shape (C,)
        Offsets of the classes.
    places : int ndarray of shape (C, 2)
        Two positions, equal or adjacent, in the ascending order of the n leads.
    margins : ndarray of shape (C,)
        Leads larger than this in size are listed only where fewer do not suffice; it
        changes the cost and not the result.

    Returns
    -------
    ndarray of shape (C, 2)
        Leads at these places.

    Examples
    --------
    >>> scores = np.array([[3.0, 2.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0]])
    >>> leads_at(scores, np.zeros(2), np.array([[1, 2], [0, 0]]), np.ones(2))
    array([[ 1.,  2.],
           [-3., -3.]])
    """
    margins, is_missing = margins.copy(), True
    while is_missing:
        above, starts, leads = _list_leads(columns, b, margins)
        found = _select(above, starts, leads, places, columns.shape[1])
        is_missing = False
        for c in range(len(found)):
            if np.isnan(found[c, 0]):
                margins[c] *= 4
                is_missing = True
    return found


@njit(cache=True)
def _margins(last):  # type: ignore[no-untyped-def]
    """Return how large the leads are, and margins for the next ones.

    Leads shrink, and those of a class follow the steps of the others.
    """
    C = len(last)
    sizes, largest, total = np.empty(C), 1e-9, 0.0
    for c in range(C):
        sizes[c] = max(abs(last[c, 0]), abs(last[c, 1]))
        largest, total = max(largest, sizes[c]), total + sizes[c]
    return largest, np.maximum(2 * sizes, total / C + 1e-9)


# Offsets move by about as much as the leads that are looked for.
_REACH = 4


@njit(cache=True)
def _followed(every, near, margins, b, places):  # type: ignore[no-untyped-def]
    """Return the leads at the places, and which points and margins served.

    `near` are the scores of the points that are near a border, the number of points
    put aside that another class has, (C,), the offsets at that time, and the width of
    the border: all others have larger leads.
    """
    C = len(every)
    columns, behind, old, width = near
    for c in range(C):
        first, last = places[c, 0] - behind[c], places[c, 1] - behind[c]
        if first < 0 or last >= columns.shape[1]:  # that point is not among them
            columns, behind, width = every, np.zeros(C, np.int64), np.inf
            break
    while True:
        inside = places - behind.reshape((C, 1))
        found = leads_at(columns, b, inside, margins)
        size, margins = _margins(found)
        reach = width - 2 * np.abs(b - old).max()
        if size <= reach:
            break
        columns, behind, width = every, np.zeros(C, np.int64), np.inf
    if _REACH * size < reach / 2:
        width, old = _REACH * size, b
        columns, more = _put_aside(columns, b, width)
        behind = behind + more
    return found, (columns, behind, old, width), margins


@njit(cache=True)
def _matched(every, near, margins, b, places, part, max_iter):  # type: ignore[no-untyped-def]
    """Return offsets that make the leads zero, and what `_followed` returns."""
    most = min(1 - 1 / len(b), 0.75)
    for _ in range(max_iter):
        last, near, margins = _followed(every, near, margins, b, places)
        step = -(1 - part) * last[:, 0] - part * last[:, 1]
        step = most * (step - step.mean())
        b = b + step
        if np.abs(step).max() <= 1e-6 * (1 + np.abs(b).max()):
            break
    return b, near, margins


@njit(cache=True, fastmath=_FAST)
def decided(columns, b, level, undecided):  # type: ignore[no-untyped-def]
    """Return the class with the largest columns + b, undecided within the level."""
    n = columns.shape[1]
    decision = np.full(n, undecided)
    tops, seconds, firsts = (
        np.empty(_BLOCK),
        np.empty(_BLOCK),
        np.empty(_BLOCK, np.int64),
    )
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        _best_two(columns, b, start, tops[:m], seconds[:m], firsts)
        for j in range(m):
            if tops[j] - seconds[j] > level:
                decision[start + j] = firsts[j]
    return decision
