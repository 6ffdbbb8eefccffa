"""Recordings as people keep them in tables: paths, bytes, and records of either."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mercer.app.embedding.computing import UnreadableError
from mercer.app.embedding.file_cells import most_are
from mercer.app.tables.recordings import (
    SOUNDS,
    Recording,
    is_recording,
    read_recording,
)
from mercer.app.tables.table import TableError


def holds_sounds(cells: Sequence[Any]) -> bool:
    """Tell whether most cells are paths or bytes of recordings, or records of them.

    Examples
    --------
    >>> holds_sounds(["a/1.WAV", None, "b.mp3"]), holds_sounds(["a.png", "b.wav"])
    (True, False)
    """
    return most_are(cells, _is_sound)


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
