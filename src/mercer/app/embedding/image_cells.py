"""Images as people keep them in tables: paths, bytes, and records that hold either."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.words import reason
from mercer.app.embedding.computing import UnreadableError
from mercer.app.embedding.file_cells import most_are
from mercer.app.tables.folders import IMAGES

# Models look at some 224 pixels a side; more than this is read at a reduced size.
_SIDE = 1024


def holds_images(cells: Sequence[Any]) -> bool:
    """Tell whether most cells are paths or bytes of images, or records of them.

    Examples
    --------
    >>> holds_images(["a/1.JPG", None, "b.png"]), holds_images(["see photo.png", "no"])
    (True, False)
    """
    return most_are(cells, _is_image)


def _is_image(cell: Any) -> bool:
    if isinstance(cell, dict):
        return bool(cell.get("bytes") or cell.get("path"))
    if isinstance(cell, bytes):
        return True
    return isinstance(cell, str) and Path(cell.strip()).suffix.lower() in IMAGES


def opened_image(source: Any) -> Any:
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
