"""`mercer next`: the rows most worth a label."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer.app.cli.jobs import (
    load_model,
    model_options,
    read_rows,
    run,
)

if TYPE_CHECKING:
    from mercer._base.progress import Progress


@click.command("next")
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder for a sheet to fill in (to_label.xlsx, to_label.csv).",
)
@model_options
def command(
    model: Path,
    file: str,
    n: int,
    out: Path | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Name the rows of FILE whose labels would teach MODEL most.

    Prints id, best guess and its probability, the most useful row first. Rows that
    are labelled in FILE, or answered in answers.csv beside MODEL, are left out, and
    rows similar to them come later. With --out the rows are also written as a sheet to
    fill in, for `mercer learn --answers`.
    """

    def job(progress: "Progress") -> dict[str, Any]:
        from mercer.app.tables.answers import HISTORY, with_earlier
        from mercer.app.tables.sheets import write_sheets
        from mercer.app.tables.writing import all_or_nothing, check_writable

        if out is not None:
            check_writable(out)
        progress.stage("reading")
        loaded = load_model(model)
        table, ids = read_rows(loaded, file, **reading)
        progress.stage("predictions")
        table = with_earlier(table, ids, loaded.target, model.parent / HISTORY)
        rows = loaded.ask(table, n)
        if len(rows) == 0:
            return {"files": {}, "rows": []}
        # Units were compared when all rows were asked about.
        points = loaded.encoder.transform(table.take(rows))
        proba = loaded.model.predict_proba(points)
        files: list[Path] = []
        if out is not None:
            with all_or_nothing(out) as part:
                made = write_sheets(
                    part,
                    table,
                    ids,
                    rows,
                    target=loaded.target,
                    id=loaded.id if loaded.id in table.frame.columns else None,
                    proba=proba,
                    classes=loaded.classes_,
                )
            files = [out / path.name for path in made]
        return {
            "files": {path.name: str(path) for path in files},
            "rows": [
                {
                    "id": str(ids[row]),
                    "prediction": str(loaded.classes_[p.argmax()]),
                    "probability": round(float(p.max()), 4),
                }
                for row, p in zip(rows, proba, strict=True)
            ],
        }

    stages = ("reading", "predictions")
    run(job, _describe, stages=stages, quiet=quiet, as_json=as_json)


def _describe(said: dict[str, Any]) -> str:
    if not said["rows"]:
        return "Every row is labelled."
    lines = [
        f"{row['id']}\t{row['prediction']}\t{row['probability']:.0%}"
        for row in said["rows"]
    ]
    return "\n".join([*lines, *(f"wrote {path}" for path in said["files"].values())])
