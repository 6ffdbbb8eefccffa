"""The rows of the table that match what a person looks for, sorted, by pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.app.studio.engine import Snapshot
from mercer.app.studio.parsing import whole
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio

PAGE = 50
ALIKE = 100  # rows that are similar to one
MOST_CELL = 300  # characters of a cell in the table
SHOWN = (
    *("all", "labelled", "unlabelled", "skipped", "disputed"),
    *("flagged", "noted", "accepted", "assigned"),
)
OWN = ("row", "label", "predicted", "certainty", "person")  # sorts besides columns
_MOST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Where:
    """What rows must have in common, and their order."""

    words: str = ""  # that a cell or the id must hold
    show: str = "all"  # one of `SHOWN`
    label: int | None = None  # the class that people must have given
    predicted: int | None = None  # and the model
    low: float = 0.0  # bounds on the probability of the predicted class
    high: float = 1.0
    person: str = ""  # who must have answered, or to whom "assigned" rows must be
    sort: str = "row"  # one of `OWN`, or ``column:`` and the name of a column
    descending: bool = False
    like: int | None = None  # row that they must be similar to, most similar first

    @classmethod
    def read(cls, said: Any, columns: list[str]) -> "Where":
        """Check what a page asks for; all values are texts, empty for any."""
        if not isinstance(said, Mapping) or not all(
            isinstance(value, str) for value in said.values()
        ):
            msg = "the filter must hold texts by their names."
            raise RefusedError(msg)
        where = cls(
            words=said.get("words", "")[:_MOST_WORDS].strip(),
            show=said.get("show") or "all",
            label=_whole(said, "label"),
            predicted=_whole(said, "predicted"),
            low=_share(said, "low", 0.0),
            high=_share(said, "high", 1.0),
            person=said.get("person", ""),
            sort=said.get("sort") or "row",
            descending=bool(said.get("descending")),
            like=_whole(said, "like"),
        )
        sorts = (*OWN, *(f"column:{name}" for name in columns))
        if where.show not in SHOWN or where.sort not in sorts:
            msg = (
                f"show is one of {', '.join(SHOWN)}; sort is one of {', '.join(OWN)}, "
                "or column: and the name of a column."
            )
            raise RefusedError(msg)
        return where


def rows_where(studio: Studio, where: Where) -> IntArray:
    """Return the rows that match, in their order."""
    snapshot = studio.snapshot
    codes, _ = studio.labels()
    keep = _shown(studio, where.show, codes >= 0)
    if where.words:
        keep = keep & studio.items.search(where.words)
    if where.label is not None:
        keep = keep & (codes == where.label)
    if where.show == "assigned":
        assigned = studio.store.ledger.assigned.items()
        some = [i for i, who in assigned if where.person in {"", who}]
        keep = keep & _among(studio, some)
    elif where.person:
        answers = studio.store.ledger.answers.items()
        some = [item for item, given in answers if where.person in given]
        keep = keep & _among(studio, some)
    if where.predicted is not None:
        keep = keep & (predictions(snapshot, len(codes)) == where.predicted)
    if (where.low, where.high) != (0.0, 1.0):
        sure = certainty(snapshot, len(codes))
        keep = keep & (sure >= where.low) & (sure <= where.high)
    if where.like is not None:
        if where.like >= len(codes):
            msg = f"like must be a row from 0 to {len(codes) - 1}."
            raise RefusedError(msg)
        alike = np.array(studio.engine.similar(where.like, ALIKE), dtype=np.intp)
        if where.sort == "row":
            return np.asarray(alike[keep[alike]])
        keep = keep & np.isin(np.arange(len(codes)), alike)
    rows = np.flatnonzero(keep)
    if where.sort == "row":
        return rows[::-1] if where.descending else rows
    keys = _sort_keys(studio, where.sort, codes)[rows]
    order = np.argsort(-keys if where.descending else keys, kind="stable")
    return np.asarray(rows[order])


def table_page(studio: Studio, where: Where, page: int = 0) -> dict[str, Any]:
    """Return one page of the rows that match, from 0."""
    rows = rows_where(studio, where)
    codes, _ = studio.labels()
    blind, ledger = blind_rows(studio), studio.store.ledger
    return {
        "total": len(rows),
        "page": page,
        "pages": -(-len(rows) // PAGE),
        "columns": studio.items.columns,
        "texts": studio.items.texts,
        "people": sorted({*ledger.people(), *ledger.assigned.values()}),
        "rows": [
            {
                **row_line(studio, int(row), codes, blind=row in blind),
                "cells": studio.items.cells(int(row), MOST_CELL),
                "assigned": ledger.assigned.get(studio.items.keys[row], ""),
                "who": sorted(ledger.answers.get(studio.items.keys[row], {})),
            }
            for row in rows[page * PAGE : (page + 1) * PAGE]
        ],
    }


def row_line(
    studio: Studio, row: int, codes: IntArray, *, blind: bool = False
) -> dict[str, Any]:
    """Return a row in short, with its label and the best guess."""
    guess = [] if blind else studio.prediction(row)[:1]
    return {
        "row": row,
        "id": studio.items.ids[row],
        "text": studio.items.snippet(row),
        "label": int(codes[row]) if codes[row] >= 0 else None,
        "skipped": studio.items.keys[row] in studio.store.ledger.skips,
        "guess": guess[0] if guess else None,
    }


def blind_rows(studio: Studio) -> set[int]:
    """Return the rows that somebody is asked about to check the model just now."""
    row_of = studio.items.row_of
    return {
        row_of[item]
        for item, _, purpose in studio.store.claims()
        if purpose == "check" and item in row_of
    }


def predictions(snapshot: Snapshot, n: int) -> IntArray:
    """Return the predicted class of every row, -1 without a model."""
    if snapshot.proba is None:
        return np.full(n, -1)
    return np.asarray(np.array(snapshot.classes)[snapshot.proba.argmax(axis=1)])


def certainty(snapshot: Snapshot, n: int) -> FloatArray:
    """Return the probability of the predicted class, 0 without a model."""
    return np.zeros(n) if snapshot.proba is None else snapshot.proba.max(axis=1)


def _shown(studio: Studio, show: str, labelled: BoolArray) -> BoolArray:
    ledger = studio.store.ledger
    if show in {"all", "assigned"}:  # to whom is looked at with the person
        return np.ones(len(labelled), dtype=bool)
    if show in {"labelled", "unlabelled"}:
        return labelled if show == "labelled" else np.logical_not(labelled)
    items: dict[str, Callable[[], Any]] = {
        "skipped": lambda: ledger.skips,
        "flagged": lambda: ledger.flags,
        "noted": lambda: ledger.notes,
        "disputed": ledger.disagreements,
        "accepted": lambda: [
            item
            for item, given in ledger.answers.items()
            if any(event.purpose == "accepted" for event in given.values())
        ],
    }
    return _among(studio, items[show]())


def _among(studio: Studio, items: Any) -> BoolArray:
    row_of = studio.items.row_of
    keep = np.zeros(len(studio.items), dtype=bool)
    keep[[row_of[item] for item in items if item in row_of]] = True
    return keep


def _sort_keys(studio: Studio, sort: str, codes: IntArray) -> FloatArray:
    """Return a number per row to sort by; NaN, which is sorted last, for no value."""
    snapshot, n = studio.snapshot, len(codes)
    if sort == "certainty":
        return certainty(snapshot, n)
    if sort in {"label", "predicted"}:
        names = studio.store.ledger.classes
        given = codes if sort == "label" else predictions(snapshot, n)
        column = pd.Series([names.get(int(c)) for c in given], dtype="string")
    elif sort == "person":
        answers = studio.store.ledger.answers
        who = (", ".join(sorted(answers.get(key, {}))) for key in studio.items.keys)
        column = pd.Series([name or None for name in who], dtype="string")
    else:
        column = studio.items.table.frame[sort.removeprefix("column:")]
    if not pd.api.types.is_numeric_dtype(column) or column.dtype == bool:
        column = column.astype("string").str.casefold()
    ranks = column.rank(method="dense").to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(ranks)


def _whole(said: Mapping[str, str], name: str) -> int | None:
    text = said.get(name, "")
    number = whole(text)
    if text and number is None:
        msg = f"{name} must be a number."
        raise RefusedError(msg)
    return number


def _share(said: Mapping[str, str], name: str, default: float) -> float:
    text = said.get(name, "")
    try:
        value = float(text[:40]) if text else default
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        msg = f"{name} must be between 0 and 1, got {text[:40]!r}."
        raise RefusedError(msg)
    return value
