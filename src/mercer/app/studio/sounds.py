"""Columns that name sound files, and the files."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

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
    """Return the columns whose first values all name sound files."""
    found = []
    for column in items.table.frame.columns:
        cells = (items.cell(row, column) for row in range(len(items)))
        some = list(itertools.islice(filter(None, cells), _LOOKED_AT))
        if some and all(kind_of(value) for value in some):
            found.append(str(column))
    return found


def sound_file(items: "Items", row: int, column: str) -> Path | None:
    """Return the file that a cell names, if it lies in the folder of the table."""
    source = Path(items.table.source)
    if column not in items.sounds or not source.exists():
        return None
    root = (source if source.is_dir() else source.parent).resolve()
    name = items.cell(row, column)
    try:
        path = (root / name).resolve()
    except (OSError, ValueError):
        return None
    is_inside = path.is_relative_to(root) and kind_of(path.name) is not None
    return path if is_inside and path.is_file() else None
