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
        if path.suffix.lower() in (".rda", ".rdata"):
            return _convert(path.read_bytes())[name]
    index = _convert((folder / "Rdata.rdx").read_bytes())
    start, length = (int(v) for v in index["variables"][name])
    with (folder / "Rdata.rdb").open("rb") as file:
        file.seek(start)
        return _convert(_unpacked(file.read(length)))


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


def _convert(data: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = rdata.parser.parse_data(data)
        return rdata.conversion.convert(parsed, default_encoding="latin-1")


def as_frame(found: Any) -> pd.DataFrame:
    """Return a data frame, whatever kind of table the object is."""
    if isinstance(found, pd.DataFrame):
        return found.reset_index(drop=True)
    values = np.asarray(getattr(found, "values", found))
    return pd.DataFrame(values, columns=[f"v{j}" for j in range(values.shape[1])])
