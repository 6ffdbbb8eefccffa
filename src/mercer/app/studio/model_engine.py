"""The model behind the page: trains in the background, asks ahead."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer._base.memory import give_back
from mercer._base.typing import FloatArray, IntArray
from mercer.active.cold import cold_rows
from mercer.app.studio.engine import Snapshot, Stages, Told
from mercer.app.studio.opening import Grow, Open
from mercer.app.studio.parts import Part
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.written_files import written
from mercer.app.tables.session import Session
from mercer.judging.estimate import Interval
from mercer.judging.layout import place_points

DRAWN_AT = (20, 100)  # labels at which the map is drawn again
_MOST_DOUBTFUL = 100  # labels listed
AHEAD = 40  # questions kept ready


class ModelEngine:
    """Trains a model in one thread.

    The session that is `opened` stays as it is: each answer gives a further one, which
    shares the table and the basis. `told` returns what people have said so far, and
    `changed` is called after each new snapshot. Where texts or images have to be
    embedded, `grow` is called with `told` and with what receives its progress, and
    yields sessions on more and more rows. People are asked about those; what is said
    of the others comes from the session that was opened, or is the mean, where it is
    None.
    """

    def __init__(
        self,
        opened: Open | None,
        told: Callable[[], Told],
        changed: Callable[[], None] = lambda: None,
        grow: Grow | None = None,
    ) -> None:
        self.snapshot = Snapshot()
        self._opened, self._told, self._changed = opened, told, changed
        self._grow, self._arrived = grow, list[Part]()
        self._whole: Part | None = None  # all rows
        self._part: Part | None = None  # those that are embedded, until all are
        self._n_bases = 0  # of all rows, that took the place of the first one
        self._wake, self._stopped = threading.Event(), threading.Event()
        self._publishing, self._drawing = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def session(self) -> Session | None:
        """The newest session on all rows."""
        return None if self._whole is None else self._whole.session

    def start(self) -> None:
        """Begin to work in the background."""
        self._thread.start()

    def stop(self) -> None:
        """End the work, once the present step is done."""
        self._stopped.set()
        self._wake.set()
        self._thread.join()

    def wake(self) -> None:
        """Take note that answers have changed."""
        self._wake.set()

    def why(self, row: int, n: int) -> list[tuple[int, int, float]]:
        """Return labelled rows that pull a row, the class pulled to, how strongly."""
        part = self._of(row)
        return [] if part is None else part.why(row, n)

    def file(
        self,
        kind: str,
        names: Mapping[int, str],
        found: Interval | None,
        tell: Callable[[str], None],
    ) -> bytes:
        """Return a file for what people have said so far, with names of classes."""
        told, whole = self._told(), self._whole
        if whole is None:
            msg = "the model knows some rows only: wait until all are embedded."
            raise RefusedError(msg, 409)
        votes = told.votes(whole.opened)
        sources = None if votes is None else votes.renamed(names)
        try:
            named = whole.session.with_labels(*told.named(names), sources)
            return written(kind, named, found, tell)
        finally:
            give_back()

    def similar(self, row: int, n: int) -> list[int]:
        """Return the rows most similar to one, itself first; none without a kernel."""
        part = self._of(row)
        return [] if part is None or not self.snapshot.ready else part.similar(row, n)

    def _of(self, row: int) -> Part | None:
        """Return what knows most about a row."""
        part = self._part
        return part if part is not None and row in part else self._whole

    def _work(self) -> None:
        try:
            if self._opened is not None:
                self._prepare(self._opened)
            if self._grow is not None:
                threading.Thread(target=self._embed, daemon=True).start()
            while not self._stopped.is_set():
                self._wake.clear()
                while self._arrived:
                    self._take(self._arrived.pop(0))
                self._learn()
                if not self._wake.is_set():
                    self._doubt()
                self._wake.wait()
        except Exception as error:  # a thread has nobody else to tell
            self._publish(error=f"{type(error).__name__}: {error}")
            raise

    def _embed(self) -> None:
        """Learn from more and more rows beside the work, and hand that over."""
        assert self._grow is not None
        try:
            for part in self._grow(self._told, Stages(self._publish)):
                # With its basis, which takes longest: nobody waits for it.
                self._arrived.append(part.learned(self._told()))
                self._wake.set()
        except Exception as error:  # a thread has nobody else to tell
            said = f"{'Nothing' if self._part is None else 'Nothing more'} was embedded"
            if self._whole is None and self._part is None:
                self._publish(error=f"{said}: {error}")
            else:
                notes = (*self.snapshot.notes, f"{said}: {error}")
                self._publish(stage="", notes=notes)

    def _prepare(self, opened: Open) -> None:
        """Open the table and find the basis; typical rows are asked about meanwhile."""
        self._publish(stage="turning columns into coordinates")
        session, told = opened(), self._told()
        notes = session.rows.screened.notes
        if self._grow is not None:  # what embeddings would bring is on its way
            hints = session.rows.encoder.messages_
            notes = tuple(note for note in notes if note not in hints)
        self._publish(
            stage="finding similar rows",
            questions=_typical(session, told),
            notes=notes,
        )
        give_back()
        self._whole = Part.of(session).learned(told)
        self._publish(stage="", ready=True)

    def _take(self, part: Part) -> None:
        """Go on with the rows that are embedded, which may be all of them."""
        if len(part.rows) < len(self._told().codes):
            self._part = part
            self._publish(ready=True)
        else:
            self._whole, self._part = part, None
            self._n_bases += 1
            notes = part.session.rows.screened.notes
            self._publish(ready=True, stage="", notes=notes)
        give_back()

    def _learn(self) -> None:
        """Learn from the answers so far, and compute questions ahead."""
        if self._whole is None and self._part is None:
            return
        began, told = time.monotonic(), self._told()
        if self._part is not None:
            self._part = self._part.learned(told)
        # While a part asks, the whole may learn of the next answer as well.
        if self._whole is not None and not (self._part and self._wake.is_set()):
            self._whole = self._whole.learned(told)
        known = [part for part in (self._part, self._whole) if part is not None]
        questions = known[0].questions(told, AHEAD)
        if len(questions) < AHEAD:  # few rows are embedded
            others = known[-1].questions(told, AHEAD)
            others = others[~np.isin(others, questions)]
            questions = np.concatenate([questions, others])[:AHEAD]
        self._publish(
            **_predicted(known, len(told.codes)),
            n_labels=len(told.labels().labeled),
            learned_from=told.digest(),
            seconds=time.monotonic() - began,
            questions=questions,
        )
        if self._whole is not None:
            self._draw(self._whole.session)

    def _doubt(self) -> None:
        """Look for labels that the others contradict."""
        part = self._part or self._whole
        found = () if part is None else part.doubts(_MOST_DOUBTFUL)
        if found != self.snapshot.suspicious:
            self._publish(suspicious=found)

    def _draw(self, session: Session) -> None:
        """Place the rows on the map: before labels, and when there are enough.

        In a thread of its own, since it takes longer than many answers.
        """
        due = sum(self.snapshot.n_labels >= n for n in DRAWN_AT) + self._n_bases
        if due < self.snapshot.map_version or self._drawing.is_set():
            return
        self._drawing.set()

        def draw() -> None:
            kernel, n = session.model.kernel_, len(session.table)
            rng = np.random.default_rng(session.task.random_state)
            xy = place_points(lambda rows: kernel.features(rows=rows), n, rng)
            self._drawing.clear()
            if not self._stopped.is_set():
                self._publish(map=xy.astype(np.float32), map_version=due + 1)
            give_back()

        threading.Thread(target=draw, daemon=True).start()

    def _publish(self, **changes: Any) -> None:
        with self._publishing:
            version = self.snapshot.version + 1
            self.snapshot = replace(self.snapshot, version=version, **changes)
            self._changed()


def _typical(session: Session, told: Told) -> IntArray:
    """Return typical rows by their coordinates, while there is no kernel yet."""
    X, asked = (
        session.rows.coordinates,
        np.union1d(np.flatnonzero(told.codes >= 0), told.closed),
    )
    mean = 0.0 if issparse(X) else X.mean(axis=0)

    def coordinates(rows: IntArray) -> FloatArray:
        return np.asarray(X[rows].toarray() if issparse(X) else X[rows] - mean)

    rng = np.random.default_rng([session.task.random_state, len(asked)])
    return cold_rows(coordinates, AHEAD, n_points=len(told.codes), asked=asked, rng=rng)


def _predicted(known: list[Part], n: int) -> dict[str, Any]:
    """Return the classes, and the probabilities of n rows by what knows them best.

    Rows that nothing knows have the mean of the last part.
    """
    able = [part for part in known if len(part.classes) >= 2]
    if not able:
        return {"classes": (), "proba": None}
    classes = np.unique(np.concatenate([part.classes for part in able]))
    proba = np.zeros((n, len(classes)), dtype=np.float32)
    for part in reversed(able):
        own = np.zeros((len(part.rows), len(classes)), dtype=np.float32)
        own[:, np.searchsorted(classes, part.classes)] = part.session.proba
        if part is able[-1]:
            proba[:] = own.mean(axis=0)
        proba[part.rows] = own
    return {"classes": tuple(classes.tolist()), "proba": proba}
