"""Vectors that are written in cells as text, such as [0.1, 0.2]."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.app.tables.table import Table, TableError

if TYPE_CHECKING:
    import pandas as pd


def read_vectors(table: Table) -> Table:
    """Return a table in which columns of numbers in brackets are vectors.

    A column counts if every cell holds as many numbers as the first, at least two.

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
    said = f"Column {next(iter(found))!r} holds numbers in brackets, read as vectors."
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
    if len(odd) > len(rows) / 2:
        return None
    if odd:
        msg = (
            f"{source}: column {column.name!r} holds vectors of {usual} numbers in "
            f"brackets, but row {odd[0] + 1} has {column.iloc[odd[0]]!r}."
        )
        raise TableError(msg)
    return np.array(rows, dtype=np.float32)


def _numbers(cell: str) -> list[float] | None:
    """Return the numbers in brackets, or None."""
    cell = cell.strip()
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    try:
        numbers = [float(part) for part in cell[1:-1].replace(",", " ").split()]
    except ValueError:
        return None
    return numbers if len(numbers) >= 2 else None
