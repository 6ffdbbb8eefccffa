"""Growing 100 random trees on few labels: ours next to scikit-learn's.

    python benchmarks/trees.py

Digits of scikit-learn (64 columns, ten classes) and wine (13 columns, three classes).
CPU milliseconds on one core, best of ten interleaved runs, compiled before.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier

from mercer.fewlabels.trees import grow_trees

TREES, RUNS = 100, 5
ENOUGH = 0.05  # CPU seconds that a time is taken over


def ours(X: np.ndarray, y: np.ndarray) -> object:
    return grow_trees(X, (y[:, None] == np.unique(y)).astype(float), n_trees=TREES)


def theirs(X: np.ndarray, y: np.ndarray) -> object:
    return ExtraTreesClassifier(TREES, random_state=0).fit(X, y)


def milliseconds(work: Callable[..., object], X: np.ndarray, y: np.ndarray) -> float:
    """Return CPU milliseconds per call, of as many calls as a coarse clock needs."""
    start = time.process_time()
    calls = 0
    while (spent := time.process_time() - start) < ENOUGH:
        work(X, y)
        calls += 1
    return 1e3 * spent / calls


def main() -> None:
    rng = np.random.default_rng(0)
    print("| data | labels | Mercer, ms | scikit-learn, ms |\n|---|---|---|---|")
    for name, read in (("wine", load_wine), ("digits", load_digits)):
        X, y = read(return_X_y=True)
        for n in (20, 100):
            rows = rng.choice(len(y), n, replace=False)
            some = X[rows].astype(float), y[rows]
            ours(*some)
            runs = [
                [milliseconds(f, *some) for f in (ours, theirs)] for _ in range(RUNS)
            ]
            a, b = np.min(runs, axis=0)
            print(f"| {name} | {n} | {a:.1f} | {b:.0f} |")


if __name__ == "__main__":
    main()
