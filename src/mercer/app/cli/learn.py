"""`mercer learn`: from a table with a few labels to predictions, model and report."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer.app.cli.jobs import (
    is_first_run,
    output_options,
    reading_options,
    run,
    stem_of,
    task_of,
    task_options,
)

if TYPE_CHECKING:
    from mercer._base.progress import Progress
    from mercer.app.tables.learning import TableResult
    from mercer.app.tables.task import Task

_FIRST_RUN = "First run: some functions are compiled and kept, about 10 s of CPU time."
_NOT_RANDOM = (
    "Rows that Mercer asked about are not drawn at random. If your answers are about "
    "such rows, leave out --labels-drawn, or give --class-sizes."
)


@click.command("learn")
@task_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder for the results [default: mercer-out/FILE].",
)
@click.option(
    "--pairs",
    type=click.Path(path_type=Path),
    default=None,
    help="File of pairs: per line two ids and the word must or cannot.",
)
@click.option(
    "--answers",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Sheet with your answers (to_label.xlsx or .csv); may be repeated.",
)
@click.option(
    "--labels-drawn",
    default=None,
    metavar="'at random'|'per class'",
    help="How rows were chosen for labels: at random, or per class, such as ten of "
    "each.",
)
@click.option(
    "--labels-as-written",
    is_flag=True,
    help="Treat every spelling in the target as a class, even NA and ?.",
)
@click.option("--memory", default=None, help="Limit on memory, e.g. 4GB.")
@click.option(
    "--seed",
    "random_state",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed.",
)
@reading_options
@output_options
def command(
    file: str,
    out: Path | None,
    answers: tuple[Path, ...],
    quiet: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Predict a column of FILE from the rows where it is filled in.

    FILE is a table (CSV, TSV, Excel, Parquet, Arrow, Feather, NPZ, JSON lines; also
    packed, .gz .bz2 .xz .zst .zip), a folder of images or texts, a database (SQLite,
    DuckDB, or an SQLAlchemy URL), or - for standard input. A pattern in quotes, such
    as 'part-*.parquet', names Parquet files that together are one table, of any
    length: Dask works through it block by block. Rows whose target is empty are
    predicted; they also help to learn. Results: report.html, predictions.csv,
    predictions.parquet, model.skops, result.json, and the rows to label next as a
    sheet to fill in (to_label.xlsx, to_label.csv). Pass the filled-in sheet with
    --answers.
    """
    from mercer.app.cli.progress import usual_stages

    folder = out or Path("mercer-out") / stem_of(file)

    def job(progress: "Progress") -> dict[str, Any]:
        from mercer._base.threads import using_threads
        from mercer.app.tables.answers import HISTORY, add_answers, not_used
        from mercer.app.tables.learning import learn_task
        from mercer.app.tables.parquet_parts import is_pattern
        from mercer.app.tables.reading import read_table
        from mercer.app.tables.saving import save_result
        from mercer.app.tables.target import read_ids
        from mercer.app.tables.writing import check_writable

        task = task_of(said)
        check_writable(folder)
        if is_first_run():
            progress.note(_FIRST_RUN)
        if is_pattern(file):
            if answers:
                msg = "--answers are for one table, not for many files."
                raise click.UsageError(msg)
            return _learn_parts(file, task, folder, progress)
        progress.stage("reading")
        table = read_table(file, **task.reading, **said)
        answered = None
        if answers:
            answered = add_answers(
                table,
                read_ids(table, task.id),
                task.target,
                list(answers),
                id=task.id,
                history=folder / HISTORY,
            )
            table = answered.table
            progress.note(str(answered))
        with using_threads(-1):
            result = learn_task(table, task, progress=progress)
            note = "" if answers else not_used(folder / HISTORY)
            if answers and task.labels_drawn == "at random":
                note = _NOT_RANDOM
            if note:
                result = replace(result, warnings=(*result.warnings, note))
            paths = save_result(result, folder, progress=progress, answered=answered)
            return summarise(result, paths)

    stages = usual_stages(embeds=bool(said["embed"]))
    run(job, describe, stages=stages, quiet=quiet, as_json=as_json)


def _learn_parts(
    file: str, task: "Task", folder: Path, progress: "Progress"
) -> dict[str, Any]:
    from mercer.app.tables.parquet_parts import learn_parts, write_predictions
    from mercer.app.tables.saving import save_result

    result, parts = learn_parts(file, task, progress=progress)
    paths = save_result(
        result,
        folder,
        progress=progress,
        write_predictions=lambda part: write_predictions(result, parts, part),
    )
    return summarise(result, paths)


def summarise(result: "TableResult", paths: list[Path]) -> dict[str, Any]:
    """Return the main figures of a result and all that the report shows, for JSON."""
    scores = () if result.check is None else result.check.scores
    stored = next(path for path in paths if path.name == "result.json")
    return {
        "rows": len(result.table),
        "labels": len(result.labels.labeled),
        "classes": [str(c) for c in result.labels.classes],
        "accuracy": {
            s.name: {"share": s.accuracy, "low": float(s.low), "high": float(s.high)}
            for s in scores
        },
        "warnings": list(result.warnings),
        "next": [str(result.ids[i]) for i in result.next_rows],
        "files": {path.name: str(path) for path in paths},
        **json.loads(stored.read_text(encoding="utf-8")),
    }


def _what_they_hide(report: dict[str, Any]) -> list[str]:
    """Return the classes that are hardly found, and the labels that look wrong."""
    import numpy as np

    from mercer._base.words import counted, some
    from mercer.app.report.summary import hardly_found

    quality, lines = report["quality"], []
    if quality is None:
        return ["Nothing could be checked: no class has two labels."]
    if said := hardly_found(report["classes"], np.array(quality["confusion"])):
        lines.append(said)
    wrong = [row["id"] for row in quality["doubtful"]]
    if wrong:
        one = len(wrong) == 1
        look, row = ("looks", "row") if one else ("look", "rows")
        which = counted(len(wrong), "label")
        lines.append(f"{which} {look} wrong: {row} {some(wrong)}. See the report.")
    return lines


def describe(said: dict[str, Any]) -> str:
    """Return the main figures in words."""
    from mercer.app.report.summary import alike

    lines = [
        f"{said['rows']:,} rows, {said['labels']:,} labels, "
        f"{len(said['classes']):,} classes."
    ]
    for name, a in said["accuracy"].items():
        lines.append(
            f"  {name:20} {a['share']:6.1%} expected correct, from hidden labels "
            f"({a['low']:.1%} to {a['high']:.1%})"
        )
    report = said["report"]
    if report["counts_alike"] and said["accuracy"]:
        lines.append(alike(True).strip())
    lines += _what_they_hide(report)
    lines += [report["told"]] if report["told"] else []
    lines += report["changes"]
    lines += [f"Note: {warning}" for warning in said["warnings"]]
    lines += [f"wrote {path}" for path in said["files"].values()]
    return "\n".join(lines)
