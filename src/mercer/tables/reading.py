"""Read a table from a file or a folder, by its kind."""

from pathlib import Path
from typing import Any

import numpy as np

from mercer.tables.delimited import read_delimited
from mercer.tables.folders import LABELS_FILE, read_folder
from mercer.tables.table import Table, TableError, as_table

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
ARROW = {".parquet", ".pq", ".feather", ".arrow", ".ipc"}


def read_table(
    path: Path,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing: tuple[str, ...] = (),
    as_text: tuple[str, ...] | None = (),
    image_shape: tuple[int, int, int] | None = None,
) -> Table:
    r"""Read CSV, TSV, Parquet, Arrow, Feather, NPZ, or a folder of images or texts.

    Parameters
    ----------
    path : Path
        The ending tells the kind.
    delimiter : str, optional
        Of a text file: ``,`` in .csv and a tab in .tsv by default.
    encoding, missing, as_text
        See `read_delimited`.
    image_shape : tuple of int, optional
        Height, width and colours that images are brought to.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With the file and, where it can be known, the row and column.
    """
    if path.is_dir():
        table = read_folder(path, image_shape=image_shape)
        labels = path / LABELS_FILE
        if labels.exists():
            return _join(table, read_table(labels, as_text=None))
        return table
    ending = path.suffix.lower()
    if not path.exists():
        msg = f"there is no file {path}."
        raise TableError(msg)
    if path.stat().st_size == 0:
        msg = f"{path} is empty."
        raise TableError(msg)
    if ending in DELIMITERS:
        return read_delimited(
            path,
            delimiter=_one_character(delimiter, DELIMITERS[ending]),
            encoding=encoding,
            missing=missing,
            as_text=as_text,
        )
    if ending in ARROW:
        return _read_arrow(path)
    if ending == ".npz":
        return _read_npz(path)
    endings = ", ".join([*DELIMITERS, *sorted(ARROW), ".npz"])
    msg = (
        f"{path}: the ending {ending!r} is not known. Known are {endings}, and folders."
    )
    raise TableError(msg)


def _one_character(delimiter: str | None, usual: str) -> str:
    given = {None: usual, "tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if given is None or len(given) != 1:
        msg = f"--delimiter must be one character or 'tab', got {delimiter!r}."
        raise TableError(msg)
    return given


def _read_arrow(path: Path) -> Table:
    import pyarrow as pa
    from pyarrow import feather, parquet

    read = parquet.read_table if path.suffix.lower() in {".parquet", ".pq"} else None
    try:
        arrow = read(path) if read else feather.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        msg = f"{path} cannot be read as {path.suffix[1:]}: {error}."
        raise TableError(msg) from error
    vectors = {}
    for name in arrow.column_names:
        kind = arrow.schema.field(name).type
        if pa.types.is_fixed_size_list(kind) and arrow[name].null_count == 0:
            flat = arrow[name].combine_chunks().flatten()
            vectors[name] = np.asarray(flat).reshape(len(arrow), -1)
    table = as_table(arrow.drop_columns(list(vectors)).to_pandas(), str(path))
    return Table(table.frame, {**table.vectors, **vectors}, str(path))


def _read_npz(path: Path) -> Table:
    from zipfile import BadZipFile

    arrays: dict[str, Any] = {}
    try:
        with np.load(path, allow_pickle=False) as archive:
            for name in archive.files:
                arrays[name] = archive[name]
    except (ValueError, BadZipFile, EOFError) as error:
        msg = f"{path} cannot be read as NPZ: {error}."
        raise TableError(msg) from error
    n = max((len(a) for a in arrays.values() if a.ndim), default=0)
    if n == 0:
        msg = f"{path} holds no array with rows."
        raise TableError(msg)
    # Shorter arrays, such as a list of class names, describe the rest.
    rows = {name: a for name, a in arrays.items() if a.ndim and len(a) == n}
    return as_table(rows, str(path))


def _join(table: Table, labels: Table) -> Table:
    """Add what labels.csv says about the files of a folder."""
    labels.check_column("file", "the file of labels")
    said = labels.frame.set_index("file")
    if not said.index.is_unique:
        twice = said.index[said.index.duplicated()][0]
        msg = f"{labels.source} names the file {twice!r} twice."
        raise TableError(msg)
    strange = said.index.difference(table.frame["file"])
    if len(strange):
        msg = f"{labels.source} names {strange[0]!r}; {table.source} has no such file."
        raise TableError(msg)
    added = said.reindex(table.frame["file"]).reset_index(drop=True)
    frame = table.frame.drop(columns=["label", *added.columns], errors="ignore")
    frame[list(added.columns)] = added
    return Table(frame, table.vectors, table.source, table.image_shape)
