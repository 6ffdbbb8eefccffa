"""Recordings as people keep them in tables: paths, bytes, and records of either."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mercer.app.embedding.computing import UnreadableError
from mercer.app.embedding.file_cells import is_nothing
from mercer.app.tables.recordings import (
    SOUNDS,
    Recording,
    is_recording,
    read_recording,
)
from mercer.app.tables.table import TableError


def holds_sounds(cells: Sequence[Any]) -> bool:
    """Tell whether cells are paths of recordings, their bytes, or records of them.

    Examples
    --------
    >>> holds_sounds(["a/1.WAV", None, "b.mp3"]), holds_sounds(["a.png", "b.wav"])
    (True, False)
    """
    filled = [cell for cell in cells[:1000] if not is_nothing(cell)]
    return bool(filled) and all(_is_sound(cell) for cell in filled)


def _is_sound(cell: Any) -> bool:
    if isinstance(cell, dict):
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, bytes):
        return is_recording(cell)
    return isinstance(cell, str) and Path(cell.strip()).suffix.lower() in SOUNDS


def opened_sound(source: Any) -> Recording:
    """Return a recording that a file, or bytes, hold."""
    try:
        return read_recording(source)
    except TableError as error:
        raise UnreadableError(str(error)) from error
