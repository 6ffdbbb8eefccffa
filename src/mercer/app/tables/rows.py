"""The rows of a session: a table without what misleads, and the points made of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from mercer._base.progress import Progress, quiet
from mercer.app.tables.column_notes import ColumnNote
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.pair_files import read_pairs
from mercer.app.tables.screening import Screened, screen
from mercer.app.tables.table import Table, TableError, as_table
from mercer.app.tables.target import read_ids
from mercer.app.tables.task import Task
from mercer.app.tables.told import Told
from mercer.app.tables.views import rule_of, views_of
from mercer.app.tables.votes import check_voted, votes_of
from mercer.app.tables.written_vectors import read_vectors
from mercer.evidence.pairs import Pairs
from mercer.fewlabels.pools.choice import PoolPlan, plan_pool
from mercer.model.estimator import UnifiedKernelMachine


@dataclass(frozen=True, eq=False)
class Rows:
    """A table that was screened and encoded; no label changes it."""

    table: Table  # as it was read
    screened: Screened  # what of the table is learned from, and the labels in it
    encoder: TableEncoder  # fitted to the table
    points: Any  # (n, d) what the encoder made of the table
    ids: Any  # (n,) what the table calls its rows
    # the labels in the table, and class sizes by the names that they have there
    given: Told
    pairs: Pairs | None  # rows that belong together or apart

    @classmethod
    def read(
        cls,
        data: Any,
        task: Task,
        *,
        min_classes: int = 0,
        labels: NDArray[Any] | None = None,
        for_trees: bool = True,
        progress: Progress = quiet,
    ) -> Self:
        """Read, screen and encode a table.

        At least `min_classes` must have labels; without any, the target need not be
        there. Where `labels` are kept elsewhere (None: no label), the target column is
        not read. With `for_trees`, trees get columns of their own, unless pairs decide.
        """
        if isinstance(data, str | Path):
            from mercer.app.tables.reading import read_table

            data = read_table(data, **task.reading)
        table = read_vectors(as_table(data))
        ids = read_ids(table, task.id)
        if task.sources:
            min_classes = 0  # their votes name the classes
        screened = screen(table, task, min_classes=min_classes, labels=labels)
        votes = None
        if task.sources:
            votes, said = votes_of(table, task, screened.labels)
            screened = screened._replace(notes=(*screened.notes, *said))
        given = Told.of(screened.labels, task, votes)
        if task.sources:
            check_voted(table, given.labels.classes)
        pairs = None if task.pairs is None else read_pairs(task.pairs, ids)
        progress.stage("columns to numbers")
        encoder = TableEncoder(
            random_state=task.random_state, for_trees=for_trees and pairs is None
        )
        points = encoder.fit_transform(screened.table, task.embed, progress=progress)
        screened = screened._replace(notes=(*screened.notes, *encoder.messages_))
        return cls(table, screened, encoder, points, ids, given, pairs)

    @property
    def notes(self) -> list[ColumnNote]:
        """What each column was taken for."""
        embedded = {e.column for e in self.encoder.embeddings_}
        rest = [n for n in self.screened.column_notes if n.column not in embedded]
        return [*self.encoder.notes_, *rest]

    @property
    def coordinates(self) -> Any:
        """Points without the columns that only trees ask about, (n, d)."""
        if self.encoder.below_ is None:
            return self.points
        return self.points[:, : self.encoder.n_coordinates_]

    def __len__(self) -> int:
        """Return the number of rows that a model is about."""
        return len(self.table)

    def plan(self, n_classes: int, memory: float | None) -> PoolPlan:
        """Return which kernels are used, why, and what they need."""
        try:
            views = views_of(self.encoder) or ()
            n_views = max(sum(view.kernels for view in views), 1)
            return plan_pool(
                self.coordinates, n_classes, memory=memory, n_views=n_views
            )
        except MemoryError as error:
            msg = f"{error} (--memory)"
            raise TableError(msg) from error

    def fit(self, model: UnifiedKernelMachine, told: Told) -> UnifiedKernelMachine:
        """Fit a model to all rows; labels weigh the views, unless pairs decide."""
        if self.pairs is None:
            model.set_params(views=views_of(self.encoder), rule=rule_of(self.encoder))
        return model.fit(
            self.points, told.labels, pairs=self.pairs, sources=told.sources
        )
