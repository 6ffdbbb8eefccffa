"""Rows and columns that repeat others.

Rows have the same cells but for upper case, spaces and rounding; columns of numbers
rise and fall together, so that one of them would do.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.random import draw_rows
from mercer.app.tables.columns import numbers_among
from mercer.app.tables.table import Table

# Limit of work.
_MOST_ROWS = 200_000
_DIGITS = 4
# Rank correlation from which two columns say much the same.
_SAME = 0.9
_MOST_COLUMNS, _DRAWN = 60, 2_000
_FEWEST_ROWS = 20


class Repeats(NamedTuple):
    """Groups of rows that are alike."""

    n_rows: int  # that repeat an earlier one
    groups: tuple[tuple[int, ...], ...]  # those with different labels first
    n_contradicting: int  # groups with different labels


def repeated_rows(
    table: Table, labels: NDArray[Any], aside: set[str | None]
) -> Repeats | None:
    """Return the groups of rows that are alike, or None if no two are.

    Columns that name the rows, and those `aside`, do not count. Numbers that agree in
    four digits are alike.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> table = as_table({"name": ["Ann", "ann ", "Bob"], "size": [1.0, 1.00001, 1.0]})
    >>> repeated_rows(table, np.array(["a", "b", None], dtype=object), set())
    Repeats(n_rows=1, groups=((0, 1),), n_contradicting=1)
    """
    frame = table.frame.drop(columns=[c for c in table.frame if c in aside])
    if table.vectors or table.images or len(table) > _MOST_ROWS or frame.empty:
        return None
    numbers, plain = set(numbers_among(frame)), {}
    for name in frame.columns.tolist():
        if name in numbers:
            plain[name] = _rounded(frame[name])
        else:  # names, dates, and whatever else can be written
            words = frame[name].astype(str).where(frame[name].notna(), "")
            plain[name] = words.str.casefold().str.split().str.join(" ")
    key = pd.util.hash_pandas_object(pd.DataFrame(plain), index=False).to_numpy()
    rows = pd.Series(np.arange(len(key))).groupby(key).agg(tuple)
    found = [group for group in rows if len(group) > 1]
    if not found:
        return None
    against = [len({labels[i] for i in group} - {None}) > 1 for group in found]
    ranked = sorted(zip(against, found, strict=True), key=lambda g: (not g[0], g[1]))
    n_rows = sum(map(len, found)) - len(found)
    return Repeats(n_rows, tuple(group for _, group in ranked), sum(against))


def _rounded(column: Any) -> Any:
    """Return numbers with four digits."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    size = np.abs(np.where(np.isfinite(numbers) & (numbers != 0), numbers, 1.0))
    unit = 10.0 ** (np.floor(np.log10(size)) - _DIGITS + 1)
    return np.round(numbers / unit) * unit


def same_columns(
    table: Table, aside: set[str | None]
) -> tuple[tuple[str, str, float], ...]:
    """Return pairs of columns and their rank correlations, the strongest first.

    Columns `aside` do not count; rows in which either cell is empty are left out.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> size = np.arange(30.0)
    >>> other = np.resize([3.0, 1, 2, 0, 7], 30)
    >>> table = as_table({"size": size, "cost": 9 - size**3, "other": other})
    >>> same_columns(table, set())
    (('size', 'cost', -1.0),)
    """
    names = [c for c in numbers_among(table.frame) if c not in aside][:_MOST_COLUMNS]
    rows = draw_rows(np.arange(len(table)), _DRAWN, np.random.default_rng(0))
    Z = table.frame[names].iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):  # a column of one value
        R = pd.DataFrame(Z).corr("spearman", min_periods=_FEWEST_ROWS).to_numpy()
    pairs = np.argwhere(np.triu(np.abs(R) >= _SAME, k=1))
    pairs = pairs[np.argsort(-np.abs(R[tuple(pairs.T)]), kind="stable")]
    return tuple((names[i], names[j], round(float(R[i, j]), 4)) for i, j in pairs)
