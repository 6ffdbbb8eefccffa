"""Vectors that are written in cells as text, such as [0.1, 0.2]."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer.app.tables.table import Table, TableError

# Without brackets, fewer numbers may be a date, a place or a list of codes.
_BARE = 8
_BETWEEN = re.compile(r"[,;\s]+")
# What lists of NumPy's numbers look like as text: [np.float64(0.1), np.float64(0.2)].
_WRAPPED = re.compile(r"np\.float\d+\(([^()]*)\)")
_BRACKETS = ("[]", "{}")  # of Python and JSON, and of arrays of PostgreSQL


def read_vectors(table: Table) -> Table:
    """Return a table in which columns of written vectors hold vectors.

    A column counts if every cell holds as many numbers as the first: in brackets at
    least two, without them at least eight.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> table = read_vectors(as_table({"v": ["[1, 2.5]", "[3 4]"], "w": ["[a]", "b"]}))
    >>> table.vectors["v"].tolist(), table.columns
    ([[1.0, 2.5], [3.0, 4.0]], ['w', 'v'])
    """
    found = {}
    for name in table.frame.columns.tolist():
        block = _block(table.frame[name], table.source)
        if block is not None:
            found[name] = block
    if not found:
        return table
    frame = table.frame.drop(columns=list(found))
    name, block = next(iter(found.items()))
    said = f"Column {name!r} holds {block.shape[1]} numbers per cell, read as vectors."
    return replace(
        table,
        frame=frame,
        vectors={**table.vectors, **found},
        notes=(*table.notes, said),
    )


def _block(column: "pd.Series[Any]", source: str) -> NDArray[Any] | None:
    first = column.iloc[0] if len(column) else None
    if not isinstance(first, str) or _numbers(first) is None:
        return None
    rows = [_numbers(cell) if isinstance(cell, str) else None for cell in column]
    usual = len(rows[0] or ())
    odd = [k for k, row in enumerate(rows) if row is None or len(row) != usual]
    if len(odd) > len(rows) / 2 or (odd and first.strip()[0] not in "[{"):
        return None
    if odd:
        msg = (
            f"{source}: column {column.name!r} holds vectors of {usual} numbers in "
            f"brackets, but row {odd[0] + 1} has {column.iloc[odd[0]]!r}."
        )
        raise TableError(msg)
    return np.array(rows, dtype=np.float32)


def _numbers(cell: str) -> list[float] | None:
    """Return the numbers in a cell, if they are enough for a vector."""
    cell = _WRAPPED.sub(r"\1", cell.strip())
    in_brackets = cell[:1] + cell[-1:] in _BRACKETS
    inside = cell[1:-1].strip() if in_brackets else cell
    try:
        numbers = [float(part) for part in _BETWEEN.split(inside)]
    except ValueError:
        return None
    return numbers if len(numbers) >= (2 if in_brackets else _BARE) else None
