"""The model and the report of a session that has learned, as files."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mercer.app.studio.engine import Stages

if TYPE_CHECKING:
    from mercer.app.tables.learning import TableResult
    from mercer.app.tables.session import Session
    from mercer.judging.estimate import Interval

FILES = {
    "model": ("model.skops", "application/octet-stream"),
    "report": ("report.html", "text/html"),
}


def written(
    kind: str,
    session: "Session",
    found: "Interval | None",
    tell: Callable[[str], None],
) -> bytes:
    """Return the model or the report of a session that has learned.

    What the page shows as accuracy is `found`; stages are told.
    """
    progress = Stages(tell)
    if kind == "model":
        from mercer.persist import save

        progress.stage("model")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / FILES[kind][0]
            save(session.to_model(), path)
            return path.read_bytes()
    from mercer.app.report.page import render
    from mercer.app.tables.learning import judged
    from mercer.app.tables.story import story_of

    result = with_accuracy(judged(session, progress=progress), found)
    progress.stage("report")
    return render(story_of(result, rng=np.random.default_rng(0))).encode()


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
