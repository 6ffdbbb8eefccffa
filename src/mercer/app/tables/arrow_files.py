"""Parquet, Feather and Arrow files, read in pieces that fit into memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather, parquet

from mercer.app.tables.budget import Budget
from mercer.app.tables.page_headers import Page, arrow_size, parquet_pages

_ROWS = 65_536
# What a value takes as an object of Python, besides its place in the frame.
_OBJECT = 112
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}


def read_parquet(
    data: Any,
    budget: Budget,
    *,
    groups: Sequence[int] | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Return a table of Arrow, and the kinds of nested columns, which are not read.

    By default all row groups and columns are read. The budget is asked before a column
    is decoded.
    """
    from mercer.app.tables.formats import holds_images, is_vector

    footer = parquet.ParquetFile(pa.BufferReader(data))
    schema = footer.schema_arrow
    wanted = set(schema.names if columns is None else columns)
    nested = {
        field.name: field.type
        for field in schema
        if field.name in wanted
        and pa.types.is_nested(field.type)
        and not is_vector(field.type)
        and not holds_images(field.type)
    }
    names = [name for name in schema.names if name in wanted and name not in nested]
    groups = range(footer.num_row_groups) if groups is None else groups
    texts, widest = _hold_columns(
        footer, memoryview(data).cast("B"), set(names), groups, budget
    )
    file = parquet.ParquetFile(
        pa.BufferReader(data),
        page_checksum_verification=True,
        read_dictionary=texts,
    )
    # Cells of one page may share their starts: a batch holds few of them then.
    n_rows = int(np.clip(budget.left / 4 / max(widest, 1), 1, _ROWS))
    batches = file.iter_batches(n_rows, row_groups=list(groups), columns=names)
    kinds = pa.schema([schema.field(n) for n in names], metadata=schema.metadata)
    plain = [_plain(batch, kinds, budget) for batch in batches]
    return pa.Table.from_batches(plain, kinds), nested


def _hold_columns(
    footer: Any,
    data: memoryview,
    names: set[str],
    groups: Sequence[int],
    budget: Budget,
) -> tuple[list[str], int]:
    """Count what columns take; return those with dictionaries, and the widest page."""
    schema = footer.schema_arrow
    owners = [f for f in schema for _ in range(_n_leaves(f.type))]
    texts: set[str] = set()
    widest = 1
    for group in groups:
        rows = footer.metadata.row_group(group)
        if not rows.num_columns:
            budget.hold(8 * rows.num_rows * max(len(names), 1))
        for k in range(rows.num_columns):
            chunk, owner = rows.column(k), owners[k]
            if owner.name not in names:
                continue
            pages = list(_pages(data, chunk))
            n = max(
                sum(p.n_values for p in pages if not p.is_dictionary), rows.num_rows
            )
            budget.hold(
                _held(owner.type, chunk.physical_type, n, rows.num_rows, schema)
            )
            largest = max((p.size for p in pages), default=0)
            budget.check(2 * largest)
            if chunk.physical_type != "BYTE_ARRAY":
                continue
            if any(p.is_dictionary for p in pages):
                texts.add(chunk.path_in_schema)
            if "DELTA_BYTE_ARRAY" in chunk.encodings:
                widest = max(widest, largest)
    return sorted(texts), widest


def _pages(data: memoryview, chunk: Any) -> Iterator[Page]:
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    return parquet_pages(data, start, chunk.total_compressed_size)


def _n_leaves(kind: Any) -> int:
    """Return how many columns of Parquet a column of Arrow takes."""
    if pa.types.is_dictionary(kind) or not kind.num_fields:
        return 1
    return sum(_n_leaves(kind.field(k).type) for k in range(kind.num_fields))


def _held(kind: Any, physical: str, n: int, n_rows: int, schema: Any) -> float:
    """Return the bytes of a column without its texts: in Arrow, and in a frame."""
    width = _WIDTHS.get(physical, 8)
    if physical == "FIXED_LEN_BYTE_ARRAY" and pa.types.is_fixed_size_binary(kind):
        width = kind.byte_width
    if pa.types.is_nested(kind):
        return 3.0 * width * n + _OBJECT * n_rows
    is_object = pa.types.is_decimal(kind) or pa.types.is_date(kind)
    is_object |= pa.types.is_time(kind) or pa.types.is_fixed_size_binary(kind)
    return float(n) * (width + max(width, 8) + (_OBJECT if is_object else 0))


def _plain(batch: Any, schema: Any, budget: Budget) -> Any:
    """Return a batch whose dictionaries are written out, if they fit into memory."""
    arrays = []
    for column, field in zip(batch.columns, schema, strict=True):
        budget.hold(2 * written_out(column))
        if pa.types.is_dictionary(column.type) and column.type != field.type:
            column = column.dictionary_decode()
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def written_out(column: Any) -> int:
    """Return the bytes of the texts in a column, each counted where it occurs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = pa.array(["a" * 100] * 50)
    >>> [written_out(c) for c in (texts, texts.dictionary_encode(), pa.array([1]))]
    [5000, 5000, 0]
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        lengths = _lengths(column.dictionary)
        if lengths is None:
            return 8 * len(column)
        return int(pc.sum(pc.take(lengths, column.indices)).as_py() or 0)
    lengths = _lengths(column)
    return 0 if lengths is None else int(pc.sum(lengths).as_py() or 0)


def _lengths(column: Any) -> Any:
    """Return the length of every text, or None of other columns."""
    kind = column.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        views = np.frombuffer(column.buffers()[1], dtype=np.int32).reshape(-1, 4)
        first = views[column.offset : column.offset + len(column), 0]
        return pa.array(
            np.where(column.is_valid().to_numpy(False), first, 0), pa.int64()
        )
    texts = pa.string(), pa.large_string(), pa.binary(), pa.large_binary()
    return pc.cast(pc.binary_length(column), pa.int64()) if kind in texts else None


def read_ipc(data: Any, budget: Budget) -> Any:
    """Return the table in a file of Arrow (Feather)."""
    start = bytes(data[:8])
    if not start.startswith(b"ARROW1"):  # Feather's first version packs nothing
        budget.hold(3 * data.size)
        old = feather.read_table(pa.BufferReader(data))
        old.validate(full=True)
        return old
    # The messages in their order; the footer, which may name others, is left aside.
    footer = int.from_bytes(bytes(data[data.size - 10 : data.size - 6]), "little")
    messages = data.slice(8, max(data.size - 18 - footer, 0))
    for message in _all_messages(pa.ipc.MessageReader.open_stream(messages)):
        body = memoryview(message.body or b"")
        budget.hold(2 * arrow_size(bytes(message.metadata), body))
    with pa.ipc.open_stream(pa.BufferReader(messages)) as reader:
        n_columns, batches = len(reader.schema), []
        for batch in reader:
            budget.hold(8 * batch.num_rows * n_columns)
            # Offsets that lead out of their buffer would be followed.
            batch.validate(full=True)
            budget.hold(sum(2 * written_out(column) for column in batch.columns))
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)


def _all_messages(reader: Any) -> Iterator[Any]:
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return
