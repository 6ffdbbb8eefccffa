"""The same page in a cell of a notebook."""

import html
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from mercer._base.typing import IntArray
from mercer.app.studio.engine import wait_until
from mercer.app.studio.exports import labelled_frame
from mercer.app.studio.items import Items, names_of
from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.session import Session
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from mercer.app.tables.told import Told
from mercer.model.estimator import UnifiedKernelMachine

PYTHON = "python"  # the person who answers by `Session.tell`


class LabelPage:
    """A studio on this machine, shown as the value of a cell."""

    def __init__(self, studio: Studio, height: int) -> None:
        self.studio, self.height = studio, height
        self.is_open = True
        self.running = Running(studio, framed=True)
        self.running.start()

    @property
    def frame(self) -> pd.DataFrame:
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
            snapshot, told = self.studio.snapshot, self.studio.told()
            return snapshot.ready and snapshot.learned_from == told.digest()

        return wait_until(is_up_to_date, seconds)

    def stop(self) -> None:
        """End the studio; answers are kept in its store."""
        self.is_open = False
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


class SessionPage(LabelPage):
    """The page of a session: both have the same answers, table and basis.

    Labels are called what they are called in the session: numbers stay numbers.
    """

    def __init__(self, studio: Studio, height: int, session: Session) -> None:
        pairs = zip(names_of(session.y), session.y, strict=True)
        self._values = {name: value for name, value in pairs if name is not None}
        self._told = 0, Told(session.labels)
        session.follow(self)
        super().__init__(studio, height)

    def told(self) -> Told:
        """Return the answers and sizes so far, as the session calls the classes."""
        told = self.studio.told()
        values = self._class_values()
        digest = hash((told.digest(), *values.items()))
        if digest != self._told[0]:
            labels, sizes = told.named(values)
            self._told = digest, Told(labels, sizes or None)
        return self._told[1]

    def tell(self, rows: IntArray, answers: list[Any]) -> None:
        """Keep answers that came from Python; None stands for a skip."""
        for row, name in zip(rows.tolist(), names_of(answers), strict=True):
            self.studio.take_in(PYTHON, row, name)

    def model(self) -> UnifiedKernelMachine:
        """Return the newest model; wait for the first one."""
        engine = self.studio.engine
        wait_until(lambda: bool(engine.session or engine.snapshot.error), np.inf)
        if engine.session is None:
            raise RuntimeError(engine.snapshot.error)
        return engine.session.model

    def _class_values(self) -> dict[int, Any]:
        """Return what the session calls the classes, by their numbers."""
        names = self.studio.store.ledger.classes
        values = {c: self._values.get(name, name) for c, name in names.items()}
        return values if len({type(v) for v in values.values()}) == 1 else {**names}


def label(
    data: Any,
    target: str | None = None,
    *,
    id: str | None = None,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    class_sizes: Any = None,
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
        has each answer at once. For a table, the model is in a process of its own.
    target : str, default="label"
        Column of the labels; it need not exist. A session has its own.
    id, drop, keep, class_sizes
        See `mercer.app.tables.task.Task`. A session has its own.
    store : str or Path, optional
        File or URL where answers are kept; by default a new file in the folder for
        temporary files, whose name `LabelPage.studio.store` tells.
    height : int, default=760
        Height of the frame, in pixels.
    changed : callable, optional
        Called with `LabelPage.labels` after every answer.
    settings : dict
        Passed on to `Studio`.

    See Also
    --------
    Session.label : The same of a session; docs/studio.md has an example.
    """
    task = Task.among({**locals(), "target": target or "label"})
    session = data if isinstance(data, Session) else None
    if session is not None:
        if any(said for said in (target, id, task.drop, task.keep, class_sizes)):
            msg = (
                "a session has its own target, id, columns and class sizes: give them "
                "to Session.open."
            )
            raise ValueError(msg)
        data, task = session.table, session.task
    if store is None:
        store = Path(tempfile.mkdtemp(prefix="mercer-labels-")) / "labels.db"
    where = str(store)
    url = where if "://" in where else sqlite_url(Path(where))
    items = Items(as_table(data), task)
    studio = Studio(items, Store(url), session=session, **settings)
    page = (
        LabelPage(studio, height)
        if session is None
        else SessionPage(studio, height, session)
    )
    if changed is not None:
        page.studio.listeners.add(lambda: changed(page.labels))
    return page
