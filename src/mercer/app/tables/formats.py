"""Tables in binary files and in JSON: Parquet, Arrow, NPZ, Excel, JSON lines."""

import io
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._base.extras import require
from mercer._base.words import reason
from mercer.app.tables.sources import Source
from mercer.app.tables.table import Table, TableError, as_table, refuse_repeats

_LINE = 1 << 27  # bytes; no line of JSON may be longer


def read_arrow(source: Source) -> Table:
    """Read Parquet, Feather or Arrow; columns of lists are vectors."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    try:
        if source.ending in {".parquet", ".pq"}:
            file = parquet.ParquetFile(
                pa.BufferReader(source.data), page_checksum_verification=True
            )
            shape = (file.metadata.num_rows, file.metadata.num_columns)
            source.refuse_if_large(
                8.0 * shape[0] * shape[1], f"it has {shape[0]:,} x {shape[1]:,} cells"
            )
            arrow = file.read()
        else:
            arrow = feather.read_table(pa.BufferReader(source.data))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        msg = f"{source.name} cannot be read as {source.ending[1:]}: {reason(error)}."
        raise TableError(msg) from error
    return from_arrow(arrow, source.name)


def from_arrow(arrow: Any, source: str) -> Table:
    """Return a table of Arrow; columns of lists are vectors."""
    try:
        return _checked(arrow, source)
    except TableError:
        raise
    except ValueError as error:  # names or notes that are no text
        msg = f"{source} is damaged: {reason(error)}."
        raise TableError(msg) from error


def _checked(arrow: Any, source: str) -> Table:
    import pyarrow as pa

    refuse_repeats(arrow.column_names, source)
    vectors, unread = {}, {}
    for name in arrow.column_names:
        kind = arrow.schema.field(name).type
        if pa.types.is_nested(kind) and not _is_vector(kind):
            unread[name] = _in_words(kind)
        elif pa.types.is_fixed_size_list(kind) and arrow[name].null_count == 0:
            flat = arrow[name].combine_chunks().flatten()
            vectors[name] = np.asarray(flat).reshape(len(arrow), -1)
    frame = arrow.drop_columns([*vectors, *unread]).to_pandas()
    table = as_table(frame, source)
    return replace(table, vectors={**table.vectors, **vectors}, unread=unread)


def _is_vector(kind: Any) -> bool:
    """Tell whether cells are lists of numbers."""
    import pyarrow as pa

    is_list = (
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
    )
    if not is_list:
        return False
    each = kind.value_type
    return any(
        holds(each)
        for holds in (
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_boolean,
            pa.types.is_decimal,
        )
    )


def _in_words(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return f"records with the fields {', '.join(f.name for f in kind)}"
    if pa.types.is_map(kind):
        return "maps"
    text = pa.types.is_list(kind) and pa.types.is_string(kind.value_type)
    return "lists of texts" if text else f"nested values ({kind})"


def read_npz(source: Source) -> Table:
    """Read arrays with one row per item; shorter arrays are left out."""
    import zipfile

    import pyarrow as pa

    arrays: dict[str, Any] = {}
    try:
        with zipfile.ZipFile(pa.BufferReader(source.data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        source.refuse_if_large(size, "unpacked it is large")
        with np.load(pa.BufferReader(source.data), allow_pickle=False) as loaded:
            for name in loaded.files:
                arrays[name] = loaded[name]
    except (ValueError, zipfile.BadZipFile, EOFError, OSError) as error:
        if isinstance(error, TableError):
            raise
        msg = f"{source.name} cannot be read as NPZ: {reason(error)}."
        raise TableError(msg) from error
    n = max((len(a) for a in arrays.values() if a.ndim), default=0)
    if n == 0:
        msg = f"{source.name} holds no array that has rows."
        raise TableError(msg)
    # Shorter arrays, such as a list of class names, describe the rest.
    rows = {name: a for name, a in arrays.items() if a.ndim and len(a) == n}
    return as_table(rows, source.name)


def read_excel(source: Source, *, sheet: str | None) -> Table:
    """Read a sheet of a workbook (Excel, OpenDocument), by default the first."""
    import zipfile

    import pandas as pd

    require("python_calamine", extra="tables", purpose="Reading a workbook")
    data = bytes(source.data)
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            # A cell takes some ten bytes in the file and fifty as an object.
            source.refuse_if_large(5.0 * size, "unpacked it is large")
        with pd.ExcelFile(io.BytesIO(data), engine="calamine") as book:
            names = [str(name) for name in book.sheet_names]
            if sheet is not None and sheet not in names:
                shown = ", ".join(map(repr, names))
                msg = f"{source.name} has no sheet {sheet!r}; its sheets are {shown}."
                raise TableError(msg)
            # As objects: a cell of text that says 007 stays text.
            frame = pd.read_excel(book, sheet_name=sheet or names[0], dtype=object)
            frame = frame.infer_objects()
    except TableError:
        raise
    except Exception as error:  # calamine has one class for all that goes wrong
        msg = f"{source.name} cannot be read as a workbook: {reason(error)}."
        raise TableError(msg) from error
    notes = []
    if sheet is None and len(names) > 1:
        rest = ", ".join(map(repr, names[1:6]))
        notes.append(f"Sheet {names[0]!r} was read; for {rest} pass --sheet.")
    return replace(as_table(frame, source.name), notes=tuple(notes))


def read_json(source: Source) -> Table:
    """Read JSON lines (one record per line), or one list of records."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import json as arrow_json

    start = bytes(source.data[:64]).lstrip()
    try:
        if start.startswith(b"["):
            source.refuse_if_large(10.0 * source.data.size, "as objects it is large")
            text = io.BytesIO(bytes(source.data))
            frame = pd.read_json(text, orient="records", dtype=False)
            return as_table(frame, source.name)
        arrow = arrow_json.read_json(
            pa.BufferReader(source.data),
            read_options=arrow_json.ReadOptions(
                block_size=min(max(source.data.size, 1), _LINE)
            ),
        )
    except (pa.ArrowException, ValueError) as error:
        msg = f"{source.name} cannot be read as JSON lines: {reason(error)}."
        raise TableError(msg) from error
    return from_arrow(arrow, source.name)
