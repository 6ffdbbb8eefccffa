"""The model of a session in a notebook, behind the page."""

from collections.abc import Callable
from typing import Any

from mercer._base.typing import IntArray
from mercer.app.studio.engine import Labels, ModelEngine, Sizes, labels_of
from mercer.app.studio.items import names_of
from mercer.app.tables.session import Session

PYTHON = "python"  # the person who answers by `Session.tell`


class SessionEngine(ModelEngine):
    """Keeps a session and a page together.

    Answers on the page are in the session's `y` at once, and its model learns from them
    in the background; answers by `Session.tell` come to the store.

    Parameters
    ----------
    session : Session
    labels, changed
        As for `ModelEngine`.
    names : callable
        Returns the names of the classes by their numbers.
    take_in : callable
        Keeps the answer of a person about a row.
    sizes
        As for `ModelEngine`.
    """

    def __init__(
        self,
        session: Session,
        labels: Labels,
        changed: Callable[[], None],
        names: Callable[[], dict[int, str]],
        take_in: Callable[[str, int, str | None], bool],
        sizes: Sizes,
    ) -> None:
        pairs = zip(names_of(session.y), session.y, strict=True)
        self._known = {name: value for name, value in pairs if name is not None}
        self._names, self._take_in = names, take_in
        self._in_notebook = session
        session.listener = self._hear
        super().__init__(
            session,
            labels,
            changed,
            values=self._class_values,
            sizes=sizes,
            random_state=session.random_state,
        )

    def stop(self) -> None:
        """End the work; the session keeps its labels and its model."""
        self._in_notebook.listener = None
        super().stop()

    def wake(self) -> None:
        """Take note that answers have changed."""
        codes, _ = self._labels()
        self._in_notebook.relabel(labels_of(codes, self._class_values()))
        super().wake()

    def _class_values(self) -> dict[int, Any]:
        """Return what the session calls the classes: numbers stay numbers."""
        names = self._names()
        values = {c: self._known.get(name, name) for c, name in names.items()}
        return values if len({type(v) for v in values.values()}) == 1 else {**names}

    def _hear(self, rows: IntArray, answers: list[Any]) -> None:
        for row, name in zip(rows.tolist(), names_of(answers), strict=True):
            self._take_in(PYTHON, row, name)
