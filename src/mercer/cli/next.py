"""`mercer next`: the rows most worth a label."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer.cli.running import (
    load_model,
    output_options,
    read_rows,
    reading_options,
    run,
)

if TYPE_CHECKING:
    from mercer.tables.stages import Stages


@click.command("next")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "-n", "n", type=click.IntRange(min=1), default=20, show_default=True, help="Rows."
)
@reading_options
@output_options
def command(
    model: Path,
    file: str,
    n: int,
    delimiter: str | None,
    encoding: str | None,
    missing: tuple[str, ...],
    sheet: str | None,
    query: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Name the rows of FILE whose labels would teach MODEL most.

    Prints id, best guess and its probability, most useful row first. Rows that are
    labelled in FILE are left out, and rows like them come later.
    """

    def job(stages: "Stages") -> dict[str, Any]:

        stages.begin("reading")
        loaded = load_model(model)
        table, ids = read_rows(
            loaded,
            file,
            delimiter=delimiter,
            encoding=encoding,
            missing=missing,
            sheet=sheet,
            query=query,
        )
        stages.begin("predictions")
        rows = loaded.ask(table, n)
        proba = loaded.predict_proba(table.take(rows))
        return {
            "rows": [
                {
                    "id": str(ids[row]),
                    "prediction": str(loaded.classes_[p.argmax()]),
                    "probability": round(float(p.max()), 4),
                }
                for row, p in zip(rows, proba, strict=True)
            ]
        }

    stages = ("reading", "predictions")
    run(job, _describe, stages=stages, quiet=quiet, as_json=as_json)


def _describe(said: dict[str, Any]) -> str:
    if not said["rows"]:
        return "Every row is labelled."
    return "\n".join(
        f"{row['id']}\t{row['prediction']}\t{row['probability']:.0%}"
        for row in said["rows"]
    )
