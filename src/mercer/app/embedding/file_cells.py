"""Cells of a table that name a file, or hold its bytes: images and recordings."""

import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.words import reason
from mercer.app.embedding.computing import Items, UnreadableError, key_of
from mercer.app.tables.byte_forms import is_image, is_sound, said_of
from mercer.app.tables.folders import IMAGES, open_image
from mercer.app.tables.recordings import SOUNDS, Recording, read_recording
from mercer.app.tables.table import Table, TableError

# With at least this share of cells that are files, a column is one of files.
_MOST = 0.9
# Models look at some 224 pixels a side; more than this is read at a reduced size.
_SIDE = 1024


def file_items(
    table: Table, cells: Sequence[Any], opened: Callable[[Any], Any]
) -> Items:
    """Return what is in the files of a column; those that are not there are broken.

    Cells are paths, bytes, records with the fields "bytes" and "path", arrays of pixels
    in [0, 1], or nothing. Paths are relative to the folder of the table's file, and
    lead nowhere else. `opened` makes of them what a model takes.
    """
    folder = folder_of(table)
    sources = [source_of(cell, folder, table.source) for cell in cells]
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
    """Tell whether a cell is empty; numbers name no file, and NaN is one."""
    if isinstance(cell, str):
        return cell == ""
    return cell is None or cell is pd.NA or isinstance(cell, float)


def holds_images(cells: Sequence[Any]) -> bool:
    """Tell whether most cells are paths or bytes of images, or records of them.

    Examples
    --------
    >>> holds_images(["a/1.JPG", None, "b.png"]), holds_images(["see photo.png", "no"])
    (True, False)
    """
    return _most_are(cells, is_image, IMAGES)


def holds_sounds(cells: Sequence[Any]) -> bool:
    """Tell whether most cells are paths or bytes of recordings, or records of them.

    Examples
    --------
    >>> holds_sounds(["a/1.WAV", None, "b.mp3"]), holds_sounds(["a.png", "b.wav"])
    (True, False)
    """
    return _most_are(cells, is_sound, SOUNDS)


def _most_are(
    cells: Sequence[Any], is_one: Callable[[bytes], bool], endings: set[str]
) -> bool:
    """Tell whether the filled cells are files, but for some that are broken.

    One odd path must not turn a column of images into texts.
    """
    held = [_of_record(cell) for cell in cells[:1000] if not is_nothing(cell)]
    n_files = sum(
        is_one(cell)
        if isinstance(cell, bytes)
        else isinstance(cell, str) and Path(cell.strip()).suffix.lower() in endings
        for cell in held
    )
    return bool(held) and n_files >= _MOST * len(held)


def _of_record(cell: Any) -> Any:
    """Return the bytes or the path of a record, as of Hugging Face; else the cell."""
    return cell.get("bytes") or cell.get("path") if isinstance(cell, dict) else cell


def source_of(cell: Any, folder: Path, source: str) -> Any:
    """Return bytes, an array, the path of a file, or None.

    Raises unless the path leads into the folder; messages call the table `source`.
    """
    if isinstance(cell, np.ndarray):
        return cell
    cell = _of_record(cell)
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
    try:
        path = (folder / given).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        msg = f"{source}: {given!r} is not a path: {reason(error)}."
        raise TableError(msg) from error
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


def opened_image(source: Any, side: int = _SIDE) -> Any:
    """Return an image of Pillow in colours, as a person would see it.

    The longer side of a file has at most `side` pixels.
    """
    from PIL import Image, ImageOps

    if isinstance(source, np.ndarray):
        pixels = np.round(np.asarray(source) * 255).astype(np.uint8)
        return Image.fromarray(pixels.squeeze()).convert("RGB")
    try:
        stream = io.BytesIO(source) if isinstance(source, bytes) else source
        with open_image(stream) as image:
            if max(image.size) > side:
                image.draft("RGB", (side, side))
                image.thumbnail((side, side))
            return ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        if isinstance(source, bytes):  # Pillow would name the stream
            msg = f"{said_of(source)}, which cannot be read as an image"
        else:
            msg = f"{source} cannot be read as an image: {reason(error)}"
        raise UnreadableError(msg) from error


def opened_sound(source: Any) -> Recording:
    """Return a recording that a file, or bytes, hold."""
    try:
        return read_recording(source)
    except TableError as error:
        raise UnreadableError(str(error)) from error
