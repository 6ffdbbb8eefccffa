"""The rows of a table as things a person looks at."""

import hashlib
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.util import hash_pandas_object

from mercer._base.checks import is_empty
from mercer._base.typing import IntArray
from mercer._base.words import as_name, counted
from mercer.app.studio.ledger import Ledger
from mercer.app.studio.media import (
    opened,
    picture_column,
    sound_columns,
    sounds_of,
    source_at,
)
from mercer.app.tables.table import Table, TableError
from mercer.app.tables.target import Target, read_ids, read_target
from mercer.app.tables.task import Task
from mercer.evidence.reading import is_labeled

MOST_TEXT = 20_000  # characters of a cell that are sent to the page
SNIPPET = 140
LONG = 40  # characters per cell, on average, that make a column one of texts
_LOOKED_AT = 200
_LINE = 66  # characters of a line of text on the page
_NAMES = 40, 70  # percent of a line that names have, and beside short values
_SHORT = 16  # characters of most values that leave names more room
IMAGE_SIDE = 512
FULL_SIDE = 4096  # of a picture that somebody looks at closely


class Items:
    """Rows with a key that survives changes of the file.

    The target need not exist. Without a column that names the rows, and where the table
    does not come from a folder of files, a row is known by its content.
    """

    def __init__(self, table: Table, task: Task) -> None:
        self.table, self.task = table, task
        id, hidden = task.id, {task.target, task.id or "file", *task.votes}
        self.columns = [
            c
            for c in table.frame.columns
            if c not in hidden and not all(map(is_empty, table.frame[c]))
        ]
        self.digests = _digests(table.without({task.target, *task.votes}))
        content = _digests(table.without(hidden))
        has_content = bool(self.columns or table.vectors)
        self.first_alike = _first_alike(content if has_content else self.digests)
        named = id is not None or "file" in table.frame.columns
        self.ids = [str(i) for i in read_ids(table, id)]
        self.keys = self.ids if named else _numbered(self.digests)
        self.row_of = {key: row for row, key in enumerate(self.keys)}
        self._texts: list[str] | None = None
        self._searched = ("", np.ones(len(self), dtype=bool))
        lengths = self._lengths()
        self.texts = sorted(
            (c for c in self.columns if lengths[c].mean() >= LONG or len(lengths) == 1),
            key=lambda c: -lengths[c].mean(),
        )
        self.names, self.lines = self._layout(lengths)
        self.sounds = sound_columns(self)
        self.pictures = picture_column(table)  # None: pixels, or none at all
        self._stamp = _stamp(table.source)
        whole = hashlib.blake2b("".join(self.digests).encode(), digest_size=8)
        self.fingerprint = whole.hexdigest()

    def __len__(self) -> int:
        return len(self.table)

    @property
    def has_images(self) -> bool:
        """Whether rows have pictures: pixels, files or bytes."""
        return self.table.image_shape is not None or self.pictures is not None

    def _lengths(self) -> dict[str, IntArray]:
        """Return how many characters cells of each column have, in some rows."""
        step = max(1, len(self) // _LOOKED_AT)
        some = range(0, len(self), step)
        return {c: np.array([len(self.cell(r, c)) for r in some]) for c in self.columns}

    def _layout(self, lengths: dict[str, IntArray]) -> tuple[int, int]:
        """Return percent of a line for names, and lines that nine in ten rows need."""
        if not lengths:
            return _NAMES[0], 1
        values = [length for name, length in lengths.items() if name not in self.texts]
        every = np.concatenate(values) if values else np.array([_LINE])
        share = _NAMES[int(np.quantile(every, 0.9) <= _SHORT)]
        each = _LINE * share // 100
        need = [
            np.maximum(-(-length // _LINE), -(-len(str(name)) // each))
            for name, length in lengths.items()
        ]
        return share, int(np.quantile(sum(need), 0.9))

    def changed_on_disk(self) -> list[str]:
        """Say so if the file was written to after it was read."""
        if self._stamp is None or _stamp(self.table.source) == self._stamp:
            return []
        return [
            f"{Path(self.table.source).name} was changed on the disk after it was "
            "read. Answers are kept; start the studio again to see the new rows."
        ]

    def given(self) -> Target:
        """Return the labels in the file as names, read as `mercer learn` reads them."""
        target, missing = self.task.target, self.task.missing
        if target not in self.table.frame.columns:
            return Target(np.full(len(self), None, dtype=object), ())
        found = read_target(self.table, target, missing=missing, advise=False)
        return found._replace(labels=names_of(found.labels))

    def show(self, row: int) -> dict[str, Any]:
        """Return what the page needs to show a row; all values are plain text."""
        return {
            "row": row,
            "id": self.ids[row],
            "cells": self.cells(row, MOST_TEXT),
            "image": self._has_image(row),
            "texts": self.texts,
            "sounds": sounds_of(self, row),
            "vectors": [
                {"name": name, "length": int(block.shape[1])}
                for name, block in self.table.vectors.items()
                if self.table.image_shape is None
            ],
        }

    def _has_image(self, row: int) -> bool:
        if self.pictures is None:
            return self.has_images
        return source_at(self, row) is not None

    def cells(self, row: int, most: int) -> list[dict[str, Any]]:
        """Return the cells of a row, cut after some characters, with their length."""
        whole = {name: self.cell(row, name) for name in self.columns}
        return [
            {"name": name, "value": value[:most], "length": len(value)}
            for name, value in whole.items()
        ]

    def snippet(self, row: int) -> str:
        """Return a row in one short line."""
        rest = (c for c in self.columns if c not in self.texts and c != "file")
        words = [self.cell(row, c) for c in (*self.texts, *rest)]
        joined = " · ".join(" ".join(w.split()) for w in words if w)
        return joined if len(joined) <= SNIPPET else joined[: SNIPPET - 1] + "…"

    def cell(self, row: int, column: str) -> str:
        """Return a cell as text."""
        return _text(self.table.frame[column].iloc[row])

    def image(self, row: int, side: int = IMAGE_SIDE) -> bytes:
        """Return the picture of a row as PNG, drawn again from its pixels.

        Files are shown with at most `side` pixels along their longer side; what cannot
        be read is one white pixel.
        """
        from PIL import Image

        if not self.has_images:
            msg = f"{self.table.source} has no images."
            raise TableError(msg)
        source = source_at(self, row)
        picture = None if source is None else opened(source, side)
        if picture is None:
            pixels = self.table.picture(row)
            pixels = np.ones((1, 1, 1)) if pixels is None else pixels
            shown = (255 * pixels).astype(np.uint8)
            picture = Image.fromarray(shown[..., 0] if shown.shape[2] == 1 else shown)
        out = io.BytesIO()
        # A person waits: a fifth of the time, and photographs grow by a sixth.
        picture.save(out, "PNG", compress_level=1)
        return out.getvalue()

    def search(self, words: str) -> NDArray[Any]:
        """Return which rows hold some text in any column, (n,).

        While a person types, only the rows found so far are looked at again.
        """
        if self._texts is None:  # a person who searches once does so again
            columns = [_all_texts(self.table.frame[c]) for c in self.columns]
            lines = zip(self.ids, *columns, strict=True)
            self._texts = ["\n".join(cells).casefold() for cells in lines]
        texts, wanted = self._texts, words.casefold()
        before, found = self._searched
        if before not in wanted:
            found = np.ones(len(self), dtype=bool)
        rows = np.flatnonzero(found)
        now = np.zeros(len(self), dtype=bool)
        now[rows[[wanted in texts[row] for row in rows]]] = True
        self._searched = wanted, now
        return now


def changes(items: Items, ledger: Ledger) -> list[str]:
    """Say which answered rows the table no longer has, or has with other values."""
    gone, other = 0, 0
    for item, answers in ledger.answers.items():
        row = items.row_of.get(item)
        if row is None:
            gone += 1
        elif {e.digest for e in answers.values()} != {items.digests[row]}:
            other += 1
    left = counted(gone, "answered row is", "answered rows are")
    new = counted(other, "answered row has", "answered rows have")
    said = (
        (gone, f"{left} no longer in the table; their labels stay in the store."),
        (other, f"{new} changed since the answer; the label was matched by id."),
    )
    return [sentence for n, sentence in said if n]


def _stamp(source: str) -> tuple[int, int] | None:
    """Return size and time of a file; None if it is not a file."""
    try:
        found = os.stat(source)
    except (OSError, ValueError):
        return None
    return (found.st_size, found.st_mtime_ns) if S_ISREG(found.st_mode) else None


def names_of(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels as the page shows them, None where there is none.

    Examples
    --------
    >>> names_of([2.0, "cat ", None, -1])
    array(['2', 'cat', None, None], dtype=object)
    """
    cells = np.array([*labels], dtype=object)
    names = np.array([as_name(value).strip() for value in cells], dtype=object)
    names[~is_labeled(cells) | (names == "")] = None
    return names


def _text(value: Any) -> str:
    if is_empty(value):
        return ""
    if isinstance(value, float | np.floating):
        return str(value).removesuffix(".0")
    return str(value)


def _all_texts(column: Any) -> list[str]:
    """Return the cells of a column as texts; whole numbers and such without a look."""
    if column.dtype.kind in "iufb" and not column.hasnans:
        return [*map(str, column.tolist())]
    return [_text(value) for value in column]


def _digests(table: Table) -> list[str]:
    """Return a fingerprint of the content of every row."""
    codes = [hash_pandas_object(table.frame, index=False).to_numpy()]
    for block in table.vectors.values():
        lines = np.ascontiguousarray(block).view(np.uint8).reshape(len(table), -1)
        codes.append(
            np.array(
                [
                    int.from_bytes(
                        hashlib.blake2b(line.tobytes(), digest_size=8).digest()
                    )
                    for line in lines
                ],
                dtype=np.uint64,
            )
        )
    return ["".join(f"{int(c[row]):016x}" for c in codes) for row in range(len(table))]


def _first_alike(content: Sequence[str]) -> IntArray:
    """Return the first row that is equal to each row.

    Examples
    --------
    >>> _first_alike(["a", "b", "a"])
    array([0, 1, 0])
    """
    _, first, which = np.unique(content, return_index=True, return_inverse=True)
    return np.asarray(first[which])


def _numbered(digests: Sequence[str]) -> list[str]:
    """Tell equal rows apart by their order.

    Examples
    --------
    >>> _numbered(["a", "b", "a"])
    ['a', 'b', 'a#2']
    """
    every = pd.Series(digests, dtype=object)
    before = every.groupby(every).cumcount()
    return [f"{d}#{n + 1}" if n else d for d, n in zip(digests, before, strict=True)]
