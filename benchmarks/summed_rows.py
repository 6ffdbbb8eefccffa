"""Accuracy with sums over all rows and over a share of them.

    python benchmarks/summed_rows.py [draws]

400,000 rows of 50 columns, five classes that overlap (those of `dask_rows.py`), 400
anchors, so that there are 1,000 rows per anchor; five labels of each class, drawn anew
each time. One line per draw: accuracy on 100,000 new rows with sums over all rows, over
250 rows per anchor, as by default at 20,000 anchors, and over 25. Then the means, and
what each share loses to all rows, with its standard error.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys

import numpy as np
from dask_rows import CLASSES, classes, draw

from mercer import UnifiedKernelMachine
from mercer.fewlabels import AnchorPool

ROWS, COLUMNS, ANCHORS, LABELS, NEW = 400_000, 50, 400, 5, 100_000
PER_ANCHOR = (1000, 250, 25)


def labels(seed: int) -> np.ndarray:
    rng, truth, y = np.random.default_rng(seed), classes(0, ROWS), np.full(ROWS, -1)
    for c in range(CLASSES):
        y[rng.choice(np.flatnonzero(truth == c), LABELS, replace=False)] = c
    return y


def main() -> None:
    X, new, truth = draw(0, ROWS, COLUMNS), draw(1, NEW, COLUMNS), classes(1, NEW)
    found = []
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 8):
        line = []
        for per_anchor in PER_ANCHOR:
            pool = AnchorPool(
                50,
                n_anchors=ANCHORS,
                most_summed=per_anchor * ANCHORS,
                random_state=seed,
            )
            model = UnifiedKernelMachine(basis=pool, random_state=seed)
            model.fit(X, labels(seed))
            line.append(100 * float(np.mean(model.predict(new) == truth)))
        found.append(line)
        print(seed, *(f"{accuracy:.2f}" for accuracy in line), flush=True)
    scores = np.array(found)
    lost = scores[:, :1] - scores
    print("mean", *scores.mean(axis=0).round(2))
    print("lost", *lost.mean(axis=0).round(2))
    print("error", *(lost.std(axis=0, ddof=1) / np.sqrt(len(lost))).round(2))


if __name__ == "__main__":
    main()
