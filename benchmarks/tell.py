"""What a label and a question cost at n = 70,000, in seconds of CPU on one core.

    python benchmarks/tell.py [n]

MNIST, 50 principal components, one label per class to begin with; needs MERCER_DATA.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import resource
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA

from mercer import UnifiedKernelMachine
from mercer.active.strategies import QUERIES
from mercer_studies.data import load

warnings.simplefilter("ignore")


def seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 70_000
    data, rng = load("mnist"), np.random.default_rng(0)
    X = PCA(50, svd_solver="covariance_eigh").fit_transform(data.X / 255.0)
    X, truth = X[-n:], data.y[-n:]
    y = np.full(n, -1)
    for c in range(10):
        row = rng.choice(np.flatnonzero(truth == c))
        y[row] = c
    del data
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    model = UnifiedKernelMachine(random_state=0)
    fit = seconds(model.fit, X, y)
    print(f"n = {n}: a fit takes {fit:.1f} s")
    for n_labeled in (10, 100, 500):
        if n_labeled > len(model.labeled_):
            y = model._y.copy()
            rows = rng.choice(n, n_labeled - len(model.labeled_), replace=False)
            y[rows] = truth[rows]
            model = model.with_labels(y)
        costs = []
        for _ in range(5):
            row = model.ask()
            costs.append(seconds(model.tell, row, truth[row]))
        cost = float(np.median(costs))
        right = float(np.mean(model.transduction_ == truth))
        print(
            f"{n_labeled:4} labels: one more takes {cost:.2f} s, "
            f"{100 * cost / fit:.1f}% of a fit (accuracy {right:.3f})"
        )
        for query in QUERIES:
            model.set_params(query=query)
            one, ten = (seconds(model.ask, k) for k in (1, 10))
            print(f"     ask {query:16} {one:.3f} s, ten at once {ten:.3f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory {peak:.2f} GB ({before:.2f} GB before the fit)")


if __name__ == "__main__":
    main()
