"""Sheets of workbooks: Excel and OpenDocument."""

import io
import subprocess
import sys
import zipfile
from dataclasses import replace

import pandas as pd

from mercer._base.extras import require
from mercer.app.tables.budget import Budget
from mercer.app.tables.sources import Source
from mercer.app.tables.table import Table, TableError, as_table, refusing

# Reads a sheet with its memory bounded, in a process of its own: one that needs more
# is ended by the operating system, whatever the file claims of its size.
_TRIAL = """
import io, resource, sys
import python_calamine
data = io.BytesIO(sys.stdin.buffer.read())
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
book = python_calamine.load_workbook(data)
name = sys.argv[2] or book.sheet_names[0]
if name in book.sheet_names:
    book.get_sheet_by_name(name).to_python()
"""


def read_excel(source: Source, *, sheet: str | None) -> Table:
    """Read a sheet of a workbook (Excel, OpenDocument), by default the first."""
    require("python_calamine", extra="tables", purpose="Reading a workbook")
    data = bytes(source.data)
    # Calamine has one class for all that goes wrong.
    with refusing(f"{source.name} cannot be read as a workbook", Exception):
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            # A cell takes some ten bytes in the file and fifty as an object.
            source.refuse_if_large(5.0 * size, "unpacked it is large")
        _try(data, sheet, Budget(source.name, source.limit))
        with pd.ExcelFile(io.BytesIO(data), engine="calamine") as book:
            names = [str(name) for name in book.sheet_names]
            if sheet is not None and sheet not in names:
                shown = ", ".join(map(repr, names))
                msg = f"{source.name} has no sheet {sheet!r}; its sheets are {shown}."
                raise TableError(msg)
            # As objects: a cell of text that says 007 stays text.
            frame = pd.read_excel(book, sheet_name=sheet or names[0], dtype=object)
            frame = frame.infer_objects()
    notes = []
    if sheet is None and len(names) > 1:
        rest = ", ".join(map(repr, names[1:6]))
        notes.append(f"Sheet {names[0]!r} was read; for {rest} pass --sheet.")
    return replace(as_table(frame, source.name), notes=tuple(notes))


def _try(data: bytes, sheet: str | None, budget: Budget) -> None:
    """Raise if a sheet cannot be read within the memory that may be used."""
    if not sys.platform.startswith("linux") or not sys.executable:
        return
    most = int(min(budget.limit, 2**62))
    command = [sys.executable, "-P", "-c", _TRIAL, str(most), sheet or ""]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    # An error of Rust's allocator aborts; Python's is a MemoryError.
    if done.returncode < 0 or b"MemoryError" in done.stderr:
        raise budget.refusal()
