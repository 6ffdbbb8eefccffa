"""Write all that was learned to a folder, whole or not at all."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.progress import Progress, quiet
from mercer.app.report.page import render
from mercer.app.report.story import as_data
from mercer.app.tables.answers import HISTORY, Answered, with_later
from mercer.app.tables.learning import TableResult
from mercer.app.tables.sheets import write_sheets
from mercer.app.tables.story import story_of
from mercer.app.tables.writing import all_or_nothing, write_csv, write_frame

RESULT = "result.json"
FILES = ("report.html", "predictions.csv", "predictions.parquet", "model.skops")


def save_result(
    result: TableResult,
    folder: Path,
    *,
    progress: Progress = quiet,
    answered: Answered | None = None,
    write_predictions: Callable[[Path], None] | None = None,
) -> list[Path]:
    """Write the report, the predictions, the rows to label, and the model.

    The folder is created if it does not exist, and left unchanged if an error occurs.
    The history of answers from sheets is kept. `write_predictions` writes them where
    the result is about some rows only. The report is the first of the files.
    """
    from mercer.persist import save  # takes seconds to import; errors come first

    predictions = result.predictions.reset_index(drop=True)
    with all_or_nothing(folder) as part:
        progress.stage("report")
        story = story_of(result, rng=np.random.default_rng(0))
        file = _told_apart(result.table.source, folder)
        changes = changes_since(folder, predictions, as_data(story), file)
        if answered is not None:
            changes = (str(answered), *answered.notes, *changes)
        story = replace(story, changes=changes)
        (part / FILES[0]).write_text(render(story), encoding="utf-8")
        data = {"report": as_data(story), "file": file}
        (part / RESULT).write_text(json.dumps(data), encoding="utf-8")
        progress.stage("files")
        if write_predictions is not None:
            write_predictions(part)
        else:
            for name in FILES[1:3]:
                write_frame(predictions, part / name)
        rows, task = result.next_rows, result.session.task
        write_sheets(
            part,
            result.table,
            result.ids,
            rows,
            target=task.target,
            id=task.id,
            proba=result.proba[rows],
            classes=result.labels.classes,
        )
        if answered is not None:
            write_csv(with_later(answered.history, folder / HISTORY), part / HISTORY)
        save(result.model, part / FILES[3])
        made = sorted(path.name for path in part.iterdir())
    first = [name for name in FILES if name in made]
    return [folder / name for name in (*first, *(n for n in made if n not in FILES))]


def changes_since(
    folder: Path, predictions: pd.DataFrame, report: dict[str, Any], file: str
) -> tuple[str, ...]:
    """Return what is different from the results in a folder, in words.

    Nothing is different where the folder holds none of these rows. The report is of
    `mercer.app.report.story.as_data`; `file` tells the file of the table from others of
    its name.
    """
    try:
        last = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        old = last["report"]
        before = pd.read_parquet(folder / "predictions.parquet")
        replaced = _replaced(old, report, is_same=last.get("file", file) == file)
        return (*replaced, *_compared(old, report, before, predictions))
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RuntimeError,
    ):
        return ()  # no results, or what somebody else wrote


def _replaced(old: dict[str, Any], new: dict[str, Any], *, is_same: bool) -> list[str]:
    """Say so if the results that are replaced are of another file."""
    name = old.get("source", new["source"])
    if name == new["source"]:
        if is_same:
            return []
        name = f"another {name}"
    return [
        f"These results replace those of {name} in the same folder; give another "
        "folder (--out) to keep both."
    ]


def _told_apart(source: str, folder: Path) -> str:
    """Return what tells a file from others of its name, and names no folder."""
    if Path(source).exists():
        source = os.path.relpath(Path(source).resolve(), folder.resolve())
    return hashlib.blake2b(source.encode(), digest_size=16).hexdigest()


def _compared(
    old: dict[str, Any],
    report: dict[str, Any],
    before: pd.DataFrame,
    predictions: pd.DataFrame,
) -> tuple[str, ...]:
    if old.get("target") != report["target"] or len(before) != len(predictions):
        return ()
    if (before["id"].astype(str) != predictions["id"].astype(str)).any():
        return ()
    new_labels = sum(report["n_given"]) - sum(old["n_given"])
    other = before["prediction"].astype(str) != predictions["prediction"].astype(str)
    changes = _no_longer_told(old, report)
    figures = [_accuracy(r) for r in (old, report)]
    if not (new_labels or other.any() or changes) and figures[0] == figures[1]:
        return ("Nothing changed: the same labels, predictions and figures.",)
    if new_labels:
        changes.append(f"Labels: {sum(report['n_given']):,} ({new_labels:+,}).")
    changes.append(f"{int(other.sum()):,} of {len(other):,} predictions changed.")
    if None not in figures:
        first, second = figures
        changes.append(
            f"Expected correct: {second:.0%}, before {first:.0%} (each with the "
            "uncertainty in its report)."
        )
    return tuple(changes)


def _no_longer_told(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return which words about the classes the run before had, and this one lacks."""
    if new["class_sizes"] or new["labels_drawn"] or new["sizes_in_part"]:
        return []
    return [
        f"The last run was told {words} ({option}); this one was not."
        for name, words, option in (
            ("class_sizes", "class sizes", "--class-sizes"),
            ("sizes_in_part", "class sizes", "--class-sizes"),
            ("labels_drawn", "how labels were drawn", "--labels-drawn"),
        )
        if old.get(name)
    ]


def _accuracy(report: dict[str, Any]) -> float | None:
    quality = report.get("quality")
    share = None if quality is None else quality["contestants"][0]["accuracy"]
    return None if share is None or not np.isfinite(share) else float(share)
