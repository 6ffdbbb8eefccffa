"""Messy tables with few labels: `mercer.learn` beside skrub with two classifiers.

    python benchmarks/messy_tables.py run CACHE RESULTS.csv [name ...] --half choose
    python benchmarks/messy_tables.py table RESULTS.csv --half choose

The tables of `collection/messy.py`, at most --rows rows of each; 20, 40 and 80 labels
drawn at random. The peers are skrub's TableVectorizer, fitted to all rows, with
logistic regression (unit variances) and with a random forest of 300 trees. Measured on
the rows without a label: accuracy; of Mercer also whether the stated interval holds it,
what is stated, and the mean confidence (--check, which costs most of the time).
Standard errors are over tables. Rows are appended one at a time; what is there is not
run again.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import csv
import pathlib
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(pathlib.Path(__file__).parent / "collection"))
from messy import TABLES, table

N_LABELS = (20, 40, 80)
HEADS = "name", "labels", "draw", "method", "accuracy", "stated", "low", "high", \
    "confidence", "cpu"  # fmt: skip


def draw(truth: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return rows to label, drawn at random until two classes have two labels."""
    rng = np.random.default_rng([seed, n])
    while True:
        rows = rng.choice(len(truth), n, replace=False)
        if (np.unique(truth[rows], return_counts=True)[1] >= 2).sum() >= 2:
            return np.sort(rows)


def peers(frame: pd.DataFrame) -> dict[str, tuple[np.ndarray, Any]]:
    """Return what skrub makes of a table, and the two classifiers."""
    from skrub import TableVectorizer

    X = np.asarray(TableVectorizer().fit_transform(frame), dtype=float)
    fill = SimpleImputer(keep_empty_features=True)
    linear = make_pipeline(fill, StandardScaler(), LogisticRegression(max_iter=1000))
    forest = RandomForestClassifier(300, random_state=0)
    return {"skrub + logistic": (X, linear), "skrub + forest": (X, forest)}


def mercer(frame: pd.DataFrame, y: np.ndarray, rows: np.ndarray, check: bool) -> tuple:
    """Return the predictions, and what is stated of them."""
    from mercer.app.tables.learning import learn
    from mercer.app.tables.session import Session

    given = np.full(len(y), None, dtype=object)
    given[rows] = y[rows]
    labelled = frame.assign(**{"the class": given})
    said = (np.nan,) * 3
    if check:
        result = learn(labelled, "the class")
        session, scores = result.session, result.check.scores[0]
        said = scores.accuracy, float(scores.low), float(scores.high)
    else:
        session = Session.open(labelled, "the class").fit()
    proba = session.proba
    found = session.model.classes_[proba.argmax(axis=1)]
    rest = np.setdiff1d(np.arange(len(y)), rows)
    return found, *said, float(proba[rest].max(axis=1).mean())


def run(options: argparse.Namespace) -> None:
    """Append what is missing to the results."""
    path = options.results
    done = set()
    if path.exists():
        old = pd.read_csv(path)
        done = set(
            zip(old["name"], old["labels"], old["draw"], old["method"], strict=True)
        )
    names = options.names or [n for n, t in TABLES.items() if t.half == options.half]
    for name in names:
        frame, truth = table(options.cache, name, options.rows)
        others: dict[str, tuple[np.ndarray, Any]] = {}
        if options.method is None:
            others = peers(frame)
        for n in N_LABELS:
            for k in range(options.draws):
                rows = draw(truth, n, k)
                rest = np.setdiff1d(np.arange(len(truth)), rows)
                for method in [options.method or "mercer", *others]:
                    if (name, n, k, method) in done:
                        continue
                    start = time.process_time()
                    if method in others:
                        X, model = others[method]
                        found = model.fit(X[rows], truth[rows]).predict(X)
                        said: tuple = (np.nan,) * 4
                    else:
                        found, *said = mercer(frame, truth, rows, options.check)
                    # A class that is written "1" is read as the number.
                    right = float(
                        np.mean(found[rest].astype(str) == truth[rest].astype(str))
                    )
                    cpu = time.process_time() - start
                    line = name, n, k, method, round(right, 4), *said, round(cpu, 2)
                    is_new = not path.exists()
                    with path.open("a", newline="") as file:
                        writer = csv.writer(file)
                        if is_new:
                            writer.writerow(HEADS)
                        writer.writerow(line)


def show(options: argparse.Namespace) -> None:
    """Print accuracies by table, and how far Mercer is ahead of the better peer."""
    found = pd.read_csv(options.results)
    names = [n for n, t in TABLES.items() if t.half == options.half]
    found = found[found["name"].isin(names)]
    wide = found.pivot_table(index="name", columns="method", values="accuracy") * 100
    print(wide.round(1).to_string())
    peers = [c for c in wide if c.startswith("skrub")]
    for method in [c for c in wide if c not in peers]:
        for n in (None, *N_LABELS):
            some = found if n is None else found[found["labels"] == n]
            each = some.pivot_table(index="name", columns="method", values="accuracy")
            lead = 100 * (each[method] - each[peers].max(axis=1)).dropna()
            error = lead.std() / np.sqrt(len(lead))
            print(f"{method}, {n or 'all'} labels: {lead.mean():+.1f} +- {error:.1f} "
                  f"ahead of the better peer, at worst {lead.min():+.1f}")  # fmt: skip
    ours = found[found["stated"].notna()]
    for n, some in [("all", ours), *ours.groupby("labels")]:
        truth = some["accuracy"]
        inside = (some["low"] <= truth) & (truth <= some["high"])
        stated, confidence = some["stated"] - truth, some["confidence"] - truth
        print(f"{n} labels: {len(some)} runs, coverage {100 * inside.mean():.1f}, "
              f"stated - truth {100 * stated.mean():+.1f}, "
              f"confidence - truth {100 * confidence.mean():+.1f}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for act in (run, show):
        command = commands.add_parser("run" if act is run else "table")
        if act is run:
            command.add_argument("cache", type=pathlib.Path)
            command.add_argument("--draws", type=int, default=3)
            command.add_argument("--rows", type=int, default=1000)
            command.add_argument("--check", action="store_true")
            command.add_argument(
                "--method", help="name in the results; peers are not run"
            )
        command.add_argument("results", type=pathlib.Path)
        command.add_argument("names", nargs="*")
        command.add_argument(
            "--half", choices=("choose", "judge", "judge2", "judge3"), default="choose"
        )
        command.set_defaults(act=act)
    warnings.simplefilter("ignore")
    arguments = parser.parse_args()
    arguments.act(arguments)
