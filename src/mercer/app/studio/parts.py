"""Some rows of a table with a model of their own, while the others are on their way."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.app.studio.engine import Told
from mercer.app.tables.session import Session

_AT_ONCE = 20_000  # rows that are compared with one


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table, and a session on them; rows have the table's numbers."""

    rows: IntArray  # (m,)
    opened: Session  # knows the votes that came with the table
    session: Session  # has learned what people said, once `learned` was called

    @classmethod
    def of(cls, session: Session, rows: IntArray | None = None) -> Self:
        """Return a session as a part: that of the whole table, or of some rows."""
        rows = np.arange(len(session.table)) if rows is None else rows
        return cls(rows, session, session)

    @property
    def classes(self) -> IntArray:
        """Numbers of the classes that have a label here, sorted."""
        return np.asarray(self.session.labels.classes, dtype=np.intp)

    def learned(self, told: Told) -> Self:
        """Return the part after learning what people said of its rows."""
        own = told.of(self.rows)
        votes = own.votes(self.opened)
        session = self.session.with_labels(own.labels(), own.sizes, votes)
        return replace(self, session=session)

    def questions(self, told: Told, n: int) -> IntArray:
        """Return the rows most worth a label, of those that can be asked about."""
        own = told.of(self.rows)
        is_open = own.codes < 0
        is_open[own.closed] = False
        if not is_open.any():
            return np.empty(0, dtype=np.intp)
        return self.rows[self.session.ask(n, exclude=own.closed)]

    def why(self, row: int, n: int) -> list[tuple[int, int, float]]:
        """Return labelled rows that pull a row, the class pulled to, how strongly.

        They are those that `UnifiedKernelMachine.explain` names.
        """
        if len(self.classes) < 2:
            return []
        pulls = self.session.model.explain(rows=[self._place(row)]).top(n=n)
        return [(int(self.rows[int(p.id)]), int(p.label), p.amount) for p in pulls]

    def similar(self, row: int, n: int) -> list[int]:
        """Return the rows most similar to one, itself first."""
        kernel, place = self.session.model.kernel_, self._place(row)
        found = similar_rows(
            lambda rows: kernel.features(rows=rows), len(self.rows), place, n
        )
        return [int(self.rows[k]) for k in found]

    def doubts(self, n: int) -> tuple[tuple[int, int, float], ...]:
        """Return labels that the others contradict: row, likely class, support."""
        if len(self.classes) < 2:
            return ()
        ranked = self.session.suspicious_labels()
        wrong = np.flatnonzero(ranked.looks_wrong)[:n]
        columns = ranked.ids, ranked.suggested, ranked.support
        return tuple(
            (int(self.rows[int(row)]), int(label), float(support))
            for row, label, support in zip(*(c[wrong] for c in columns), strict=True)
        )

    def __contains__(self, row: int) -> bool:
        return bool((self.rows == row).any())

    def _place(self, row: int) -> int:
        return int(np.flatnonzero(self.rows == row)[0])


def similar_rows(
    features: Callable[[IntArray], FloatArray], n_rows: int, row: int, n: int
) -> list[int]:
    """Return the n rows with the largest cosine to one in the kernel, itself first.

    Inner products of the features of rows are the kernel.
    """
    target = features(np.array([row]))[0]
    cosines = np.empty(n_rows)
    for start in range(0, n_rows, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, n_rows))
        F = features(rows)
        length = np.linalg.norm(F, axis=1)
        cosines[rows] = F @ target / np.where(length > 0, length, 1.0)
    cosines[row] = np.inf
    return [int(i) for i in np.argsort(-cosines, kind="stable")[:n]]
