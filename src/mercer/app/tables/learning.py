"""From a table with a few labels to predictions and a model, in one call."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.progress import Progress, quiet, watching
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.app.report.story import Influence
from mercer.app.tables.class_sizes import size_advice, sizes_matter
from mercer.app.tables.influence import column_influences
from mercer.app.tables.model import TableModel
from mercer.app.tables.names_weight import weight_of_names
from mercer.app.tables.notebook import headline, in_html
from mercer.app.tables.rows import Rows
from mercer.app.tables.session import Session
from mercer.app.tables.table import Table
from mercer.app.tables.task import Task
from mercer.evidence.labels import Labels, LabelsDrawn
from mercer.judging.hiding import Check
from mercer.judging.outlook import Outlook, look_ahead
from mercer.judging.prediction_sets import prediction_sets
from mercer.judging.sources import SourceReport

N_NEXT = 20
COVERAGE = 0.9  # of the sets of classes


@dataclass(frozen=True, eq=False, repr=False)
class TableResult:
    """What `learn` found out about a table: the session, and how good it is.

    See Also
    --------
    learn : Returns it, and has an example.
    """

    session: Session  # takes questions and answers
    proba: FloatArray  # (n, n_classes)
    check: Check | None  # None: no class has two labels
    next_rows: IntArray  # to label next, most useful first
    warnings: tuple[str, ...]  # what to look at, in words
    outlook: Outlook | None = None  # what more labels would bring
    influences: tuple[Influence, ...] = ()  # of the columns, largest first
    sources: SourceReport | None = None  # how reliable sources of labels are

    def __repr__(self) -> str:
        return headline(self)

    def _repr_html_(self) -> str:
        return in_html(self)

    def save(self, folder: str | Path) -> list[Path]:
        """Write report, predictions, rows to label and model to a folder.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist.

        Returns
        -------
        list of Path
            The files, the report first.
        """
        from mercer.app.tables.saving import save_result

        return save_result(self, Path(folder))

    @property
    def table(self) -> Table:
        """The table."""
        return self.session.table

    @property
    def ids(self) -> Any:
        """What a person calls the rows, (n,)."""
        return self.session.ids

    @property
    def labels(self) -> Labels:
        """The labels, as codes."""
        return self.session.labels

    @property
    def model(self) -> TableModel:
        """What predicts new rows and can be saved."""
        return self.session.to_model()

    @property
    def counts_alike(self) -> bool:
        """Whether figures weigh classes equally that may differ in size."""
        session = self.session
        is_random = session.task.labels_drawn == "at random"
        is_told = session.told.known_sizes is not None or is_random
        return not is_told and sizes_matter(self.labels.counts(), self.proba)

    @cached_property
    def sets(self) -> BoolArray | None:
        """Classes that hold the right one for nine rows in ten, (n, n_classes).

        From the labels that were hidden for the check; None if there were none.
        """
        check = self.check
        if check is None:
            return None
        return prediction_sets(self.proba, check.proba, check.codes, coverage=COVERAGE)

    @property
    def predictions(self) -> pd.DataFrame:
        """One line per row: id, prediction, probabilities, margin, was it labelled.

        With the index of the data frame that was given, so that columns can be joined.
        The classes of `sets` are in one column, the likeliest first.
        """
        labels, sets = self.labels, self.sets
        frame = predictions_frame(
            self.ids, self.proba, labels.classes, labels.codes >= 0
        )
        if sets is not None:
            names = np.array([str(c) for c in labels.classes], dtype=object)
            order = np.argsort(-self.proba, axis=1, kind="stable")
            frame[f"possible at {COVERAGE:.0%}"] = [
                " or ".join(names[ranked[kept[ranked]]])
                for ranked, kept in zip(order, sets, strict=True)
            ]
        index = self.table.index
        return frame if index is None else frame.set_axis(index)


def predictions_frame(
    ids: Any, proba: FloatArray, classes: Any, was_labeled: Any = None
) -> pd.DataFrame:
    """Return the table that is written as predictions.

    The margin is the lead of the first class over the second.
    """
    top = np.partition(proba, -2, axis=1)[:, -2:]
    columns = {
        "id": ids,
        "prediction": classes[proba.argmax(axis=1)],
        "margin": top[:, 1] - top[:, 0],
    }
    if was_labeled is not None:
        columns["labelled"] = was_labeled
    for k, name in enumerate(classes):
        columns[f"probability {name}"] = proba[:, k]
    return pd.DataFrame(columns)


def learn(
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
    progress: Progress | None = None,
) -> TableResult:
    """Learn the target of a table from the rows where it is filled in.

    Parameters
    ----------
    data : data frame, dict of arrays, Table or path
        The table, or the file that holds it.
    target : str, default="label"
        Column to predict; rows in which it is empty are unlabelled.
    id : str, optional
        Column that names the rows; not learned from.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels, if that is known. At random, the numbers of
        labels tell how large the classes are; per class they tell nothing.
    class_sizes : dict, Series or str, optional
        How large the classes are among all rows, if that is known: counts or shares by
        the names of the classes. In part: shares of some classes, pairs (least, most)
        or words such as "few", or an order, "no > yes".
    pairs, drop, keep, labels_as_written, missing, memory
        See `Session.open`.
    random_state : int, default=0
        Equal seeds give equal results.
    embed : str, iterable of str or dict, optional
        Columns of texts or images that are compared by meaning: ``"text"``,
        ``"text=MODEL"``, or a dict of columns to a model's name or folder, True (the
        usual model), a transformer of scikit-learn, or a function from a list to an
        array. Nothing is downloaded: see `mercer fetch`.
    sources : str, iterable of str or dict, optional
        Guesses of the target that may be wrong: columns such as ``"llm"`` (with a
        column of confidences, ``"llm=llm_sure"``), or a dict of names to True (a
        column), a column of confidences, a function of a row that returns a class or
        None, or a class and a condition, ``("refund", "amount < 0")``. The target may
        then be empty.
    progress : Progress, optional
        Receives each stage and the share of it that is done. By default a line in a
        notebook, and nothing elsewhere.

    Returns
    -------
    TableResult
        `predictions` is a data frame, `check` says how good they are, `model` predicts
        new rows, and `save(folder)` writes the report.

    See Also
    --------
    Session : Several rounds, with questions and answers.
    UnifiedKernelMachine : The model, on arrays.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, 2, 1, 2, 8, 9, 8, 9], "label": ["small",
    ...     "small", None, None, "big", "big", None, None]})
    >>> result = learn(table, target="label")
    >>> result.predictions["prediction"].tolist()
    ['small', 'small', 'small', 'small', 'big', 'big', 'big', 'big']

    Four labels, two of each class; most rows are known to be small:

    >>> table["size"] = [1, 2, 4, 5, 8, 9, 6, 5]
    >>> told = learn(table, class_sizes={"small": 6, "big": 2})
    >>> told.predictions["prediction"].value_counts().to_dict()
    {'small': 6, 'big': 2}
    """
    task = Task.among(locals())
    with watching(progress) as watcher:
        return learn_task(data, task, progress=watcher)


def learn_task(data: Any, task: Task, *, progress: Progress = quiet) -> TableResult:
    """Do what `learn` does, for a task."""
    rows = Rows.read(data, task, min_classes=2, progress=progress)
    return learned(Session(rows, task), progress=progress)


def learned(session: Session, *, progress: Progress = quiet) -> TableResult:
    """Fit a session and return what it found out, and how good it is."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.fit(progress=progress)
    return judged(session, [str(w.message) for w in caught], progress=progress)


def judged(
    session: Session, said: Iterable[str] = (), *, progress: Progress = quiet
) -> TableResult:
    """Return what a session that has learned found out, and how good it is.

    What was `said` while it learned is among the warnings.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = _judged(session, progress)
    said = [*session.rows.screened.notes, *said, *(str(w.message) for w in caught)]
    if result.sources is not None:
        said += result.sources.warnings
    said += weight_of_names(session)
    if session.told.size_note:
        said.append(session.told.size_note)
    if result.counts_alike and session.told.in_part is None:
        said.append(size_advice(session.labels.counts(), session.labels.classes))
    return replace(result, warnings=tuple(dict.fromkeys(said)))


def _judged(session: Session, progress: Progress) -> TableResult:
    """Return what a fitted session found out, and how good it is."""
    progress.stage("checks with hidden labels")
    check = session.check(advance=progress.advance)
    outlook, influences = None, tuple[Influence, ...]()
    if check is not None:
        rng = np.random.default_rng((session.task.random_state, 1))
        model, labels, rows = session.model, session.labels, session.rows
        outlook = look_ahead(model, labels, check, rng=rng)
        influences = column_influences(
            model, rows.encoder, rows.points, labels, rng=rng
        )
    progress.stage("predictions")
    asked = session.ask(N_NEXT)
    sources = None if session.told.sources is None else session.source_report()
    return TableResult(
        session, session.proba, check, asked, (), outlook, influences, sources
    )
