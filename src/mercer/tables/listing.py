"""Rows of a table in words: all their cells, in full and in short."""

from pathlib import PurePath
from typing import Any

import numpy as np

from mercer._labels import Labels
from mercer._typing import FloatArray
from mercer.report.story import Listed
from mercer.tables.table import Table

# Characters of a cell, and cells, that a short account of a row has.
_CELL, _CELLS = 40, 6
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
    """Return name and content of every filled cell of a row."""
    shown = []
    for name, value in table.frame.iloc[row].items():
        if name in without or name == "file" or value is None or value != value:
            continue
        said = f"{value:.4g}" if isinstance(value, float) else str(value)
        if said.strip():
            shown.append((str(name), said))
    return tuple(shown)


def in_short(cells: tuple[tuple[str, str], ...]) -> str:
    """Return the first cells of a row in one line.

    Examples
    --------
    >>> in_short((("size", "3"), ("colour", "red")))
    'size: 3 · colour: red'
    """
    parts = []
    for name, value in cells[:_CELLS]:
        said = value if len(value) <= _CELL else value[: _CELL - 1] + "…"
        parts.append(f"{name}: {said}")
    return " · ".join(parts)


def listed(
    ids: Any, proba: FloatArray, labels: Labels, names: tuple[str, ...]
) -> tuple[Listed, ...]:
    """Return the predictions of the least certain rows, the least certain first."""
    best = proba.max(axis=1)
    order = np.argsort(best, kind="stable")[:LISTED]
    two = np.argsort(-proba[order], axis=1, kind="stable")[:, :2]
    return tuple(
        Listed(
            str(ids[i]),
            names[first],
            float(best[i]),
            names[second],
            "" if labels.codes[i] < 0 else names[labels.codes[i]],
        )
        for i, (first, second) in zip(order, two, strict=True)
    )
