"""Pairs told apart and clusters of few links, beside plain distances and ITML.

Sets that no choice was made on, at most 400 rows in units of their standard
deviations; 10 to 500 pairs, half of them of one class, two draws. AUC of
`PairClassifier`, the plain distance and ITML on 4,000 other pairs; adjusted Rand index
of `cluster(pairs=)` with the kernel of `PairwiseKernel`, of k-means, and of k-means in
the metric of ITML. What is in `mercer.learners._pair_blend` was chosen on digits,
vehicle, texture, wine, breast cancer, segment, vowel, penbased, satimage, USPST,
Digit1, ionosphere, led7digit and iris.

    python benchmarks/pair_classifier.py CACHE

CACHE holds the collection of `benchmarks/collection`. Needs metric-learn (group
`interop`).
"""

import argparse
import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import metric_learn._util
import numpy as np
import pandas as pd
from metric_learn import ITML
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from wrong_labels import load

from mercer.evidence.pairs import Pairs
from mercer.learners.clustering import cluster
from mercer.learners.pair_classifier import PairClassifier
from mercer.learners.pairwise import PairwiseKernel

SETS = (
    "tecator", "creditcard", "saratogahouses", "leafshape", "parabolic", "twonorm",
    "hawks", "monk-2",
)  # fmt: skip
ROWS, PAIRS, DRAWS = 400, (10, 50, 200, 500), 2


def renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a check of scikit-learn that takes the old name of a parameter."""

    def check(*args: Any, force_all_finite: Any = True, **others: Any) -> Any:
        return function(*args, ensure_all_finite=force_all_finite, **others)

    return check


for _name in ("check_array", "check_X_y"):  # metric-learn 0.7 calls them so
    _check = renamed(getattr(metric_learn._util, _name))
    setattr(metric_learn._util, _name, _check)


def drawn(
    y: np.ndarray, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of m pairs, half of them of one class, and which these are."""
    ends = rng.integers(0, len(y), (40 * m, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    same = y[ends[:, 0]] == y[ends[:, 1]]
    one, two = np.flatnonzero(same)[: m // 2], np.flatnonzero(~same)[: m // 2]
    return ends[np.r_[one, two]], np.repeat([True, False], [len(one), len(two)])


def main(cache: pathlib.Path) -> None:
    """Print AUC and index of each set and number of pairs, and means over sets."""
    warnings.simplefilter("ignore")
    lines = []
    for name in SETS:
        X, y = (part[:ROWS] for part in load(cache, name))
        X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
        for m in PAIRS:
            for draw in range(DRAWS):
                rng = np.random.default_rng([draw, m, 3])
                ends, same = drawn(y, m, rng)
                new = rng.integers(0, len(y), (4000, 2))
                new = new[new[:, 0] != new[:, 1]]
                truth = y[new[:, 0]] == y[new[:, 1]]
                ours = PairClassifier(preprocessor=X, random_state=0).fit(ends, same)
                scores = {
                    "Mercer": ours.decision_function(new),
                    "plain": -np.linalg.norm(X[new[:, 0]] - X[new[:, 1]], axis=1),
                }
                Z = X
                try:
                    itml = ITML(preprocessor=X, random_state=0)
                    itml.fit(ends, np.where(same, 1, -1))
                    scores["ITML"] = itml.decision_function(new)
                    Z = itml.transform(X)
                except ValueError:  # its matrix may lose its definiteness
                    scores["ITML"] = scores["plain"]
                pairs = Pairs(*ends.T, np.where(same, 1.0, -1.0), len(y))
                kernel = PairwiseKernel(random_state=0).fit(X, pairs=pairs).kernel_
                k = len(np.unique(y))
                found = {
                    "Mercer": cluster(kernel, k, pairs=pairs, random_state=0),
                    "plain": KMeans(k, n_init=10, random_state=0).fit_predict(X),
                    "ITML": KMeans(k, n_init=10, random_state=0).fit_predict(Z),
                }
                lines += [
                    {
                        "set": name,
                        "pairs": m,
                        "method": k,
                        "auc": roc_auc_score(truth, s),
                        "ari": adjusted_rand_score(y, found[k]),
                    }
                    for k, s in scores.items()
                ]
        print(name, flush=True)
    frame = pd.DataFrame(lines)
    for score in ("auc", "ari"):
        print(score)
        print(frame.pivot_table(index=["set", "pairs"], columns="method", values=score))
        means = frame.groupby(["pairs", "method", "set"])[score].mean()
        print(means.groupby(["pairs", "method"]).agg(["mean", "sem"]).round(3))
        print(means.groupby(["set", "method"]).mean().unstack().round(3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("cache", type=pathlib.Path)
    main(parser.parse_args().cache)
