"""CSV and TSV files, with the row or column named when something is wrong."""

import codecs
import csv
import io
from collections.abc import Collection
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from mercer._base.words import reason
from mercer.app.tables.number_columns import short, strings_among, tidy_numbers
from mercer.app.tables.sources import Source, blocks_of
from mercer.app.tables.table import TITLE, Table, TableError, refuse_repeats

LONGEST_CELL = 1_000_000  # characters
# A row may not be longer than a block.
_BLOCK = 8 * LONGEST_CELL
_SAMPLE = 1 << 16  # bytes in which the delimiter is looked for
_BYTES_PER_COLUMN = 3_000  # what an empty column costs
_BYTES_PER_CHARACTER = 12  # what looking for the cause takes
_BYTES_PER_CELL = 24  # a number, in Arrow and in a frame, and whether it is there
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # starts as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}


def read_delimited(
    source: Source,
    *,
    delimiter: str | None = None,
    usual: str = ",",
    encoding: str | None = None,
    missing: tuple[str, ...] = (),
    as_text: tuple[str, ...] | None = (),
    needed: Collection[str] | None = None,
) -> Table:
    """Read a delimited text file with a header.

    Delimiter and encoding are found where they are not given; `usual` is the delimiter
    to expect. Cells that are `missing` mean "not known", as empty ones do. Columns
    `as_text` are kept as they are written (the target and ids, where 007 is not 7);
    None means all columns. For `needed` see
    `mercer.app.tables.number_columns.tidy_numbers`.
    """
    notes = []
    if encoding is None:
        encoding, why = find_encoding(source.data)
        notes += [f"{why}."] if why else []
    start = _start_of(source, encoding)
    if delimiter is None:
        delimiter = find_delimiter(start, usual)
        if delimiter != usual:
            notes.append(f"The delimiter is {DELIMITERS[delimiter]}.")
    n_columns = start.partition("\n")[0].count(delimiter) + 1
    source.refuse_if_large(
        _BYTES_PER_COLUMN * n_columns, f"its header has {n_columns:,} columns"
    )
    _refuse_many_cells(source, delimiter)
    if as_text is None:
        as_text = tuple(next(csv.reader(io.StringIO(start), delimiter=delimiter), ()))
    read = partial(_read, source, delimiter, encoding, missing)
    arrow = read(as_text)
    refuse_repeats(arrow.column_names, source.name)
    frame = arrow.to_pandas()
    for name in strings_among(frame):
        if name not in as_text:
            _check_length(frame[name], source.name)
    frame, said = tidy_numbers(
        frame,
        source=source.name,
        as_text=as_text,
        missing=missing,
        needed=needed,
        as_written=lambda names: read(tuple(names), names).to_pandas(),
    )
    return Table(frame, source=source.name, notes=(*notes, *said))


def _refuse_many_cells(source: Source, delimiter: str) -> None:
    """Raise if cells, which may be a byte each, need more memory than allowed."""
    marks = delimiter.encode(), b"\n"
    n_cells = 1 + sum(b.count(m) for b in blocks_of(source.data) for m in marks)
    needed = _BYTES_PER_CELL * n_cells + 2 * source.data.size
    source.refuse_if_large(needed, f"it has about {n_cells:,} cells")


def _read(
    source: Source,
    delimiter: str,
    encoding: str,
    missing: tuple[str, ...],
    as_text: tuple[str, ...],
    only: list[str] | None = None,
) -> Any:
    options = arrow_csv.ConvertOptions(
        column_types={name: pa.string() for name in as_text},
        null_values=[*arrow_csv.ConvertOptions().null_values, *missing],
        include_columns=only,
    )
    try:
        arrow = arrow_csv.read_csv(
            pa.BufferReader(source.data),
            read_options=arrow_csv.ReadOptions(encoding=encoding, block_size=_BLOCK),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
            convert_options=options,
        )
        _ = arrow.column_names  # decodes them
    except (pa.ArrowInvalid, UnicodeDecodeError, LookupError) as error:
        raise _diagnosis(source, delimiter, encoding, error) from error
    if any(pa.types.is_binary(kind) for kind in arrow.schema.types):
        raise _diagnosis(
            source, delimiter, encoding, "it holds bytes that are not text"
        )
    return arrow


def find_encoding(data: Any) -> tuple[str, str]:
    """Return the encoding of a text, and why if it is not UTF-8.

    Examples
    --------
    >>> find_encoding("size;grün".encode("latin-1"))
    ('cp1252', 'The text is not UTF-8; it was read as Windows-1252 (Western Europe)')
    """
    view = memoryview(data)
    start = bytes(view[:4096])
    for mark, name in _MARKS:
        if start.startswith(mark):
            told = "" if name == "utf-8" else f"The text is {name.upper()}"
            return name, told
    zeros = start.count(0)
    if zeros > 0.2 * len(start):
        odd = start[1::2].count(0) > start[::2].count(0)
        return ("utf-16-le" if odd else "utf-16-be"), "The text is UTF-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(view), _BLOCK):
            decoder.decode(bytes(view[at : at + _BLOCK]), at + _BLOCK >= len(view))
    except UnicodeDecodeError:
        # A text has no control characters; a file that has them is refused later.
        if start.count(0) == 0:
            return _western(start)
    return "utf-8", ""


def _western(start: bytes) -> tuple[str, str]:
    said = "The text is not UTF-8; it was read as "
    try:
        start.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1", said + "Latin-1 (Western Europe)"
    return "cp1252", said + "Windows-1252 (Western Europe)"


def find_delimiter(text: str, usual: str = ",") -> str:
    r"""Return the delimiter that gives the rows of a text most equal cells.

    Examples
    --------
    >>> find_delimiter("price;label\n1,99;a\n2,50;b\n")
    ';'
    """
    best, found = (0.0, 0), usual
    for mark in (usual, *(d for d in DELIMITERS if d != usual)):
        try:
            rows = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if row]
        except csv.Error:
            continue
        n = len(rows[0]) if rows else 0
        if n < 2:
            continue
        # The last row may be cut.
        same = [len(row) == n for row in rows[1:-1] or rows]
        if (score := (round(sum(same) / len(same), 2), n)) > best:
            best, found = score, mark
    return found


def _start_of(source: Source, encoding: str) -> str:
    """Return the start of the text: the header at least, and some rows."""
    size = _SAMPLE
    while True:
        part = bytes(memoryview(source.data)[:size])
        try:
            text = part.decode(encoding, errors="replace")
        except LookupError as error:
            msg = f"there is no encoding {encoding!r}; try latin-1."
            raise TableError(msg) from error
        if "\n" in text or "\r" in text or size >= source.data.size:
            return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        size *= 16


def _check_length(column: "pd.Series[Any]", name: str) -> None:
    lengths = column.str.len()
    if (lengths > LONGEST_CELL).any():
        row = int(lengths.argmax())
        raise TableError(_too_long(name, row + 1, str(column.name), lengths[row]))


def _too_long(name: str, row: int, column: str, length: float) -> str:
    return (
        f"{name}: the cell in row {row}, column {column!r}, has {length:,.0f} "
        f"characters; the limit is {LONGEST_CELL:,}. Is a quotation mark not closed? "
        "If not, shorten the cell or leave the column out with --drop."
    )


def _diagnosis(
    source: Source, delimiter: str, encoding: str, error: object
) -> TableError:
    """Read the file again, slowly, to say where it goes wrong."""
    name, data = source.name, bytes(source.data)
    if not data.strip():
        return TableError(f"{name} is empty.")
    if _BYTES_PER_CHARACTER * len(data) > source.limit:
        msg = f"{name} cannot be read: {reason(error)}. Is a quotation mark not closed?"
        return TableError(msg)
    if b"\0" in data[:4096] and not encoding.startswith("utf-16"):
        return TableError(f"{name} is not a text file; --help lists the formats.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        msg = (
            f"{name} is not {encoding.upper()}: line {line} has the byte "
            f"{data[wrong.start]:#04x}. Save it as UTF-8, or pass its encoding, e.g. "
            "--encoding latin-1."
        )
        return TableError(msg)
    before = csv.field_size_limit(len(text) + 1)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = next(rows, [])
        for number, row in enumerate(rows, 1):
            long = [k for k, cell in enumerate(row) if len(cell) > LONGEST_CELL]
            if long:
                column = header[long[0]] if long[0] < len(header) else str(long[0] + 1)
                return TableError(_too_long(name, number, column, len(row[long[0]])))
            if row and len(row) != len(header):
                why = (
                    f"Is the delimiter {delimiter!r}? A cell that holds it must be in "
                    "quotation marks."
                )
                msg = (
                    f"{name}: row {number} has {len(row)} cells, the header has "
                    f"{len(header)}: {short(delimiter.join(row))}. "
                    f"{TITLE if len(header) == 1 else why}"
                )
                return TableError(msg)
    finally:
        csv.field_size_limit(before)
    return TableError(f"{name} cannot be read: {reason(error)}.")
