"""Leads of the classes that contend for a point.

What a class needs to know is the lead at which its last point is let in. It lies near
zero once the offsets are nearly right, and most points are far from any border: they
are counted, and only the leads of the others are listed.
"""

from dataclasses import dataclass
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
        self._all = _Near.of(np.ascontiguousarray(scores.T))
        self._near, self._margins = self._all, np.ones(scores.shape[1])

    def at(self, b: FloatArray, places: IntArray) -> FloatArray:
        """Return the leads at given places in ascending order, (C, 2)."""
        near = self._near if self._near.has(places) else self._all
        while True:
            last = near.leads_at(b, places, self._margins)
            margins = np.empty(len(b))
            size, reach = _fill_margins(last, margins), near.reach(b)
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
            step, is_still = stepped(b, self.at(b, places), part)
            b = b + step
            if is_still:
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
        lead, firsts = _best(self.columns, b)
        near = np.flatnonzero(lead <= width)
        ahead = np.bincount(firsts[lead > width], minlength=len(b))
        behind = self.behind + (len(lead) - len(near) - ahead)
        return _Near(self.columns.take(near, axis=1), behind, b, width)

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


def stepped(b: Any, last: Any, part: Any) -> tuple[Any, Any]:
    """Return a step of offsets of classes towards right borders, and if it is small.

    Parameters
    ----------
    b : array or tensor of shape (C,)
        Offsets.
    last : array or tensor of shape (C, 2)
        Leads of two points of each class at these offsets.
    part : array or tensor of shape (C,)
        Where between them the border should be.

    Returns
    -------
    step : array or tensor of shape (C,)
    is_still : bool
        Whether the step is small next to the offsets after it.
    """
    C = len(part)
    step = -(1 - part) * last[:, 0] - part * last[:, 1]
    step = min(1 - 1 / C, 0.75) * (step - step.mean())
    return step, abs(step).max() <= 1e-6 * (1 + abs(b + step).max())


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
    C, n = columns.shape
    numbers, counts = np.empty((2, n)), np.empty((2, n), np.int64)
    leads, found = np.empty(C * n + 1), np.empty((C, 2))  # most of it is never touched
    above, starts = np.empty(C, np.int64), np.zeros(C + 1, np.int64)
    while True:
        _list_leads(columns, b, margins, numbers, counts, above, starts, leads)
        if _select(above, starts, leads, places, n, found):
            return found
        margins = np.where(np.isnan(found[:, 0]), 4 * margins, margins)


def decided(
    columns: FloatArray, b: FloatArray, level: float, undecided: int
) -> IntArray:
    """Return the class with the largest columns + b, undecided within the level."""
    lead, firsts = _best(columns, b)
    return np.where(lead > level, firsts, undecided)


def _best(columns: FloatArray, b: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the lead of the best class of each point, and that class, (n,) each."""
    n = columns.shape[1]
    tops, seconds, firsts = np.empty(n), np.empty(n), np.empty(n, np.int64)
    _fill_best(columns, b, tops, seconds, firsts)
    tops -= seconds
    return tops, firsts


# Compiled functions take the arrays that they fill in: those that make arrays, or cut
# pieces out of them, take longer to compile. Points are looked at in blocks that stay
# in the cache. No score is NaN, so that the loops over a block become vector
# instructions.
_BLOCK = 1024
_FAST = {"nnan", "nsz", "reassoc"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def _fill_best(columns, b, tops, seconds, firsts):  # type: ignore[no-untyped-def]
    """Write the two largest columns + b and the class of the largest."""
    for start in range(0, columns.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        top, second, first = tops[block], seconds[block], firsts[block]
        m = len(top)
        for j in range(m):
            top[j], second[j], first[j] = -np.inf, -np.inf, 0
        for c in range(len(columns)):
            scores, offset = columns[c, block], b[c]
            for j in range(m):
                v = scores[j] + offset
                second[j] = max(second[j], min(top[j], v))
                first[j] = c if v > top[j] else first[j]
                top[j] = max(top[j], v)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _list_leads(  # type: ignore[no-untyped-def]
    columns, b, margins, numbers, counts, above, starts, leads
):
    """Count leads above the margin, and list those within: of c from starts[c] on."""
    C, n = columns.shape
    tops, seconds, firsts, contested = numbers[0], numbers[1], counts[0], counts[1]
    _fill_best(columns, b, tops, seconds, firsts)
    widest, n_contested, filled = 0.0, 0, 0
    for c in range(C):
        above[c], widest = 0, max(widest, margins[c])
    for j in range(n):
        lead = tops[j] - seconds[j]
        above[firsts[j]] += lead > margins[firsts[j]]
        contested[n_contested] = j
        n_contested += lead <= widest
    for c in range(C):
        for k in range(n_contested):
            i = contested[k]
            v = columns[c, i] + b[c]
            lead = v - (seconds[i] if v == tops[i] else tops[i])
            leads[filled] = lead
            filled += abs(lead) <= margins[c]
        starts[c + 1] = filled


@njit(cache=True, nogil=True)
def _order_around(values, low, high, k):  # type: ignore[no-untyped-def]
    """Move the smallest value but k to place k, from `low` to `high`.

    Smaller ones come before it, larger ones after: Hoare's selection. That of NumPy
    takes seconds to compile.
    """
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


@njit(cache=True, nogil=True)
def _select(above, starts, leads, places, n, found):  # type: ignore[no-untyped-def]
    """Write the leads at the places, NaN where not listed; tell if all of them are."""
    is_complete = True
    for c in range(len(places)):
        first, last = starts[c], starts[c + 1]
        behind = n - above[c] - (last - first)
        low, high = first + places[c, 0] - behind, first + places[c, 1] - behind
        if low < first or high >= last:
            found[c, 0], is_complete = np.nan, False
            continue
        _order_around(leads, first, last - 1, low)
        found[c, 0] = found[c, 1] = leads[low]
        if high > low:
            found[c, 1] = leads[high]
            for k in range(high + 1, last):
                found[c, 1] = min(found[c, 1], leads[k])
    return is_complete


@njit(cache=True, nogil=True)
def _fill_margins(last, margins):  # type: ignore[no-untyped-def]
    """Write margins for the next leads, and return how large these are.

    Leads shrink, and those of a class follow the steps of the others.
    """
    C, largest, total = len(last), 1e-9, 0.0
    for c in range(C):
        margins[c] = max(abs(last[c, 0]), abs(last[c, 1]))
        largest, total = max(largest, margins[c]), total + margins[c]
    for c in range(C):
        margins[c] = max(2 * margins[c], total / C + 1e-9)
    return largest
