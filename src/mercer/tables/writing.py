"""Write files so that they appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Spreadsheets run cells that start so; the apostrophe in front makes them text.
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


@contextmanager
def all_or_nothing(folder: Path) -> Iterator[Path]:
    """Give a hidden folder to write to; its files move to `folder` at the end.

    After an error or an interrupt nothing is left, and files that were in `folder`
    before are as they were.

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
    part = Path(tempfile.mkdtemp(prefix=".mercer-", dir=folder))
    try:
        yield part
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


def write_csv(frame: "pd.DataFrame", path: Path) -> None:
    """Write a frame as CSV whose cells no spreadsheet runs as formulas.

    Text that starts with ``= + - @ '``, a tab or a line break gets an apostrophe in
    front, unless it is a number; taking one leading apostrophe away gives every cell
    back.
    """
    import pyarrow as pa
    from pyarrow import csv

    safe = frame.rename(columns=safe_cell)
    for name in safe.columns:
        if safe[name].dtype == object or str(safe[name].dtype) in {"str", "string"}:
            safe[name] = [safe_cell(value) for value in safe[name]]
    csv.write_csv(pa.Table.from_pandas(safe, preserve_index=False), path)


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


def write_frame(frame: "pd.DataFrame", path: Path) -> None:
    """Write a frame as CSV or Parquet, by the ending of the path."""
    if path.suffix.lower() in {".parquet", ".pq"}:
        frame.to_parquet(path, index=False)
    else:
        write_csv(frame, path)
