"""The labels and ids of a table, checked before anything is computed."""

from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._labels import is_labeled
from mercer.tables.table import Table, TableError

MOST_CLASSES = 1000


def read_target(
    table: Table, column: str, *, allow_single: bool = False
) -> NDArray[Any]:
    """Return the labels of the rows, (n,), None where there is none.

    Whole numbers stay numbers, and among them -1 means unlabelled, as everywhere in
    Mercer; anything else is a name. Empty cells are unlabelled.

    Parameters
    ----------
    table : Table
    column : str
        The target.
    allow_single : bool, default=False
        Accept classes with a single label, which no check can test.
    """
    table.check_column(column, "--target")
    where = f"{table.source}: column {column!r}"
    labels = _cells(table, column, where)
    filled = np.flatnonzero(is_labeled(labels))
    if len(filled) == 0:
        msg = (
            f"{where} has no label in {len(labels)} rows. Fill in at least two rows "
            "of each class; the rest may stay empty."
        )
        raise TableError(msg)
    names, first, counts = np.unique(
        labels[filled].astype(str), return_index=True, return_counts=True
    )
    if len(names) == 1:
        raise TableError(_one_class(where, labels, str(names[0])))
    if len(names) > MOST_CLASSES:
        msg = (
            f"{where} has {len(names):,} different labels in {len(filled):,} labelled "
            f"rows; the most is {MOST_CLASSES:,}. Is it an id, a measurement or a text?"
        )
        raise TableError(msg)
    if not allow_single and (counts == 1).any():
        k = int(np.argmax(counts == 1))
        raise TableError(_single(where, names, k, filled[first[k]], counts))
    return labels


def _cells(table: Table, column: str, where: str) -> NDArray[Any]:
    """Return whole numbers or strings, with None for empty cells."""
    cells = table.frame[column]
    values = cells.to_numpy(dtype=object, na_value=None)
    kinds = {type(v) for v in values if v is not None}
    if any(issubclass(kind, str) for kind in kinds):
        return _names(values, where)
    if kinds <= {bool, np.bool_}:
        return np.array([None if v is None else str(v) for v in values], dtype=object)
    numbers = [None if v is None else float(v) for v in values]
    for row, number in enumerate(numbers):
        if number is not None and not number.is_integer():
            msg = (
                f"{where} holds the number {number:g} in row {row + 1}; classes are "
                "names or whole numbers. Is it a measurement? Cut it into classes."
            )
            raise TableError(msg)
    whole = [None if v is None or v == -1 else int(v) for v in numbers]
    return np.array(whole, dtype=object)


def _names(values: NDArray[Any], where: str) -> NDArray[Any]:
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            msg = (
                f"{where} mixes types: row {row + 1} holds the "
                f"{type(value).__name__} {value!r}, other rows hold text. Use one type."
            )
            raise TableError(msg)
    stripped = [None if v is None or not v.strip() else v.strip() for v in values]
    filled = [v for v in stripped if v is not None]
    if all(_is_whole(v) for v in filled):
        whole = [None if v is None or v == "-1" else int(v) for v in stripped]
        return np.array(whole, dtype=object)
    return np.array(stripped, dtype=object)


def _is_whole(text: str) -> bool:
    """Tell whether a text is a number that would be written the same again."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(text)) == text


def _one_class(where: str, labels: NDArray[Any], name: str) -> str:
    msg = f"{where} has one class only, {name!r}; two or more are needed."
    if name == "1" and None in labels:
        msg += " (-1 means unlabelled: if it is a class here, write it as a name.)"
    return msg


def _single(
    where: str,
    names: NDArray[Any],
    k: int,
    row: int,
    counts: NDArray[Any],
) -> str:
    name = str(names[k])
    others = [str(other) for other in names if other != name]
    alike = get_close_matches(name.casefold(), [o.casefold() for o in others], 1, 0.8)
    guess = ""
    if alike:
        meant = next(o for o in others if o.casefold() == alike[0])
        guess = f" Is it {meant!r}, spelled another way?"
    more = int((counts == 1).sum()) - 1
    also = f" ({more} more classes have one label)" if more else ""
    return (
        f"{where}: the label {name!r} occurs once, in row {row + 1}{also}.{guess} "
        "One label of a class cannot be checked: label a second row of it, correct "
        "it, or pass --allow-single to learn it all the same."
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
            f"{table.source}: the id {ids.iloc[again]!r} in column {column!r} stands "
            f"in rows {before + 1} and {again + 1}; ids must differ."
        )
        raise TableError(msg)
    return np.asarray(ids.to_numpy(dtype=object))
