"""The sessions that the studio opens on a table."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.progress import Progress, quiet
from mercer._base.typing import IntArray
from mercer.app.embedding.file_cells import holds_images, holds_sounds
from mercer.app.studio.engine import Told
from mercer.app.tables.table import Table, TableError
from mercer.app.tables.task import Task

if TYPE_CHECKING:
    from mercer.app.studio.parts import Part
    from mercer.app.tables.session import Session

# So few are embedded while the model is loaded; what is answered meanwhile comes next.
_OPENING = 16
FIRST = 100  # rows that the first questions by embeddings are chosen from
_SOON = 10.0  # where all will be embedded within these seconds, nothing comes before

Open = Callable[[], "Session"]
Grow = Callable[[Callable[[], Told], Progress], Iterator["Part"]]


def openers(
    table: Table, task: Task, given: NDArray[Any]
) -> tuple[Open | None, Grow | None]:
    """Return what opens a session at once, and what does while columns are embedded.

    The first is None where nothing but the embeddings can be compared, the second where
    nothing is embedded. The arguments are those of `open_session`.
    """
    if not task.embed:
        return partial(open_session, table, task, given), None
    embedded = {one.column for one in task.embed}
    rest = {*table.columns} - {*task.aside, "file"}
    # Paths say nothing without what they lead to; words, pixels and numbers do.
    rest -= {c for c in embedded & {*table.frame.columns} if not _is_text(table, c)}
    plain = partial(open_session, table, replace(task, embed=()), given)
    return plain if rest else None, partial(grown, table, task, given)


def _is_text(table: Table, column: str) -> bool:
    cells = table.frame[column].tolist()
    return not holds_images(cells) and not holds_sounds(cells)


def open_session(
    table: Table, task: Task, given: NDArray[Any], progress: Progress = quiet
) -> "Session":
    """Return a session on a table; columns that come with the labels are left out.

    The class sizes of the task are not used: those that stand now come with the
    answers. The names of classes in the file, `given`, are None where there is none.
    """
    from mercer.app.tables.rows import Rows
    from mercer.app.tables.session import Session

    task = replace(task, class_sizes=None)
    return Session(Rows.read(table, task, labels=given, progress=progress), task)


def sizes_of(n: int) -> list[int]:
    """Return how many rows are embedded at each stage before all are.

    Examples
    --------
    >>> sizes_of(1000), sizes_of(150)
    ([16, 100, 200, 400, 800], [16, 100])
    """
    sizes = [_OPENING, FIRST]
    while 2 * sizes[-1] < n:
        sizes.append(2 * sizes[-1])
    return [size for size in sizes if size < n]


def grown(
    table: Table,
    task: Task,
    given: NDArray[Any],
    told: Callable[[], Told],
    progress: Progress = quiet,
) -> Iterator["Part"]:
    """Embed more and more rows, and yield a session on them, at last on all.

    Rows come in a random order, those with a label first. What was embedded is found
    again in the cache, so that each is computed once, and a program that is stopped
    loses little.
    """
    from mercer.app.embedding.columns import NothingError, embed_columns
    from mercer.app.studio.parts import Part

    n, before, shown = len(table), 0, _Rows(progress, len(table))
    order = np.random.default_rng(task.random_state).permutation(n)
    # A function's vectors are not kept, and a transformer is fitted to all rows.
    is_kept = all(one.how == "model" for one in task.embed)
    for size in sizes_of(n) if is_kept else []:
        shown.towards(size)
        rows = _chosen(order, told().codes, size)
        began = time.monotonic()
        with suppress(NothingError):  # the next rows may hold something
            embed_columns(table.take(rows), task.embed, progress=shown)
        left = (time.monotonic() - began) / (size - before) * (n - size)
        before = size
        if size == _OPENING or left < _SOON:
            continue
        with suppress(TableError):  # some rows may lack what the whole table has
            yield Part.of(open_session(table.take(rows), task, given[rows]), rows)
            shown.learning_from(size)
    shown.towards(n)
    yield Part.of(open_session(table, task, given, shown))


def _chosen(order: IntArray, codes: IntArray, size: int) -> IntArray:
    """Return rows with a label, at most half, and others as they come, sorted."""
    known = order[codes[order] >= 0][: size // 2]
    rest = order[~np.isin(order, known)]
    return np.sort(np.concatenate([known, rest[: size - len(known)]]))


class _Rows:
    """Shows how many rows are embedded, as the stage of a job."""

    def __init__(self, progress: Progress, n: int) -> None:
        self._progress, self._n = progress, n
        self._from, self._to, self._said = 0, 0, -1
        self._learned = ""

    def learning_from(self, size: int) -> None:
        """Take note that a model uses so many rows."""
        self._learned, self._said = f", learning from {size:,}", -1

    def towards(self, size: int) -> None:
        """Take note that rows are now embedded up to this number."""
        self._from, self._to = self._to, size
        self.advance(0.0)

    def stage(self, name: str) -> None:
        """Leave out what is done besides."""

    def advance(self, share: float) -> None:
        """Show the number, once for each percent of all rows."""
        done = int(self._from + share * (self._to - self._from))
        if 100 * done // self._n > self._said:
            self._said = 100 * done // self._n
            self._progress.stage(
                f"embedded {done:,} of {self._n:,} rows{self._learned}"
            )

    def note(self, message: str) -> None:
        """Pass on what is worth saying."""
        self._progress.note(message)
