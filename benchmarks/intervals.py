"""How often the stated 95% interval holds the truth.

The collection of `benchmarks/collection`, at most 400 rows of a member: 10 to 200
labels drawn at random, 40 labels of which the model asked for 30, and 5, 10 and 20
labels per class, which say nothing of the sizes of the classes. The claim that
`mercer learn` makes (`check_by_hiding`) is compared with the share of the other labels
that is predicted right. The variance, the shift and the untested labels of
`held_out_interval` were chosen on the half `choose`.

    python benchmarks/intervals.py run CACHE judge.csv --half judge --draws 2
    python benchmarks/intervals.py show judge.csv
"""

import argparse
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from unseen import problem

HERE = pathlib.Path(__file__).parent
ROWS = 400
LABELS = (10, 20, 40, 80, 200)
ASKED, AT_ONCE = 40, 10
PER_CLASS = (5, 10, 20)


def run(
    cache: pathlib.Path, out: pathlib.Path, half: str, draws: int, first: int
) -> None:
    """Append a line per run to a CSV file; members that are there are skipped."""
    from mercer.judging import hiding

    hiding.baselines = lambda n_labels: {}  # what others reach is not asked here
    warnings.simplefilter("ignore")
    registry = pd.read_csv(HERE / "collection" / "registry.csv")
    done = set()
    if out.exists():
        old = pd.read_csv(out)
        done = set(zip(old["table"], old["draw"], strict=True))
    for number in range(first, first + draws):
        for name in registry["name"][registry["half"] == half]:
            if (name, number) in done:
                continue
            X, y = problem(cache, name, scale=False, rows=ROWS)
            lines = [
                {"table": name, "draw": number, "kind": kind} | claim(model, X, y)
                for kind, model in models(X, y, number)
            ]
            frame = pd.DataFrame(lines)
            frame.to_csv(out, mode="a", header=not out.exists(), index=False)
            print(number, name, flush=True)


def models(X: Any, y: np.ndarray, number: int) -> Iterator[tuple[str, Any]]:
    """Yield models of random labels, of labels asked for, and of labels per class."""
    from mercer import UnifiedKernelMachine

    order = np.random.default_rng((number, 77)).permutation(len(y))
    model, start = None, None
    for n in LABELS:
        if n > len(y) // 2 or len(np.unique(y[order[:n]])) < 2:
            continue
        labels = np.full(len(y), -1)
        labels[order[:n]] = y[order[:n]]
        if model is None:
            model = UnifiedKernelMachine(random_state=number).fit(X, labels)
            start = model
        else:
            model = model.with_labels(labels)
        yield "random", model
    if start is None or len(y) < 2 * ASKED:
        return
    asked = start
    while len(asked.labeled_) < ASKED:
        known = np.r_[asked.labeled_, asked.ask(AT_ONCE)]
        asked = asked.with_labels(np.where(np.isin(np.arange(len(y)), known), y, -1))
    yield "asked", asked
    for n in PER_CLASS:
        known = np.concatenate([order[y[order] == c][:n] for c in np.unique(y)])
        if len(known) <= len(y) // 2:
            labels = np.where(np.isin(np.arange(len(y)), known), y, -1)
            yield f"{n} per class", start.with_labels(labels)


def claim(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Return what is claimed of a model, and what is true."""
    from mercer.evidence.labels import Labels
    from mercer.judging.hiding import check_by_hiding

    known = model.labeled_
    labels = Labels.read(np.where(np.isin(np.arange(len(y)), known), y, -1))
    counts = np.bincount(labels.codes[known])
    hidden = np.setdiff1d(np.arange(len(y)), known)
    said = model.classes_[model.training_proba()[hidden].argmax(axis=1)]
    found = {
        "labels": len(known),
        "single": int((counts == 1).sum()),
        "truth": float((said == y[hidden]).mean()),
    }
    check = check_by_hiding(model, X, labels, rng=np.random.default_rng(0))
    if check is not None:
        ours = check.scores[0]
        found |= {"claim": ours.accuracy, "low": ours.low, "high": ours.high}
    return found


def show(out: pathlib.Path) -> None:
    """Print coverage, and by how much claims are too high."""
    frame = pd.read_csv(out).dropna(subset="claim")
    inside = (frame["low"] <= frame["truth"]) & (frame["truth"] <= frame["high"])
    frame["inside"], frame["gap"] = inside, frame["claim"] - frame["truth"]
    frame["width"] = frame["high"] - frame["low"]
    at_random = frame[frame["kind"] == "random"]
    for name, part in (
        *((f"{n} labels", g) for n, g in at_random.groupby("labels")),
        ("at random", at_random),
        *((kind, g) for kind, g in frame.groupby("kind") if kind != "random"),
        ("classes of one label", frame[frame["single"] > 0]),
        ("all", frame),
    ):
        means = part[["inside", "gap", "width"]].mean().round(3)
        print(f"{name:22}{len(part):5}", means.to_dict())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--half", choices=["choose", "judge"], default="choose")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(*chosen.paths, chosen.half, chosen.draws, chosen.first)
    else:
        show(chosen.paths[0])
