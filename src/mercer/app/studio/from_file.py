"""From a file to a studio: read the table, open the store, match the two."""

from pathlib import Path
from typing import Any

from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.reading import read_table


def open_studio(
    file: Path | str,
    *,
    target: str = "label",
    id: str | None = None,
    classes: tuple[str, ...] = (),
    store: str | None = None,
    overlap: int = 1,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    class_sizes: dict[str, float] | None = None,
    **reading: Any,
) -> Studio:
    """Return a studio for a file.

    Parameters
    ----------
    file : Path or str
        Whatever `mercer.app.tables.reading.read_table` reads.
    target, id : str
        Columns of the labels and of the names of rows.
    classes, overlap, drop, keep, class_sizes
        As for `Studio`.
    store : str, optional
        A file or a URL of SQLAlchemy; by default ``FILE.labels.db`` beside the file.
    reading : dict
        How the file is read; passed on to `read_table`.
    """
    columns = tuple(c for c in (target, id, *drop) if c)
    table = read_table(file, as_text=columns, **reading)
    items = Items(table, target, id, missing=reading.get("missing", ()))
    where = store or _beside(str(file))
    url = where if "://" in where else sqlite_url(Path(where))
    return Studio(
        items,
        Store(url),
        classes=classes,
        overlap=overlap,
        drop=drop,
        keep=keep,
        class_sizes=class_sizes,
    )


def _beside(file: str) -> str:
    """Return where answers go by default.

    Examples
    --------
    >>> _beside("data/wines.csv"), _beside("digits/")
    ('data/wines.csv.labels.db', 'digits.labels.db')
    """
    if file == "-" or "://" in file:
        msg = f"pass --store: where to keep the answers about {file}."
        raise ValueError(msg)
    path = Path(file)
    return str(path.with_name(path.name + ".labels.db"))
