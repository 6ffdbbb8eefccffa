"""Cells of a table that name a file, or hold its bytes: images and recordings."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.words import reason
from mercer.app.embedding.computing import Items, key_of
from mercer.app.tables.table import Table, TableError

# With at least this share of cells that are files, a column is one of files.
_MOST = 0.9


def file_items(
    table: Table, cells: Sequence[Any], opened: Callable[[Any], Any]
) -> Items:
    """Return what is in the files of a column; those that are not there are broken.

    Cells are paths, bytes, records with the fields "bytes" and "path", arrays of pixels
    in [0, 1], or nothing. Paths are relative to the folder of the table's file, and
    lead nowhere else. `opened` makes of them what a model takes.
    """
    folder = folder_of(table)
    sources = [_source(cell, folder, table.source) for cell in cells]
    keys: list[bytes | None] = []
    broken: dict[int, str] = {}
    for k, source in enumerate(sources):
        try:
            keys.append(None if source is None else _key(source))
        except OSError as error:
            keys.append(None)
            broken[k] = f"{cells[k]}: {error.strerror or reason(error)}"
    return Items(keys, lambda k: opened(sources[k]), [1] * len(keys), broken)


def folder_of(table: Table) -> Path:
    """Return the folder that paths in a table are relative to."""
    source = Path(table.source)
    if source.is_dir():
        return source
    # The table may be many files, of which the source is the pattern.
    return source.parent if source.parent.is_dir() else Path()


def is_nothing(cell: Any) -> bool:
    """Tell whether a cell is empty."""
    return cell is None or isinstance(cell, float) or (cell is not cell) or cell == ""


def most_are(cells: Sequence[Any], is_file: Callable[[Any], bool]) -> bool:
    """Tell whether the filled cells are files, but for some that are broken.

    One odd path must not turn a column of images into texts.
    """
    filled = [cell for cell in cells[:1000] if not is_nothing(cell)]
    return bool(filled) and sum(map(is_file, filled)) >= _MOST * len(filled)


def _source(cell: Any, folder: Path, source: str) -> Any:
    """Return bytes, an array, the path of a file, or None."""
    if isinstance(cell, np.ndarray):
        return cell
    if isinstance(cell, dict):
        cell = cell.get("bytes") or cell.get("path")
    if is_nothing(cell):
        return None
    if isinstance(cell, bytes):
        return cell
    given = str(cell).strip()
    if "://" in given:
        msg = (
            f"{source}: {given!r} is an address; Mercer fetches nothing. Download the "
            "files into a folder, and give their paths relative to the table."
        )
        raise TableError(msg)
    path = (folder / given).resolve()
    if not path.is_relative_to(folder.resolve()):
        msg = (
            f"{source}: the file {given!r} lies outside of the folder of the table, "
            f"{folder.resolve()}. Move the table or the files, so that all paths lead "
            "into that folder."
        )
        raise TableError(msg)
    return path


def _key(source: Any) -> bytes:
    if isinstance(source, bytes):
        return key_of(source)
    if isinstance(source, np.ndarray):
        return key_of(f"{source.shape}{source.dtype}".encode() + source.tobytes())
    with source.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
