"""Write all that was learned to a folder, whole or not at all."""

from pathlib import Path

import numpy as np

from mercer import persist
from mercer.report.page import render
from mercer.tables.learning import TableResult
from mercer.tables.stages import Stages, quiet
from mercer.tables.telling import tell
from mercer.tables.writing import all_or_nothing, write_frame

FILES = ("report.html", "predictions.csv", "predictions.parquet", "model.skops")


def save_result(
    result: TableResult, folder: Path, *, stages: Stages = quiet
) -> list[Path]:
    """Write the report, the predictions (CSV and Parquet) and the model.

    Parameters
    ----------
    result : TableResult
        Of `learn`.
    folder : Path
        Made if need be. After an error it is as it was before.
    stages : Stages, optional

    Returns
    -------
    list of Path
        The files, the report first.
    """
    with all_or_nothing(folder) as part:
        stages.begin("report")
        page = render(tell(result, rng=np.random.default_rng(0)))
        (part / FILES[0]).write_text(page, encoding="utf-8")
        stages.begin("files")
        predictions = result.predictions
        for name in FILES[1:3]:
            write_frame(predictions, part / name)
        persist.save(result.model, part / FILES[3])
    return [folder / name for name in FILES]
