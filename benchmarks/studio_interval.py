"""How wide and how true the studio's interval for the accuracy is.

    python benchmarks/studio_interval.py run RECORDS.jsonl [--seeds 3] [--cache CACHE]
    python benchmarks/studio_interval.py table RECORDS.jsonl

A simulated person answers what the model asks and, as in the studio, one random row in
eight; "measure" adds 30 random rows before the last look. Up to 600 rows of each set.
Rows of the table are numbers of labels; coverage and width are means over runs, with
standard errors over sets. Constants of `mercer.judging.estimate` were chosen on CHOOSE.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import json
import pathlib
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from unseen import problem

from mercer import UnifiedKernelMachine
from mercer.judging.estimate import LearningCurve

DATA = pathlib.Path(os.environ.get("MERCER_DATA", "data"))
CHOOSE = (
    *("glass", "heart", "iris", "g50c", "ssl_usps", "digits", "coil20_32x32"),
    *("mnist", "pcmac", "a1a", "ionosphere", "sonar", "wine", "cancer", "uspst"),
    *("ssl_digit1", "ssl_coil2", "ssl_coil", "covtype", "ssl_text", "usps"),
    *("banana", "contraceptive", "german", "magic", "mammographic", "penbased"),
    *("phoneme", "ring", "satimage", "segment", "tae", "vowel", "libras"),
    *("page-blocks0", "abalone9-18", "zoo", "soybean", "musk", "penguins", "crabs"),
    *("hr", "phishing", "juice", "arrowhead", "gunpoint", "italypowerdemand"),
    *("trace", "letters"),
)
# The others are of `benchmarks/collection`.
JUDGE = (
    *("bands", "bupa", "chess", "hayes-roth", "housevotes", "led7digit", "letter"),
    *("mushroom", "pima", "saheart", "spambase", "splice", "texture", "tic-tac-toe"),
    *("vehicle", "winequality-red-4", "car-good", "dhfr", "cells", "attrition"),
    *("ad_data", "thyroid", "bfi", "caravan", "osuleaf", "basicmotions"),
)
LOOKS = (15, 25, 50, 75, 100)
EVERY, MEASURED, ROWS = 8, 30, 600


def load(
    name: str, rng: np.random.Generator, cache: pathlib.Path
) -> tuple[np.ndarray | csr_matrix, np.ndarray]:
    """Return points and classes of at most ROWS rows."""
    toys = {"wine": load_wine, "digits": load_digits, "cancer": load_breast_cancer}
    if name in toys:
        X, y = toys[name](return_X_y=True)
    elif (cache / f"{name}.npz").exists():
        X, y = problem(cache, name, scale=True, rows=10**6)
    else:
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as found:
            keys = {k.lower(): k for k in found.files}
            y = found[keys["y"]].ravel()
            if "x" in keys:
                X = found[keys["x"]]
            else:
                parts = (found["data"].astype(float), found["indices"], found["indptr"])
                X = csr_matrix(parts, shape=found["shape"])
    rows = rng.permutation(len(y))[:ROWS]
    X = X[rows].astype(float)
    return X, np.unique(y[rows], return_inverse=True)[1]


def simulated(name: str, seed: int, cache: pathlib.Path) -> list[dict]:
    """Label a set, and return what is known at each look, and the truth."""
    rng = np.random.default_rng(seed)
    X, truth = load(name, rng, cache)
    n = len(truth)
    most = min(100, n // 2)
    y, events, looks = np.full(n, -1), [], []
    model = UnifiedKernelMachine(random_state=seed).fit(X, y)

    def answered(row: int, purpose: str) -> None:
        if len(model.classes_) > 1:
            proba = model.training_proba()[row]
            right = bool(model.classes_[proba.argmax()] == truth[row])
            n_labels = len(model.labeled_)
            events.append([n_labels, purpose, float(proba.max()), right])
        model.tell(row, truth[row])

    def look(kind: str) -> None:
        rest = np.setdiff1d(np.arange(n), model.labeled_)
        proba = model.training_proba()[rest]
        right = model.classes_[proba.argmax(axis=1)] == truth[rest]
        sure = np.sort(proba.max(axis=1))
        looks.append(
            {
                "set": name,
                "seed": seed,
                "kind": kind,
                "n_labels": len(model.labeled_),
                "n_classes": len(model.classes_),
                "events": [*events],
                "sure": sure.round(4).tolist(),
                "truth": float(right.mean()),
            }
        )

    for k in range(1, most + 1):
        rest = np.setdiff1d(np.arange(n), model.labeled_)
        is_check = k % EVERY == 0 and len(model.classes_) > 1
        row = int(rng.choice(rest)) if is_check else int(model.ask()[0])
        answered(row, "check" if is_check else "model")
        if k in LOOKS and len(model.classes_) > 1:
            look("usual")
    if n - most > 2 * MEASURED:
        for row in rng.choice(np.setdiff1d(np.arange(n), model.labeled_), MEASURED):
            if row not in model.labeled_:
                answered(int(row), "check")
        look("measured")
    return looks


def run(path: pathlib.Path, names: list[str], seeds: int, cache: pathlib.Path) -> None:
    """Append the looks of every set and seed that is not there."""
    lines = path.read_text().splitlines() if path.exists() else []
    done = {(r["set"], r["seed"]) for r in map(json.loads, lines)}
    warnings.simplefilter("ignore")
    for seed in range(seeds):
        for name in names:
            if (name, seed) not in done:
                found = simulated(name, seed, cache)
                with path.open("a") as out:
                    out.writelines(json.dumps(r) + "\n" for r in found)


def table(path: pathlib.Path) -> None:
    """Print coverage, width and error of the interval, for each half of the sets."""
    looks = [json.loads(line) for line in path.read_text().splitlines()]
    looks = [one for one in looks if one["events"]]
    found: dict[tuple[str, str], dict[str, list]] = {}
    for one in looks:
        n_labels, purpose, sure, right = zip(*one["events"], strict=True)
        asked = [p == "model" for p in purpose]
        now = one["n_labels"]
        known = {"now": now, "n_classes": one["n_classes"]}
        curve = LearningCurve(n_labels, right, sure, asked, one["sure"], **known)
        at = curve.at(now)
        is_usual = one["kind"] == "usual"
        moment = f"{now:3}" if is_usual else "with 30 random rows more"
        half = "chosen on" if one["set"] in CHOOSE else "judged on"
        line = (
            at.low <= one["truth"] <= at.high,
            at.high - at.low,
            at.mean - one["truth"],
        )
        found.setdefault((half, moment), {}).setdefault(one["set"], []).append(line)
    heads = ("holds", "width", "too high by")
    halves = ("judged on", "chosen on")
    columns = [f"{half}: {head}" for half in halves for head in heads]
    print(f"| labels | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for moment in sorted({moment for _, moment in found}):
        line = []
        for half in halves:
            sets = np.array([np.mean(x, axis=0) for x in found[half, moment].values()])
            error = sets.std(axis=0, ddof=1) / np.sqrt(len(sets))
            pairs = zip(100 * sets.mean(axis=0), 100 * error, strict=True)
            line += [
                f"{m:.0f} ± {e:.0f}" if m > 5 else f"{m:.1f} ± {e:.1f}"
                for m, e in pairs
            ]
        print(f"| {moment.strip()} | {' | '.join(line)} |")
    for half in halves:
        n = len(
            {
                (one["set"], one["seed"])
                for one in looks
                if (one["set"] in CHOOSE) == (half == "chosen on")
            }
        )
        print(f"{half}: {n} runs")


def main() -> None:
    """Run or show."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--sets", nargs="*", default=[*CHOOSE, *JUDGE])
    options = parser.parse_args()
    if options.what == "run":
        run(options.records, options.sets, options.seeds, options.cache)
    else:
        table(options.records)


if __name__ == "__main__":
    main()
