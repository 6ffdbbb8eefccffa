"""Rows of a table in words: all their cells, in full and in short."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.typing import FloatArray, IntArray
from mercer._base.words import counted
from mercer.app.report.story import Column, Listed
from mercer.app.tables.column_values import values_of
from mercer.app.tables.session import Session
from mercer.app.tables.table import Table

# Characters of a cell, and cells, that a short account of a row has.
_CELL, _CELLS = 40, 6
# Cells of a row, and columns, that the report names; a sheet has them all.
MOST_CELLS, MOST_COLUMNS = 100, 1000
# Rows that the list of predictions in the report has at most.
LISTED = 2000


def name_of(source: str) -> str:
    """Return what a page calls a source: no folder of this machine.

    Examples
    --------
    >>> name_of("/home/ada/wines.csv"), name_of("the table")
    ('wines.csv', 'the table')
    """
    return PurePath(source.replace("\\", "/")).name or source


def cells_of(
    table: Table, row: int, without: set[str | None]
) -> tuple[tuple[str, str], ...]:
    """Return name and content of the filled cells of a row.

    If a table has more than `MOST_CELLS` columns, the first ones and their number.
    """
    names = [c for c in table.frame.columns if c not in without and c != "file"]
    shown = tuple(_filled(table, row, names[:MOST_CELLS]))
    if len(names) > MOST_CELLS:
        n = counted(len(names) - MOST_CELLS, "column")
        shown += (("more", f"{n}, in the sheet to fill in"),)
    return shown


def _filled(table: Table, row: int, names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        value = table.frame[name].iat[row]
        if pd.isna(value) is True:
            continue
        said = f"{value:.4g}" if isinstance(value, float) else str(value)
        if said.strip():
            yield name, said


def columns_of(notes: Sequence[Sequence[Any]], table: Table) -> tuple[Column, ...]:
    """Return how columns were used; of very many, those left out and the first.

    A note has the name, the kind, what was done and the number of coordinates.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> table = as_table({"size": [1.0, 2.0, 3.0, np.nan]})
    >>> (column,) = columns_of([("size", "number", "scaled to variance 1", 1)], table)
    >>> column.done, column.values
    ('scaled to variance 1; 25% of the cells are empty', '1 to 3, median 2')
    """
    told = [(n[0], n[1], n[2], n[3]) for n in notes]
    first = [
        Column(name, kind, done + _empty(table, name), n, *_values(table, name, kind))
        for name, kind, done, n in told[:MOST_COLUMNS]
    ]
    rest: dict[str, list[int]] = {}
    for name, kind, done, n in told[MOST_COLUMNS:]:
        if kind == "left out":
            first.append(Column(name, kind, done, n))
        else:
            rest.setdefault(kind, []).append(n)
    return (
        *first,
        *(
            Column(counted(len(n), "more column"), kind, "as those above", sum(n))
            for kind, n in rest.items()
        ),
    )


def _values(table: Table, name: str, kind: str) -> tuple[str, tuple[float, ...]]:
    return values_of(table.frame[name], kind) if name in table.frame else ("", ())


def _empty(table: Table, name: str) -> str:
    """Return what to say of the empty cells of a column."""
    if name not in table.frame.columns:
        return ""
    cells = table.frame[name]
    share = float((cells.isna() | (cells == "").fillna(False)).mean())
    if share == 0:
        return ""
    said = "less than 1%" if share < 0.01 else f"{share:.0%}"
    return f"; {said} of the cells are empty"


def in_short(table: Table, rows: IntArray, without: set[str | None]) -> list[str]:
    """Return the first cells of each of some rows in one line.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> table = as_table({"size": [3], "label": ["a"], "colour": ["red"]})
    >>> in_short(table, np.array([0]), {"label"})
    ['size: 3 · colour: red']
    """
    some = table.frame.columns[: 4 * _CELLS]  # some of them may be empty
    names = [c for c in some if c not in without and c != "file"]
    lines = []
    for row in rows.tolist():
        cells = islice(_filled(table, row, names), _CELLS)
        lines.append(" · ".join(f"{name}: {_cut(value)}" for name, value in cells))
    return lines


def _cut(value: str) -> str:
    return value if len(value) <= _CELL else value[: _CELL - 1] + "…"


def listed(
    session: Session, proba: FloatArray, names: tuple[str, ...], most: int = LISTED
) -> tuple[Listed, ...]:
    """Return the predictions of the least certain rows, the least certain first."""
    best, codes = proba.max(axis=1), session.labels.codes
    order = np.argsort(best, kind="stable")[:most]
    two = np.argsort(-proba[order], axis=1, kind="stable")[:, :2]
    contents = in_short(session.table, order, session.task.aside)
    return tuple(
        Listed(
            str(session.ids[i]),
            names[first],
            float(best[i]),
            names[second],
            "" if codes[i] < 0 else names[codes[i]],
            cells,
        )
        for i, (first, second), cells in zip(order, two, contents, strict=True)
    )
