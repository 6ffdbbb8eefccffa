"""The labels and ids of a table, checked before anything is computed."""

import re
from collections import Counter
from difflib import get_close_matches
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.words import counted, some
from mercer.app.tables.dates import date_format
from mercer.app.tables.numbers import is_placeholder, look_at, parse
from mercer.app.tables.table import Table, TableError
from mercer.evidence.reading import is_labeled

MOST_CLASSES = 1000
# Whole numbers that are more than this, some of them once, are measurements.
_FEW_NUMBERS = 20
# A target with more dates than this is refused.
_FEW_DATES = 5
# Where every row has a label, a value of this share of them may stand for none.
_OFTEN = 0.5


class Target(NamedTuple):
    """The labels of a table."""

    labels: NDArray[Any]  # (n,) names or whole numbers, None where there is none
    notes: tuple[str, ...]  # what was not taken as it is written


def read_target(
    table: Table,
    column: str,
    *,
    as_written: bool = False,
    missing: tuple[str, ...] = (),
    advise: bool = True,
) -> Target:
    """Return the labels of the rows, and what was not taken as it is written.

    Whole numbers stay numbers, and among them -1 means unlabelled, as everywhere in
    Mercer; anything else is a name. Empty cells are unlabelled, and so are those that
    say NA, ?, unknown and the like. Names that differ in spaces, or as yes, Yes and
    YES do, are one class, under the name that occurs most often.

    One label, or none, is fine: see `look_at_target`. With `as_written` every spelling
    is a class of its own, NA too; cells that are `missing` mean "not known". With
    `advise` notes name the option that takes labels as they are written.
    """
    table.check_column(column, "--target")
    where = f"{table.source}: column {column!r}"
    cells = table.frame[column].to_numpy(dtype=object, na_value=None)
    notes: list[str] = []
    if any(isinstance(v, str) for v in cells):
        cells = _stripped(cells, where)
        option = "--labels-as-written" if advise else ""
        cells = _without_placeholders(cells, column, missing, as_written, option, notes)
        if not as_written:
            cells = _one_spelling(cells, column, option, notes)
    return Target(_named_or_whole(cells, where), tuple(notes))


def look_at_target(
    table: Table,
    column: str,
    *,
    as_written: bool = False,
    missing: tuple[str, ...] = (),
    min_classes: int = 2,
) -> Target:
    """Return the labels of the rows; raise where they are not classes to learn.

    At least `min_classes` must have labels; with 0 the column need not be there.
    """
    if min_classes == 0 and _is_new(table, column):
        return Target(np.full(len(table), None, dtype=object), ())

    found = read_target(table, column, as_written=as_written, missing=missing)
    where, labels = f"{table.source}: column {column!r}", found.labels
    filled = np.flatnonzero(is_labeled(labels))
    if len(labels) == 0:
        msg = f"{table.source} has a header and no rows."
        raise TableError(msg)
    if len(filled) == 0 and min_classes > 0:
        msg = (
            f"{where} has no label in {len(labels)} rows. Fill in at least two rows "
            "of each class; the rest may stay empty. `mercer label` asks you about "
            "rows one by one."
        )
        raise TableError(msg)
    names, first, counts = np.unique(
        labels[filled].astype(str), return_index=True, return_counts=True
    )
    if len(names) == 1 < min_classes:
        one = _one_class(where, labels, str(names[0]))
        raise TableError(" ".join([one, *found.notes]))
    if len(names) > MOST_CLASSES:
        msg = (
            f"{where} has {len(names):,} different labels in {len(filled):,} labelled "
            f"rows; the limit is {MOST_CLASSES:,}. Is it an id, a measurement or text?"
        )
        raise TableError(msg)
    if len(names) > _FEW_DATES and date_format(pd.Series(names)):
        msg = (
            f"{where} holds {len(names):,} dates, such as {names[0]}. Dates are seldom "
            "classes: turn them into some, such as years, and give that column."
        )
        raise TableError(msg)
    notes = [*found.notes]
    if len(filled) == len(labels) and min_classes > 0:
        notes += _all_filled(column, names, counts)
    if (counts == 1).any():
        k = int(np.argmax(counts == 1))
        row = int(filled[first[k]])
        if len(names) > _FEW_NUMBERS and _are_numbers(labels[row], names):
            raise TableError(_measurement(where, str(labels[row]), row))
        notes.append(_single(column, names, k, row, counts))
    return Target(labels, tuple(notes))


def _all_filled(column: str, names: NDArray[Any], counts: NDArray[Any]) -> list[str]:
    """Return what to ask where every row has a label."""
    k = int(counts.argmax())
    share, name = counts[k] / counts.sum(), str(names[k])
    if len(names) <= 2 or share < _OFTEN:
        return []
    said = (
        f"Every row has a label in {column!r}. If {name!r} ({share:.0%} of the rows) "
        "stands for “no label yet”, empty these cells."
    )
    return [said]


def _is_new(table: Table, column: str) -> bool:
    """Tell whether a table lacks a column, and has none that may be meant by it."""
    if column in [*table.columns, *table.unread]:
        return False
    columns = [str(name).strip().casefold() for name in table.columns]
    return not get_close_matches(column.strip().casefold(), columns, 1, 0.8)


def _stripped(values: NDArray[Any], where: str) -> NDArray[Any]:
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            msg = (
                f"{where} mixes types: row {row + 1} holds the "
                f"{type(value).__name__} {value!r}, other rows hold text. Use one type."
            )
            raise TableError(msg)
    known = {v: " ".join(v.split()) or None for v in set(values) if v is not None}
    return np.array([known.get(v) for v in values], dtype=object)


def _without_placeholders(
    cells: NDArray[Any],
    column: str,
    missing: tuple[str, ...],
    as_written: bool,
    option: str,
    notes: list[str],
) -> NDArray[Any]:
    counts = Counter(v for v in cells if v is not None)
    # Where + is a class, - is the other one.
    signs = {"-"} if "+" in counts else set()
    none = [
        v
        for v in counts
        if v in missing or (not as_written and is_placeholder(v) and v not in signs)
    ]
    if none:
        said = some((f"{v!r} ({counted(counts[v], 'row')})" for v in none), 5)
        advice = f" If this is a class, pass {option}." if option else ""
        notes.append(f"In the target {column!r}, read as no label: {said}.{advice}")
    return np.array([None if v in none else v for v in cells], dtype=object)


def _one_spelling(
    cells: NDArray[Any], column: str, option: str, notes: list[str]
) -> NDArray[Any]:
    """Return names under their most frequent spelling."""
    counts = Counter(v for v in cells if v is not None)
    groups: dict[str, list[str]] = {}
    for name in sorted(counts, key=lambda v: (-counts[v], v)):
        groups.setdefault(plain_spelling(name), []).append(name)
    for first, *rest in groups.values():
        if rest:
            others = ", ".join(f"{v!r} ({counts[v]:,})" for v in rest)
            advice = f" To keep them apart, pass {option}." if option else ""
            notes.append(
                f"In the target {column!r}, read as {first!r} ({counts[first]:,}): "
                f"{others}.{advice}"
            )
    usual = {name: group[0] for group in groups.values() for name in group}
    return np.array([usual.get(v) for v in cells], dtype=object)


def plain_spelling(name: str) -> str:
    """Return what spellings of one class have in common.

    Examples
    --------
    >>> plain_spelling("Yes"), plain_spelling("hId")
    ('yes', 'hId')
    """
    plain = normalize("NFKC", name)
    # hid and hId are two vowels: capitals within a word are meant.
    usual_forms = (plain.lower(), plain.upper(), plain.capitalize(), plain.title())
    return plain.casefold() if plain in usual_forms else plain


def _named_or_whole(cells: NDArray[Any], where: str) -> NDArray[Any]:
    """Return whole numbers or names; raise for measurements."""
    kinds = {type(v) for v in cells if v is not None}
    if kinds <= {bool, np.bool_}:
        return np.array([None if v is None else str(v) for v in cells], dtype=object)
    if any(issubclass(kind, str) for kind in kinds):
        known = {v: _number_of(v) for v in set(cells) if v is not None}
        if any(number is None for number in known.values()):
            return cells
        numbers = [None if v is None else known[v] for v in cells]
    else:
        numbers = [None if v is None else float(v) for v in cells]
    for row, number in enumerate(numbers):
        if number is not None and not number.is_integer():
            raise TableError(_measurement(where, str(cells[row]), row))
    whole = [None if v is None or v == -1 else int(v) for v in numbers]
    return np.array(whole, dtype=object)


def _are_numbers(label: object, names: NDArray[Any]) -> bool:
    """Tell whether labels are whole numbers, or numbers with a unit: $5, 12%, 5 kg."""
    if isinstance(label, int):
        return True
    written = look_at(pd.Series(names))
    return written.share == 1 and len(written.units) == 1


def _number_of(text: str) -> float | None:
    """Return the number that a label is; 007 and A1 are names."""
    if text.removeprefix("-").startswith("0") and text.lstrip("-0")[:1].isdigit():
        return None
    number = parse([text], "," if re.fullmatch(r"-?\d+,\d{1,2}", text) else ".")[0]
    plain = re.fullmatch(r"[-+]?[\d.,]+([eE][-+]?\d+)?", text)
    return None if plain is None or np.isnan(number) else float(number)


def _measurement(where: str, number: str, row: int) -> str:
    return (
        f"{where} holds the number {number} in row {row + 1}; classes are names or "
        "whole numbers that occur more than once. Is it a measurement? Turn it into "
        "classes, e.g. low and high."
    )


def _one_class(where: str, labels: NDArray[Any], name: str) -> str:
    msg = f"{where} has one class only, {name!r}; at least two classes are needed."
    if name == "1" and None in labels:
        msg += " (-1 means unlabelled: if it is a class here, write it as a name.)"
    return msg


def _single(
    column: str,
    names: NDArray[Any],
    k: int,
    row: int,
    counts: NDArray[Any],
) -> str:
    name = str(names[k])
    # Numbered classes are alike and not misspelled.
    numbers = re.compile(r"\d+").findall
    others = [o for o in map(str, names) if o != name and numbers(o) == numbers(name)]
    alike = get_close_matches(name.casefold(), [o.casefold() for o in others], 1, 0.8)
    guess = ""
    if alike:
        meant = next(o for o in others if o.casefold() == alike[0])
        guess = f" Is it {meant!r}, spelled differently?"
    more = int((counts == 1).sum()) - 1
    also = f" ({counted(more, 'more class', 'more classes')} with one label)"
    also = also if more else ""
    return (
        f"Column {column!r}: the label {name!r} occurs once, in row {row + 1}{also}."
        f"{guess} A class with one label cannot be checked: label a second row of it, "
        "or correct it."
    )


def read_ids(table: Table, column: str | None) -> NDArray[Any]:
    """Return what names each row, (n,): a column without repeats, or row numbers.

    Row numbers count from 1.
    """
    if column is None:
        if "file" in table.frame.columns and table.frame["file"].is_unique:
            return np.asarray(table.frame["file"].to_numpy(dtype=object))
        return np.arange(1, len(table) + 1)
    table.check_column(column, "--id")
    ids = table.frame[column]
    empty = ids.isna() | (ids.astype(str) == "")
    if empty.any():
        row = int(np.argmax(empty.to_numpy())) + 1
        msg = f"{table.source}: the id in row {row}, column {column!r}, is empty."
        raise TableError(msg)
    if not ids.is_unique:
        again = int(np.argmax(ids.duplicated().to_numpy()))
        before = int(np.argmax((ids == ids.iloc[again]).to_numpy()))
        msg = (
            f"{table.source}: the id {ids.iloc[again]!r} in column {column!r} "
            f"appears in rows {before + 1} and {again + 1}; ids must differ."
        )
        raise TableError(msg)
    return np.asarray(ids.to_numpy(dtype=object))
