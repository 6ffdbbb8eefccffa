"""Read a data frame from an installed R package: .rda files or a lazy-load database."""

import bz2
import lzma
import pathlib
import struct
import warnings
import zlib
from typing import Any

import numpy as np
import pandas as pd
import rdata

_FILES = (".rda", ".rdata")


def read_object(package: pathlib.Path, name: str) -> Any:
    """Return one object of an unpacked R package as pandas or NumPy sees it.

    Parameters
    ----------
    package : Path
        Folder that holds the unpacked archive.
    name : str
        Name of the object.
    """
    folder = next(package.glob("usr/lib/R/*/*/data"))
    for path in sorted(folder.glob(f"{name}.*")):
        if path.suffix.lower() in _FILES:
            return _convert(path.read_bytes())[name]
    return _convert(_entry(folder, name))


def read_columns(package: pathlib.Path, name: str) -> dict[str, Any]:
    """Return what a file of an R package holds, data frames as their columns.

    A column may be a matrix, and a file may hold several objects.
    """
    folder = next(package.glob("usr/lib/R/*/*/data"))
    files = [p for p in folder.glob(f"{name}.*") if p.suffix.lower() in _FILES]
    found = files[0].read_bytes() if files else _entry(folder, name)
    columns: dict[str, Any] = _convert(found, frames=False)
    return columns


def _entry(folder: pathlib.Path, name: str) -> bytes:
    """Return one object of a lazy-load database, as R writes it."""
    index = _convert((folder / "Rdata.rdx").read_bytes())
    start, length = (int(v) for v in index["variables"][name])
    with (folder / "Rdata.rdb").open("rb") as file:
        file.seek(start)
        return _unpacked(file.read(length))


def _unpacked(chunk: bytes) -> bytes:
    """Undo R's compression of one entry: a length, a letter unless zlib, the data."""
    (size,) = struct.unpack(">I", chunk[:4])
    if chunk[4:5] == b"2":
        return bz2.decompress(chunk[5:])
    if chunk[4:5] == b"Z":
        lzma2 = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        return lzma.decompress(chunk[5:], format=lzma.FORMAT_RAW, filters=lzma2)
    data = zlib.decompress(chunk[4:])
    if len(data) != size:
        msg = f"the entry should hold {size} bytes, got {len(data)}."
        raise ValueError(msg)
    return data


def _convert(data: bytes, *, frames: bool = True) -> Any:
    classes = dict(rdata.conversion.DEFAULT_CLASS_MAP)
    if not frames:
        classes |= {"data.frame": lambda found, _: found, "I": lambda found, _: found}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = rdata.parser.parse_data(data)
        return rdata.conversion.convert(
            parsed, constructor_dict=classes, default_encoding="latin-1"
        )


def as_frame(found: Any) -> pd.DataFrame:
    """Return a data frame, whatever kind of table the object is."""
    if isinstance(found, pd.DataFrame):
        return found.reset_index(drop=True)
    values = np.asarray(getattr(found, "values", found))
    return pd.DataFrame(values, columns=[f"v{j}" for j in range(values.shape[1])])
