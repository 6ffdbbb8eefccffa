"""What changed since the run before, from the files that it left."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

RESULT = "result.json"


def changes_since(
    folder: Path, predictions: "pd.DataFrame", report: dict[str, Any]
) -> tuple[str, ...]:
    """Return what is different from the results in a folder, in words.

    Parameters
    ----------
    folder : Path
        Where results go; nothing is said if it holds none of these rows.
    predictions : DataFrame
        New ones.
    report : dict
        What the report shows now, of `mercer.report.data.as_data`.
    """
    import pandas as pd

    try:
        old = json.loads((folder / RESULT).read_text(encoding="utf-8"))["report"]
        before = pd.read_parquet(folder / "predictions.parquet")
    except (OSError, ValueError, KeyError):
        return ()
    if old.get("target") != report["target"] or len(before) != len(predictions):
        return ()
    if (before["id"].astype(str) != predictions["id"].astype(str)).any():
        return ()
    new_labels = sum(report["n_given"]) - sum(old["n_given"])
    other = before["prediction"].astype(str) != predictions["prediction"].astype(str)
    changes = []
    if new_labels:
        changes.append(f"Labels: {sum(report['n_given']):,} ({new_labels:+,}).")
    changes.append(f"{int(other.sum()):,} of {len(other):,} predictions changed.")
    figures = [_accuracy(r) for r in (old, report)]
    if not new_labels and not other.any() and figures[0] == figures[1]:
        return ("Nothing changed: the same labels, predictions and figures.",)
    if None not in figures:
        first, second = figures
        changes.append(
            f"Expected correct: {second:.0%}, before {first:.0%} (each with the "
            "uncertainty in its report)."
        )
    return tuple(changes)


def _accuracy(report: dict[str, Any]) -> float | None:
    quality = report.get("quality")
    share = None if quality is None else quality["contestants"][0]["accuracy"]
    return None if share is None or not np.isfinite(share) else float(share)
