"""Report and model of the present labels, learned in a process of their own."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mercer._base.typing import IntArray
from mercer.app.studio.engine import Stages
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.views import curve_of
from mercer.app.tables.class_sizes import sizes_of
from mercer.app.tables.table import Table
from mercer.app.tables.task import Task

if TYPE_CHECKING:
    from mercer.app.tables.learning import TableResult
    from mercer.judging.estimate import Interval

FILES = {
    "model": ("model.skops", "application/octet-stream"),
    "report": ("report.html", "text/html"),
}
LOOK_SECONDS = 0.3  # between two looks whether somebody still waits


def learned_files(
    studio: Studio, is_wanted: Callable[[], bool] = lambda: True
) -> dict[str, bytes]:
    """Return the files that `mercer learn` writes, for the present labels.

    The stage of the work is in `Studio.exporting` meanwhile.

    Parameters
    ----------
    studio : Studio
    is_wanted : callable, optional
        Asked now and then; the work ends once it returns False.
    """
    items, names = studio.items, studio.store.ledger.classes
    target, codes = items.task.target, studio.told().codes
    if len(np.unique(codes[codes >= 0])) < 2:
        msg = (
            "label rows of two classes first; with one class there is nothing to learn."
        )
        raise RefusedError(msg, 409)
    frame = items.table.frame.drop(columns=[target], errors="ignore").copy()
    frame[target] = [names.get(int(c)) for c in codes]
    table = replace(items.table, frame=frame)
    curve, sizes = curve_of(studio), _named_sizes(studio, codes)
    found = None if curve is None else curve.at(curve.now)
    task = replace(items.task, labels_as_written=True, class_sizes=sizes)
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_learn, args=(theirs, table, task, found))
    process.start()
    theirs.close()
    files: dict[str, bytes]
    try:
        while is_wanted() and not studio.is_over:
            if ours.poll(LOOK_SECONDS):
                stage, files, refused = ours.recv()
                if refused:
                    raise RefusedError(refused, 409)
                if files:
                    return files
                studio.exporting = stage
                studio.announce()
        msg = "given up."
        raise RefusedError(msg, 409)
    except EOFError as error:
        msg = "learning ended without a result; is there enough memory?"
        raise RefusedError(msg, 507) from error
    finally:
        process.terminate()
        process.join()
        ours.close()
        studio.exporting = ""


def _learn(
    pipe: Connection, table: Table, task: Task, found: "Interval | None"
) -> None:
    """Send stages, then the files of `mercer learn` or why there are none."""
    from mercer.app.tables.learning import learn_task
    from mercer.app.tables.saving import save_result

    progress = Stages(lambda stage: pipe.send((stage, {}, "")))
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = with_accuracy(learn_task(table, task, progress=progress), found)
            paths = save_result(result, Path(folder) / "out", progress=progress)
            files = {path.name: path.read_bytes() for path in paths}
        pipe.send(("", files, ""))
    except ValueError as error:
        pipe.send(("", {}, str(error)))


def _named_sizes(studio: Studio, codes: IntArray) -> dict[str, float] | None:
    """Return the shares of the classes that have labels, by their present names."""
    sizes = sizes_of(studio.class_sizes or None, np.unique(codes[codes >= 0]))
    if sizes is None:
        return None
    names = studio.store.ledger.classes
    return {names[c]: share for c, share in sizes.items()}


def with_accuracy(result: "TableResult", found: "Interval | None") -> "TableResult":
    """Return a result with another estimate of the accuracy of its model.

    It is that of the rows without a label; None leaves what hidden labels showed.
    """
    if found is None or result.check is None:
        return result
    first, *others = result.check.scores
    first = replace(first, accuracy=found.mean, low=found.low, high=found.high)
    note = (
        "The accuracy is estimated from the model's probabilities, corrected by the "
        "random questions of the studio; other figures are from hidden labels."
    )
    return replace(
        result,
        check=replace(result.check, scores=(first, *others)),
        warnings=(note, *result.warnings),
    )
