"""Tables in binary files and in JSON: Parquet, Arrow, NPZ, JSON lines."""

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import json as arrow_json

from mercer.app.tables.arrow_files import read_ipc, read_parquet
from mercer.app.tables.budget import Budget
from mercer.app.tables.sources import Source, blocks_of
from mercer.app.tables.table import (
    Table,
    TableError,
    as_table,
    refuse_repeats,
    refusing,
)

_LINE = 1 << 27  # bytes; no line of JSON may be longer
# The column of an array that has no name.
VECTORS = "vectors"
_NAME = re.compile(rb'"([^"\\]*)"\s*:')
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
# A parser that calls itself for every bracket would end the process long after this.
_DEEPEST = 200
# What notes in a file from elsewhere may make the converter raise.
_DAMAGED = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError)


def read_arrow(source: Source) -> Table:
    """Read Parquet, Feather or Arrow; columns of lists are vectors."""
    budget = Budget(source.name, source.limit)
    nested: dict[str, Any] = {}
    what = f"{source.name} cannot be read as {source.ending[1:]}"
    with refusing(what, pa.ArrowException, OSError, ValueError):
        if source.ending in {".parquet", ".pq"}:
            arrow, nested = read_parquet(source.data, budget)
        else:
            arrow = read_ipc(source.data, budget)
        return from_arrow(arrow, source.name, nested)


def from_arrow(
    arrow: Any, source: str, nested: Mapping[str, Any] = MappingProxyType({})
) -> Table:
    """Return a table of Arrow; columns of lists are vectors.

    Messages call it `source`; `nested` are columns of the file that were not read.
    """
    # Names or notes may not be what they should be.
    with refusing(f"{source} is damaged", *_DAMAGED):
        refuse_repeats(arrow.column_names, source)
        vectors, unread = {}, {}
        for name in arrow.column_names:
            kind = arrow.schema.field(name).type
            if holds_images(kind):
                continue
            if pa.types.is_nested(kind) and not is_vector(kind):
                unread[name] = _in_words(kind)
            elif pa.types.is_fixed_size_list(kind) and arrow[name].null_count == 0:
                flat = arrow[name].combine_chunks().flatten()
                vectors[name] = np.asarray(flat).reshape(len(arrow), -1)
        frame = arrow.drop_columns([*vectors, *unread]).to_pandas()
        unread |= {name: _in_words(kind) for name, kind in nested.items()}
        table = as_table(frame, source)
        vectors, unread = {**table.vectors, **vectors}, {**table.unread, **unread}
        return replace(table, vectors=vectors, unread=unread)


def holds_images(kind: Any) -> bool:
    """Tell whether cells are bytes and a path, as Hugging Face keeps images."""
    return pa.types.is_struct(kind) and {f.name for f in kind} == {"bytes", "path"}


def is_vector(kind: Any) -> bool:
    """Tell whether cells are lists of numbers."""
    of = pa.types
    lists = of.is_list, of.is_large_list, of.is_fixed_size_list
    numbers = of.is_integer, of.is_floating, of.is_boolean, of.is_decimal
    is_list = any(is_one(kind) for is_one in lists)
    return is_list and any(is_one(kind.value_type) for is_one in numbers)


def _in_words(kind: Any) -> str:
    if pa.types.is_struct(kind):
        return f"records with the fields {', '.join(f.name for f in kind)}"
    if pa.types.is_map(kind):
        return "maps"
    text = pa.types.is_list(kind) and pa.types.is_string(kind.value_type)
    return "lists of texts" if text else f"nested values ({kind})"


def read_npz(source: Source) -> Table:
    """Read arrays with one row per item; shorter arrays are left out."""
    # A header may ask for an array that is larger than any memory.
    broken = ValueError, zipfile.BadZipFile, EOFError, OSError
    large = MemoryError, OverflowError
    with refusing(f"{source.name} cannot be read as NPZ", *broken, *large):
        with zipfile.ZipFile(pa.BufferReader(source.data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        # As points they are copied once.
        source.refuse_if_large(2 * size, "unpacked it is large")
        with np.load(pa.BufferReader(source.data), allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
    # Rows without a single byte may be as many as a file likes to say.
    filled = {name: a for name, a in arrays.items() if a.ndim and a.nbytes}
    n = max((len(a) for a in filled.values()), default=0)
    if n == 0:
        msg = f"{source.name} holds no array that has rows."
        raise TableError(msg)
    # Shorter arrays, such as a list of class names, describe the rest.
    rows = {name: a for name, a in filled.items() if len(a) == n}
    return as_table(rows, source.name)


def read_npy(source: Source) -> Table:
    """Read one array; rows of numbers are the column "vectors"."""
    # As points it is copied once.
    source.refuse_if_large(3.0 * source.data.size, "the file is too large")
    # A header may ask for an array that is larger than any memory.
    broken = ValueError, EOFError, OSError, MemoryError, OverflowError
    with refusing(f"{source.name} cannot be read as NPY", *broken):
        array = np.load(pa.BufferReader(source.data), allow_pickle=False)
    if array.ndim == 0 or array.nbytes == 0 or array.dtype.names:
        msg = f"{source.name} holds no array with a row per item."
        raise TableError(msg)
    return as_table({VECTORS: array}, source.name)


def read_json(source: Source) -> Table:
    """Read JSON lines (one record per line), or one list of records."""
    if _is_deep(source.data):
        msg = f"{source.name} cannot be read as JSON: its brackets are nested too deep."
        raise TableError(msg)
    start = bytes(source.data[:64]).lstrip()
    is_list = start.startswith(b"[")
    source.refuse_if_large(_json_needs(source.data, is_list), "as a table it is large")
    what = f"{source.name} cannot be read as JSON lines"
    with refusing(what, pa.ArrowException, ValueError):
        if is_list:
            text = io.BytesIO(bytes(source.data))
            frame = pd.read_json(text, orient="records", dtype=False)
            return as_table(frame, source.name)
        size = min(max(source.data.size, 1), _LINE)
        options = arrow_json.ReadOptions(block_size=size)
        data = pa.BufferReader(source.data)
        arrow = arrow_json.read_json(data, read_options=options)
    return from_arrow(arrow, source.name)


def _is_deep(data: Any) -> bool:
    """Tell whether brackets are nested deeper than any record has them.

    Texts, which may hold brackets too, are taken away only where that may matter.

    Examples
    --------
    >>> _is_deep(b'{"a": ' + 300 * b"["), _is_deep(b'{"a": "' + 300 * b"[" + b'"}')
    (True, False)
    """
    return _depth(data) > _DEEPEST and _depth(_STRING.sub(b"", bytes(data))) > _DEEPEST


def _depth(data: Any) -> int:
    steps = np.zeros(256, dtype=np.int8)
    steps[list(b"{[")], steps[list(b"}]")] = 1, -1
    deepest = now = 0
    for block in blocks_of(data):
        marks = np.frombuffer(block, dtype=np.uint8)
        depths = now + np.cumsum(steps[marks], dtype=np.int64)
        deepest, now = max(deepest, int(depths.max())), int(depths[-1])
    return deepest


def _json_needs(data: Any, is_list: bool) -> float:
    """Return the most memory that records may take, by counting marks and names.

    A table has a cell for every record and name, even where a record lacks the name.
    """
    counts = dict.fromkeys(b"{[,", 0)
    names: set[bytes] = set()
    for block in blocks_of(data):
        for mark in counts:
            counts[mark] += block.count(mark)
        names.update(_NAME.findall(block))
    opened, commas = counts[ord("{")] + counts[ord("[")], counts[ord(",")]
    objects = 120.0 * opened + 40.0 * commas if is_list else 16.0 * (opened + commas)
    return 4.0 * len(memoryview(data)) + objects + 16.0 * counts[ord("{")] * len(names)
