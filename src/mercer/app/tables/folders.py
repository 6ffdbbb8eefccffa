"""Folders of images, of texts and of recordings as tables, one row per file."""

import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.typing import FloatArray
from mercer._base.words import counted, reason, some
from mercer.app.tables.budget import Budget, TooLargeError
from mercer.app.tables.recordings import SOUNDS, loudness, read_recording
from mercer.app.tables.table import Table, TableError

IMAGES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".pgm"}
TEXTS = {".txt", ".md", ".rst", ".text"}
# Others than the endings say are not opened: Pillow runs programs for some.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
KINDS = {"image": IMAGES, "text": TEXTS, "recording": SOUNDS}
LABELS_FILE = "labels.csv"
# Files of another kind are left out if they are at most this share of the others: a
# README beside the images.
_FEW = 0.1
UNLABELED_FOLDERS = {"unlabelled", "unlabeled", "unknown"}
# Images of one size up to this are kept as they are; others become SCALED x SCALED.
_KEPT, _SCALED = 64, 32


def read_folder(
    path: Path,
    *,
    image_shape: tuple[int, int, int] | None = None,
    memory: float = math.inf,
) -> Table:
    """Read every image, every text, or every recording under a folder.

    The column "file" has the path within the folder and "label" the name of the
    subfolder a file lies in, if any; "unlabelled" is not a label.

    Images are brought to `image_shape`: height, width and colours (1 or 3). By default
    images of one size up to 64 x 64 keep it, and others become 32 x 32.
    """
    found = sorted(f for f in path.rglob("*") if f.is_file())
    # A link may lead to any file of this machine: what it shows is not of the folder.
    root = path.resolve()
    files = [f for f in found if f.resolve().is_relative_to(root)]
    n_links = len(found) - len(files)
    files = [f for f in files if _is_text(f)]
    n_unnamed = len(found) - n_links - len(files)
    kinds = {
        name: [f for f in files if f.suffix.lower() in endings]
        for name, endings in KINDS.items()
    }
    kind, chosen, aside = _one_kind(kinds, path)
    budget = Budget(str(path), memory)
    chosen, contents, notes = _readable(chosen, path, budget)
    if aside:
        names = some((f.relative_to(path).as_posix() for f in aside), 3)
        notes = (*notes, f"Left out, as most files are of another kind: {names}.")
    if n_links:
        links = counted(n_links, "link")
        notes = (*notes, f"{links} to files outside {path} left out.")
    if n_unnamed:
        left = counted(n_unnamed, "file")
        notes = (*notes, f"{left} left out: the name is not UTF-8.")
    frame = pd.DataFrame(
        {
            "file": [f.relative_to(path).as_posix() for f in chosen],
            "label": [_label_of(f, path) for f in chosen],
        }
    )
    if kind == "text":
        frame["text"] = contents
        return Table(frame, source=str(path), notes=notes)
    names = frame["file"].to_numpy(dtype=object)
    if kind == "recording":
        blocks, sounds = {"sound": np.array(contents)}, {"sound": names}
        return Table(frame, blocks, str(path), notes=notes, images=sounds)
    pixels, shape = _pixels(contents, image_shape, budget)
    return Table(
        frame, {"image": pixels}, str(path), shape, notes, images={"image": names}
    )


def _is_text(file: Path) -> bool:
    """Tell whether a name can be written; those of other systems may be any bytes."""
    try:
        str(file).encode()
    except UnicodeEncodeError:
        return False
    return True


def _one_kind(
    kinds: dict[str, list[Path]], path: Path
) -> tuple[str, list[Path], list[Path]]:
    """Return the kind that most files are of, these, and the few others."""
    kind, many = max(kinds.items(), key=lambda item: len(item[1]))
    few = [file for name, files in kinds.items() for file in files if name != kind]
    if not many:
        endings = ", ".join(sorted(IMAGES | TEXTS | SOUNDS))
        msg = f"{path} holds neither images, texts nor recordings ({endings})."
        raise TableError(msg)
    if len(few) == len(many) or len(few) > max(1, _FEW * len(many)):
        held = [counted(len(files), name) for name, files in kinds.items() if files]
        msg = (
            f"{path} holds {', '.join(held[:-1])} and {held[-1]}; a folder must hold "
            "one kind only."
        )
        raise TableError(msg)
    return kind, many, few


def _readable(
    files: Sequence[Path], root: Path, budget: Budget
) -> tuple[list[Path], list[Any], tuple[str, ...]]:
    """Return the files that can be read, what they hold, and a note about others."""
    kind = next(k for k, ends in KINDS.items() if files[0].suffix.lower() in ends)
    read = _READERS[kind]
    chosen, contents, broken = [], [], []
    for file in files:
        try:
            contents.append(read(file, budget))
            chosen.append(file)
        except TooLargeError:
            raise
        except TableError as error:
            broken.append((file, error))
    if not broken:
        return chosen, contents, ()
    if not chosen:
        raise broken[0][1]
    names = [f"{f.relative_to(root).as_posix()} ({_why(e)})" for f, e in broken]
    were = "was" if len(broken) == 1 else "were"
    note = f"{counted(len(broken), 'file')} could not be read and {were} left out: "
    return chosen, contents, (f"{note}{some(names, 3)}.",)


def _why(error: TableError) -> str:
    cause = error.__cause__
    is_text = isinstance(cause, UnicodeDecodeError)
    return "not UTF-8; save it as UTF-8" if is_text else str(cause)


def _label_of(file: Path, root: Path) -> str | None:
    parent = file.parent.relative_to(root).as_posix()
    return None if parent == "." or parent.lower() in UNLABELED_FOLDERS else parent


def _read_text(file: Path, budget: Budget) -> str:
    try:
        budget.hold(3 * file.stat().st_size)
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        msg = f"{file} is not UTF-8 (byte {error.start + 1}); save it as UTF-8."
        raise TableError(msg) from error
    except FileNotFoundError as error:
        msg = f"{file} disappeared while the folder was read."
        raise TableError(msg) from error


def _listen(file: Path, budget: Budget) -> FloatArray:
    return loudness(read_recording(file, budget))


def _pixels(
    opened: Sequence[Any], shape: tuple[int, int, int] | None, budget: Budget
) -> tuple[NDArray[Any], tuple[int, int, int]]:
    if shape is None:
        colours = 1 if all(image.mode in {"1", "L", "LA"} for image in opened) else 3
        sizes = {image.size for image in opened}
        width, height = next(iter(sizes))
        if len(sizes) > 1 or max(width, height) > _KEPT:
            width = height = _SCALED
        shape = (height, width, colours)
    # As points they are copied once.
    budget.hold(8.0 * len(opened) * float(np.prod(shape)))
    pixels = np.empty((len(opened), int(np.prod(shape))), dtype=np.float32)
    for k, image in enumerate(opened):
        image = image.convert("L" if shape[2] == 1 else "RGB")
        if image.size != (shape[1], shape[0]):
            image = image.resize((shape[1], shape[0]))
        pixels[k] = np.asarray(image, dtype=np.float32).ravel() / 255
    return pixels, shape


def open_image(source: Any) -> Any:
    """Return an image of Pillow, from a path or a stream, without its pixels."""
    from PIL import Image

    with warnings.catch_warnings():
        # Who reads the pixels counts them against the memory that may be used.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(source, formats=FORMATS)


def _open(file: Path, budget: Budget) -> Any:
    """Return an image of at most 256 pixels a side, which is all that is kept."""
    from PIL import Image

    try:
        with open_image(file) as image:
            is_large = max(image.size) > 4 * _KEPT
            if is_large:
                image.draft("RGB", (4 * _KEPT, 4 * _KEPT))
            width, height = image.size
            budget.check(8.0 * width * height)
            if is_large:
                image.thumbnail((4 * _KEPT, 4 * _KEPT))
            image.load()
            budget.hold(4.0 * image.size[0] * image.size[1])
            return image.copy()
    except FileNotFoundError as error:
        msg = f"{file} disappeared while the folder was read."
        raise TableError(msg) from error
    except TooLargeError:
        raise
    except (OSError, ValueError, Image.DecompressionBombError, SyntaxError) as error:
        msg = f"{file} cannot be read as an image: {reason(error)}."
        raise TableError(msg) from error


_READERS: dict[str, Callable[[Path, Budget], Any]] = {
    "image": _open,
    "text": _read_text,
    "recording": _listen,
}
