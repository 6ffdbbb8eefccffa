"""Labels that a person filled into a sheet go back into the table."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.checks import is_empty
from mercer._base.words import as_name, counted
from mercer.app.tables.numbers import is_placeholder
from mercer.app.tables.sheets import ROW
from mercer.app.tables.table import Table, TableError

HISTORY = "answers.csv"
_COLUMNS = ("id", "label", "label before", "when", "sheet")


@dataclass(frozen=True, eq=False)
class Answered:
    """A table with the answers in it, and what they changed."""

    table: Table
    history: pd.DataFrame  # id, label, label before, when, sheet; one line per answer
    n_new: int  # rows that had no label before these sheets
    n_changed: int  # rows that had another label before them
    n_earlier: int = 0  # answers of earlier sheets that were added first
    notes: tuple[str, ...] = ()  # what a person should look at again

    def __str__(self) -> str:
        said = counted(self.n_new, "new label")
        if self.n_changed:
            said += f", {counted(self.n_changed, 'changed label')}"
        said += " from your answers"
        if self.n_earlier:
            said += f", besides {self.n_earlier:,} from earlier sheets"
        return said + "."


def add_answers(
    table: Table,
    ids: Any,
    target: str,
    sheets: list[Path],
    *,
    id: str | None = None,
    history: Path | None = None,
) -> Answered:
    """Return the table with the answers of earlier and of new sheets.

    `ids` names the rows of the table, and column `id` those of the sheets (by default
    "row" or "file"). Empty cells are skipped. If a row has two answers the later one
    counts; those of the file `history` come first.
    """
    place = {str(name): row for row, name in enumerate(ids)}
    if target not in [*table.columns, *table.unread]:
        table = replace(table, frame=table.frame.assign(**{target: None}))
    labels = _as_names(table, target)
    lines: list[dict[str, Any]] = []
    notes: list[str] = []
    if history is not None and history.exists():
        for line in _read(history).to_dict("records"):
            if line["id"] in place:
                labels[place[line["id"]]] = line["label"]
                lines.append(line)
    n_earlier = len({line["id"] for line in lines})
    before = labels.copy()
    now = f"{datetime.now():%Y-%m-%d %H:%M}"
    for path in sheets:
        if history is not None and path.resolve() == history.resolve():
            continue  # added already
        filled = _filled(path, target, id, place)
        notes += _contradictions(filled, path.name)
        for name, label in dict(filled).items():
            row = place[name]
            if labels[row] != label:
                old = labels[row] or ""
                labels[row] = label
                lines.append(
                    dict(zip(_COLUMNS, (name, label, old, now, path.name), strict=True))
                )
    changed = [row for row in range(len(labels)) if labels[row] != before[row]]
    had = [row for row in changed if before[row] and not is_placeholder(before[row])]
    frame = table.frame.assign(**{target: labels})
    return Answered(
        replace(table, frame=frame),
        pd.DataFrame(lines, columns=list(_COLUMNS)),
        len(changed) - len(had),
        len(had),
        n_earlier,
        (*notes, *_new_classes(labels, before)),
    )


def with_earlier(table: Table, ids: Any, target: str, history: Path) -> Table:
    """Return a table with the answers that a history has for its rows."""
    if not history.exists():
        return table
    return add_answers(table, ids, target, [], history=history).table


def _contradictions(filled: list[tuple[str, str]], sheet: str) -> list[str]:
    """Return which rows of a sheet have several answers.

    Examples
    --------
    >>> _contradictions([("7", "a"), ("8", "a"), ("7", "b"), ("8", "a")], "sheet.csv")
    ["sheet.csv answers row '7' with 'a' and then 'b'; the last one counts."]
    """
    given: dict[str, list[str]] = {}
    for name, label in filled:
        given.setdefault(name, []).append(label)
    return [
        f"{sheet} answers row {name!r} with {' and then '.join(map(repr, labels))}; "
        "the last one counts."
        for name, labels in given.items()
        if len({label.casefold() for label in labels}) > 1
    ]


def _new_classes(labels: Any, before: Any) -> list[str]:
    """Return classes that answers bring in, which may be slips of the pen."""
    known = {label.casefold() for label in before if label}
    new: dict[str, list[str]] = {}
    for label in labels:
        if label and label.casefold() not in known:
            new.setdefault(label.casefold(), []).append(label)
    if not known or not new:
        return []
    said = ", ".join(
        f"{names[0]!r} ({counted(len(names), 'answer')})" for names in new.values()
    )
    return [f"New in your answers, no row had it before: {said}."]


def not_used(history: Path) -> str:
    """Return the note about saved answers that this run did not use."""
    if not history.exists():
        return ""
    n = counted(len(set(_read(history)["id"])), "answer")
    return (
        f"{history.name} in the folder of the results holds {n} that this run did not "
        "use. To use them, pass that file to --answers."
    )


def with_later(history: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a history with the answers that another run has added meanwhile."""
    if not path.exists():
        return history
    mine = set(history.itertuples(index=False, name=None))
    theirs = [
        line
        for line in _read(path)[list(_COLUMNS)].itertuples(index=False, name=None)
        if line not in mine
    ]
    later = pd.DataFrame(theirs, columns=list(_COLUMNS))
    return pd.concat([history, later], ignore_index=True) if theirs else history


def _as_names(table: Table, target: str) -> Any:
    """Return the target as strings, None where it is empty."""
    table.check_column(target, "--target")
    cells = table.frame[target].to_numpy(dtype=object, na_value=None)
    names = [None if cell is None else as_name(cell) for cell in cells]
    return np.array(names, dtype=object)


def _read(path: Path) -> Any:
    from mercer.app.tables.reading import read_table

    frame = read_table(path, as_text=None).frame
    return frame.map(lambda v: "" if is_empty(v) else as_name(v).strip())


def _without_zeros(names: Iterable[str]) -> dict[str, str]:
    """Return names by what a spreadsheet makes of them: 0042 becomes 42.

    Names that would become the same are left out.

    Examples
    --------
    >>> _without_zeros(["0042", "007", "7", "a1"])
    {'42': '0042'}
    """
    found: dict[str, list[str]] = {}
    for name in names:
        if name.isdecimal():
            found.setdefault(name.lstrip("0") or "0", []).append(name)
    return {
        bare: many[0]
        for bare, many in found.items()
        if len(many) == 1 and many[0] != bare
    }


def _filled(
    path: Path, target: str, id: str | None, place: dict[str, int]
) -> list[tuple[str, str]]:
    """Return ids and labels of the rows that were filled in."""
    frame = _read(path)
    names = [c for c in (id, ROW, "file") if c and c in frame.columns]
    if not names or target not in frame.columns:
        lacking = target if names else (id or ROW)
        shown = ", ".join(map(repr, frame.columns[:8]))
        msg = (
            f"{path} has no column {lacking!r}; a sheet of answers needs the columns "
            f"{(id or ROW)!r} and {target!r}, and this one has {shown}."
        )
        if not names and id is None:
            msg += " If one of these names the rows, pass it to --id."
        raise TableError(msg)
    found, whole = [], _without_zeros(place)
    for number, (name, label) in enumerate(
        zip(frame[names[0]], frame[target], strict=True), 1
    ):
        if not label or is_placeholder(label):
            continue
        names_of_row = (name, name.removeprefix("'"), whole.get(name, ""))
        known = [n for n in names_of_row if n in place]
        if not known:
            msg = (
                f"{path}: row {number} names {name!r}; the table has no such row. "
                "Correct the name, or delete that row of the sheet."
            )
            raise TableError(msg)
        found.append((known[0], label.removeprefix("'")))
    return found
