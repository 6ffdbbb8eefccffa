"""From a file to a studio: read the table, open the store, match the two."""

from pathlib import Path
from typing import Any

from mercer.studio.hub import Studio
from mercer.studio.items import Items
from mercer.studio.store import Store, sqlite_url
from mercer.tables.reading import read_table


def open_studio(
    file: Path,
    *,
    target: str = "label",
    id: str | None = None,
    store: str | None = None,
    drop: tuple[str, ...] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing: tuple[str, ...] = (),
    **settings: Any,
) -> Studio:
    """Return a studio for a file.

    Parameters
    ----------
    file : Path
        A table or a folder, as `mercer.tables.reading.read_table` takes them.
    target, id : str
        Columns of the labels and of the names of rows.
    store : str, optional
        A file or a URL of SQLAlchemy; by default ``FILE.labels.db`` beside the file.
    drop : tuple of str, default=()
        Columns not to learn from.
    delimiter, encoding, missing
        How a text file is read.
    settings : dict
        Passed on to `Studio`.
    """
    table = read_table(
        file,
        delimiter=delimiter,
        encoding=encoding,
        missing=missing,
        as_text=tuple(c for c in (target, id) if c),
    )
    items = Items(table, target, id)
    where = store or str(file.with_name(file.name + ".labels.db"))
    url = where if "://" in where else sqlite_url(Path(where))
    return Studio(items, Store(url), drop=drop, **settings)
