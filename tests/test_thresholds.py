"""The whole way on both sides of every size at which the code takes another path.

Fit, ask, tell, check, report, save, load in a new process, predict new rows. Thresholds
are lowered, so that small tables cross them.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mercer import persist
from mercer.fewlabels.rule import DEFAULT
from mercer.tables.learning import learn
from mercer.tables.saving import save_result

SAMPLED = replace(DEFAULT, sampled_points=100)
# What is changed, the number of classes, and the labels per class.
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "below all thresholds": ({}, 3, 5),
    "search in cells": ({"mercer.graphs.search._EXACT_UP_TO": 200}, 3, 5),
    "iterative eigensolver": ({"mercer.spectrum.eigen.DENSE_UP_TO": 100}, 3, 5),
    "anchor graphs": ({"mercer.fewlabels.choice.NEIGHBORS_UP_TO": 200}, 3, 5),
    "sampled points": ({"mercer.fewlabels.machine.DEFAULT": SAMPLED}, 3, 5),
    "some rows in folds": ({"mercer.judging.hiding.ROWS_IN_FOLDS": 50}, 3, 5),
    "candidates for questions": (
        {"mercer.active.strategies.MOST_CANDIDATES": 20},
        3,
        5,
    ),
    "more than 200 labels": ({}, 3, 70),
    "more than 50 classes": ({}, 55, 2),
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


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.mark.parametrize("case", CASES)
def test_the_whole_way(
    case: str, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, n_classes, per_class = CASES[case]
    for name, value in changes.items():
        monkeypatch.setattr(name, value)
    frame, names = table(n_classes, per_class)
    result = learn(frame)
    assert (result.predictions["prediction"] == names).mean() > 0.9
    assert (result.check is None) == (per_class == 1)
    if case == "anchor graphs":
        assert "anchor graphs" in result.session.fitted.basis_.certificate_.reason
    session = result.session
    rows = session.ask(3)
    session.tell(rows, names[rows])
    assert session.labels.labeled.size == len(result.labels.labeled)
    assert (session.predictions == names).mean() > 0.9
    files = save_result(result, tmp_path / "out")
    assert "<html" in files[0].read_text()[:200].lower()
    model, new = session.saved(), frame.drop(columns="label") + 0.01
    stem = case.replace(" ", "-")
    persist.save(model, models / f"{stem}.skops")
    new.to_csv(models / f"{stem}.csv", index=False)
    np.save(models / f"{stem}.npy", model.predict_proba(new))


def test_models_come_back_in_a_new_process(models: Path) -> None:
    saved = sorted(path.stem for path in models.glob("*.skops"))
    if not saved:
        pytest.skip("the models are saved by the tests before, in the same process")
    script = (
        "import json, sys\n"
        "import numpy as np, pandas as pd\n"
        "from pathlib import Path\n"
        "from mercer import load\n"
        "folder, worst = Path(sys.argv[1]), {}\n"
        "for stem in sys.argv[2:]:\n"
        "    new = pd.read_csv(folder / f'{stem}.csv')\n"
        "    proba = load(folder / f'{stem}.skops').predict_proba(new)\n"
        "    gap = np.abs(proba - np.load(folder / f'{stem}.npy'))\n"
        "    worst[stem] = float(gap.max())\n"
        "print(json.dumps(worst))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(models), *saved],
        capture_output=True,
        text=True,
        check=True,
    )
    worst = json.loads(done.stdout)
    assert set(worst) == set(saved)
    assert max(worst.values()) < 1e-6, worst
