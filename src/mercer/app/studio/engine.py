"""What the studio needs of a model, and what people have told it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.app.studio.items import names_of
from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED
from mercer.evidence.sources import Sources

if TYPE_CHECKING:
    from mercer.app.tables.session import Session


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


class Told(NamedTuple):
    """What people have said so far; classes are numbers."""

    codes: IntArray  # (n,) class of each row, -1 for none
    closed: IntArray  # rows not to be asked about
    sizes: dict[int, float]  # shares of the classes; empty where they are not known
    numbers: Mapping[str, int] = MappingProxyType({})  # classes by their first names
    # What each person said of rows that several have answered
    people: Mapping[int, Mapping[str, int]] = MappingProxyType({})

    @property
    def disputed(self) -> list[int]:
        """The rows that people labelled differently."""
        return sorted(row for row, of in self.people.items() if len({*of.values()}) > 1)

    def of(self, rows: IntArray) -> "Told":
        """Return what was said of some rows, numbered from 0."""
        place = np.full(len(self.codes), -1)
        place[rows] = np.arange(len(rows))
        closed = place[self.closed]
        people = {
            int(place[r]): said for r, said in self.people.items() if place[r] >= 0
        }
        return self._replace(
            codes=self.codes[rows], closed=closed[closed >= 0], people=people
        )

    def labels(self) -> Labels:
        """Return the labels; numbers of classes stand for their names.

        A row that people labelled differently has none: what they said are votes.
        """
        given = self.codes.copy()
        given[self.disputed] = UNLABELED
        known = given >= 0
        codes = np.full(len(given), UNLABELED)
        classes, codes[known] = np.unique(given[known], return_inverse=True)
        return Labels(codes, classes)

    def named(self, names: Mapping[int, Any]) -> tuple[Labels, dict[Any, float]]:
        """Return labels and sizes by what the classes are called."""
        labels = self.labels()
        y = np.full(len(self.codes), None, dtype=object)
        for code, number in enumerate(labels.classes.tolist()):
            y[labels.codes == code] = names.get(number)
        return Labels.read(y), {names[c]: share for c, share in self.sizes.items()}

    def votes(self, session: "Session") -> Sources | None:
        """Return the votes, by numbers of classes: of the table, and of people.

        People vote on the rows that several have answered, once they differ somewhere.
        """
        votes = session.told.sources
        if votes is not None:
            names = zip(votes.classes.tolist(), names_of(votes.classes), strict=True)
            votes = votes.renamed(
                {c: self.numbers[name] for c, name in names if name in self.numbers}
            )
        if not self.disputed:
            return votes
        taken = () if votes is None else votes.names
        for who in sorted({who for said in self.people.values() for who in said}):
            name = f"{who} (answers)" if who in taken else who
            rows = np.array([row for row, said in self.people.items() if who in said])
            answers = [self.people[row][who] for row in rows.tolist()]
            if votes is None:
                votes = Sources.read({name: np.full(len(self.codes), UNLABELED)})
            votes = votes.told(rows, name, answers)
        return votes

    def digest(self) -> int:
        """Return a number that differs where labels or sizes do, almost surely."""
        said = [(row, *sorted(self.people[row].items())) for row in self.disputed]
        known = repr((sorted(self.sizes.items()), sorted(self.numbers.items()), said))
        return crc32(self.codes.astype(np.int64).tobytes() + known.encode())


class Stages:
    """Shows the progress of a job as the stage of a snapshot."""

    def __init__(self, publish: Callable[..., None]) -> None:
        self._publish, self._name, self._percent = publish, "", -1

    def stage(self, name: str) -> None:
        """Take note that a stage begins."""
        self._name, self._percent = name, -1
        self._publish(stage=name)

    def advance(self, share: float) -> None:
        """Take note of the share of the stage that is done."""
        if int(100 * share) > self._percent:
            self._percent = int(100 * share)
            self._publish(stage=f"{self._name}, {self._percent}%")

    def note(self, message: str) -> None:
        """Leave out what is said on a terminal."""


def wait_until(test: Callable[[], bool], seconds: float) -> bool:
    """Wait for a background thread, and tell whether it came that far."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return True
        time.sleep(0.01)
    return test()
