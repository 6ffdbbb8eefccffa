"""Columns of strings that are meant to be numbers become numbers, with a note."""

from collections.abc import Callable, Collection
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.words import counted, some
from mercer.app.tables.folders import IMAGES
from mercer.app.tables.numbers import MOSTLY, Written, is_placeholder, look_at, parse
from mercer.app.tables.recordings import SOUNDS
from mercer.app.tables.table import TableError

_SAMPLE = 2000
# Categories are at most this share of the cells.
_FEW = 0.1


def tidy_numbers(
    frame: pd.DataFrame,
    *,
    source: str,
    as_text: tuple[str, ...] = (),
    missing: tuple[str, ...] = (),
    needed: Collection[str] | None = None,
    as_written: Callable[[list[str]], pd.DataFrame] | None = None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a frame whose numbers are numbers, and notes on how they were written.

    Columns `as_text` are left alone, and cells that are `missing` mean "not known".
    Columns that are not `needed` stay as they are where a cell among their numbers is
    none. `as_written` returns some columns as strings: with a decimal comma elsewhere
    in the file, 1.234 in a column that was taken for numbers may be a thousand.
    """
    strings = [
        c
        for c in strings_among(frame)
        if c not in as_text and not _names_files(frame[c])
    ]
    filled = {name: _filled(frame[name], missing) for name in strings}
    seen = {name: look_at(_sample(cells)) for name, cells in filled.items()}
    meant = {
        name: written
        for name, written in seen.items()
        if written.share >= MOSTLY and len(filled[name])
    }
    notes = []
    for name in [n for n, w in meant.items() if len(w.units) > 1]:
        units = ", ".join(meant.pop(name).units)
        if filled[name].nunique() > _FEW * len(filled[name]):  # else names, as 2Story
            notes.append(
                f"Column {name!r} mixes units ({units}), so it is kept as text."
            )
    signs = [written.decimal for written in meant.values()]
    decimal = "," if signs.count(",") > signs.count(".") else "."
    new = {}
    for name, written in list(meant.items()):
        try:
            new[name] = _numbers(
                frame[name], filled[name], written.decimal or decimal, source
            )
        except TableError:
            if needed is None or name in needed:
                raise
            del meant[name]
    if decimal == "," and as_written is not None:
        floats = [c for c in frame.columns if frame[c].dtype.kind == "f"]
        new |= _thousands(as_written(floats)) if floats else {}
    if not new:
        return frame, tuple(notes)
    notes += _told(frame, new, meant, filled)
    return frame.assign(**new), tuple(notes)


def strings_among(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns that hold strings."""
    wide = [
        name
        for name, kind in zip(frame.columns.tolist(), frame.dtypes, strict=True)
        if kind == np.dtype(object) or isinstance(kind, pd.StringDtype)
    ]
    return [str(c) for c in wide if _holds_strings(frame[c])]


def _holds_strings(column: "pd.Series[Any]") -> bool:
    first = column.first_valid_index()
    return first is not None and isinstance(column.loc[first], str)


def _names_files(column: "pd.Series[Any]") -> bool:
    """Tell whether strings name images or sound: as in 12.png, not a number."""
    first = column.loc[column.first_valid_index()]
    return PurePath(first.strip()).suffix.lower() in IMAGES | SOUNDS


def _filled(column: "pd.Series[Any]", missing: tuple[str, ...]) -> "pd.Series[Any]":
    """Return the cells that say something."""
    cells = column.dropna()
    cells = cells[[isinstance(cell, str) for cell in cells]]
    kinds = cells
    if len(cells) >= 1000:  # texts take time, and none of them means "not known"
        kinds = cells[cells.str.len() <= max([16, *map(len, missing)])]
    kinds = kinds.drop_duplicates()
    empty = {c for c in kinds if not c.strip() or c in missing or is_placeholder(c)}
    return cells[~cells.isin(empty)] if empty else cells


def _sample(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    return cells.iloc[:: max(len(cells) // _SAMPLE, 1)]


def _numbers(
    column: "pd.Series[Any]", filled: "pd.Series[Any]", decimal: str, source: str
) -> Any:
    """Return a column as floats, or raise with the first cell that is not a number."""
    values = parse(filled, decimal)
    wrong = np.isnan(values)
    if wrong.any():
        row = filled.index[int(np.argmax(wrong))]
        cell = column.loc[row]
        more = int(wrong.sum()) - 1
        rest = f" ({more:,} more like this)" if more else ""
        msg = (
            f"{source}: column {column.name!r} holds numbers, but row {row + 1} has "
            f"{short(cell)}{rest}. If it means 'no value', pass --missing {cell!r}; if "
            f"not, correct the file. `mercer learn` leaves the column out with --drop "
            f"{column.name!r}."
        )
        raise TableError(msg)
    whole = np.full(len(column), np.nan)
    whole[filled.index.to_numpy()] = values
    return whole


def _thousands(strings: pd.DataFrame) -> dict[str, Any]:
    """Return the columns where every point separates thousands."""
    found = {}
    for name in strings.columns:
        cells = strings[name].dropna()
        pointed = cells[cells.str.contains(".", regex=False)]
        if len(pointed) and pointed.str.fullmatch(r"-?[1-9]\d{0,2}(\.\d{3})+").all():
            values = np.full(len(strings), np.nan)
            values[cells.index.to_numpy()] = parse(cells, ",")
            found[name] = values
    return found


def _told(
    frame: pd.DataFrame,
    new: dict[str, Any],
    meant: dict[str, Written],
    filled: dict[str, "pd.Series[Any]"],
) -> list[str]:
    notes = []
    commas = [n for n, w in meant.items() if w.decimal == ","]
    if commas:
        notes.append(f"Numbers with a decimal comma: {some(map(repr, commas), 8)}.")
    points = [n for n in new if n not in meant]
    if points:
        said = some(map(repr, points), 8)
        notes.append(f"Points separate thousands (1.234 means 1234): {said}.")
    units = {n: meant[n].unit for n in new if n in meant and meant[n].unit}
    if units:
        said = some((f"{n} ({unit})" for n, unit in units.items()), 8)
        parts = " 12% is read as 0.12." if "%" in units.values() else ""
        notes.append(f"Read as numbers, without the unit: {said}.{parts}")
    for name in meant:
        empty = frame[name].dropna()
        empty = empty[(empty != "") & ~empty.index.isin(filled[name].index)]
        if len(empty):
            notes.append(
                f"Column {name!r} holds numbers; read as empty: "
                f"{counted(len(empty), 'cell')} such as {short(empty.iloc[0])}."
            )
    return notes


def short(value: object) -> str:
    """Return a cell for a message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
