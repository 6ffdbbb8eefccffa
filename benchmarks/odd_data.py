"""Data that are odd in one way: wrong labels, few rows, duplicates, rare classes.

The choosing half of `benchmarks/collection`, at most 400 rows with scaled columns, made
odd in one way each, and digits in pairs for a hundred classes. The default against
logistic regression and a forest on the labels alone and label spreading; accuracy and
balanced accuracy on the unlabelled rows, standard errors over data sets. No choice was
made by it.

    python benchmarks/odd_data.py CACHE [--draws 2]
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import pathlib
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from unseen import HERE, Ours, peers, problem

ROWS, RARE = 400, 0.01
RIVALS = ("logistic", "forest", "spreading")


class Case(NamedTuple):
    """Points, their classes, and the labels that a person gave."""

    X: Any
    y: np.ndarray
    labels: np.ndarray  # -1 where there is none


def labelled(X: Any, y: np.ndarray, count: int, rng: np.random.Generator) -> Case:
    labels = np.full(len(y), -1)
    for c in np.unique(y):
        own = np.flatnonzero(y == c)
        rows = rng.choice(own, min(count, len(own) - 1), replace=False)
        labels[rows] = c
    return Case(X, y, labels)


def as_they_are(X: Any, y: np.ndarray, rng: np.random.Generator) -> Case:
    return labelled(X, y, 5, rng)


def one_label_in_ten_wrong(X: Any, y: np.ndarray, rng: np.random.Generator) -> Case:
    case, n_classes = labelled(X, y, 10, rng), y.max() + 1
    rows = np.flatnonzero(case.labels >= 0)
    wrong = rng.choice(rows, -(-len(rows) // 10), replace=False)
    moved = case.labels[wrong] + rng.integers(1, n_classes, len(wrong))
    case.labels[wrong] = moved % n_classes
    return case


def eighty_rows(X: Any, y: np.ndarray, rng: np.random.Generator) -> Case:
    rows = np.sort(rng.permutation(len(y))[:80])
    X, y = X[rows], y[rows]
    common = np.flatnonzero(np.bincount(y)[y] > 2)
    return labelled(X[common], np.unique(y[common], return_inverse=True)[1], 3, rng)


def each_row_three_times(X: Any, y: np.ndarray, rng: np.random.Generator) -> Case:
    if sparse.issparse(X):
        return labelled(sparse.vstack([X] * 3).tocsr(), np.tile(y, 3), 5, rng)
    X = np.vstack([X + 1e-6 * rng.standard_normal(X.shape) for _ in range(3)])
    return labelled(X, np.tile(y, 3), 5, rng)


def a_class_of_one_percent(X: Any, y: np.ndarray, rng: np.random.Generator) -> Case:
    common, rare = np.argsort(-np.bincount(y))[:2]
    many = np.flatnonzero(y == common)
    few = rng.permutation(np.flatnonzero(y == rare))
    few = few[: max(8, round(RARE * len(many)))]
    rows = np.append(many, few)
    return labelled(X[rows], (y[rows] == rare).astype(int), 5, rng)


def pairs_of_digits(X: Any, y: np.ndarray, rng: np.random.Generator) -> Case:
    first, second = rng.integers(len(y), size=(2, 4000))
    X = np.hstack([X[first], X[second]])
    return labelled(X, 10 * y[first] + y[second], 3, rng)


ODD = (
    as_they_are,
    one_label_in_ten_wrong,
    eighty_rows,
    each_row_three_times,
    a_class_of_one_percent,
)


def measure(case: Case, methods: dict[str, Any]) -> dict[tuple[str, str], float]:
    hidden = np.flatnonzero(case.labels < 0)
    truth, found = case.y[hidden], {}
    classes = np.unique(case.labels[case.labels >= 0])
    for name, predict in methods.items():
        said = classes[predict(case.X, case.labels).argmax(axis=1)[hidden]]
        found[name, "accuracy"] = 100 * accuracy_score(truth, said)
        found[name, "balanced"] = 100 * balanced_accuracy_score(truth, said)
    return found


def show(name: str, rows: list[dict[tuple[str, str], float]]) -> None:
    table = pd.DataFrame(rows)
    cells = [f"{name} | {len(rows)} | {table['default', 'accuracy'].mean():.1f}"]
    for rival in RIVALS:
        for figure in ("accuracy", "balanced"):
            ahead = table["default", figure] - table[rival, figure]
            error = ahead.std() / np.sqrt(len(ahead)) if len(ahead) > 1 else np.nan
            cells.append(f"{ahead.mean():+.1f} ± {error:.1f}")
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=2)
    args = parser.parse_args()
    registry = pd.read_csv(HERE / "collection" / "registry.csv")
    names = registry["name"][registry["half"] == "choose"]
    rivals = {name: predict for name, predict in peers().items() if name in RIVALS}
    heads = [f"ahead of {r}{b}" for r in RIVALS for b in ("", ", balanced")]
    print(f"| data | sets | accuracy | {' | '.join(heads)} |\n" + "|---" * 9 + "|")
    for make_odd in ODD:
        rows = []
        for name in names:
            X, y = problem(args.cache, name, scale=True, rows=ROWS)
            draws = []
            for number in range(args.draws):
                case = make_odd(X, y, np.random.default_rng([number, 5]))
                draws.append(measure(case, {"default": Ours(), **rivals}))
            rows.append(pd.DataFrame(draws).mean().to_dict())
        show(make_odd.__name__.replace("_", " "), rows)
    X, y = load_digits(return_X_y=True)
    cases = [pairs_of_digits(X, y, np.random.default_rng(k)) for k in range(args.draws)]
    rows = [measure(case, {"default": Ours(), **rivals}) for case in cases]
    show("pairs of digits", rows)


if __name__ == "__main__":
    main()
