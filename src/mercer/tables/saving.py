"""Write all that was learned to a folder, whole or not at all."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from mercer import persist
from mercer._progress import Stages, quiet
from mercer.report.data import as_data
from mercer.report.page import render
from mercer.tables.answers import HISTORY, Answered, with_later
from mercer.tables.comparing import RESULT, changes_since
from mercer.tables.learning import TableResult
from mercer.tables.sheets import sheet, write_sheets
from mercer.tables.telling import tell
from mercer.tables.writing import all_or_nothing, write_csv, write_frame

FILES = ("report.html", "predictions.csv", "predictions.parquet", "model.skops")


def save_result(
    result: TableResult,
    folder: Path,
    *,
    stages: Stages = quiet,
    answered: Answered | None = None,
    write_predictions: Callable[[Path], None] | None = None,
) -> list[Path]:
    """Write the report, the predictions, the rows to label, and the model.

    Parameters
    ----------
    result : TableResult
        The result of `learn`.
    folder : Path
        Made if need be. After an error it is as it was before.
    stages : Stages, optional
    answered : Answered, optional
        Answers that the table got from sheets; their history is kept.
    write_predictions : callable, optional
        Writes the predictions to a folder, where the result is about some rows only.

    Returns
    -------
    list of Path
        The files, the report first.
    """
    predictions = result.predictions
    with all_or_nothing(folder) as part:
        stages.begin("report")
        story = tell(result, rng=np.random.default_rng(0))
        changes = changes_since(folder, predictions, as_data(story))
        if answered is not None:
            changes = (str(answered), *answered.notes, *changes)
        story = replace(story, changes=changes)
        (part / FILES[0]).write_text(render(story), encoding="utf-8")
        data = {"report": as_data(story)}
        (part / RESULT).write_text(json.dumps(data), encoding="utf-8")
        stages.begin("files")
        if write_predictions is not None:
            write_predictions(part)
        else:
            for name in FILES[1:3]:
                write_frame(predictions, part / name)
        rows = result.next_rows
        write_sheets(
            sheet(
                result.table,
                result.ids,
                rows,
                target=result.session.target,
                id=result.session.id,
                proba=result.proba[rows],
                classes=result.labels.classes,
            ),
            part,
            target=result.session.target,
            classes=result.labels.classes,
            pictures=[result.table.picture(int(row)) for row in rows],
        )
        if answered is not None:
            write_csv(with_later(answered.history, folder / HISTORY), part / HISTORY)
        persist.save(result.model, part / FILES[3])
        made = sorted(path.name for path in part.iterdir())
    first = [name for name in FILES if name in made]
    return [folder / name for name in (*first, *(n for n in made if n not in FILES))]
