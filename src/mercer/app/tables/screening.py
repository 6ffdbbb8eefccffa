"""Columns of a table that would mislead a model, found before anything is learned.

A column that is filled in only where the label is, that repeats the target or codes
it, or that tells labelled rows from the rest makes hidden labels easy to predict and
the rows that matter no easier. A column that only names the rows brings noise. They are
left out, with a note; ``keep`` takes them all the same.
"""

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.checks import is_empty
from mercer._base.typing import BoolArray
from mercer.app.embedding.hints import files_of
from mercer.app.tables.column_notes import ColumnNote
from mercer.app.tables.columns import is_date, is_text
from mercer.app.tables.leakage import (
    ASKS,
    LEAVES,
    TELLS,
    bits,
    mirrors,
    tell_labeled,
)
from mercer.app.tables.number_columns import strings_among
from mercer.app.tables.table import Table
from mercer.app.tables.target import look_at_target
from mercer.app.tables.task import Task
from mercer.evidence.reading import is_labeled

# A column that is filled in for this share of the labelled rows, and hardly for others.
_OFTEN, _FEW = 0.5, 10
# Fewer labelled or other rows than this say nothing about a column.
FEWEST = 5
# With at least this many rows, a column without repeats is an id.
_ROWS_OF_IDS = 8
_NAMES_OF_IDS = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|idx|rownames?|row|nr|no|#)$|[a-z](ID|Id)$"
    r"|^(unnamed.*|code|number|record|case|)$",
    re.IGNORECASE,
)


class LeftOut(NamedTuple):
    """A column that is not learned from, and why."""

    column: str
    reason: str


class Screened(NamedTuple):
    """A table as it is learned from."""

    table: Table  # without target, ids and misleading columns
    labels: NDArray[Any]  # (n,) None where there is none
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    @property
    def column_notes(self) -> list[ColumnNote]:
        """What the report says of the columns that were left out."""
        return [ColumnNote(c, "left out", why, 0) for c, why in self.left_out] + [
            ColumnNote(c, "left out", f"holds {what}", 0)
            for c, what in self.table.unread.items()
        ]


def screen(
    table: Table,
    task: Task,
    *,
    min_classes: int = 2,
    labels: NDArray[Any] | None = None,
) -> Screened:
    """Return the columns and rows of a table that are learned from.

    At least `min_classes` must have labels. Where `labels` are kept elsewhere (None: no
    label), the target column is not read, and need not be there.

    Examples
    --------
    >>> from mercer.app.tables.table import as_table
    >>> table = as_table({"row": np.arange(20), "size": np.arange(20) % 7,
    ...                   "label": ["a", "b"] * 3 + [None] * 14})
    >>> screen(table, Task("label")).left_out
    (LeftOut(column='row', reason='names the rows: every cell differs'),)
    """
    task.check(table)
    target, id, drop = task.target, task.id, task.drop
    keep = (*task.keep, *(wanted.column for wanted in task.embed))
    said: tuple[str, ...] = ()
    if labels is None:
        labels, said = look_at_target(
            table,
            target,
            as_written=task.labels_as_written,
            missing=task.missing,
            min_classes=min_classes,
        )
    aside = {target, *drop, *task.votes}
    rest = table.without({*aside, *([id] if id else ["file"])})
    found = [c for c in misleading(rest.frame, labels) if c.column not in keep]
    unsaid = {*drop, *task.votes, *(wanted.column for wanted in task.embed)}
    notes = [*table.notes, *table.without(unsaid).unread_notes, *said]
    if found and len(found) == len(rest.columns):
        names = ", ".join(repr(c.column) for c in found)
        notes.append(f"All columns look misleading ({names}); they were kept.")
        found = []
    notes += [_left_out(table, c) for c in found]
    notes += _questions(rest.frame, labels, {*keep, *(c.column for c in found)})
    left = rest.without({c.column for c in found})
    empty = [c for c in _empty(left.frame) if c not in keep]
    if len(empty) == len(left.columns):
        empty = []  # there is nothing else, which the encoder says
    votes = [LeftOut(c, "a source of labels") for c in sorted(task.votes)]
    nothing = [LeftOut(c, "empty in every row") for c in empty]
    kept = left.without({*empty})
    return Screened(kept, labels, (*found, *nothing, *votes), tuple(notes))


def _empty(frame: pd.DataFrame) -> list[str]:
    """Return the columns without a value, which new rows need not bring."""
    return [
        name
        for name in frame.columns.tolist()
        if all(is_empty(cell) or cell == "" for cell in frame[name])
    ]


def _left_out(table: Table, column: LeftOut) -> str:
    """Say why a column was left out, and what to do if it should count."""
    name = column.column
    said = f"Column {name!r} was left out: it {column.reason}"
    what, how = files_of(table, name)
    if what:
        return f"{said}. It holds paths of {what}: to compare the {what}, {how}."
    return (
        f"{said}. To learn from it anyway, pass --keep {name!r} (in Python "
        f"keep=[{name!r}])."
    )


def misleading(frame: pd.DataFrame, labels: NDArray[Any]) -> list[LeftOut]:
    """Return the columns of a frame that would mislead, with the reason.

    The frame is without the target; None is the label of rows without one.
    """
    known = is_labeled(labels)
    strings = strings_among(frame)
    found = {
        name: "names the rows: "
        + ("every cell differs" if frame[name].is_unique else "most cells differ")
        for name in _ids(frame, strings)
    }
    names = np.array([str(v).casefold() for v in labels], dtype=object)
    for name in strings:
        if _is_copy(frame[name], names, known):
            found[name] = "repeats the target"
    codes = np.unique(names[known], return_inverse=True)[1]
    if bits(codes) >= LEAVES:
        found |= dict.fromkeys(
            set(mirrors(frame[known], strings, codes)) - set(found),
            f"has one value per class in all {known.sum():,} labelled rows, as if it "
            "was filled in from the labels",
        )
    if min(known.sum(), (~known).sum()) >= FEWEST:
        found |= dict.fromkeys(
            _filled_with_labels(frame, strings, known) - set(found),
            "is filled in for labelled rows and almost never for others",
        )
        found |= dict.fromkeys(
            tell_labeled(frame, strings, known) - set(found),
            "tells labelled rows from the others",
        )
    return [
        LeftOut(name, found[name]) for name in frame.columns.tolist() if name in found
    ]


def _questions(
    frame: pd.DataFrame, labels: NDArray[Any], settled: set[str]
) -> list[str]:
    """Return what to ask about columns that may have been filled in from the labels."""
    known = is_labeled(labels)
    codes = np.unique(labels[known].astype(str), return_inverse=True)[1]
    if not ASKS <= bits(codes) < LEAVES:
        return []
    return [
        f"Column {name!r} has one value per class in all {known.sum():,} labelled "
        f"rows. If it was filled in from the labels, leave it out: --drop {name!r}."
        for name in mirrors(frame[known], strings_among(frame), codes)
        if name not in settled
    ]


def _is_copy(column: "pd.Series[Any]", labels: NDArray[Any], known: BoolArray) -> bool:
    """Tell whether the column repeats each label."""
    rows = np.flatnonzero(known)
    cells = column.iloc[rows[:20]]
    if len(rows) == 0 or not all(isinstance(c, str) for c in cells):
        return False
    return all(
        isinstance(cell, str) and " ".join(cell.split()).casefold() == label
        for cell, label in zip(column.iloc[rows], labels[rows], strict=True)
    )


def _filled_with_labels(
    frame: pd.DataFrame, strings: list[str], known: BoolArray
) -> set[str]:
    """Return the columns that are empty where the label is."""
    empty = frame.isna().to_numpy(copy=True)
    for k, name in zip(frame.columns.get_indexer(strings), strings, strict=True):
        empty[:, k] |= (frame[name] == "").fillna(False).to_numpy(dtype=bool)
    filled = 1 - np.stack([empty[known].mean(axis=0), empty[~known].mean(axis=0)])
    # Rows that were labelled later, by answers, lack what came with the first labels.
    later = (filled[0] >= _OFTEN) & (filled[1] <= 1 - TELLS) & (known.sum() >= _FEW)
    leaks = (filled[0] - filled[1] >= TELLS) | later
    return set(frame.columns[leaks])


def _ids(frame: pd.DataFrame, strings: list[str]) -> list[str]:
    """Return the columns that name the rows."""
    n = len(frame)
    if n < _ROWS_OF_IDS:
        return []
    found = []
    whole = [
        c
        for c, kind in zip(frame.columns.tolist(), frame.dtypes, strict=True)
        if kind.kind in "iu"
    ]
    if whole:
        Z = frame[whole].to_numpy(dtype=np.float64, na_value=np.nan)
        spans = Z.max(axis=0) - Z.min(axis=0) + 1
        named = np.array([bool(_NAMES_OF_IDS.search(c)) for c in whole])
        for k in np.flatnonzero((spans == n) | (named & (spans >= n))):
            differ = len(np.unique(Z[:, k]))
            if differ == n or (named[k] and differ > n / 2 and spans[k] > n):
                found.append(whole[k])
    for name in strings:
        cells = frame[name]
        if cells.isna().any() or not cells.is_unique or is_text(cells, 3):
            continue
        numbered = not is_date(cells) and cells.str.fullmatch(r"\S*\d\S*").all()
        if _NAMES_OF_IDS.search(name) or numbered:
            found.append(name)
    return found
