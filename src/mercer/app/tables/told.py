"""What a session knows about the classes: labels, votes and class sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import IntArray
from mercer.app.tables.class_sizes import check_room, sizes_by_class, sizes_of
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

    def with_sources(self, sources: Sources | None) -> "Told":
        """Return the same with other votes; labels and votes share their classes."""
        if sources is None:
            return self
        labels, votes = joined_classes(self.labels, sources)
        return Told(labels, self.sizes, votes)

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
        no size, sizes are estimated.
        """
        labels, sizes = Labels.read(y), None
        own = labels.classes.tolist()
        if sources is not None:
            labels, sources = joined_classes(labels, sources)
        if task.class_sizes is not None:
            sizes = sizes_by_class(
                task.class_sizes,
                own,
                voted=labels.classes.tolist(),
                as_written=task.labels_as_written,
                may_come_later=len(labels.classes) < 2,
            )
        return cls(labels, sizes, sources)

    def model(self, task: Task, n_rows: int) -> UnifiedKernelMachine:
        """Return the model for these labels of n rows, not trained."""
        if self.sizes is not None:
            check_room(self.sizes, self.labels, n_rows)
        return UnifiedKernelMachine(
            machine=self.machine(task),
            memory=task.memory,
            random_state=task.random_state,
        )

    @property
    def known_sizes(self) -> dict[Any, float] | None:
        """Shares of the classes that have labels, in order; None if one lacks."""
        return sizes_of(self.sizes, self.labels.classes)

    def machine(self, task: Task) -> LeaveOneOutRLS:
        """Return the classifier for these labels, not trained."""
        return LeaveOneOutRLS(
            class_sizes=self.known_sizes or "estimate", labels_drawn=task.labels_drawn
        )


class Page(Protocol):
    """An open page on which a session is labelled, as the session sees it."""

    is_open: bool

    def told(self) -> Told:
        """Return labels and sizes so far: the same object until there are others."""

    def tell(self, rows: IntArray, answers: list[Any]) -> None:
        """Keep answers that came from Python."""

    def model(self) -> UnifiedKernelMachine:
        """Return the newest model, which has the points and basis of the session."""
