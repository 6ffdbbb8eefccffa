"""Rows that repeat others: the same cells but for upper case, spaces and rounding."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer.app.tables.columns import numbers_among
from mercer.app.tables.table import Table

# Limit of work.
_MOST_ROWS = 200_000
_DIGITS = 4


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
    _, group, counts = np.unique(key, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts > 1)
    if not len(several):
        return None
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)])
    found = [tuple(order[starts[g] : starts[g + 1]].tolist()) for g in several]
    against = [len({labels[i] for i in rows} - {None}) > 1 for rows in found]
    ranked = sorted(zip(against, found, strict=True), key=lambda g: (not g[0], g[1]))
    n_rows = int((counts[several] - 1).sum())
    return Repeats(n_rows, tuple(rows for _, rows in ranked), sum(against))


def _rounded(column: Any) -> Any:
    """Return numbers with four digits."""
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    size = np.abs(np.where(np.isfinite(numbers) & (numbers != 0), numbers, 1.0))
    unit = 10.0 ** (np.floor(np.log10(size)) - _DIGITS + 1)
    return np.round(numbers / unit) * unit
