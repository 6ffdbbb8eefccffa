"""Neighbour graphs and anchor graphs under the same rule: accuracy and CPU seconds.

    python benchmarks/anchors.py [draws]

MNIST, 70,000 points, 50 principal components, the directions that ten classes get; 1,
2, 5 and 10 labels per class, four draws. Both pools are fitted once. Accuracy on the
unlabelled points, mean over the draws, lowest and highest. Needs MERCER_DATA.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time

import numpy as np
from sklearn.decomposition import PCA

from mercer import UnifiedKernelMachine
from mercer.fewlabels import AnchorPool, KernelPool
from mercer.fewlabels.pools.choice import directions_for
from mercer_studies.data import load

PER_CLASS = (1, 2, 5, 10)


def draw(truth: np.ndarray, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for c in range(10):
        y[rng.choice(np.flatnonzero(truth == c), count, replace=False)] = c
    return y


def main() -> None:
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    data = load("mnist", dtype=np.float32)
    X = PCA(50, random_state=0).fit_transform(data.X)
    r = directions_for(10)
    for name, pool in (
        ("neighbour graphs", KernelPool(r, random_state=0)),
        ("anchor graphs", AnchorPool(r, random_state=0)),
    ):
        start = time.process_time()
        model = UnifiedKernelMachine(basis=pool, random_state=0)
        model.fit(X, draw(data.y, 1, 0))
        print(f"{name}: fit {time.process_time() - start:.1f} CPU s", flush=True)
        for count in PER_CLASS:
            right = []
            for seed in range(n_draws):
                y = draw(data.y, count, seed)
                found = model.with_labels(y).transduction_
                right.append(100 * np.mean((found == data.y)[y == -1]))
            print(
                f"{count} per class: {np.mean(right):.1f} "
                f"({min(right):.1f} to {max(right):.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
