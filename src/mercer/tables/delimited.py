"""CSV and TSV files, with the row or column named when something is wrong."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer.tables.table import Table, TableError

if TYPE_CHECKING:
    import pandas as pd

LONGEST_CELL = 1_000_000  # characters
# A row may not be longer than a block.
_BLOCK = 8 * LONGEST_CELL


def read_delimited(
    path: Path,
    *,
    delimiter: str,
    encoding: str = "utf-8",
    missing: tuple[str, ...] = (),
    as_text: tuple[str, ...] | None = (),
) -> Table:
    """Read a delimited text file with a header.

    Parameters
    ----------
    path : Path
    delimiter : str
        One character.
    encoding : str, default="utf-8"
    missing : tuple of str, default=()
        Cells that mean "not known", besides empty ones, NA, NaN and null.
    as_text : tuple of str, default=()
        Columns kept as they are written: the target and ids, where 007 is not 7 and
        NA is a name. None: all columns.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if as_text is None:
        with path.open(encoding=encoding, newline="") as file:
            as_text = tuple(next(csv.reader(file, delimiter=delimiter), ()))
    options = arrow_csv.ConvertOptions(
        column_types={name: pa.string() for name in as_text},
        null_values=[*arrow_csv.ConvertOptions().null_values, *missing],
    )
    try:
        arrow = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(encoding=encoding, block_size=_BLOCK),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
            convert_options=options,
        )
    except (pa.ArrowInvalid, UnicodeDecodeError, LookupError) as error:
        raise _diagnosis(path, delimiter, encoding, error) from error
    if any(pa.types.is_binary(kind) for kind in arrow.schema.types):
        raise _diagnosis(path, delimiter, encoding, "it holds bytes that are no text")
    names = arrow.column_names
    for name in names:
        if names.count(name) > 1:
            msg = f"{path} has two columns named {name!r}; rename one."
            raise TableError(msg)
    frame = arrow.to_pandas()
    for name in names:
        if name not in as_text and arrow.schema.field(name).type == pa.string():
            _check_one_type(frame[name], path)
            _check_length(frame[name], path)
    return Table(frame, source=str(path))


def _check_one_type(column: "pd.Series[Any]", path: Path) -> None:
    """Raise where a few cells of a column of numbers are none."""
    import pandas as pd

    filled = column[column.notna() & (column != "")]
    sample = filled.iloc[:: max(len(filled) // 2000, 1)]
    if len(sample) == 0 or _share_of_numbers(sample) < 0.8:
        return
    wrong = pd.to_numeric(filled, errors="coerce").isna()
    if 0 < wrong.mean() <= 0.2:
        row = wrong.idxmax()
        msg = (
            f"{path}: column {column.name!r} holds numbers, but row {row + 1} has "
            f"{_short(column[row])}, and {wrong.sum() - 1} more rows are no numbers. "
            f"If it means 'not known', pass --missing {column[row]!r}; else correct "
            f"the file, or leave the column out with --drop {column.name!r}."
        )
        raise TableError(msg)


def _share_of_numbers(cells: "pd.Series[Any]") -> float:
    import pandas as pd

    return float(pd.to_numeric(cells, errors="coerce").notna().mean())


def _check_length(column: "pd.Series[Any]", path: Path) -> None:
    lengths = column.str.len()
    if (lengths > LONGEST_CELL).any():
        row = int(lengths.argmax())
        raise TableError(_too_long(path, row + 1, str(column.name), lengths[row]))


def _too_long(path: Path, row: int, column: str, length: float) -> str:
    return (
        f"{path}: the cell in row {row}, column {column!r}, has {length:,.0f} "
        f"characters; the most is {LONGEST_CELL:,}. Is a quotation mark not closed? "
        "Else shorten the cell or leave the column out with --drop."
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _diagnosis(path: Path, delimiter: str, encoding: str, error: object) -> TableError:
    """Read the file again, slowly, to say where it goes wrong."""
    data = path.read_bytes()
    if not data.strip():
        return TableError(f"{path} is empty.")
    if b"\0" in data[:4096]:
        return TableError(f"{path} is no text file; --help lists the formats.")
    try:
        text = data.decode(encoding)
    except LookupError:
        return TableError(f"there is no encoding {encoding!r}; try latin-1.")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        msg = (
            f"{path} is not {encoding.upper()}: line {line} has the byte "
            f"{data[wrong.start]:#04x}. Save it as UTF-8, or pass its encoding, e.g. "
            "--encoding latin-1."
        )
        return TableError(msg)
    before = csv.field_size_limit(len(text) + 1)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        header = next(rows)
        for number, row in enumerate(rows, 1):
            long = [k for k, cell in enumerate(row) if len(cell) > LONGEST_CELL]
            if long:
                name = header[long[0]] if long[0] < len(header) else str(long[0] + 1)
                return TableError(_too_long(path, number, name, len(row[long[0]])))
            if row and len(row) != len(header):
                msg = (
                    f"{path}: row {number} has {len(row)} cells, the header has "
                    f"{len(header)}: {_short(delimiter.join(row))}. Is the delimiter "
                    f"{delimiter!r}? A cell that holds it must be in quotation marks."
                )
                return TableError(msg)
    finally:
        csv.field_size_limit(before)
    return TableError(f"{path} cannot be read: {error}.")
