"""Leads of the classes that contend for a point.

What a class needs to know is the lead at which its last point is let in. It lies near
zero once the offsets are nearly right, and most points are far from any border: they
are counted, and only the leads of the others are listed.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from mercer._base.tensors import is_still, step_to
from mercer._base.typing import FloatArray, IntArray


class ArrayLeads:
    """Leads of the classes over each other, for offsets that change.

    Offsets change little by little. Points whose lead they cannot turn are counted
    once, and put aside until the offsets have come too far.
    """

    def __init__(self, scores: FloatArray) -> None:
        self._all = _Near.of(np.ascontiguousarray(scores.T))
        self._near, self._margins = self._all, np.ones(scores.shape[1])

    def at(self, b: FloatArray, places: IntArray) -> FloatArray:
        """Return the leads at given places in ascending order, (C, 2)."""
        near = self._near if self._near.has(places) else self._all
        while True:
            last = near.leads_at(b, places, self._margins)
            (size, margins), reach = _margins(last), near.reach(b)
            if size <= reach:
                break
            near = self._all  # other points may matter
        self._near, self._margins = near, margins
        if _REACH * size < reach / 2:
            self._near = near.narrowed(b, _REACH * size)
        return last

    def matched(
        self, b: FloatArray, places: IntArray, part: FloatArray, max_iter: int
    ) -> FloatArray:
        """Return offsets at which the leads between two places are zero, (C,)."""
        for _ in range(max_iter):
            step = step_to(self.at(b, places), part)
            b = b + step
            if is_still(step, b):
                break
        return b


# Offsets move by about as much as the leads that are looked for.
_REACH = 4


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """The points near a border, at some offsets."""

    columns: FloatArray  # (C, m) their scores
    behind: IntArray  # (C,) points put aside that another class has
    b: FloatArray  # (C,)
    width: float  # of the border: all others have larger leads

    @classmethod
    def of(cls, columns: FloatArray) -> "_Near":
        """Return all points."""
        none = np.zeros(len(columns), np.int64)
        return cls(columns, none, np.zeros(len(columns)), np.inf)

    def narrowed(self, b: FloatArray, width: float) -> "_Near":
        """Return those of these points that are near a narrower border."""
        columns, behind = _put_aside(self.columns, b, width)
        return _Near(columns, self.behind + behind, b, width)

    def has(self, places: IntArray) -> bool:
        """Tell whether the points at these places of all are among these."""
        inside = places - self.behind[:, None]
        return bool(inside.min() >= 0 and inside.max() < self.columns.shape[1])

    def leads_at(
        self, b: FloatArray, places: IntArray, margins: FloatArray
    ) -> FloatArray:
        """Return the leads at these places, if none is larger than `reach`."""
        return leads_at(self.columns, b, places - self.behind[:, None], margins)

    def reach(self, b: FloatArray) -> float:
        """Return what the leads of all points put aside are larger than."""
        return self.width - 2 * float(np.abs(b - self.b).max())


def leads_at(
    columns: FloatArray, b: FloatArray, places: IntArray, margins: FloatArray
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
    margins : ndarray of shape (C,)
        Leads larger than this in size are listed only where fewer do not suffice; it
        changes the cost and not the result.

    Returns
    -------
    ndarray of shape (C, 2)
        Leads at these places.

    Examples
    --------
    >>> scores = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    >>> leads_at(scores.T, np.zeros(2), np.array([[1, 2], [0, 0]]), np.ones(2))
    array([[ 1.,  2.],
           [-3., -3.]])
    """
    columns, places = np.ascontiguousarray(columns), np.asarray(places, np.int64)
    while True:
        above, starts, leads = _list_leads(columns, b, margins)
        found: FloatArray = _select(above, starts, leads, places, columns.shape[1])
        is_missing = np.isnan(found[:, 0])
        if not is_missing.any():
            return found
        margins = np.where(is_missing, 4 * margins, margins)


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
