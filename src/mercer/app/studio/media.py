"""Pictures and recordings in files that cells of a table name, or in the cells."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer.app.embedding.computing import UnreadableError
from mercer.app.embedding.file_cells import (
    folder_of,
    holds_images,
    holds_sounds,
    opened_image,
    source_of,
)
from mercer.app.tables.byte_forms import form_of, is_sound
from mercer.app.tables.table import Table, TableError

if TYPE_CHECKING:
    from mercer.app.studio.items import Items

# Recordings that browsers play.
SOUNDS = {
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


def picture_column(table: Table) -> str | None:
    """Return the first column of paths or bytes of images, if there is one.

    Where a table has pixels, these are its pictures.
    """
    if table.image_shape is not None:
        return None
    held = {**{c: table.frame[c] for c in table.frame.columns}, **table.images}
    for column, cells in held.items():
        if holds_images(some := cells.tolist()) and not holds_sounds(some):
            return str(column)
    return None


def source_at(items: "Items", row: int) -> Path | bytes | None:
    """Return the file or the bytes of the picture of a row, if it has one."""
    table, name = items.table, items.pictures
    if name is not None:
        return source_in(table, row, name)
    root = Path(table.source)
    is_folder = "file" in table.frame.columns and root.is_dir()
    return root / str(table.frame["file"].iloc[row]) if is_folder else None


def source_in(table: Table, row: int, column: str) -> Path | bytes | None:
    """Return the file that a cell names, or the bytes that it holds.

    None where it does neither, or names a file that is not in the folder of the table.
    """
    held = table.images if column in table.images else table.frame
    try:
        source: Any = source_of(held[column][row], folder_of(table), table.source)
        is_there = isinstance(source, bytes) or (
            source is not None and source.is_file()
        )
    except (TableError, OSError, ValueError):
        return None
    return source if is_there else None


def opened(source: Path | bytes, side: int) -> Any:
    """Return a picture as a person would see it, at most `side` pixels a side.

    None if it cannot be read.
    """
    try:
        return opened_image(source, side)
    except UnreadableError:
        return None


def kind_of(name: str) -> str | None:
    """Return the media type of a sound file by its name.

    Examples
    --------
    >>> kind_of("birds/wren.WAV"), kind_of("wren.png")
    ('audio/wav', None)
    """
    return SOUNDS.get(Path(name).suffix.lower())


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
        kind = form_of(found) if is_sound(found) else ""
    else:
        kind = kind_of(found.name) or ""
    return (found, kind) if kind else None
