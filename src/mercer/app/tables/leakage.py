"""Columns that give the labels away: filled in from them, or only where they are.

A column with one value per class, as a copy of the target has, was often filled in from
the labels. It makes hidden labels easy, and says nothing of the other rows. It may also
be a fact that settles the class; then no model is needed. The evidence is counted in
bits: what the labels would cost to write down, which the column has reproduced. Other
columns tell labelled rows from the rest, which no prediction is about.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.rows import thinned
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.app.tables.columns import is_date, numbers_among
from mercer.app.tables.dates import date_format

# Share of labelled and of other rows that a column may tell apart at most; 1: all.
TELLS = 0.95
# A column with one value per class is left out at this many bits, 50 labels of two even
# classes: one that is right in 95 of 100 rows agrees with all of them by chance in one
# table of 13.
LEAVES = 50.0
# It is asked about at this many.
ASKS = 20.0
# Rows of each kind and bins of a first look at many columns, and of a second one.
_GLANCE, _LOOK = (48, 8), (1000, 16)
_COLUMNS_AT_ONCE = 2000
# Most kinds of strings to compare.
_KINDS = 50


def tell_labeled(frame: pd.DataFrame, strings: list[str], known: BoolArray) -> set[str]:
    """Return the columns whose cells tell labelled rows from the others."""
    numbers = numbers_among(frame)
    Z = frame[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    found = [numbers[k] for k in _numbers_that_tell(Z, known)]
    dates = {str(c) for c in frame.select_dtypes(["datetime", "datetimetz"])}
    for name in strings:
        codes, kinds = frame[name].factorize(use_na_sentinel=False)
        # With nearly as many kinds as rows no two rows share one; that says nothing.
        if len(kinds) > min(_KINDS, known.sum() / 2):
            dates |= {name} if is_date(frame[name]) else set()
        elif _distance(codes, known) >= TELLS:
            found.append(name)
    for name in dates:
        Z = _as_days(frame[name])
        found += [name] if len(_numbers_that_tell(Z, known)) else []
    return set(found)


def _numbers_that_tell(Z: FloatArray, known: BoolArray) -> IntArray:
    """Return the columns whose numbers tell labelled rows from the others."""
    rows, n_bins = _some_rows(known, _GLANCE[0]), _GLANCE[1]
    # A bin with rows of both kinds hides at most 1 / n_bins of a difference.
    least = TELLS - 1 / n_bins
    glance = [
        _distances(Z[rows, k : k + _COLUMNS_AT_ONCE], known[rows], n_bins)
        for k in range(0, Z.shape[1], _COLUMNS_AT_ONCE)
    ]
    columns = np.flatnonzero(np.concatenate([*glance, np.zeros(0)]) >= least)
    rows, n_bins = _some_rows(known, _LOOK[0]), _LOOK[1]
    some, which = Z[np.ix_(rows, columns)], known[rows]
    apart = np.maximum(_distances(some, which, n_bins), in_a_range(some, which))
    return np.asarray(columns[apart >= TELLS])


def _as_days(cells: "pd.Series[Any]") -> FloatArray:
    """Return dates as a column of numbers, NaN where there is none."""
    form = "ISO8601" if cells.dtype.kind == "M" else date_format(cells) or "ISO8601"
    times = pd.to_datetime(cells, errors="coerce", utc=True, format=form)
    days = (times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return np.asarray(days, dtype=np.float64)[:, None]


def _some_rows(known: BoolArray, most: int) -> NDArray[Any]:
    """Return evenly spaced rows, some labelled and some not."""
    return np.concatenate(
        [thinned(np.flatnonzero(side), most) for side in (known, ~known)]
    )


def _distances(Z: FloatArray, known: BoolArray, n_bins: int) -> FloatArray:
    """Return for every column how far labelled rows lie apart from the others.

    The total variation between the histograms of the two, 0 to 1. Bins have equal
    numbers of rows; a value that many rows share has a bin of its own.
    """
    n, d = Z.shape
    Z = np.where(np.isnan(Z), np.inf, Z)
    ordered = np.sort(Z, axis=0)
    edges = ordered[np.arange(1, n_bins) * n // n_bins]  # (n_bins - 1, d)
    a, b = Z[known], Z[~known]
    gap = np.zeros(d)
    before = np.zeros(d)
    last = np.full(d, -np.inf)
    for edge in edges:
        new = edge > last  # a value that fills several bins counts once
        for compare in (np.less, np.less_equal):
            # Both distribution functions just before and at the edge.
            here = compare(a, edge).mean(axis=0) - compare(b, edge).mean(axis=0)
            gap += np.where(new, np.abs(here - before), 0.0)
            before = np.where(new, here, before)
        last = edge
    return (gap + np.abs(before)) / 2


def in_a_range(Z: FloatArray, known: BoolArray) -> FloatArray:
    """Return how much more of one kind than of the other lies in some range.

    Kuiper's statistic of every column: 1 where a range has all labelled rows and no
    other, or the other way round. No bin hides where the range ends.
    """
    Z = np.where(np.isnan(Z), np.inf, Z)
    order = np.argsort(Z, axis=0)
    step = np.where(known, 1 / known.sum(), -1 / (~known).sum())
    gap = np.cumsum(step[order], axis=0)
    ordered = np.take_along_axis(Z, order, axis=0)
    gap[:-1][ordered[:-1] == ordered[1:]] = 0.0  # equal cells stay together
    spread: FloatArray = gap.max(axis=0, initial=0.0) - gap.min(axis=0, initial=0.0)
    return spread


def _distance(codes: NDArray[Any], known: BoolArray) -> float:
    size = int(codes.max(initial=0)) + 1
    a = np.bincount(codes[known], minlength=size) / max(known.sum(), 1)
    b = np.bincount(codes[~known], minlength=size) / max((~known).sum(), 1)
    return float(np.abs(a - b).sum() / 2)


def mirrors(frame: pd.DataFrame, strings: list[str], codes: IntArray) -> list[str]:
    """Return the columns with one value per class, each of another value.

    The frame holds the labelled rows without the target, and `codes` their classes.
    """
    numbers = numbers_among(frame)
    Z = frame[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    columns = np.arange(Z.shape[1])
    for rows in (slice(_GLANCE[0]), slice(None)):
        columns = columns[_one_per_class(Z[rows, columns], codes[rows])]
    found = {numbers[k] for k in columns}
    for name in strings:
        values, kinds = frame[name].factorize(use_na_sentinel=True)
        if len(kinds) == len(np.unique(codes)) and values.min(initial=0) >= 0:
            found |= {name} if _one_per_class(values[:, None], codes)[0] else set()
    return [name for name in frame.columns.tolist() if name in found]


def bits(codes: IntArray) -> float:
    """Return what the classes of some rows cost to write down, given their shares.

    Examples
    --------
    >>> bits(np.array([0, 1] * 25))
    50.0
    """
    counts = np.unique(codes, return_counts=True)[1]
    return float(-(counts * np.log2(counts / max(len(codes), 1))).sum())


def _one_per_class(Z: FloatArray | NDArray[Any], codes: IntArray) -> BoolArray:
    """Tell which columns are constant within each class and differ between any two."""
    values = []
    constant = np.ones(Z.shape[1], dtype=bool)
    for c in np.unique(codes):
        part = Z[codes == c]
        constant &= (part == part[0]).all(axis=0)  # False where a cell is empty
        values.append(part[0])
    ordered = np.sort(np.array(values), axis=0)
    return np.asarray(constant & (np.diff(ordered, axis=0) > 0).all(axis=0))
