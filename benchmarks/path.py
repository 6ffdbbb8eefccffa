"""The whole path on MNIST, 70,000 x 784, next to scikit-learn's LabelSpreading.

Graph, fifty eigenpairs, learned weights and the labels of all points from 100 labels,
each method in a process of its own: CPU seconds, peak memory and accuracy.

Run with MERCER_DATA set: python benchmarks/path.py
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.semi_supervised import LabelSpreading

from mercer.datasets import load
from mercer.graphs.search import nearest_neighbors
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.graph import GraphBasis

METHODS = {
    "mercer, neighbour graph": lambda: RLSClassifier(
        ParameterFreeKernel(GraphBasis(50, random_state=0)), C=10
    ),
    "mercer, 5000 anchors": lambda: RLSClassifier(
        ParameterFreeKernel(AnchorBasis(50, random_state=0)), C=10
    ),
    "LabelSpreading(knn)": lambda: LabelSpreading(kernel="knn"),
}


def measure(name: str) -> dict[str, float]:
    """Fit one method in this process."""
    data = load("mnist", dtype=np.float32)
    rng = np.random.default_rng(0)
    labeled = np.concatenate(
        [rng.choice(np.flatnonzero(data.y == c), 10, replace=False) for c in range(10)]
    )
    y = np.full(len(data.y), -1)
    y[labeled] = data.y[labeled]
    METHODS[name]().fit(data.X[:2000], data.y[:2000])  # compiles, as does
    nearest_neighbors(data.X[:9000], 10, rng=rng)
    start = time.process_time()
    model = METHODS[name]().fit(data.X, y)
    seconds = time.process_time() - start
    unknown = y == -1
    return {
        "seconds": seconds,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "accuracy": float(np.mean(model.transduction_[unknown] == data.y[unknown])),
    }


def main() -> None:
    results = {}
    for name in METHODS:
        child = subprocess.run(
            [sys.executable, __file__, name], check=True, capture_output=True, text=True
        )
        results[name] = json.loads(child.stdout)
    base = results["LabelSpreading(knn)"]["seconds"]
    print("MNIST 70,000 x 784, 100 labels, 1 BLAS thread")
    print(f"{'':26}{'CPU s':>8}{'ratio':>8}{'peak GB':>9}{'accuracy':>10}")
    for name, row in results.items():
        print(
            f"{name:26}{row['seconds']:8.1f}{row['seconds'] / base:8.2f}"
            f"{row['gigabytes']:9.2f}{row['accuracy']:10.4f}"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
