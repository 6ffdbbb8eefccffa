"""Pictures in files, and those that cells of a table name or hold."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer.app.embedding.file_cells import (
    folder_of,
    holds_images,
    holds_sounds,
    source_of,
)
from mercer.app.tables.folders import open_image
from mercer.app.tables.table import Table, TableError

if TYPE_CHECKING:
    from mercer.app.studio.items import Items


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
    from PIL import Image, ImageOps

    try:
        given = io.BytesIO(source) if isinstance(source, bytes) else source
        with open_image(given) as image:
            image.thumbnail((side, side))
            return ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
