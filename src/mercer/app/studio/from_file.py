"""From a file to a studio: read the table, open the store, match the two."""

from pathlib import Path
from typing import Any

from mercer._base.memory import give_back
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.reading import read_table
from mercer.app.tables.task import Task


def open_studio(
    file: Path | str,
    task: Task | None = None,
    *,
    classes: tuple[str, ...] = (),
    store: str | None = None,
    overlap: int = 1,
    **reading: Any,
) -> Studio:
    """Return a studio for a file.

    Parameters
    ----------
    file : Path or str
        A table, a folder of images, texts or recordings, or a database.
    task : Task, optional
        Target, id and other columns; by default the target is "label".
    classes : tuple of str, default=()
        Classes to begin with, beside those of labels in the file.
    store : str, optional
        Where answers are kept: a file or a URL of SQLAlchemy, by default
        ``FILE.labels.db`` beside the file.
    overlap : int, default=1
        People who are asked about each row.
    reading : dict
        Passed on to `mercer.app.tables.reading.read_table`.

    See Also
    --------
    Session : Opens it in a notebook; docs/studio.md has an example.
    """
    task = task or Task()
    table = read_table(file, **task.reading, **reading)
    task.check(table)
    where = store or _beside(str(file))
    url = where if "://" in where else sqlite_url(Path(where))
    studio = Studio(Items(table, task), Store(url), classes=classes, overlap=overlap)
    give_back()
    return studio


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
