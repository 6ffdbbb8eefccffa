"""Read a table from a file, a folder or a database, by its kind."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from mercer._base.memory import available_memory
from mercer.app.tables.databases import is_database, read_query
from mercer.app.tables.delimited import read_delimited
from mercer.app.tables.folders import LABELS_FILE, read_folder
from mercer.app.tables.formats import VECTORS, read_arrow, read_json, read_npy, read_npz
from mercer.app.tables.number_columns import tidy_numbers
from mercer.app.tables.sources import COMPRESSED, Source, open_source
from mercer.app.tables.table import Table, TableError
from mercer.app.tables.workbooks import read_excel

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
ARROW = {".parquet", ".pq", ".feather", ".arrow", ".ipc"}
WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
JSON = {".jsonl", ".ndjson", ".json"}


def read_table(
    path: Path | str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: tuple[str, ...] = (),
    as_text: tuple[str, ...] | None = (),
    needed: Collection[str] | None = None,
    image_shape: tuple[int, int, int] | None = None,
    sheet: str | None = None,
    query: str | None = None,
    memory: float | None = None,
) -> Table:
    r"""Read a table, whatever it is kept in.

    CSV and TSV, Excel, Parquet, Arrow, Feather, NPZ, NPY, JSON lines; any of them
    packed (.gz, .bz2, .xz, .zst, .zip) or from standard input (``-``); a folder of
    images or texts; a database (a file of SQLite or DuckDB, or an SQLAlchemy URL). The
    array in a file such as tickets.npy is the column "vectors" of tickets.csv beside
    it.

    Parameters
    ----------
    path : Path or str
        The ending tells the kind.
    delimiter : str, optional
        For a text file; detected by default.
    encoding, missing, as_text, needed
        See `read_delimited`.
    image_shape : tuple of int, optional
        Height, width and colours that images are brought to.
    sheet : str, optional
        For a workbook; the first one by default.
    query : str, optional
        SQL, for a database.
    memory : float, optional
        Bytes that may be used; by default three quarters of what is free. Larger
        files are refused before they are unpacked.

    Raises
    ------
    TableError
        With the file and, where it can be known, the row and column.

    See Also
    --------
    learn : Takes what it returns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("colour;size\nred;1,5\nblue;2\n")
    ...     file.flush()
    ...     table = read_table(file.name)
    >>> table.frame["size"].tolist()
    [1.5, 2.0]
    """
    limit = available_memory() if memory is None else memory
    if query is not None or is_database(str(path)):
        found = read_query(str(path), query, memory=limit)
        return _tidied(found, as_text, missing, needed)
    path = Path(path)
    if path.is_dir():
        table = read_folder(path, image_shape=image_shape, memory=limit)
        labels = path / LABELS_FILE
        if _is_in(path, LABELS_FILE):
            return _join(table, read_table(labels, as_text=None, memory=limit))
        return table
    source = open_source(path, limit)
    if sheet is not None and source.ending not in WORKBOOKS:
        msg = f"{source.name} is not a workbook and has no sheets; leave out --sheet."
        raise TableError(msg)
    if source.ending in DELIMITERS:
        table = read_delimited(
            source,
            delimiter=_one_character(delimiter),
            usual=DELIMITERS[source.ending],
            encoding=encoding,
            missing=missing,
            as_text=as_text,
            needed=needed,
        )
        return _with_vectors_beside(table, path, limit)
    readers: dict[str, Callable[[Source], Table]] = {
        **dict.fromkeys(ARROW, read_arrow),
        **dict.fromkeys(WORKBOOKS, partial(read_excel, sheet=sheet)),
        **dict.fromkeys(JSON, read_json),
        ".npz": read_npz,
        ".npy": read_npy,
    }
    if source.ending not in readers:
        raise TableError(_not_known(source))
    table = _tidied(readers[source.ending](source), as_text, missing, needed)
    return (
        table if source.ending == ".npy" else _with_vectors_beside(table, path, limit)
    )


def _with_vectors_beside(table: Table, path: Path, limit: float) -> Table:
    """Add the array in tickets.npy to the table in tickets.csv, and say so."""
    beside = path.with_suffix(".npy")
    if str(path) == "-" or not beside.is_file():
        return table
    if not _is_in(path.parent, beside.name):
        return table  # a link out of the folder
    found = read_npy(open_source(beside, limit))
    if len(found) != len(table):
        said = f"{beside.name} has {len(found):,} rows, and the table {len(table):,}"
    elif VECTORS not in found.vectors or VECTORS in table.columns:
        said = f"it holds no vectors, or the table has a column {VECTORS!r} of its own"
    else:
        note = f"{beside.name} beside the table is its column {VECTORS!r}."
        return replace(
            table,
            vectors={**table.vectors, **found.vectors},
            notes=(*table.notes, note),
        )
    note = f"{beside.name} beside the table was left out: {said}."
    return replace(table, notes=(*table.notes, note))


def _tidied(
    table: Table,
    as_text: tuple[str, ...] | None,
    missing: tuple[str, ...],
    needed: Collection[str] | None,
) -> Table:
    if as_text is None:
        return table
    frame, said = tidy_numbers(
        table.frame,
        source=table.source,
        as_text=as_text,
        missing=missing,
        needed=needed,
    )
    return replace(table, frame=frame, notes=(*table.notes, *said))


def _not_known(source: Source) -> str:
    kinds = [*DELIMITERS, *sorted(ARROW), ".npz", ".npy", *sorted(WORKBOOKS | JSON)]
    packed = ", ".join([*COMPRESSED, ".zip"])
    return (
        f"{source.name}: the ending {source.ending!r} is not known. Known endings are "
        f"{', '.join(kinds)}, each also packed ({packed}), folders and databases."
    )


def _one_character(delimiter: str | None) -> str | None:
    given = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if given is not None and len(given) != 1:
        msg = f"--delimiter must be one character or 'tab', got {delimiter!r}."
        raise TableError(msg)
    return given


def _is_in(folder: Path, name: str) -> bool:
    file = (folder / name).resolve()
    return file.is_relative_to(folder.resolve()) and file.exists()


def _join(table: Table, labels: Table) -> Table:
    """Add what labels.csv says about the files of a folder."""
    labels.check_column("file", "the file of labels")
    said = labels.frame.set_index("file")
    if not said.index.is_unique:
        twice = said.index[said.index.duplicated()][0]
        msg = f"{labels.source} names the file {twice!r} twice."
        raise TableError(msg)
    others = said.index.difference(table.frame["file"]).tolist()
    # What is there and not in the table could not be read, and its note says so.
    strange = [f for f in others if not _is_in(Path(table.source), str(f))]
    if strange:
        msg = f"{labels.source} names {strange[0]!r}; {table.source} has no such file."
        raise TableError(msg)
    added = said.reindex(table.frame["file"]).reset_index(drop=True)
    frame = table.frame.drop(columns=["label", *added.columns], errors="ignore")
    frame[list(added.columns)] = added
    return replace(table, frame=frame)
