"""A table, its encoder, one model and the answers so far."""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._base.extras import require
from mercer._base.progress import Progress, quiet
from mercer._base.typing import FloatArray, IntArray
from mercer.app.tables.class_sizes import (
    check_drawn,
    check_known,
    check_room,
    size_advice,
    sizes_by_class,
    sizes_matter,
    sizes_of,
)
from mercer.app.tables.encoding import ColumnNote, TableEncoder
from mercer.app.tables.influence import Influence, column_influences
from mercer.app.tables.model import TableModel
from mercer.app.tables.pair_files import read_pairs
from mercer.app.tables.screening import Screened, screen
from mercer.app.tables.table import Table, TableError, as_table
from mercer.app.tables.target import read_ids
from mercer.evidence.labels import Labels
from mercer.evidence.row_names import check_answers, positions_of
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.pools.choice import PoolPlan, plan_pool
from mercer.fewlabels.sizes import LabelsDrawn
from mercer.judging.hiding import Check, check_by_hiding
from mercer.judging.outlook import Outlook, look_ahead
from mercer.judging.suspicion import SuspiciousLabels
from mercer.model.estimator import UnifiedKernelMachine

if TYPE_CHECKING:
    from mercer.evidence.pairs import Pairs


class Session:
    """A table, its encoder, one model, and the answers so far.

    `mercer.learn`, the command line and the studio use it. `Session.open` makes one
    from a table. Rows are named by their position, from 0; `ids` has the names that
    the table gives them.

    Parameters
    ----------
    table : Table
    screened : Screened
        What of the table is learned from, and its labels.
    encoder : TableEncoder
        Fitted to the table.
    points : array or sparse array of shape (n, d)
        What the encoder made of the table.
    target : str
        Column to predict.
    id : str or None
        Column that names the rows.
    pairs : Pairs or None
        Rows that belong together or apart.
    labels_drawn : {"at random", "per class"} or None
        How rows were chosen for labels, if that is known.
    class_sizes : dict or None
        Shares of the classes among all rows, if they are known.
    memory : float or None
        Bytes that may be used; None: three quarters of what is free.
    random_state : int
        Equal seeds give equal results.

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

    def __init__(
        self,
        table: Table,
        screened: Screened,
        encoder: TableEncoder,
        points: Any,
        *,
        target: str,
        id: str | None = None,
        pairs: "Pairs | None" = None,
        labels_drawn: LabelsDrawn | None = None,
        class_sizes: dict[Any, float] | None = None,
        memory: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.table = table
        self.screened = screened
        self.y = screened.labels
        self._labels: Labels | None = None  # of y; coding many rows takes time
        self.encoder = encoder
        self.points = points
        self.target = target
        self.id = id
        self.pairs = pairs
        self.labels_drawn, self.class_sizes = labels_drawn, class_sizes
        self.memory = memory
        self.random_state = random_state
        self.ids = read_ids(table, id)
        self.model: UnifiedKernelMachine | None = None
        # Told of answers that come by `tell`; a page that is open keeps them.
        self.listener: Callable[[IntArray, list[Any]], None] | None = None

    def __repr__(self) -> str:
        labels = self.labels
        said = (
            f"Session: {len(self.table):,} rows, {len(labels.labeled):,} labels of "
            f"{len(labels.classes):,} classes"
        )
        return said if self.model is not None else f"{said}; fit() learns from them"

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
        labels: NDArray[Any] | None = None,
        memory: float | None = None,
        random_state: int = 0,
        progress: Progress = quiet,
    ) -> Self:
        """Read and encode a table; nothing is learned yet.

        Parameters
        ----------
        data : data frame, dict of arrays, Table or path
            A path is read by `mercer.app.tables.reading.read_table`.
        target : str, default="label"
            Column to predict; empty cells (None, NaN, "", the number -1, and words
            such as NA, ? and unknown) are unlabelled.
        id : str, optional
            Column that names the rows; not learned from.
        pairs : data frame or path, optional
            Rows that belong together or apart; see `mercer.app.tables.pair_files`.
        labels_drawn : {"at random", "per class"}, optional
            How rows were chosen for labels. At random, the numbers of labels tell how
            large the classes are, and are used; per class, such as ten rows of each,
            they tell nothing. Rows that `ask` named are not drawn at random.
        class_sizes : dict or Series, optional
            How large the classes are among all rows, if you know it: counts or shares
            by the names of the classes. They decide where classes overlap.
        drop : iterable of str, default=()
            Columns not to learn from.
        keep : iterable of str, default=()
            Columns to learn from although they look misleading: see
            `mercer.app.tables.screening`.
        labels_as_written : bool, default=False
            Take every spelling in the target for a class: "Yes" and "yes" for two, and
            "NA", "?" and "unknown" for labels.
        missing : iterable of str, default=()
            Further cells that mean "not known".
        labels : ndarray of shape (n,), optional
            Labels that are kept elsewhere, None where there is none; there may be
            none at all. The target column is then not read, and need not be there.
        memory : float, optional
            Bytes that may be used; by default three quarters of what is free.
        random_state : int, default=0
            Equal seeds give equal results.
        progress : Progress, optional
            Receives each stage and the share of it that is done.
        """
        for package in ("pandas", "pyarrow"):
            require(package, extra="tables", purpose="Learning from a table")
        check_drawn(labels_drawn, class_sizes)
        # Names of columns are strings in a table, whatever they are in a data frame.
        target, id = str(target), None if id is None else str(id)
        drop, keep = tuple(map(str, drop)), tuple(map(str, keep))
        missing = tuple(missing)
        if isinstance(data, str | Path):
            from mercer.app.tables.reading import read_table

            data = read_table(
                data,
                as_text=tuple(c for c in (target, id, *drop) if c),
                missing=missing,
                memory=memory,
            )
        table = as_table(data)
        ids = read_ids(table, id)
        screened = screen(
            table,
            target,
            id=id,
            drop=drop,
            keep=keep,
            labels_as_written=labels_as_written,
            missing=missing,
            labels=labels,
        )
        sizes = None
        if class_sizes is not None:
            sizes = sizes_by_class(
                class_sizes,
                screened.labels,
                as_written=labels_as_written,
                may_come_later=labels is not None,
            )
        evidence = None if pairs is None else read_pairs(pairs, ids)
        progress.stage("columns to coordinates")
        encoder = TableEncoder(random_state=random_state)
        points = encoder.fit_transform(screened.table)
        return cls(
            table,
            screened,
            encoder,
            points,
            target=target,
            id=id,
            pairs=evidence,
            labels_drawn=labels_drawn,
            class_sizes=sizes,
            memory=memory,
            random_state=random_state,
        )

    def fit(self, *, progress: Progress = quiet) -> Self:
        """Learn from the labels at hand."""
        labels = self.labels
        said = f"{len(self.table):,} rows, {len(labels.labeled):,} labels"
        progress.note(said if self.plan is None else f"{said}: {self.plan}")
        progress.stage("neighbours and directions")
        self.model = self.unfitted().fit(self.points, self.y, pairs=self.pairs)
        return self

    def machine(self, classes: NDArray[Any]) -> LeaveOneOutRLS:
        """Return the classifier for labels of these classes, told what is known."""
        sizes = sizes_of(self.class_sizes, classes)
        return LeaveOneOutRLS(
            class_sizes="estimate" if sizes is None else sizes,
            labels_drawn=self.labels_drawn,
        )

    def unfitted(self) -> UnifiedKernelMachine:
        """Return the model before it has learned anything."""
        if self.class_sizes is not None:
            check_room(self.class_sizes, self.labels, self.n_rows)
        return UnifiedKernelMachine(
            machine=self.machine(self.labels.classes),
            memory=self.memory,
            random_state=self.random_state,
        )

    @property
    def plan(self) -> PoolPlan | None:
        """Which kernels are used, why, and what they need; None where pairs decide."""
        if self.pairs is not None:
            return None
        try:
            return plan_pool(self.points, len(self.labels.classes), memory=self.memory)
        except MemoryError as error:
            msg = f"{error} (--memory)"
            raise TableError(msg) from error

    @property
    def n_rows(self) -> int:
        """Rows that the model is about."""
        return len(self.table)

    @property
    def known_sizes(self) -> tuple[float, ...] | None:
        """Shares of the classes that have labels, in order, if they are known."""
        sizes = sizes_of(self.class_sizes, self.labels.classes)
        return None if sizes is None else tuple(sizes.values())

    @property
    def labels(self) -> Labels:
        """The labels so far, as codes."""
        if self._labels is None:
            self._labels = Labels.read(self.y)
        return self._labels

    @property
    def notes(self) -> list[ColumnNote]:
        """What each column was taken for."""
        return [*self.encoder.notes_, *self.screened.column_notes]

    @property
    def fitted(self) -> UnifiedKernelMachine:
        """The model, if `fit` was called."""
        if self.model is None:
            msg = "nothing is learned yet; call fit() first."
            raise ValueError(msg)
        return self.model

    @property
    def proba(self) -> FloatArray:
        """Probabilities of the classes for every row, (n, n_classes)."""
        return self.fitted.training_proba()

    @property
    def predictions(self) -> NDArray[Any]:
        """The class of every row, (n,): the most probable one."""
        model = self.fitted
        return np.asarray(model.classes_[self.proba.argmax(axis=1)])

    def features(self, rows: IntArray) -> FloatArray:
        """Return the learned features of some rows, (m, r)."""
        features = self.fitted.features_
        assert features is not None  # the default learner has a basis
        return features.rows(rows)

    def ask(self, n: int = 1, *, exclude: Iterable[int] = ()) -> IntArray:
        """Return the unlabelled rows most worth a label, most useful first.

        Parameters
        ----------
        n : int, default=1
            How many; fewer when fewer are unlabelled.
        exclude : iterable of int, default=()
            Rows that nobody can label.
        """
        return np.asarray(self.fitted.ask(n, exclude=list(exclude)))

    def tell(self, rows: int | Iterable[int], labels: Any) -> Self:
        """Take labels and learn again; neighbours and directions are kept."""
        named = np.atleast_1d(np.asarray(rows))
        is_several = isinstance(labels, Iterable) and not isinstance(labels, str)
        answers = list(labels) if is_several else [labels]
        if set(self.labels.classes.tolist()) <= {"True", "False"}:
            answers = [str(v) if isinstance(v, bool | np.bool_) else v for v in answers]
        rows = positions_of(named, np.arange(len(self.y)))
        check_answers(len(rows), len(answers))
        machine, y = None, self.y.copy()
        y[rows] = answers
        if self.class_sizes is not None:
            if self.listener is None:  # an open page says what becomes of the sizes
                check_known(answers, self.class_sizes)
            machine = self.machine(Labels.read(y).classes)
        self.fitted.tell(rows, np.array(answers, dtype=object), machine=machine)
        self.y, self._labels = y, None
        if self.listener is not None:
            self.listener(rows, answers)
        return self

    def relabel(self, y: NDArray[Any]) -> Self:
        """Take these labels in place of all others; the model stays as it is.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Labels, None where there is none.
        """
        self.y, self._labels = y, None
        return self

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
        for package in ("sqlalchemy", "starlette", "uvicorn"):
            require(package, extra="studio", purpose="The studio")
        # By name: the studio stands above this package.
        return import_module("mercer.app.studio.notebook").label(self, **settings)

    def check(
        self, *, advance: Callable[[float], None] = lambda share: None
    ) -> Check | None:
        """Hide labels in turn and predict them; None if no class has two labels."""
        sizes = self.known_sizes
        return check_by_hiding(
            self.fitted,
            self.points,
            self.labels,
            rng=np.random.default_rng(self.random_state),
            advance=advance,
            class_sizes=None if sizes is None else np.array(sizes),
        )

    def look_further(
        self, check: Check | None
    ) -> tuple[Outlook | None, tuple[Influence, ...]]:
        """Return what more labels would bring, and which columns matter.

        Parameters
        ----------
        check : Check or None
            The result of `check`.
        """
        if check is None:
            return None, ()
        rng = np.random.default_rng((self.random_state, 1))
        labels, model = self.labels, self.fitted
        return (
            look_ahead(model, labels, check, rng=rng),
            column_influences(model, self.encoder, self.points, labels, rng=rng),
        )

    def counts_alike(self, proba: FloatArray) -> bool:
        """Tell whether figures weigh classes equally that may differ in size.

        Parameters
        ----------
        proba : ndarray of shape (n, n_classes)
            `proba`, which takes time to compute.
        """
        is_told = self.class_sizes is not None or self.labels_drawn == "at random"
        return not is_told and sizes_matter(self.labels.counts(), proba)

    def advice(self) -> list[str]:
        """Return what else a person could say that would help, if anything."""
        if not self.counts_alike(self.proba):
            return []
        return [size_advice(self.labels.counts(), self.labels.classes)]

    def suspicious_labels(self) -> SuspiciousLabels:
        """Rank the given labels by how little the other labels support them."""
        return self.fitted.suspicious_labels()

    def saved(self) -> TableModel:
        """Return what predicts new rows and can be saved."""
        return TableModel(
            self.encoder,
            self.fitted.without_rows(),
            target=self.target,
            id=self.id,
            image_shape=self.table.image_shape,
        )
