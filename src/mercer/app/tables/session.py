"""A table, one model, and the answers so far."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._base.progress import Progress, quiet
from mercer._base.typing import FloatArray, IntArray
from mercer.app.tables.class_sizes import check_known
from mercer.app.tables.model import TableModel
from mercer.app.tables.rows import Rows
from mercer.app.tables.table import Table
from mercer.app.tables.task import Task
from mercer.app.tables.told import Page, Told
from mercer.evidence.labels import Labels, LabelsDrawn
from mercer.evidence.row_names import check_answers, check_once, positions_of
from mercer.evidence.sources import Sources
from mercer.fewlabels.pools.choice import PoolPlan
from mercer.judging.hiding import Check, check_by_hiding
from mercer.judging.sources import SourceReport
from mercer.judging.suspicion import SuspiciousLabels
from mercer.model.estimator import UnifiedKernelMachine


class Session:
    """A table, one model, and the answers so far.

    `mercer.learn`, the command line and the studio use it. `Session.open` makes one
    from a table. Rows are named by their position, from 0; `ids` has the names that
    the table gives them.

    Parameters
    ----------
    rows : Rows
        The table, screened and encoded.
    task : Task
        What a person said about it.

    See Also
    --------
    learn : The same in one call.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, 2, 1, 2, 8, 9, 8, 9], "label": ["small",
    ...     "small", None, None, "big", "big", None, None]})
    >>> session = Session.open(table).fit()
    >>> session.predictions.tolist()[-2:]
    ['big', 'big']
    >>> row = session.ask()
    >>> session.tell(row, ["small"]).labels.labeled.size
    5
    """

    def __init__(self, rows: Rows, task: Task) -> None:
        self.rows, self.task = rows, task
        self._told = rows.given
        self._model: UnifiedKernelMachine | None = None
        self._taught: Told | None = None  # what the model has learned from
        self._page: Page | None = None
        self._page_said: Told | None = None  # what `_told` was made of

    def __repr__(self) -> str:
        labels = self.labels
        said = (
            f"Session: {len(self.table):,} rows, {len(labels.labeled):,} labels of "
            f"{len(labels.classes):,} classes"
        )
        return said if self._model is not None else f"{said}; fit() learns from them"

    @classmethod
    def open(
        cls,
        data: Any,
        target: str = "label",
        *,
        id: str | None = None,
        pairs: Any = None,
        labels_drawn: LabelsDrawn | None = None,
        class_sizes: Any = None,
        drop: Iterable[str] = (),
        keep: Iterable[str] = (),
        labels_as_written: bool = False,
        missing: Iterable[str] = (),
        memory: float | str | None = None,
        random_state: int = 0,
        embed: Any = None,
        sources: Any = None,
        progress: Progress = quiet,
    ) -> Self:
        """Read and encode a table; nothing is learned yet.

        Parameters
        ----------
        data : data frame, dict of arrays, Table or path
            A path is read by `mercer.app.tables.reading.read_table`.
        target : str, default="label"
            Column to predict; empty cells (None, NaN, "", the number -1, and words
            such as NA, ? and unknown) are unlabelled. All of them may be, and the
            column need not be there: `ask` then says where to begin.
        id, labels_drawn, class_sizes, embed, sources
            See `mercer.learn`.
        pairs, drop, keep, labels_as_written, missing
            See `mercer.app.tables.task.Task`.
        memory : float or str, optional
            Bytes that may be used, or a text such as "4GB"; by default three quarters
            of what is free.
        random_state : int, default=0
            Equal seeds give equal results.
        progress : Progress, optional
            Receives each stage and the share of it that is done.
        """
        task = Task.among(locals())
        return cls(Rows.read(data, task, min_classes=0, progress=progress), task)

    def fit(self, *, progress: Progress = quiet) -> Self:
        """Learn from the labels so far.

        Parameters
        ----------
        progress : Progress, optional
            Receives the stages of the work.
        """
        told = self.told
        if told.size_note:
            warnings.warn(told.size_note, stacklevel=2)
        said = f"{len(self.rows):,} rows, {len(told.labels.labeled):,} labels"
        progress.note(said if self.plan is None else f"{said}: {self.plan}")
        progress.stage("neighbours and directions")
        unfitted = told.model(self.task, len(self.rows))
        self._model = self.rows.fit(unfitted, told)
        self._taught = told
        return self

    def with_labels(
        self,
        labels: Labels,
        class_sizes: Mapping[Any, float] | None = None,
        sources: Sources | None = None,
    ) -> Self:
        """Return a session with other labels, learned; the table is shared.

        Rows, points and basis are the same objects, so that only the classifier is
        trained. This session stays as it is.

        Parameters
        ----------
        labels : Labels
            Labels of all rows, which replace the present ones; classes may change.
        class_sizes : mapping, optional
            Shares of classes among all rows. They are used if every class that has a
            label has one.
        sources : Sources, optional
            Votes in place of the present ones.
        """
        other = copy(self)
        votes = self.told.sources if sources is None else sources
        told = Told(labels, class_sizes or None).with_sources(votes)
        other._page, other._told = None, told
        return other.fit() if self._model is None else other._relearned()

    def follow(self, page: Page) -> None:
        """Take labels and class sizes from a page while it is open.

        Parameters
        ----------
        page : Page
            An open page of the studio.
        """
        self._page = page

    @property
    def told(self) -> Told:
        """Labels, votes and class sizes so far."""
        if self._page is not None and self._page.told() is not self._page_said:
            self._page_said = self._page.told()
            self._told = self._page_said.with_sources(self._told.sources)
        return self._told

    def _relearned(self) -> Self:
        """Learn from the answers since the last fit, on the present basis."""
        told = self.told
        if self._model is None and self._page is not None:
            self._model = self._page.model()
        if self._model is None:
            msg = "nothing is learned yet; call fit() first."
            raise ValueError(msg)
        if self._taught is not told:
            machine = told.machine(self.task)
            self._model = self._model.with_labels(
                told.labels, machine=machine, sources=told.sources
            )
            self._taught = told
        return self

    @property
    def model(self) -> UnifiedKernelMachine:
        """The model, if `fit` was called; it knows the labels so far."""
        model = self._relearned()._model
        assert model is not None
        return model

    @property
    def labels(self) -> Labels:
        """The labels so far, as codes."""
        return self.told.labels

    @property
    def class_sizes(self) -> Mapping[Any, float] | None:
        """Shares of the classes among all rows, if they are known."""
        return self.told.sizes

    @property
    def table(self) -> Table:
        """The table."""
        return self.rows.table

    @property
    def ids(self) -> Any:
        """What the table calls its rows, (n,)."""
        return self.rows.ids

    @property
    def y(self) -> NDArray[Any]:
        """The labels so far, (n,), None where there is none."""
        return self.labels.given()

    @property
    def plan(self) -> PoolPlan | None:
        """Which kernels are used, why, and what they need; None where pairs decide."""
        if self.rows.pairs is not None:
            return None
        return self.rows.plan(len(self.labels.classes), self.task.memory)

    @property
    def proba(self) -> FloatArray:
        """Probabilities of the classes for every row, (n, n_classes)."""
        model = self.model
        if len(model.classes_) == 0:
            msg = "no row has a label yet; tell() takes some, and ask() says of which."
            raise ValueError(msg)
        return model.training_proba()

    @property
    def predictions(self) -> NDArray[Any]:
        """The class of every row, (n,): the most probable one."""
        return np.asarray(self.model.classes_[self.proba.argmax(axis=1)])

    def ask(self, n: int = 1, *, exclude: Iterable[int] = ()) -> IntArray:
        """Return the unlabelled rows most worth a label, most useful first.

        Parameters
        ----------
        n : int, default=1
            Number of rows; fewer if fewer are unlabelled.
        exclude : iterable of int, default=()
            Rows that nobody can label.
        """
        return np.asarray(self.model.ask(n, exclude=list(exclude)))

    def tell(
        self, rows: int | Iterable[int], labels: Any, *, source: str | None = None
    ) -> Self:
        """Take labels and learn again; neighbours and directions are kept.

        Parameters
        ----------
        rows : int or iterable of int
            As `ask` returns them.
        labels : label or iterable of labels
            One for each row; new classes are allowed, None takes a label back.
        source : str, optional
            Who says so, such as "llm": its votes, which may be wrong.
        """
        named = np.atleast_1d(np.asarray(rows))
        is_several = isinstance(labels, Iterable) and not isinstance(labels, str)
        answers = list(labels) if is_several else [labels]
        if set(self.labels.classes.tolist()) <= {"True", "False"}:
            answers = [str(v) if isinstance(v, bool | np.bool_) else v for v in answers]
        positions = positions_of(named, np.arange(len(self.table)))
        check_answers(len(positions), len(answers))
        if source is None and self._page is not None and self._page.is_open:
            self._page.tell(positions, answers)
            return self
        told = self._relearned().told
        if told.sizes is not None:
            check_known(answers, told.sizes)
        check_once(positions, positions)
        if source is not None:
            self._told = told.voted(positions, source, answers)
            return self._relearned()
        labels = told.labels.told(positions, np.array(answers, dtype=object))
        self._page = None
        self._told = replace(told, labels=labels).with_sources(told.sources)
        return self._relearned()

    def label(self, **settings: Any) -> Any:
        """Show the studio in a cell of a notebook; answers come to this session.

        An answer is in `y` at once. The model learns from it in the background, in this
        process; `LabelPage.wait` waits for that. Answers by `tell` reach the page.

        Parameters
        ----------
        settings : dict
            Passed on to `mercer.app.studio.notebook.label`, such as ``classes``,
            ``store`` and ``height``.

        Returns
        -------
        mercer.app.studio.notebook.LabelPage
        """
        from mercer.app.studio.notebook import label

        return label(self, **settings)

    def check(
        self, *, advance: Callable[[float], None] = lambda share: None
    ) -> Check | None:
        """Hide labels in turn and predict them, or return None if they are too few.

        Two classes must have labels, and one of them two.

        Parameters
        ----------
        advance : callable, optional
            Receives the share of the work that is done.
        """
        sizes = self.told.known_sizes
        return check_by_hiding(
            self.model,
            self.rows.coordinates,
            self.labels,
            rng=np.random.default_rng(self.task.random_state),
            advance=advance,
            class_sizes=None if sizes is None else np.array([*sizes.values()]),
        )

    def source_report(self) -> SourceReport:
        """Return how reliable each source of labels is."""
        return self.model.source_report()

    def suspicious_labels(self) -> SuspiciousLabels:
        """Rank the given labels by how little the other labels support them."""
        return self.model.suspicious_labels()

    def to_model(self) -> TableModel:
        """Return what predicts new rows and can be saved."""
        return TableModel(
            self.rows.encoder,
            self.model.without_rows(),
            target=self.task.target,
            id=self.task.id,
            image_shape=self.table.image_shape,
        )
