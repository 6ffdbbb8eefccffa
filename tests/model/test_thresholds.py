"""The whole way on both sides of every size at which the code takes another path.

Fit, ask, tell, check, report, save, load in a new process, predict new rows. Thresholds
are lowered, so that small tables cross them.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mercer import persist
from mercer.app.tables.learning import learn
from mercer.app.tables.saving import save_result
from mercer.fewlabels import AnchorPool
from mercer.fewlabels.rule import DEFAULT

SAMPLED = replace(DEFAULT, sampled_points=100)
SEEN = replace(DEFAULT, sampled_points=100, seen_points=150)
SOME_SUMMED = {**AnchorPool.__init__.__kwdefaults__, "most_summed": 120}
# What is changed, the number of classes, and the labels per class.
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "below all thresholds": ({}, 3, 5),
    "search in cells": ({"mercer.neighbors.index._EXACT_UP_TO": 200}, 3, 5),
    "iterative eigensolver": ({"mercer.eigen.smallest.DENSE_UP_TO": 100}, 3, 5),
    "eigenvectors of bounded work": (
        {
            "mercer.eigen.smallest.DENSE_UP_TO": 100,
            "mercer.fewlabels.pools.base.WORK_PER_EDGE": 100,
        },
        3,
        5,
    ),
    "votes by ranks": ({"mercer.fewlabels._votes._RANKED_FROM": 100}, 3, 5),
    "anchor graphs": ({"mercer.fewlabels.pools.choice.NEIGHBORS_UP_TO": 200}, 3, 5),
    "sums over some rows": (
        {
            "mercer.fewlabels.pools.choice.NEIGHBORS_UP_TO": 200,
            "mercer.fewlabels.pools.anchors.AnchorPool.__init__.__kwdefaults__": (
                SOME_SUMMED
            ),
        },
        3,
        5,
    ),
    "sampled points": ({"mercer.fewlabels.machine.DEFAULT": SAMPLED}, 3, 5),
    "seen points": ({"mercer.fewlabels.machine.DEFAULT": SEEN}, 3, 5),
    "predictions of points later": (
        {"mercer.machines._training.AT_ONCE_UP_TO": 100},
        3,
        5,
    ),
    "some rows in folds": ({"mercer.judging.hiding.ROWS_IN_FOLDS": 50}, 3, 5),
    "some folds": ({"mercer.judging.hiding.ENOUGH_LABELS": 8}, 3, 5),
    "candidates for questions": (
        {"mercer.active.strategies.MOST_CANDIDATES": 20},
        3,
        5,
    ),
    "more than 200 labels": ({}, 3, 70),
    "more than 50 classes": ({}, 51, 2),
    "one label per class": ({}, 3, 1),
}


def table(n_classes: int, per_class: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    truth = np.arange(330) % n_classes
    centers = 6.0 * rng.standard_normal((n_classes, 4))
    frame = pd.DataFrame(centers[truth] + rng.standard_normal((330, 4)))
    frame.columns = list("abcd")
    names = np.array([f"class {c:02}" for c in range(n_classes)], dtype=object)[truth]
    frame["label"] = [
        name if k // n_classes < per_class else None for k, name in enumerate(names)
    ]
    return frame, names


LOAD = """
import sys
import numpy as np, pandas as pd
from mercer import load
new = pd.read_csv(sys.argv[2])
np.save(sys.argv[3], load(sys.argv[1]).predict_proba(new))
"""


def predicted_in_a_new_process(model: Any, new: pd.DataFrame, folder: Path) -> Any:
    files = [str(folder / name) for name in ("model.skops", "new.csv", "proba.npy")]
    persist.save(model, files[0])
    new.to_csv(files[1], index=False)
    subprocess.run([sys.executable, "-c", LOAD, *files], check=True)
    return np.load(files[2])


@pytest.mark.parametrize("case", CASES)
def test_the_whole_way(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, n_classes, per_class = CASES[case]
    for name, value in changes.items():
        monkeypatch.setattr(name, value)
    frame, names = table(n_classes, per_class)
    result = learn(frame)
    assert (result.predictions["prediction"] == names).mean() > 0.9
    assert (result.check is None) == (per_class == 1)
    if case in ("anchor graphs", "sums over some rows"):
        reason = result.session.model.basis_.certificate_.reason
        assert "anchor graphs" in reason
        assert ("of 330 rows" in reason) == (case == "sums over some rows")
    session = result.session
    rows = session.ask(3)
    session.tell(rows, names[rows])
    assert session.labels.labeled.size == len(result.labels.labeled)
    assert (session.predictions == names).mean() > 0.9
    files = save_result(result, tmp_path / "out")
    assert "<html" in files[0].read_text()[:200].lower()
    model, new = session.to_model(), frame.drop(columns="label") + 0.01
    again = predicted_in_a_new_process(model, new, tmp_path)
    np.testing.assert_allclose(again, model.predict_proba(new), atol=1e-6)
