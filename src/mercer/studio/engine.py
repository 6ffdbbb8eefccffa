"""The model behind the page: trains in the background, asks ahead."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from mercer._typing import FloatArray, IntArray
from mercer.active.cold import cold_rows
from mercer.judging.suspicion import is_doubtful
from mercer.studio.layout import place_points
from mercer.tables.encoding import TableEncoder
from mercer.tables.table import Table
from mercer.unified import UnifiedKernelMachine

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
    classes: tuple[int, ...] = ()  # columns of proba
    proba: FloatArray | None = None  # (n, n_classes); None while one class is known
    questions: IntArray = field(default_factory=lambda: np.empty(0, np.intp))
    n_labels: int = 0
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


class ModelEngine:
    """Trains `UnifiedKernelMachine` on the rows of a table in one thread.

    Parameters
    ----------
    table : Table
        Without target and id.
    labels : callable
        Returns the class of every row, -1 where there is none, and the rows that
        are not to be asked about.
    changed : callable
        Called after each new snapshot.
    random_state : int, default=0
    """

    def __init__(
        self,
        table: Table,
        labels: Labels,
        changed: Callable[[], None] = lambda: None,
        *,
        random_state: int = 0,
    ) -> None:
        self.snapshot = Snapshot()
        self._table, self._labels, self._changed = table, labels, changed
        self._seed = random_state
        self._wake, self._stopped = threading.Event(), threading.Event()
        self._model: UnifiedKernelMachine | None = None
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

        Half of them are of the most probable class, half of the second; each pulls
        the row towards its own class and away from the other one.
        """
        model = self._model
        if model is None or not hasattr(model.kernel_, "features"):
            return []
        proba = self.snapshot.proba
        if proba is None or proba.shape[1] != len(model.classes_):
            return []  # the model is one step ahead of the snapshot
        labeled, machine = model.labeled_, model.machine_
        features = model.kernel_.features(rows=np.append(labeled, row))
        pulls = (features[:-1] @ features[-1])[:, None] * machine.dual_coef_
        if pulls.shape[1] == 1:
            pulls = np.hstack([-pulls, pulls])
        classes = model.classes_.astype(np.intp)
        codes = np.searchsorted(classes, self._told[labeled])
        first, second = np.argsort(-proba[row], kind="stable")[:2]
        found = []
        for towards, away in ((first, second), (second, first)):
            amount = pulls[:, towards] - pulls[:, away]
            own = np.flatnonzero((codes == towards) & (amount > 0))
            for i in own[np.argsort(-amount[own], kind="stable")][: (n + 1) // 2]:
                label = int(classes[towards])
                found.append((int(labeled[i]), label, float(amount[i])))
        return found

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
        X = TableEncoder(random_state=self._seed).fit_transform(self._table)
        self._X, self._features_of = X, _coordinates(X)
        self._publish(stage="finding similar rows", questions=self._cold())
        nothing = np.full(X.shape[0], -1)
        model = UnifiedKernelMachine(random_state=self._seed)
        self._cold_model = model.fit(X, nothing)
        self._features_of = lambda rows: model.kernel_.features(rows=rows)
        self._publish(stage="", ready=True)

    def _step(self) -> None:
        """Learn from the answers so far, and compute questions ahead."""
        codes, closed = self._labels()
        self._told = codes
        n_labels = int((codes >= 0).sum())
        # None for no label: -1 beside the class 1 alone would be taken for a class.
        y = codes.astype(object)
        y[codes < 0] = None
        model = self._cold_model.with_labels(y)
        is_open = np.ones(len(codes), dtype=bool)
        is_open[closed] = False
        questions = np.empty(0, dtype=np.intp)
        if (is_open & (codes < 0)).any():
            questions = np.asarray(model.ask(AHEAD, exclude=closed))
        if len(model.classes_) < 2:
            self._model = None
            self._publish(
                classes=(), proba=None, n_labels=n_labels, questions=questions
            )
            return
        self._model = model
        self._publish(
            classes=tuple(int(c) for c in model.classes_),
            proba=model.training_proba().astype(np.float32),
            n_labels=n_labels,
            questions=questions,
        )

    def _doubt(self) -> None:
        """Look for labels that the others speak against."""
        if self._model is None:
            found: tuple[tuple[int, int, float], ...] = ()
        else:
            ranked = self._model.suspicious_labels()
            wrong = is_doubtful(ranked)
            found = tuple(
                (int(row), int(label), float(support))
                for row, label, support in zip(
                    ranked.ids[wrong],
                    ranked.suggested[wrong],
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
        model = self._model
        features_of = self._features_of
        if model is not None:
            features_of = lambda rows: model.kernel_.features(rows=rows)  # noqa: E731
        rng = np.random.default_rng(self._seed)
        xy = place_points(features_of, len(self._table), rng)
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


def wait_until(test: Callable[[], bool], seconds: float) -> bool:
    """Wait for a background thread, and tell whether it came that far."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return True
        time.sleep(0.01)
    return test()
