"""`mercer predict`: the target of new rows, by a model that was saved."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer._base.words import counted
from mercer.app.cli.jobs import (
    embed_option,
    load_model,
    model_options,
    read_rows,
    run,
    stem_of,
)

if TYPE_CHECKING:
    from mercer._base.progress import Progress


@click.command("predict")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="File for the predictions, .csv or .parquet [default: FILE-predictions.csv].",
)
@embed_option
@model_options
def command(
    model: Path,
    file: str,
    out: Path | None,
    embed: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Predict the rows of FILE with MODEL, a model.skops that `mercer learn` wrote.

    FILE must have the columns that MODEL was trained with. The target may be missing.
    With --embed a model of texts or images is read from another folder than it was in
    training; its content must be the same.
    """
    path = out or Path(f"{stem_of(file)}-predictions.csv")

    def job(progress: "Progress") -> dict[str, Any]:
        from mercer.app.embedding.columns import embed_again, moved
        from mercer.app.tables.learning import predictions_frame
        from mercer.app.tables.writing import all_or_nothing, write_frame

        progress.stage("reading")
        loaded = load_model(model)
        loaded.encoder.embeddings_ = moved(loaded.encoder.embeddings_, embed)
        table, ids = read_rows(loaded, file, **reading)
        # Ahead of time, with progress; the prediction finds them in the cache.
        kept = [e for e in loaded.encoder.embeddings_ if e.model]
        embed_again(table, kept, progress=progress)
        progress.stage("predictions")
        frame = predictions_frame(ids, loaded.predict_proba(table), loaded.classes_)
        progress.stage("files")
        with all_or_nothing(path.parent) as part:
            write_frame(frame, part / path.name)
        return {"rows": len(frame), "file": str(path)}

    run(
        job,
        lambda said: f"{counted(said['rows'], 'row')} predicted.\nwrote {said['file']}",
        stages=("reading", "embeddings", "predictions", "files"),
        quiet=quiet,
        as_json=as_json,
    )
