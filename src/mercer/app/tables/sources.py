"""The bytes of a file: plain, compressed, or from standard input; never too many."""

import lzma
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

from mercer._base.words import in_bytes
from mercer.app.tables.table import TableError, refusing

STANDARD_INPUT = "-"
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd"}
_CHUNK = 1 << 20
# What files of a kind start with; standard input has no name to tell.
_STARTS = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".feather"),
    (b"\x1f\x8b", ".gz"),
    (b"BZh", ".bz2"),
    (b"\xfd7zXZ", ".xz"),
    (b"\x28\xb5\x2f\xfd", ".zst"),
    (b"{", ".jsonl"),
)


@dataclass(frozen=True, eq=False)
class Source:
    """What a reader needs: bytes, a name for messages, and the kind by its ending."""

    name: str
    data: Any  # pyarrow.Buffer
    ending: str  # in lower case, ".csv"
    limit: float  # bytes of memory that may be used

    def refuse_if_large(self, needed: float, why: str) -> None:
        """Raise if reading would need more memory than allowed."""
        if needed > self.limit:
            msg = (
                f"{self.name}: {why}; reading it needs about {in_bytes(needed)} of "
                f"memory, and {in_bytes(self.limit)} may be used. Raise --memory, "
                "or take fewer rows or columns."
            )
            raise TableError(msg)


def open_source(path: Path, limit: float) -> Source:
    """Return the bytes of a file, unpacked if its name says that it is packed.

    The path ``-`` is standard input. Unpacking stops at `limit` bytes.
    """
    if str(path) == STANDARD_INPUT:
        # Read in pieces: what does not fit is refused before it is all here.
        data = _bounded(sys.stdin.buffer.read, limit, "standard input")
        source = _filled(Source("standard input", data, _kind_of(data), limit))
        return _unpacked(source, inner="") if source.ending in COMPRESSED else source
    if not path.exists():
        msg = f"there is no file {path}."
        raise TableError(msg)
    if not path.is_file():
        msg = f"{path} is neither a file nor a folder."
        raise TableError(msg)
    source = Source(str(path), None, path.suffix.lower(), limit)
    source.refuse_if_large(2.0 * path.stat().st_size, "the file is too large")
    with pa.OSFile(str(path)) as file:
        source = _filled(replace(source, data=file.read_buffer()))
    if source.ending == ".zip":
        return _from_zip(source)
    if source.ending in COMPRESSED:
        return _unpacked(source, inner=PurePath(path.stem).suffix.lower())
    return source


def _filled(source: Source) -> Source:
    """Return a source, or raise if it has no bytes."""
    if source.data.size == 0:
        msg = f"{source.name} is empty."
        raise TableError(msg)
    return source


def blocks_of(data: Any, size: int = _CHUNK) -> Iterator[bytes]:
    """Yield bytes block by block."""
    view = memoryview(data).cast("B")
    for start in range(0, len(view), size):
        yield bytes(view[start : start + size])


def _bounded(read: Callable[[int], bytes], limit: float, name: str) -> Any:
    """Return all bytes, or raise as soon as they are too many."""
    parts, size = [], 0
    while part := read(_CHUNK):
        parts.append(part)
        size += len(part)
        # Twice: the pieces, and the whole that they are joined to.
        if 2 * size > limit:
            msg = (
                f"{name} holds more than {in_bytes(size)}, unpacked; "
                f"{in_bytes(limit)} of memory may be used. Raise --memory."
            )
            raise TableError(msg)
    return pa.py_buffer(b"".join(parts))


def _unpacked(source: Source, inner: str) -> Source:
    packed = pa.BufferReader(source.data)
    broken = OSError, EOFError, ValueError, MemoryError, lzma.LZMAError
    with refusing(f"{source.name} cannot be unpacked", *broken):
        if source.ending == ".xz":
            with lzma.LZMAFile(packed) as stream:
                data = _bounded(stream.read, source.limit, source.name)
        else:
            with pa.CompressedInputStream(packed, COMPRESSED[source.ending]) as stream:
                data = _bounded(stream.read, source.limit, source.name)
    return _filled(Source(source.name, data, inner or _kind_of(data), source.limit))


def _from_zip(source: Source) -> Source:
    """Return the one table in a zip archive."""
    broken = zipfile.BadZipFile, RuntimeError, NotImplementedError
    with (
        refusing(f"{source.name} cannot be unpacked", *broken),
        zipfile.ZipFile(pa.BufferReader(source.data)) as archive,
    ):
        inside = [
            entry
            for entry in archive.infolist()
            if not entry.is_dir() and not entry.filename.startswith("__MACOSX")
        ]
        if len(inside) != 1:
            msg = (
                f"{source.name} holds {len(inside)} files; a zip archive must hold "
                "one table. Unpack it and name the file."
            )
            raise TableError(msg)
        if inside[0].compress_type not in {
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        }:
            # The others unpack as much at a time as the file wants.
            msg = f"{source.name} is packed in an unusual way; unpack it first."
            raise TableError(msg)
        with archive.open(inside[0]) as stream:
            data = _bounded(stream.read, source.limit, source.name)
    inner = PurePath(inside[0].filename)
    name, ending = f"{source.name}:{inner}", inner.suffix.lower()
    return _filled(Source(name, data, ending, source.limit))


def _kind_of(data: Any) -> str:
    """Return the ending that a file of these bytes would have, by how they start."""
    start = bytes(data[:8]).lstrip()
    if start.startswith(b"PK"):
        return _kind_of_zip(data)
    return next((kind for mark, kind in _STARTS if start.startswith(mark)), ".csv")


def _kind_of_zip(data: Any) -> str:
    """Tell NPZ from a workbook of Excel; both are zip archives."""
    try:
        with zipfile.ZipFile(pa.BufferReader(data)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        names = []  # the reader of workbooks says what is wrong
    return ".npz" if any(n.endswith(".npy") for n in names) else ".xlsx"
