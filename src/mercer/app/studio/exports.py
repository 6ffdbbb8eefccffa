"""The labelled table as a file, at any time."""

import datetime
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.checks import is_empty
from mercer.app.studio.interop import to_label_studio, to_prodigy
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.tables.writing import safe_cell, write_csv

MOST_EXCEL_ROWS, MOST_EXCEL_CELL = 1_048_575, 32_767


def labelled_frame(studio: Studio) -> pd.DataFrame:
    """Return the table with its labels, who gave them, and what the model says.

    Columns that the studio adds are named after the target: ``label``, ``label by``,
    ``label skipped``, ``label predicted`` and ``label probability``.
    """
    items, ledger, snapshot = studio.items, studio.store.ledger, studio.snapshot
    codes, _ = studio.labels()
    names = dict(ledger.classes)
    target = items.task.target
    frame = items.table.frame.drop(columns=[target], errors="ignore").copy()
    frame[target] = [names.get(int(c)) for c in codes]
    answers = [ledger.answers.get(key, {}) for key in items.keys]
    frame[f"{target} by"] = [
        ", ".join(sorted(a)) if a else ("file" if codes[row] >= 0 else None)
        for row, a in enumerate(answers)
    ]
    frame[f"{target} skipped"] = [key in ledger.skips for key in items.keys]
    if snapshot.proba is not None:
        best = snapshot.proba.argmax(axis=1)
        known = [names.get(c, str(c)) for c in snapshot.classes]
        frame[f"{target} predicted"] = [known[b] for b in best]
        top = snapshot.proba[np.arange(len(best)), best]
        frame[f"{target} probability"] = top.round(4)
    return frame


def people_frame(studio: Studio) -> pd.DataFrame:
    """Return the answers and skips of each person that stand, one line for each."""
    ledger, lines = studio.store.ledger, []
    for key, id in zip(studio.items.keys, studio.items.ids, strict=True):
        for who, event in ledger.acts_on(key).items():
            label = None if event.label is None else ledger.name_of(event.label)
            when = pd.Timestamp(event.at, unit="s", tz="UTC").isoformat(
                timespec="seconds"
            )
            lines.append((id, who, label, event.label is None, when, event.purpose))
    names = ["id", "person", studio.items.task.target, "skipped", "when", "asked"]
    return pd.DataFrame(lines, columns=names)


def _csv(frame_of: Callable[[Studio], pd.DataFrame]) -> "Export":
    """Return what writes a frame as CSV whose cells no spreadsheet runs."""

    def export(studio: Studio) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            write_csv(frame_of(studio), path)
            return path.read_bytes()

    return export


def as_parquet(studio: Studio) -> bytes:
    """Return the table as Parquet, vectors included."""
    frame = labelled_frame(studio)
    for name, block in studio.items.table.vectors.items():
        frame[name] = list(block)
    out = io.BytesIO()
    frame.to_parquet(out, index=False)
    return out.getvalue()


def as_excel(studio: Studio) -> bytes:
    """Return the table as an Excel workbook whose cells are values, never formulas."""
    from openpyxl import Workbook
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    frame = labelled_frame(studio)
    if len(frame) > MOST_EXCEL_ROWS:
        msg = (
            f"Excel holds {MOST_EXCEL_ROWS:,} rows and the table has {len(frame):,}; "
            "export CSV or Parquet."
        )
        raise RefusedError(msg)

    book = Workbook(write_only=True)  # line by line: a third of the time of pandas
    sheet = book.create_sheet("Sheet1")

    def plain(value: Any) -> Any:
        if is_empty(value):
            return None
        if isinstance(value, bool | int | float | np.number | np.bool_):
            return value
        # Excel has no place for the zone of a time.
        is_time = isinstance(value, datetime.date | datetime.time)
        if is_time and getattr(value, "tzinfo", None) is None:
            return value
        text = ILLEGAL_CHARACTERS_RE.sub("", str(value))
        return safe_cell(text)[:MOST_EXCEL_CELL]

    sheet.append([plain(name) for name in frame.columns])
    for line in frame.itertuples(index=False, name=None):
        sheet.append([plain(value) for value in line])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


Export = Callable[[Studio], bytes]
EXPORTS: dict[str, tuple[str, str, Export]] = {
    "csv": ("labelled.csv", "text/csv", _csv(labelled_frame)),
    "people": ("labelled-by-person.csv", "text/csv", _csv(people_frame)),
    "parquet": ("labelled.parquet", "application/vnd.apache.parquet", as_parquet),
    "excel": (
        "labelled.xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        as_excel,
    ),
    "label_studio": ("label-studio.json", "application/json", to_label_studio),
    "prodigy": ("prodigy.jsonl", "application/jsonl", to_prodigy),
}
