"""The same page in a cell of a notebook."""

import html
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mercer.app.studio.engine import wait_until
from mercer.app.studio.exports import labelled_frame
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.session import Session
from mercer.app.tables.table import as_table

if TYPE_CHECKING:
    import pandas as pd


class LabelPage:
    """A studio on this machine, shown as the value of a cell.

    Parameters
    ----------
    studio : Studio
    height : int
        Height of the frame, in pixels.
    """

    def __init__(self, studio: Studio, height: int) -> None:
        self.studio, self.height = studio, height
        self.running = Running(studio, framed=True)
        self.running.start()

    @property
    def frame(self) -> "pd.DataFrame":
        """The table with the answers given so far, those of this moment included."""
        self.studio.store.sync()
        return labelled_frame(self.studio)

    @property
    def labels(self) -> dict[str, str]:
        """The answers given so far: the names of the classes by the ids of the rows."""
        self.studio.store.sync()
        names = self.studio.store.ledger.classes
        codes, _ = self.studio.labels()
        ids = self.studio.items.ids
        return {ids[row]: names[int(c)] for row, c in enumerate(codes) if c >= 0}

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until the model knows all answers and sizes; tell whether it does."""

        def is_up_to_date() -> bool:
            snapshot = self.studio.snapshot
            return snapshot.ready and snapshot.learned_from == self.studio.digest()

        return wait_until(is_up_to_date, seconds)

    def stop(self) -> None:
        """End the studio; answers are kept in its store."""
        self.running.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _repr_html_(self) -> str:
        source = html.escape(self.running.url, quote=True)
        return (
            f'<iframe src="{source}" title="Mercer studio" width="100%" '
            f'height="{self.height}" style="border: 0; border-radius: 12px"></iframe>'
        )


def label(
    data: Any,
    target: str | None = None,
    *,
    id: str | None = None,
    store: str | Path | None = None,
    height: int = 760,
    changed: Callable[[dict[str, str]], None] | None = None,
    **settings: Any,
) -> LabelPage:
    """Label a table in a notebook.

    Parameters
    ----------
    data : Session, data frame, dict of arrays or Table
        The model of a session learns from the answers in this process, and the session
        has each answer at once. Of a table, the model is in a process of its own.
    target : str, default="label"
        Column of the labels; it need not exist. A session has its own.
    id : str, optional
        Column that names the rows. A session has its own.
    store : str or Path, optional
        File or URL where answers are kept; by default a new file in the folder for
        temporary files, whose name `LabelPage.studio.store` tells.
    height : int, default=760
        Height of the frame, in pixels.
    changed : callable, optional
        Called with `LabelPage.labels` after every answer.
    settings : dict
        Passed on to `Studio`.
    """
    session = data if isinstance(data, Session) else None
    if session is not None:
        if target is not None or id is not None:
            msg = (
                f"a session has its own target ({data.target!r}) and id ({data.id!r})."
            )
            raise ValueError(msg)
        data, target, id = session.table, session.target, session.id
    items = Items(as_table(data), target or "label", id)
    if store is None:
        store = Path(tempfile.mkdtemp(prefix="mercer-labels-")) / "labels.db"
    where = str(store)
    url = where if "://" in where else sqlite_url(Path(where))
    page = LabelPage(Studio(items, Store(url), session=session, **settings), height)
    if changed is not None:
        page.studio.listeners.add(lambda: changed(page.labels))
    return page
