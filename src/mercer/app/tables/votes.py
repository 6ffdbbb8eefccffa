"""Sources of labels in a table: columns of votes, and rules over its columns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.typing import BoolArray
from mercer._base.words import counted, some
from mercer.app.tables.options import check_once, parted
from mercer.app.tables.table import Table, TableError
from mercer.app.tables.target import plain_spelling, read_target
from mercer.evidence.reading import is_labeled
from mercer.evidence.rules import applied
from mercer.evidence.sources import Not, Sources

if TYPE_CHECKING:
    from mercer.app.tables.task import Task

# A class that a source names and no label has is worth a note up to this many.
_MOST_NAMED = 5
# Votes, and rows without a label: fewer do not show where a source votes.
_FEWEST = 5


@dataclass(frozen=True, eq=False)
class Source:
    """A source of labels: a column of votes, or a rule."""

    name: str
    confidence: str | None = None  # column of probabilities that a vote is right
    rule: Callable[[Any], Any] | tuple[Any, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table that hold votes or confidences."""
        own = () if self.rule is not None else (self.name,)
        return own if self.confidence is None else (*own, self.confidence)


def read_sources(sources: Any) -> tuple[Source, ...]:
    """Return the sources that a person names; `mercer.learn` says how.

    Examples
    --------
    >>> [(s.name, s.confidence) for s in read_sources(["anna", "llm=sure"])]
    [('anna', None), ('llm', 'sure')]
    >>> read_sources({"negative": ("refund", "amount < 0")})[0].columns
    ()
    """
    if sources is None:
        return ()
    if isinstance(sources, str):
        sources = [sources]
    if isinstance(sources, Mapping):
        found = tuple(_source(str(name), by) for name, by in sources.items())
    else:
        found = tuple(
            one if isinstance(one, Source) else _parted(one) for one in sources
        )
    check_once((source.name for source in found), "the source")
    return found


def _parted(said: Any) -> Source:
    usage = (
        "sources (--source) takes COLUMN or COLUMN=CONFIDENCE, in Python also a dict "
        "of names to rules"
    )
    name, sure = parted(said, usage)
    return Source(name, sure or None)


def _source(name: str, by: Any) -> Source:
    if by is None or by is True:
        return Source(name)
    if isinstance(by, str):
        return Source(name, by)
    if callable(by):
        return Source(name, rule=by)
    if isinstance(by, tuple) and len(by) == 2 and isinstance(by[1], str):
        return Source(name, rule=by)
    msg = (
        f"sources: {name!r} is {by!r}; give True for a column of votes, the name of a "
        "column of confidences, a function of a row, or a class and a condition, such "
        "as ('refund', 'amount < 0')."
    )
    raise TableError(msg)


def check_sources(table: Table, sources: Iterable[Source], other: set[str]) -> None:
    """Raise where sources name columns that are not there, or have an `other` use."""
    for source in sources:
        for column in source.columns:
            table.check_column(column, "--source")
            if column in other:
                msg = (
                    f"column {column!r} cannot be a source: it is used otherwise "
                    "(--target, --id, --drop, --embed)."
                )
                raise TableError(msg)


def check_voted(table: Table, classes: NDArray[Any]) -> None:
    """Raise where labels and votes together name fewer than two classes."""
    if len(classes) < 2:
        one = f"one class only, {str(classes[0])!r}" if len(classes) else "no class"
        msg = (
            f"{table.source}: labels and sources name {one}; at least two classes are "
            "needed. Is --source the right column?"
        )
        raise TableError(msg)


def votes_of(
    table: Table, task: "Task", labels: NDArray[Any]
) -> tuple[Sources | None, tuple[str, ...]]:
    """Return the votes on all rows, if there are any, and what to say about them.

    Votes are read as the target is; one that is spelled differently from a label,
    such as "Yes" and "yes", is that label. The labels, (n,), are None where there is
    none.
    """
    known = is_labeled(labels)
    classes = set(map(str, labels[known]))
    usual = {plain_spelling(name): name for name in sorted(classes)}
    columns: dict[str, Any] = {}
    sure: dict[str, Any] = {}
    notes: list[str] = []
    for source in task.sources:
        votes = _votes(table, source, task)
        if source.rule is None and _came_with_labels(is_labeled(votes), known):
            notes.append(
                f"The source {source.name!r} was left out: it votes on labelled rows "
                "alone. It says nothing of the others, and would make hidden labels "
                "easy to predict."
            )
            continue
        if not task.labels_as_written:
            for row, vote in enumerate(votes):
                if isinstance(vote, str):
                    votes[row] = usual.setdefault(plain_spelling(vote), vote)
        columns[source.name] = votes
        if source.confidence is not None:
            sure[source.name] = _confidence(table, source.confidence)
        if len(classes) > 1:
            notes += _new_classes(source.name, votes, classes)
    if not columns:
        return None, tuple(notes)
    try:
        return Sources.read(columns, n=len(table), confidence=sure), tuple(notes)
    except (TypeError, ValueError) as error:
        msg = f"{table.source}: {error}"
        raise TableError(msg) from error


def _came_with_labels(has_vote: BoolArray, known: BoolArray) -> bool:
    """Tell whether a column votes on labelled rows alone."""
    is_clear = min(has_vote.sum(), (~known).sum()) >= _FEWEST
    return bool(is_clear and not has_vote[~known].any())


def _votes(table: Table, source: Source, task: "Task") -> NDArray[Any]:
    """Return the votes of one source, (n,), None where it abstains."""
    if source.rule is None:
        found = read_target(
            table,
            source.name,
            as_written=task.labels_as_written,
            missing=task.missing,
            advise=False,
        )
        labels: NDArray[Any] = found.labels.copy()
        return labels
    votes = np.empty(len(table), dtype=object)
    # Else hidden labels would reach their own predictions.
    seen = table.frame.drop(columns=task.target, errors="ignore")
    try:
        votes[:] = applied(source.rule, seen)
    except Exception as error:  # whatever a person's own function raises
        msg = (
            f"{table.source}: source {source.name!r} failed: "
            f"{type(error).__name__}: {error} (rules see all columns but the target)"
        )
        raise TableError(msg) from error
    return votes


def _confidence(table: Table, column: str) -> NDArray[Any]:
    cells = table.frame[column]
    numbers: NDArray[Any] = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
    wrong = np.isnan(numbers) & cells.notna().to_numpy() & (cells.astype(str) != "")
    if wrong.any():
        row = int(np.argmax(wrong))
        msg = (
            f"{table.source}: column {column!r}, of confidences, holds "
            f"{cells.iloc[row]!r} in row {row + 1}; give numbers from 0 to 1."
        )
        raise TableError(msg)
    return numbers


def _new_classes(name: str, votes: NDArray[Any], classes: set[str]) -> list[str]:
    """Say which classes a source names that no label has."""
    known = [str(v) for v in votes[is_labeled(votes)] if not isinstance(v, Not)]
    new = sorted({vote for vote in known if vote not in classes})
    if not new:
        return []
    n = sum(vote in set(new) for vote in known)
    which = some((repr(vote) for vote in new), _MOST_NAMED)
    return [
        f"The source {name!r} names classes that no label has, on "
        f"{counted(n, 'row')}: {which}. If these are no classes, empty the cells."
    ]
