"""Images as people keep them in tables: paths, bytes, and records that hold either."""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.words import reason
from mercer.app.embedding.computing import Items, UnreadableError, key_of
from mercer.app.tables.folders import IMAGES
from mercer.app.tables.table import Table, TableError

# Models look at some 224 pixels a side; more than this is read at a reduced size.
_SIDE = 1024


def holds_images(cells: Sequence[Any]) -> bool:
    """Tell whether cells are paths of images, the bytes of images, or records of them.

    Examples
    --------
    >>> holds_images(["a/1.JPG", None, "b.png"]), holds_images(["see photo.png", "no"])
    (True, False)
    """
    filled = [cell for cell in cells[:1000] if not _is_nothing(cell)]
    return bool(filled) and all(_is_image(cell) for cell in filled)


def image_items(table: Table, cells: Sequence[Any]) -> Items:
    """Return images of a column; those that cannot be found are broken.

    Parameters
    ----------
    table : Table
        Paths are relative to the folder of its file, and lead nowhere else.
    cells : sequence
        Paths, bytes, records with the fields "bytes" and "path", arrays of pixels in
        [0, 1], or nothing.
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
    return Items(keys, lambda k: _opened(sources[k]), [1] * len(keys), broken)


def folder_of(table: Table) -> Path:
    """Return the folder that paths in a table are relative to."""
    source = Path(table.source)
    if source.is_dir():
        return source
    # The table may be many files, of which the source is the pattern.
    return source.parent if source.parent.is_dir() else Path()


def _is_nothing(cell: Any) -> bool:
    return cell is None or isinstance(cell, float) or (cell is not cell) or cell == ""


def _is_image(cell: Any) -> bool:
    if isinstance(cell, dict):
        return bool(cell.get("bytes") or cell.get("path"))
    if isinstance(cell, bytes):
        return True
    return isinstance(cell, str) and Path(cell.strip()).suffix.lower() in IMAGES


def _source(cell: Any, folder: Path, source: str) -> Any:
    """Return bytes, an array, the path of a file, or None."""
    if isinstance(cell, np.ndarray):
        return cell
    if isinstance(cell, dict):
        cell = cell.get("bytes") or cell.get("path")
    if _is_nothing(cell):
        return None
    if isinstance(cell, bytes):
        return cell
    given = str(cell).strip()
    if "://" in given:
        msg = (
            f"{source}: {given!r} is an address; Mercer fetches nothing. Download the "
            "images into a folder, and give their paths relative to the table."
        )
        raise TableError(msg)
    path = (folder / given).resolve()
    if not path.is_relative_to(folder.resolve()):
        msg = (
            f"{source}: the image {given!r} lies outside of the folder of the table, "
            f"{folder.resolve()}. Move the table or the images, so that all paths lead "
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


def _opened(source: Any) -> Any:
    """Return an image of Pillow in colours, as a person would see it."""
    from PIL import Image, ImageOps

    if isinstance(source, np.ndarray):
        pixels = np.round(np.asarray(source) * 255).astype(np.uint8)
        return Image.fromarray(pixels.squeeze()).convert("RGB")
    try:
        with Image.open(
            io.BytesIO(source) if isinstance(source, bytes) else source
        ) as image:
            if max(image.size) > _SIDE:
                image.draft("RGB", (_SIDE, _SIDE))
                image.thumbnail((_SIDE, _SIDE))
            return ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        what = "its bytes" if isinstance(source, bytes) else str(source)
        msg = f"{what} cannot be read as an image: {reason(error)}"
        raise UnreadableError(msg) from error
