"""What a session knows about the classes: labels, votes and class sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import IntArray
from mercer._base.words import some
from mercer.app.tables.class_sizes import check_room, sizes_by_class, sizes_of
from mercer.app.tables.sizes_in_part import SizesInPart, is_in_part
from mercer.app.tables.task import Task
from mercer.evidence.labels import Labels
from mercer.evidence.sources import Sources
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.model.beliefs import joined_classes
from mercer.model.estimator import UnifiedKernelMachine


@dataclass(frozen=True, eq=False)
class Told:
    """Labels of all rows, and votes and shares of the classes where there are any."""

    labels: Labels
    sizes: Mapping[Any, float] | None = None
    sources: Sources | None = None  # of the classes of the labels
    in_part: SizesInPart | None = None  # in place of the sizes

    def with_sources(self, sources: Sources | None) -> "Told":
        """Return the same with other votes; labels and votes share their classes."""
        if sources is None:
            return self
        labels, votes = joined_classes(self.labels, sources)
        return replace(self, labels=labels, sources=votes)

    def voted(self, rows: IntArray, source: str, answers: list[Any]) -> "Told":
        """Return the same with the votes of a source, old or new, on some rows."""
        none = {source: np.full(len(self.labels.codes), None)}
        now = Sources.read(none) if self.sources is None else self.sources
        return self.with_sources(now.told(rows, source, answers))

    @classmethod
    def of(cls, y: NDArray[Any], task: Task, sources: Sources | None = None) -> Self:
        """Return what the target, votes of sources and the task say.

        Labels are None where there is none. A class that the task gives a size must
        have a label or a vote, unless fewer than two have. Where a class of votes has
        no size, sizes are estimated (`size_note`).
        """
        labels = Labels.read(y)
        own = labels.classes.tolist()
        if sources is not None:
            labels, sources = joined_classes(labels, sources)
        told = cls(labels, None, sources)
        given, as_written = task.class_sizes, task.labels_as_written
        if given is None:
            return told
        every = labels.classes.tolist()
        if is_in_part(given, every):
            part = SizesInPart.read(given, every, as_written=as_written)
            return replace(told, in_part=part)
        sizes = sizes_by_class(
            given,
            own,
            voted=every,
            as_written=as_written,
            may_come_later=len(every) < 2,
        )
        return replace(told, sizes=sizes)

    def model(self, task: Task, n_rows: int) -> UnifiedKernelMachine:
        """Return the model for these labels of n rows, not trained."""
        if self.sizes is not None:
            check_room(self.sizes, self.labels, n_rows)
        if self.in_part is not None:
            check_room(self.in_part.most(self.labels), self.labels, n_rows)
        return UnifiedKernelMachine(
            machine=self.machine(task),
            memory=task.memory,
            random_state=task.random_state,
        )

    @property
    def known_sizes(self) -> dict[Any, float] | None:
        """Shares of the classes that have labels, in order; None if one lacks."""
        if self.in_part is not None:
            return self.in_part.shares(self.labels.classes)
        return sizes_of(self.sizes, self.labels.classes)

    @property
    def size_note(self) -> str:
        """That sizes are not used, where votes name classes that were given none."""
        if self.sources is None or self.sizes is None or self.known_sizes is not None:
            return ""
        lacking = (repr(str(c)) for c in self.labels.classes if c not in self.sizes)
        return (
            f"Sources name {some(lacking)}, which your class sizes leave out, so these "
            "were not used. Give a number for each class, or shares of some "
            "(--class-sizes)."
        )

    def machine(self, task: Task) -> LeaveOneOutRLS:
        """Return the classifier for these labels, not trained."""
        sizes: Any = self.known_sizes or "estimate"
        if self.in_part is not None:
            sizes = self.in_part.of(self.labels.classes)
        return LeaveOneOutRLS(class_sizes=sizes, labels_drawn=task.labels_drawn)


class Page(Protocol):
    """An open page on which a session is labelled, as the session sees it."""

    is_open: bool

    def told(self) -> Told:
        """Return labels and sizes so far: the same object until there are others."""

    def tell(self, rows: IntArray, answers: list[Any]) -> None:
        """Keep answers that came from Python."""

    def model(self) -> UnifiedKernelMachine:
        """Return the newest model, which has the points and basis of the session."""
