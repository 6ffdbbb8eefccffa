"""The model behind the page: trains in the background, asks ahead."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer._base.memory import give_back
from mercer._base.progress import Progress
from mercer._base.typing import FloatArray, IntArray
from mercer.active.cold import cold_rows
from mercer.app.studio.engine import Snapshot, Stages, Told
from mercer.app.studio.written_files import written
from mercer.app.tables.session import Session
from mercer.judging.estimate import Interval
from mercer.judging.layout import place_points

DRAWN_AT = (20, 100)  # labels at which the map is drawn again
_MOST_DOUBTFUL = 100  # labels listed
AHEAD = 40  # questions kept ready
_AT_ONCE = 20_000  # rows that are compared with one


class ModelEngine:
    """Trains a model in one thread.

    The session that is `opened` stays as it is: each answer gives a further one, which
    shares the table and the basis. `told` returns what people have said so far, and
    `changed` is called after each new snapshot. `better` returns a session that takes
    long to open, since texts or images have to be embedded, and is called with what
    receives its progress; until it is there, people are asked by the other one.
    """

    def __init__(
        self,
        opened: Callable[[], Session],
        told: Callable[[], Told],
        changed: Callable[[], None] = lambda: None,
        better: Callable[[Progress], Session] | None = None,
    ) -> None:
        self.snapshot = Snapshot()
        self.session: Session | None = None  # the newest one
        self._opened, self._told, self._changed = opened, told, changed
        self._better, self._arrived = better, list[Session]()
        self._n_bases = 0  # that took the place of the first one
        self._wake, self._stopped = threading.Event(), threading.Event()
        self._publishing, self._drawing = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

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
        """Return labelled rows that pull a row, the class pulled to, how strongly.

        They are those that `UnifiedKernelMachine.explain` names.
        """
        session = self.session
        if session is None or len(session.labels.classes) < 2:
            return []
        pulls = session.model.explain(rows=[row]).top(n=n)
        return [(int(p.id), int(p.label), p.amount) for p in pulls]

    def file(
        self,
        kind: str,
        names: Mapping[int, str],
        found: Interval | None,
        tell: Callable[[str], None],
    ) -> bytes:
        """Return a file for what people have said so far, with names of classes."""
        told, session = self._told(), self.session
        assert session is not None
        votes = told.votes(self._first)
        sources = None if votes is None else votes.renamed(names)
        try:
            named = session.with_labels(*told.named(names), sources)
            return written(kind, named, found, tell)
        finally:
            give_back()

    def similar(self, row: int, n: int) -> list[int]:
        """Return the rows most similar to one, itself first; none without a kernel."""
        session = self.session
        if session is None or not self.snapshot.ready:
            return []
        kernel, n_rows = session.model.kernel_, len(session.table)
        return similar_rows(lambda rows: kernel.features(rows=rows), n_rows, row, n)

    def _work(self) -> None:
        try:
            session = self._prepare()
            if self._better is not None:
                threading.Thread(target=self._embed, daemon=True).start()
            while not self._stopped.is_set():
                self._wake.clear()
                if self._arrived:
                    session, self._n_bases = self._arrived.pop(), self._n_bases + 1
                    self._first = session
                    notes = session.rows.screened.notes
                    self._publish(stage="finding similar rows", notes=notes)
                self.session = session = self._step(session)
                if session.task.embed:
                    self._publish(stage="")
                self._draw(session)
                if not self._wake.is_set():
                    self._doubt(session)
                self._wake.wait()
        except Exception as error:  # a thread has nobody else to tell
            self._publish(error=f"{type(error).__name__}: {error}")
            raise

    def _embed(self) -> None:
        """Open the better session beside the work, and hand it over."""
        assert self._better is not None
        try:
            self._arrived.append(self._better(Stages(self._publish)))
        except Exception as error:  # a thread has nobody else to tell
            said = f"Nothing was embedded: {error}"
            self._publish(stage="", notes=(*self.snapshot.notes, said))
            return
        self._wake.set()

    def _prepare(self) -> Session:
        """Open the table and find the basis; typical rows are asked about meanwhile."""
        self._publish(stage="turning columns into coordinates")
        opened, told = self._opened(), self._told()
        notes = opened.rows.screened.notes
        if self._better is not None:  # what embeddings would bring is on its way
            hints = opened.rows.encoder.messages_
            notes = tuple(note for note in notes if note not in hints)
        self._publish(
            stage="finding similar rows",
            questions=_typical(opened, told),
            notes=notes,
        )
        self._first = opened
        give_back()
        self.session = opened.with_labels(told.labels(), sources=told.votes(opened))
        self._publish(stage="", ready=True)
        return self.session

    def _step(self, before: Session) -> Session:
        """Learn from the answers so far, and compute questions ahead."""
        began, told = time.monotonic(), self._told()
        votes = told.votes(self._first)
        session = before.with_labels(told.labels(), told.sizes, votes)
        is_open = told.codes < 0
        is_open[told.closed] = False
        questions = np.empty(0, dtype=np.intp)
        if is_open.any():
            questions = session.ask(AHEAD, exclude=told.closed)
        classes = tuple(session.labels.classes.tolist())
        is_trained = len(classes) >= 2
        self._publish(
            classes=classes if is_trained else (),
            proba=session.proba.astype(np.float32) if is_trained else None,
            n_labels=len(session.labels.labeled),
            learned_from=told.digest(),
            seconds=time.monotonic() - began,
            questions=questions,
        )
        return session

    def _doubt(self, session: Session) -> None:
        """Look for labels that the others contradict."""
        found: tuple[tuple[int, int, float], ...] = ()
        if len(session.labels.classes) >= 2:
            ranked = session.suspicious_labels()
            wrong = np.flatnonzero(ranked.looks_wrong)[:_MOST_DOUBTFUL]
            columns = ranked.ids, ranked.suggested, ranked.support
            found = tuple(
                (int(row), int(label), float(support))
                for row, label, support in zip(
                    *(c[wrong] for c in columns), strict=True
                )
            )
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


def similar_rows(
    features: Callable[[IntArray], FloatArray], n_rows: int, row: int, n: int
) -> list[int]:
    """Return the n rows with the largest cosine to one in the kernel, itself first.

    Inner products of the features of rows are the kernel.
    """
    target = features(np.array([row]))[0]
    cosines = np.empty(n_rows)
    for start in range(0, n_rows, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, n_rows))
        F = features(rows)
        length = np.linalg.norm(F, axis=1)
        cosines[rows] = F @ target / np.where(length > 0, length, 1.0)
    cosines[row] = np.inf
    return [int(i) for i in np.argsort(-cosines, kind="stable")[:n]]
