"""Sizes that the pages of Parquet and Arrow files declare, read before any is decoded.

What the footer of a file says of its pages may be wrong, by accident or on purpose. A
decoder reserves what the header of each page asks for, so that is what counts.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

_COMPACT_END = 0
# Fields of a page header in Parquet's Thrift, and of the three kinds of pages in it.
_SIZE, _PACKED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8


class Page(NamedTuple):
    """A page of Parquet, by its header."""

    size: int  # bytes, unpacked
    n_values: int
    is_dictionary: bool


def parquet_pages(data: memoryview, start: int, length: int) -> Iterator[Page]:
    """Yield the pages of a column chunk; raise ValueError where there is none."""
    place, stop = start, min(start + length, len(data))
    if start < 0 or length < 0:
        msg = "a column lies outside the file"
        raise ValueError(msg)
    while place < stop:
        fields, place = _thrift_struct(data, place)
        size, packed = fields.get(_SIZE, -1), fields.get(_PACKED, -1)
        if not isinstance(size, int) or not isinstance(packed, int):
            size = -1
        if size < 0 or packed < 0:
            msg = "a page has no size"
            raise ValueError(msg)
        kind = fields.get(_DATA) or fields.get(_DATA_2) or fields.get(_DICTIONARY)
        n_values = kind.get(1, 0) if isinstance(kind, dict) else 0
        yield Page(size, max(n_values, 0), _DICTIONARY in fields)
        place += packed


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(data) or shift > 63:
            msg = "a page header is cut off"
            raise ValueError(msg)
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _thrift_struct(
    data: memoryview, place: int, depth: int = 0
) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct in Thrift's compact form, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while True:
        if place >= len(data) or depth > 8:
            msg = "a page header is cut off"
            raise ValueError(msg)
        head = data[place]
        place += 1
        if head == _COMPACT_END:
            return fields, place
        if head >> 4:
            number += head >> 4
        else:
            number, place = _varint(data, place)
            number = (number >> 1) ^ -(number & 1)
        fields[number], place = _thrift_value(data, place, head & 0x0F, depth)


def _thrift_value(
    data: memoryview, place: int, kind: int, depth: int
) -> tuple[Any, int]:
    if kind in (1, 2):  # a flag, kept in the head of its field
        return kind == 1, place
    if kind == 3:
        return data[place : place + 1], place + 1
    if kind in (4, 5, 6):
        value, place = _varint(data, place)
        return (value >> 1) ^ -(value & 1), place
    if kind == 7:
        return None, place + 8
    if kind == 8:
        size, place = _varint(data, place)
        return None, place + size
    if kind == 12:
        return _thrift_struct(data, place, depth + 1)
    msg = f"a page header holds the unknown kind {kind}"
    raise ValueError(msg)


def arrow_size(metadata: bytes, body: memoryview) -> int:
    """Return the bytes of a batch of rows or of a dictionary, unpacked; 0 of others."""
    try:
        return _arrow_size(metadata, body)
    except struct.error as error:
        msg = "the description of a batch is cut off"
        raise ValueError(msg) from error


def _arrow_size(metadata: bytes, body: memoryview) -> int:
    message = _i32(metadata, 0)
    kind = _field(metadata, message, 1)
    header = _field(metadata, message, 2)
    which = metadata[kind] if kind else 0
    if which not in (2, 3) or not header:
        return 0
    batch = header + _i32(metadata, header)
    if which == 2:  # a dictionary holds a batch
        inner = _field(metadata, batch, 1)
        batch = inner + _i32(metadata, inner)
    is_packed = bool(_field(metadata, batch, 3))
    place = _field(metadata, batch, 2)
    total = 0
    if place:
        start = place + _i32(metadata, place)
        for k in range(_i32(metadata, start)):
            offset = _i64(metadata, start + 4 + 16 * k)
            size = _i64(metadata, start + 12 + 16 * k)
            if is_packed and size >= 8:
                plain = _i64(body, offset)
                size = size if plain < 0 else plain
            total += size
    return total


def _field(data: bytes, table: int, number: int) -> int:
    """Return where a field of a table lies; 0 where it has none."""
    entries = table - _i32(data, table)
    (size,) = struct.unpack_from("<H", data, entries)
    at = 4 + 2 * number
    if at >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, entries + at)
    return table + offset if offset else 0


def _i32(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<i", data, place)[0])


def _i64(data: bytes | memoryview, place: int) -> int:
    return int(struct.unpack_from("<q", data, place)[0])
