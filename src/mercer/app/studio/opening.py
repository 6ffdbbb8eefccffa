"""The sessions that the studio opens on a table."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mercer._base.progress import Progress, quiet
from mercer.app.embedding.file_cells import holds_images, holds_sounds
from mercer.app.tables.table import Table
from mercer.app.tables.task import Task

if TYPE_CHECKING:
    from mercer.app.tables.session import Session


def openers(
    table: Table, task: Task, given: NDArray[Any]
) -> "tuple[Callable[[], Session], Callable[[Progress], Session] | None]":
    """Return what opens a session, and one that takes longer if columns are embedded.

    Its arguments are those of `open_session`.
    """
    whole = partial(open_session, table, task, given)
    embedded = {one.column for one in task.embed}
    rest = {*table.columns} - {*task.aside, "file"}
    # Paths say nothing without what they lead to; words, pixels and numbers do.
    rest -= {c for c in embedded & {*table.frame.columns} if not _is_text(table, c)}
    if not task.embed or not rest:
        return whole, None
    return partial(open_session, table, replace(task, embed=()), given), whole


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
