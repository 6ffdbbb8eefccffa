"""The model behind the page: trains in the background, asks ahead."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mercer._base.typing import FloatArray, IntArray
from mercer.active.cold import cold_rows
from mercer.app.tables.session import Session
from mercer.app.tables.table import Table
from mercer.judging.layout import place_points
from mercer.model.estimator import UnifiedKernelMachine

DRAWN_AT = (20, 100)  # labels at which the map is drawn again
_MOST_DOUBTFUL = 100  # labels listed
AHEAD = 40  # questions kept ready


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What the model knows at one time; replaced as a whole, never changed."""

    version: int = 0
    stage: str = "reading the table"
    ready: bool = False  # questions compare rows by the kernel
    error: str = ""
    notes: tuple[str, ...] = ()  # what was not taken as it is written
    classes: tuple[int, ...] = ()  # columns of proba
    proba: FloatArray | None = None  # (n, n_classes); None while one class is known
    questions: IntArray = field(default_factory=lambda: np.empty(0, np.intp))
    n_labels: int = 0
    learned_from: int = 0  # `digest_of` the labels and sizes
    seconds: float = 0.0  # that learning from the last answers took
    suspicious: tuple[tuple[int, int, float], ...] = ()  # row, likely class, support
    map: FloatArray | None = None  # (n, 2) between -1 and 1
    map_version: int = 0


class Engine(Protocol):
    """What the studio needs of a model."""

    snapshot: Snapshot

    def start(self) -> None:
        """Begin to work in the background."""

    def stop(self) -> None:
        """End the work."""

    def wake(self) -> None:
        """Take note that answers have changed."""

    def why(self, row: int, n: int) -> list[tuple[int, int, float]]:
        """Return labelled rows that pull a row, the class pulled to, how strongly."""


Labels = Callable[[], tuple[IntArray, IntArray]]
Sizes = Callable[[], dict[int, float]]


class _Learned(NamedTuple):
    """A model with what it learned from."""

    model: UnifiedKernelMachine
    told: IntArray  # (n,) class of each row, -1 for none
    classes: tuple[int, ...]  # in the order of the model's


class ModelEngine:
    """Trains the model of a session in one thread.

    Parameters
    ----------
    source : Session or Table
        A session whose model learns from the answers, or a table to open one on.
    labels : callable
        Returns the class of every row, -1 where there is none, and the rows that
        are not to be asked about.
    changed : callable
        Called after each new snapshot.
    given : ndarray of shape (n,), optional
        Labels in the file, None where there is none: columns that come with them are
        not learned from.
    values : callable, optional
        Returns what the session calls each class; by default by its number.
    sizes : callable, optional
        Returns the shares of the classes among all rows, by their numbers; empty where
        they are not known.
    random_state : int, default=0
        Equal seeds give equal questions.
    opening : dict
        Passed on to `Session.open`.
    """

    def __init__(
        self,
        source: Session | Table,
        labels: Labels,
        changed: Callable[[], None] = lambda: None,
        *,
        given: NDArray[Any] | None = None,
        values: Callable[[], dict[int, Any]] | None = None,
        sizes: Sizes = dict,
        random_state: int = 0,
        **opening: Any,
    ) -> None:
        self.snapshot = Snapshot()
        self._source, self._labels, self._changed = source, labels, changed
        self._values, self._sizes, self._seed = values, sizes, random_state
        self._opening = {**opening, "labels": given, "random_state": random_state}
        self._wake, self._stopped = threading.Event(), threading.Event()
        self._learned: _Learned | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin to work in the background."""
        self._thread.start()

    def stop(self) -> None:
        """End the work, once the step at hand is done."""
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
        learned = self._learned
        if learned is None:
            return []
        number = dict(
            zip(learned.model.classes_.tolist(), learned.classes, strict=True)
        )
        pulls = learned.model.explain(rows=[row]).top(n=n)
        return [(int(p.id), number[p.label], p.amount) for p in pulls]

    def _work(self) -> None:
        try:
            self._prepare()
            while not self._stopped.is_set():
                self._wake.clear()
                self._step()
                for chore in (self._doubt, self._draw):
                    if not self._wake.is_set():
                        chore()
                self._wake.wait()
        except Exception as error:  # a thread has nobody else to tell
            self._publish(error=f"{type(error).__name__}: {error}")
            raise

    def _prepare(self) -> None:
        self._publish(stage="turning columns into coordinates")
        session = self._source
        if isinstance(session, Table):
            session = Session.open(session, **self._opening)
        self._session, self._features_of = session, _coordinates(session.points)
        notes = session.screened.notes
        self._publish(stage="finding similar rows", questions=self._cold(), notes=notes)
        if session.model is None:
            session.fit()
        model = session.fitted
        self._features_of = lambda rows: model.kernel_.features(rows=rows)
        self._publish(stage="", ready=True)

    def _step(self) -> None:
        """Learn from the answers so far, and compute questions ahead."""
        began = time.monotonic()
        codes, closed = self._labels()
        values = self._values() if self._values else {c: c for c in set(codes.tolist())}
        sizes = self._sizes()
        known = {values.get(c, c): share for c, share in sizes.items()}
        self._session.class_sizes = known or None
        labelled = np.array([values[c] for c in np.unique(codes[codes >= 0])])
        model = self._session.fitted.with_labels(
            labels_of(codes, values), machine=self._session.machine(labelled)
        )
        self._session.model = model
        is_open = np.ones(len(codes), dtype=bool)
        is_open[closed] = False
        questions = np.empty(0, dtype=np.intp)
        if (is_open & (codes < 0)).any():
            questions = np.asarray(model.ask(AHEAD, exclude=closed))
        learned, classes, proba = None, tuple[int, ...](), None
        if len(model.classes_) >= 2:
            number = {value: c for c, value in values.items()}
            classes = tuple(number[value] for value in model.classes_.tolist())
            learned = _Learned(model, codes, classes)
            proba = model.training_proba().astype(np.float32)
        self._learned = learned
        self._publish(
            classes=classes,
            proba=proba,
            n_labels=int((codes >= 0).sum()),
            learned_from=digest_of(codes, sizes),
            seconds=time.monotonic() - began,
            questions=questions,
        )

    def _doubt(self) -> None:
        """Look for labels that the others speak against."""
        found: tuple[tuple[int, int, float], ...] = ()
        if self._learned is not None:
            model, _, classes = self._learned
            ranked = model.suspicious_labels()
            wrong = ranked.looks_wrong
            names = model.classes_.tolist()
            found = tuple(
                (int(row), classes[names.index(label)], float(support))
                for row, label, support in zip(
                    ranked.ids[wrong],
                    ranked.suggested[wrong].tolist(),
                    ranked.support[wrong],
                    strict=True,
                )
            )[:_MOST_DOUBTFUL]
        if found != self.snapshot.suspicious:
            self._publish(suspicious=found)

    def _draw(self) -> None:
        """Place the rows on the map: before labels, and when there are enough."""
        due = sum(self.snapshot.n_labels >= n for n in DRAWN_AT)
        if due < self.snapshot.map_version:
            return
        kernel = self._session.fitted.kernel_
        rng = np.random.default_rng(self._seed)
        n = len(self._session.table)
        xy = place_points(lambda rows: kernel.features(rows=rows), n, rng)
        self._publish(map=xy.astype(np.float32), map_version=due + 1)

    def _cold(self) -> IntArray:
        """Return typical rows by their coordinates, while there is no kernel yet."""
        codes, closed = self._labels()
        asked = np.union1d(np.flatnonzero(codes >= 0), closed)
        rng = np.random.default_rng([self._seed, len(asked)])
        return cold_rows(
            self._features_of, AHEAD, n_points=len(codes), asked=asked, rng=rng
        )

    def _publish(self, **changes: Any) -> None:
        version = self.snapshot.version + 1
        self.snapshot = replace(self.snapshot, version=version, **changes)
        self._changed()


def _coordinates(X: Any) -> Callable[[IntArray], FloatArray]:
    """Return what gives the coordinates of rows, centred unless they are sparse."""
    if issparse(X):
        return lambda rows: np.asarray(X[rows].toarray())
    mean = X.mean(axis=0)
    return lambda rows: np.asarray(X[rows] - mean)


def labels_of(codes: IntArray, values: dict[int, Any]) -> NDArray[Any]:
    """Return what a session calls the classes of rows, None where there is none.

    None, as -1 beside the class 1 alone would be taken for a class.

    Examples
    --------
    >>> labels_of(np.array([0, -1, 1]), {0: "cat", 1: "dog"})
    array(['cat', None, 'dog'], dtype=object)
    """
    y = np.full(len(codes), None, dtype=object)
    for code in set(codes[codes >= 0].tolist()):
        y[codes == code] = values[code]
    return y


def digest_of(codes: IntArray, sizes: dict[int, float]) -> int:
    """Return a number that differs where labels or sizes do, but for one in 2^32."""
    told = repr(sorted(sizes.items())).encode()
    return crc32(codes.astype(np.int64).tobytes() + told)


def wait_until(test: Callable[[], bool], seconds: float) -> bool:
    """Wait for a background thread, and tell whether it came that far."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return True
        time.sleep(0.01)
    return test()
