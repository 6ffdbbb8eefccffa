"""Columns that name sound files or hold them, and the files."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from mercer.app.embedding.file_cells import holds_sounds
from mercer.app.studio.pictures import source_in

if TYPE_CHECKING:
    from mercer.app.studio.items import Items

KINDS = {
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".aac": "audio/aac",
    ".webm": "audio/webm",
}
# How recordings begin; MP3 with its marks, or with the first frame.
_STARTS = {
    b"RIFF": "audio/wav",
    b"OggS": "audio/ogg",
    b"fLaC": "audio/flac",
    b"ID3": "audio/mpeg",
    b"\xff": "audio/mpeg",
}
_LOOKED_AT = 20


def kind_of(name: str) -> str | None:
    """Return the media type of a sound file by its name.

    Examples
    --------
    >>> kind_of("birds/wren.WAV"), kind_of("wren.png")
    ('audio/wav', None)
    """
    return KINDS.get(Path(name).suffix.lower())


def sound_columns(items: "Items") -> list[str]:
    """Return the columns whose first values all name sound files, or hold them."""
    found = []
    for column in items.table.frame.columns:
        cells = (items.cell(row, column) for row in range(len(items)))
        some = list(itertools.islice(filter(None, cells), _LOOKED_AT))
        if some and all(kind_of(value) for value in some):
            found.append(str(column))
    held = items.table.images
    # The recordings of a folder are named by the column "file".
    there = [c for c in held if any(isinstance(cell, bytes) for cell in held[c])]
    return found + [c for c in there if holds_sounds(held[c].tolist())]


def sounds_of(items: "Items", row: int) -> list[str]:
    """Return the columns in which a row names or holds a recording."""
    held = items.table.images
    return [
        c for c in items.sounds if (held[c][row] if c in held else items.cell(row, c))
    ]


def sound_at(items: "Items", row: int, column: str) -> tuple[Path | bytes, str] | None:
    """Return the file that a cell names, or what it holds, and the media type.

    None where it names no sound file in the folder of the table.
    """
    found = source_in(items.table, row, column) if column in items.sounds else None
    if found is None:
        return None
    if isinstance(found, bytes):
        kind = next((k for start, k in _STARTS.items() if found.startswith(start)), "")
    else:
        kind = kind_of(found.name) or ""
    return (found, kind) if kind else None
