"""How often prediction sets hold the right class, and how large they are.

At most 400 rows of sets that no choice was made on; 20, 50 and 100 labels at random,
two draws. `predict_set` is compared with MAPIE's cross-conformal sets (score "lac",
five folds) of a forest and of logistic regression, on the rows without labels. A row
whose class has no label counts as missed.

    python benchmarks/prediction_sets.py CACHE

CACHE holds the collection of `benchmarks/collection`.
"""

import argparse
import pathlib
import warnings

import numpy as np
import pandas as pd
from mapie.classification import CrossConformalClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from wrong_labels import load

from mercer import UnifiedKernelMachine

SETS = (
    "olive", "hpc_data", "penguins", "magic", "ring", "banana", "phishing",
    "italypowerdemand", "hr", "juice", "arrowhead", "pima",
)  # fmt: skip
ROWS, LABELS, DRAWS = 400, (20, 50, 100), 2


def peer(estimator: object, X: np.ndarray, codes: np.ndarray, rest: np.ndarray):
    """Return the sets of MAPIE, (m, n_classes), or None where it cannot make them."""
    sets = CrossConformalClassifier(
        estimator, confidence_level=0.9, conformity_score="lac", cv=5, random_state=0
    )
    try:
        found = sets.fit_conformalize(X, codes).predict_set(rest)[1]
    except (ValueError, IndexError):  # a fold without one of the classes
        return None
    return found[:, :, 0]


def main(cache: pathlib.Path) -> None:
    """Print coverage and size for every number of labels and method."""
    warnings.simplefilter("ignore")
    lines = []
    for name in SETS:
        X, y = (part[:ROWS] for part in load(cache, name))
        for size in (n for n in LABELS if n <= len(y) / 2):
            for draw in range(DRAWS):
                rows = np.random.default_rng([draw, size, 5]).permutation(len(y))
                known, rest = rows[:size], rows[size:]
                classes, codes = np.unique(y[known], return_inverse=True)
                labels = np.full(len(y), -1)
                labels[known] = y[known]
                model = UnifiedKernelMachine(random_state=0).fit(X, labels)
                logistic = make_pipeline(
                    StandardScaler(), LogisticRegression(max_iter=1000)
                )
                forest = RandomForestClassifier(100, random_state=0)
                found = {
                    "Mercer": model.predict_set()[rest],
                    "Mercer, within classes": model.predict_set(class_wise=True)[rest],
                    "MAPIE, forest": peer(forest, X[known], codes, X[rest]),
                    "MAPIE, logistic": peer(logistic, X[known], codes, X[rest]),
                }
                is_own = y[rest][:, None] == classes
                for method, sets in found.items():
                    if sets is None:
                        continue
                    lines.append(
                        {"set": name, "labels": size, "method": method,
                         "coverage": (sets & is_own).any(axis=1).mean(),
                         "size": sets.sum(axis=1).mean()}
                    )  # fmt: skip
        print(name, flush=True)
    frame = pd.DataFrame(lines)
    for (size, method), part in frame.groupby(["labels", "method"]):
        means = part.groupby("set")[["coverage", "size"]].mean()
        mean, error = means.mean(), means.sem()
        print(
            f"{size} | {method} | {len(part)} | {mean['coverage']:.1%} ± "
            f"{error['coverage']:.1%} | {mean['size']:.2f} ± {error['size']:.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("cache", type=pathlib.Path)
    main(parser.parse_args().cache)
