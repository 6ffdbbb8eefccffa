"""What it is worth to say how labels were drawn, or how large the classes are.

Members of the choosing half of `benchmarks/collection` with equal numbers of labels per
class, and with labels drawn at random, as in `unseen.py`. The default is told nothing,
how the labels were drawn, or the sizes of the classes; accuracy and balanced accuracy
on the unlabelled rows of classes that have a label.

    python benchmarks/told_sizes.py run CACHE RESULTS.csv [NAME ...] [--draws 6]
    python benchmarks/told_sizes.py table RESULTS.csv [NAME ...]
    python benchmarks/told_sizes.py check CACHE NAME ... [--draws 3] [--rows 400]

The table has lines of named members, with standard errors over draws, and of all
members, over members: those with a class of less than half of an even share and the
others, and the draws in which `mercer learn` advises to tell the sizes and the others.
`check` compares what the report of a model that was told the sizes expects with what is
right, by hidden labels that count alike and by those that count as their classes do.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import csv
import pathlib
import sys
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from unseen import draw, problem  # noqa: E402

CELLS = ("2/c", "5/c", "10/c", "20", "50")
WAYS = ("nothing", "how drawn", "sizes")
UNEVEN = 0.5  # of an even share, that the smallest class has


def told(way: str, cell: str, sizes: np.ndarray) -> Any:
    """Return the classifier that is told this much."""
    from mercer.fewlabels import LeaveOneOutRLS

    if way == "sizes":
        return LeaveOneOutRLS(class_sizes=sizes)
    drawn = "per class" if cell.endswith("/c") else "at random"
    return LeaveOneOutRLS(labels_drawn=drawn if way == "how drawn" else None)


def measure(
    cache: pathlib.Path, name: str, draws: int, rows: int
) -> Iterator[dict[str, Any]]:
    """Yield one line per number of labels, draw and way of telling."""
    from mercer import UnifiedKernelMachine
    from mercer.app.tables.class_sizes import sizes_matter

    X, truth = problem(cache, name, scale=False, rows=rows)
    model = None
    for cell, number in product(CELLS, range(draws)):
        known = draw(truth, cell, number)
        if known is None:
            continue
        y = np.full(len(truth), -1)
        y[known] = truth[known]
        seen, counts = np.unique(truth[known], return_counts=True)
        rest = (y < 0) & np.isin(truth, seen)
        sizes = np.bincount(truth)[seen] / np.isin(truth, seen).sum()
        if model is None:
            model = UnifiedKernelMachine(random_state=0).fit(X, y)
        for way in WAYS:
            fitted = model.with_labels(y, machine=told(way, cell, sizes))
            proba = fitted.training_proba()
            said = seen[proba.argmax(axis=1)]
            if way == "nothing":
                advised = sizes_matter(counts, proba)
            yield {
                "name": name,
                "cell": cell,
                "draw": number,
                "told": way,
                "accuracy": np.mean(said[rest] == truth[rest]),
                "balanced": balanced_accuracy_score(truth[rest], said[rest]),
                "smallest": np.bincount(truth).min() * (truth.max() + 1) / len(truth),
                "advised": advised,
            }


def run(cache: pathlib.Path, out: pathlib.Path, names: list[str], **how: int) -> None:
    """Append what is not in the file yet."""
    registry = pd.read_csv(HERE / "collection" / "registry.csv")
    choose = registry[registry["half"] == "choose"]
    if names:
        choose = choose[choose["name"].isin(names)]
    done = set(pd.read_csv(out)["name"]) if out.exists() else set()
    for name in choose["name"]:
        if name in done or not (cache / f"{name}.npz").exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lines = list(measure(cache, name, **how))
        with out.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]) if lines else [])
            if file.tell() == 0:
                writer.writeheader()
            writer.writerows(lines)
        print(name, flush=True)


def check(cache: pathlib.Path, names: list[str], draws: int, rows: int) -> None:
    """Print bias and error of what the report expects, and how often it holds."""
    from mercer import UnifiedKernelMachine
    from mercer.evidence.labels import Labels
    from mercer.judging.hiding import check_by_hiding

    found = []
    for name, cell, number in product(names, ("5/c", "10/c"), range(draws)):
        X, truth = problem(cache, name, scale=False, rows=rows)
        known = draw(truth, cell, number)
        if known is None:
            continue
        y = np.full(len(truth), -1)
        y[known] = truth[known]
        sizes = np.bincount(truth) / len(truth)
        machine = told("sizes", cell, sizes)
        model = UnifiedKernelMachine(machine=machine, random_state=0).fit(X, y)
        said = model.training_proba().argmax(axis=1)
        right = np.mean(said[y < 0] == truth[y < 0])
        for way, weights in (("alike", None), ("as the classes", sizes)):
            rng = np.random.default_rng(0)
            labels = Labels.read(y, min_classes=2)
            judged = check_by_hiding(model, X, labels, rng=rng, class_sizes=weights)
            score = judged.scores[0]
            gap = 100 * (score.accuracy - right)
            found.append((way, gap, abs(gap), score.low <= right <= score.high))
    frame = pd.DataFrame(found, columns=["labels count", "bias", "error", "holds"])
    print(frame.groupby("labels count").agg(["mean", "size"]).round(3).to_string())


def line(name: str, part: pd.DataFrame, over: str) -> str:
    """Return means of the three ways, and what telling adds with its error."""
    said = f"{name:32}" + " ".join(f"{part[way].mean():5.1f}" for way in WAYS)
    for way in WAYS[1:]:
        gain = part[way] - part["nothing"]
        said += f"  {gain.mean():+5.1f} ± {gain.sem():.1f}"
    return f"{said} ({len(part)} {over})"


def table(out: pathlib.Path, names: list[str]) -> None:
    """Print the tables."""
    frame = pd.read_csv(out)
    frame["uneven"] = frame["smallest"] < UNEVEN
    frame["drawn"] = np.where(frame["cell"].str.endswith("/c"), "per class", "random")
    keys = ["name", "cell", "draw", "drawn", "uneven", "advised"]
    for what in ("accuracy", "balanced"):
        each = 100 * frame.pivot_table(index=keys, columns="told", values=what)
        print(f"\n{what}: told {', '.join(WAYS)}; what the last two add")
        for (name, cell), part in each.groupby(level=["name", "cell"]):
            if name in names:
                print(line(f"{name} {cell}", part, "draws"))
        for key in ("uneven", "advised"):
            for (drawn, value), part in each.groupby(level=["drawn", key]):
                mean = part.groupby(level="name").mean()
                print(line(f"{drawn}, {key} {value}, {len(part)}", mean, "members"))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "table", "check"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--rows", type=int, default=600)
    args = parser.parse_args()
    how = {"draws": args.draws, "rows": args.rows}
    if args.what == "run":
        cache, out, *names = args.paths
        run(pathlib.Path(cache), pathlib.Path(out), names, **how)
    elif args.what == "check":
        cache, *names = args.paths
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(pathlib.Path(cache), names, **how)
    else:
        out, *names = args.paths
        table(pathlib.Path(out), names)


if __name__ == "__main__":
    main()
