"""Write files so that they appear whole or not at all."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import csv

from mercer._base.checks import is_empty

_PREFIX = ".mercer-"
# Spreadsheets run cells that start so, some of them also with the wide marks of East
# Asia; the apostrophe in front makes them text.
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "'", *"\uff1d\uff0b\uff0d\uff20\ufeff")


@contextmanager
def all_or_nothing(folder: Path) -> Iterator[Path]:
    """Give a hidden folder to write to; its files move to `folder` at the end.

    After an error or an interrupt nothing is left, and files that were in `folder`
    before are as they were. What a run that was killed left behind is cleared. Two
    runs into one folder move their files one after the other, never mixed.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with all_or_nothing(Path(root) / "out") as part:
    ...         _ = (part / "a.txt").write_text("whole")
    ...     (Path(root) / "out" / "a.txt").read_text()
    'whole'
    """
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        # No other run may take the new folder for a leftover before it is locked.
        with locked(folder):
            part = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
            stack.enter_context(locked(part))
            _clear_leftovers(folder)
        held = stack.pop_all()
    try:
        with held:
            yield part
            with locked(folder):
                for file in sorted(part.iterdir()):
                    os.replace(file, folder / file.name)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        for path in made:  # innermost first; a folder that holds something stays
            if any(path.iterdir()):
                break
            path.rmdir()
        raise
    part.rmdir()


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold a folder for this process; give whether that worked.

    The lock goes with the process, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover (Windows has no such locks)
        yield wait
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            is_ours = True
        except BlockingIOError:
            is_ours = False
        yield is_ours
    finally:
        os.close(handle)


def _clear_leftovers(folder: Path) -> None:
    """Remove hidden folders whose process is gone."""
    for old in folder.glob(f"{_PREFIX}*"):
        try:
            with locked(old, wait=False) as is_free:
                if is_free:
                    shutil.rmtree(old, ignore_errors=True)
        except OSError:  # another run was faster
            continue


def check_writable(folder: Path) -> None:
    """Raise, before any work is done, if results could not be written to a folder."""
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "Not a folder", str(there))
    try:
        Path(tempfile.mkdtemp(prefix=_PREFIX, dir=there)).rmdir()
    except OSError as error:  # named after the folder, not after what was tried in it
        said = f"Cannot write there ({error.strerror})"
        raise type(error)(error.errno, said, str(there)) from error


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as CSV whose cells no spreadsheet runs as formulas.

    Text that starts with ``= + - @ '``, a tab or a line break gets an apostrophe in
    front, unless it is a number; taking one leading apostrophe away gives every cell
    back.
    """
    safe = frame.rename(columns=safe_cell)
    for name in safe.columns:
        if safe[name].dtype == object:
            safe[name] = [safe_cell(value) for value in _of_one_kind(safe[name])]
        elif str(safe[name].dtype) in {"str", "string"}:
            safe[name] = _safe_texts(safe[name])
    csv.write_csv(pa.Table.from_pandas(safe, preserve_index=False), path)


def _of_one_kind(column: "pd.Series[Any]") -> Any:
    """Return cells that a file of CSV can hold; mixed ones and records are texts."""
    try:
        kind = pa.array(column, from_pandas=True).type
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        kind = None
    if kind is not None and not (
        pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)
    ):
        return column
    return [None if is_empty(value) else str(value) for value in column]


def _safe_texts(column: "pd.Series[Any]") -> Any:
    """Make a column of texts safe; each of its texts is looked at once."""
    unsafe = {text for text in column.dropna().unique() if safe_cell(text) is not text}
    if not unsafe:
        return column
    return [safe_cell(text) if text in unsafe else text for text in column]


def safe_cell(value: Any) -> Any:
    """Return a cell that spreadsheets show and do not run.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("-5"), safe_cell("plain"), safe_cell(3)
    ("'=1+1", '-5', 'plain', 3)
    """
    if isinstance(value, str) and value.startswith(_RUNS) and not _is_number(value):
        return "'" + value
    return value


def _is_number(text: str) -> bool:
    plain = text.removeprefix("-").replace(".", "", 1)
    return plain.isascii() and plain.isdecimal()


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as CSV or Parquet, by the ending of the path."""
    if path.suffix.lower() in {".parquet", ".pq"}:
        frame.to_parquet(path, index=False)
    else:
        write_csv(frame, path)
