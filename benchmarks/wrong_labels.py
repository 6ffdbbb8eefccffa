"""Which wrong labels are named, and how many of those named are wrong.

At most 1,000 rows of each set, 100, 200, 300 or 700 of them labelled at random. None
or a tenth of the labels are changed: at random to another class, or by a pattern, each
class to one other. `suspicious_labels` is compared with cleanlab's `find_label_issues`,
with probabilities of five folds by logistic regression and by a forest.

The constants of `mercer.judging.suspicion.NoisePrior` and the thresholds were chosen on
CHOOSE; its last 14 sets had been for judging before. JUDGE was run once, when
everything was chosen: the judging half of the second collection, but for the sets with
a rare class and those of less than 200 rows. Where a forest that is told all labels
misses more than a fifth of them in five folds, labels are hard to tell from errors;
the tables show the other sets as well.

    python benchmarks/wrong_labels.py run CACHE judge.csv --half judge
    python benchmarks/wrong_labels.py show judge.csv

CACHE holds both collections of `benchmarks/collection`; the sets whose names start with
a colon are those of `mercer_studies.data`.
"""

import argparse
import pathlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from unseen import problem

CHOOSE = (
    "digits", "breast_cancer", "wine", "letter", "texture", "vehicle", "spambase",
    "splice", "housevotes", "mushroom", "led7digit", "chess",
    "penbased", "satimage", "segment", "vowel", "libras", "phoneme", "page-blocks0",
    "german", ":ssl_digit1", ":ssl_usps", ":uspst", ":ionosphere", "iris",
    "olive", "hpc_data", "penguins", "magic", "ring", "banana", "musk", "phishing",
    "italypowerdemand", "hr", "letters", "juice", "arrowhead", "pima",
)  # fmt: skip
JUDGE = (
    "twonorm", "monk-2", "marketing", "creditcard", "fishing", "beps", "leafshape",
    "hawks", "credit_data", "parabolic", "helprct", "saratogahouses", "gapminder",
    "enterotype", "cats", "influenza", "verbal", "tecator", "myoblasts", "clothes",
)  # fmt: skip
ROWS, LABELS, SHARE = 1000, (100, 200, 300, 700), 0.1
DRAWS = {"right": 4, "random": 2, "pattern": 2}  # the peers: the first
EASY = 0.8  # share of labels that a forest predicts


def load(cache: pathlib.Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, in an order drawn at random, and classes."""
    if name in ("digits", "breast_cancer", "wine", "iris"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    elif name.startswith(":"):
        from mercer_studies.data import load as load_study

        data = load_study(name[1:])
        X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    else:
        X, y = problem(cache, name, scale=False, rows=ROWS)
    kept = np.random.default_rng(7).permutation(len(y))[:ROWS]
    return X[kept], np.unique(y[kept], return_inverse=True)[1]


def changed(y: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return labels, a tenth of them changed unless `kind` is "right"."""
    given, classes = y.copy(), np.unique(y)
    ring = rng.permutation(classes)
    taken_for = dict(zip(ring, np.roll(ring, 1), strict=True))
    for i in rng.permutation(len(y))[: round(SHARE * len(y)) * (kind != "right")]:
        others = classes[classes != y[i]]
        given[i] = taken_for[y[i]] if kind == "pattern" else rng.choice(others)
    return given


def peers(X: np.ndarray, given: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return what cleanlab names, and its order, for two classifiers."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    models: dict[str, Any] = {
        "cleanlab, logistic": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        ),
        "cleanlab, forest": RandomForestClassifier(100, random_state=0),
    }
    codes = np.unique(given, return_inverse=True)[1]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = {}
    for name, model in models.items():
        p = cross_val_predict(model, X, codes, cv=folds, method="predict_proba")
        named = find_label_issues(codes, p, n_jobs=1)
        found[name] = named, -get_label_quality_scores(codes, p)
    return found


def run(
    cache: pathlib.Path, out: pathlib.Path, names: tuple[str, ...], *, alone: bool
) -> None:
    """Write a line per set, number of labels, draw, kind of errors and method."""
    from mercer import UnifiedKernelMachine

    warnings.simplefilter("ignore")
    for name in names:
        X, y = load(cache, name)
        forest = RandomForestClassifier(100, random_state=0)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        told = float(cross_val_score(forest, X, y, cv=folds).mean())
        model, lines = None, []
        for size in (n for n in LABELS if n <= len(y)):
            for draw in range(max(DRAWS.values())):
                rows = np.random.default_rng([draw, size]).permutation(len(y))[:size]
                for kind in (k for k, draws in DRAWS.items() if draw < draws):
                    rng = np.random.default_rng([draw, size, 1])
                    given, labels = changed(y[rows], kind, rng), np.full(len(y), -1)
                    labels[rows] = given
                    if model is None:
                        model = UnifiedKernelMachine(random_state=0).fit(X, labels)
                    else:
                        model = model.with_labels(labels)
                    ranked = model.suspicious_labels()
                    place = {row: i for i, row in enumerate(rows)}
                    at = np.array([place[row] for row in ranked.ids])
                    named, order = np.zeros(size, bool), np.full(size, -1.0)
                    named[at], order[at] = ranked.looks_wrong, ranked.wrong
                    found = {
                        "Mercer": (named, order),
                        **({} if alone or draw else peers(X[rows], given)),
                    }
                    wrong = given != y[rows]
                    for method, (named, order) in found.items():
                        ranking = (
                            average_precision_score(wrong, order)
                            if wrong.any()
                            else np.nan
                        )
                        lines.append(
                            {"set": name, "told": told,
                             "labels": size, "draw": draw, "kind": kind,
                             "method": method, "named": int(named.sum()),
                             "hits": int((named & wrong).sum()),
                             "wrong": int(wrong.sum()), "ranking": ranking}
                        )  # fmt: skip
        frame = pd.DataFrame(lines)
        frame.to_csv(out, mode="a", header=not out.exists(), index=False)
        print(name, flush=True)


def show(path: pathlib.Path) -> None:
    """Print precision, recall, F1 and average precision of each group."""
    found = pd.read_csv(path)
    for title, part in (
        ("all sets", found),
        ("sets that a forest can tell", found[found["told"] >= EASY]),
    ):
        print(f"\n{title}: {part['set'].nunique()}")
        show_groups(part)


def show_groups(found: pd.DataFrame) -> None:
    """Print a line per number of labels, kind of errors and method."""
    print("labels | errors | method | runs | named | precision | recall | F1 | ranking")
    for (size, kind, method), part in found.groupby(["labels", "kind", "method"]):
        named, hits, wrong = (part[c].sum() for c in ("named", "hits", "wrong"))
        start = f"{size} | {kind} | {method} | {len(part)} | {named}"
        if kind == "right":
            print(f"{start} | silent in {np.mean(part['named'] == 0):.0%}")
            continue
        precision, recall = hits / max(named, 1), hits / wrong
        f1 = 2 * hits / (named + wrong)
        ranking = part["ranking"]
        error = part.groupby("set")["ranking"].mean().sem()
        print(
            f"{start} | {precision:.2f} | {recall:.2f} | {f1:.2f} | "
            f"{ranking.mean():.2f} ± {error:.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "show"])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--half", choices=["choose", "judge"], default="choose")
    parser.add_argument("--alone", action="store_true", help="without cleanlab")
    asked = parser.parse_args()
    if asked.what == "run":
        names = CHOOSE if asked.half == "choose" else JUDGE
        run(*asked.paths, names, alone=asked.alone)
    else:
        show(asked.paths[0])
