"""Semi-supervised kernel selection on digits (Dai and Yeung 2007), next to the print.

Sections: `table1` (20 Gaussians), `table2` (30 graph Laplacian kernels), `distances`
(tangent distance: time, and nearest-neighbour error on the test digits).

Run with: python benchmarks/annealed.py [section ...]
It needs the folder of data sets in MERCER_DATA. Times are CPU seconds.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time
import warnings

import numpy as np
from scipy.spatial.distance import cdist

from mercer.exceptions import DisconnectedGraphWarning
from mercer.graphs.image_distances import AffineDistance, TangentDistance
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.spectrum.graph_kernels import IMAGE_METRICS, laplacian_kernels
from mercer_studies.data import load

PAIRS = [(1, 7), (2, 3), (2, 7), (3, 8), (4, 7)]
PRINTED = {  # KS-SL and KS-SSKM of Table 1: mean and standard deviation
    (1, 7): (1.60, 0.72, 0.00, 0.00),
    (2, 3): (10.10, 4.20, 5.10, 1.27),
    (2, 7): (9.28, 6.41, 1.86, 0.43),
    (3, 8): (10.82, 4.09, 7.42, 0.83),
    (4, 7): (7.53, 3.88, 3.92, 2.01),
}
PRINTED_GRAPH = {  # GLKS-SSL and GLKS-SSKM of Table 2 on all 30 kernels
    (1, 7): (1.19, 0.22, 0.90, 0.14),
    (2, 3): (2.22, 1.10, 0.15, 0.23),
    (2, 7): (2.73, 0.76, 2.01, 0.22),
    (3, 8): (6.39, 0.72, 4.43, 0.34),
    (4, 7): (2.37, 1.28, 0.88, 0.23),
}
QUICK = {"tol": 1e-4, "final_temperature": 1e-4, "class_ratio": 0.5}


def pair(a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """First 200 training images of two digits."""
    data = load("usps")
    y = data.y[data.train]
    rows = [data.train[np.flatnonzero(y == digit)[:200]] for digit in (a, b)]
    return data.X[np.concatenate(rows)], np.repeat([0, 1], 200)


def six_labels(truth: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for c in (0, 1):
        y[rng.choice(np.flatnonzero(truth == c), 6, replace=False)] = c
    return y


def error(machine, X, truth, y) -> float:
    hidden = y < 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        found = machine.fit(X, y).transduction_
    return 100 * float(np.mean(found[hidden] != truth[hidden]))


def compare(machines: dict, printed: dict, kernels_of=None) -> None:
    """Print errors of the machines, two columns each: ours and the paper's."""
    print(f"{'pair':>6}  " + "  ".join(f"{n:>14} {'print':>12}" for n in machines))
    for (a, b), print_row in printed.items():
        X, truth = pair(a, b)
        kernels = None if kernels_of is None else kernels_of(X)
        cells = []
        for i, machine in enumerate(machines.values()):
            machine.set_params(kernels=kernels)
            start = time.process_time()
            errors = [error(machine, X, truth, six_labels(truth, s)) for s in range(10)]
            seconds = (time.process_time() - start) / 10
            mean, deviation = print_row[2 * (i % 2) : 2 * (i % 2) + 2]
            cells.append(f"{np.mean(errors):8.2f}±{np.std(errors, ddof=1):5.2f}")
            cells.append(f"{mean:6.2f}±{deviation:5.2f} ({seconds:.2f} s)")
        print(f"{a} vs {b}  " + "  ".join(cells), flush=True)


def table1() -> None:
    print("Table 1: error in percent on the unlabelled, 20 Gaussians, 10 draws")
    compare(
        {
            "KS-SL": AnnealedKernelMachine(beta=0, **QUICK),
            "KS-SSKM": AnnealedKernelMachine(**QUICK),
        },
        PRINTED,
    )


def laplacian_matrices(X: np.ndarray) -> list[np.ndarray]:
    """Pseudo-inverses of the 30 Laplacians, made once for all draws."""
    rng = np.random.default_rng(0)
    return [kernel() for kernel in laplacian_kernels(X, metrics=IMAGE_METRICS, rng=rng)]


def table2() -> None:
    print("Table 2: 30 graph Laplacian kernels, 10 draws; then trace normalised")
    scaled = {"trace_normalized": True, **QUICK}
    compare(
        {
            "GLKS-SSL": AnnealedKernelMachine(beta=0, **QUICK),
            "GLKS-SSKM": AnnealedKernelMachine(beta=0.01, **QUICK),
            "SSL, scaled": AnnealedKernelMachine(beta=0, **scaled),
            "SSKM, scaled": AnnealedKernelMachine(beta=0.01, **scaled),
        },
        PRINTED_GRAPH,
        laplacian_matrices,
    )


def distances(n_candidates: int = 100) -> None:
    data = load("usps")
    X = data.X[data.train[:400]]
    for metric in (TangentDistance(), AffineDistance()):
        metric.pairwise(X[:2])  # affine maps are made once
        start = time.process_time()
        metric.pairwise(X)
        seconds = time.process_time() - start
        print(f"{type(metric).__name__}: all pairs of 400 images {seconds:.2f} CPU s")
    X, y = data.X[data.train], data.y[data.train]
    X_new, y_new = data.X[data.test], data.y[data.test]
    D = cdist(X_new, X)
    wrong = np.mean(y[D.argmin(axis=1)] != y_new)
    print(f"1-NN on {len(X_new)} test images: Euclidean {100 * wrong:.2f}% error")
    nearest = np.argpartition(D, n_candidates, axis=1)[:, :n_candidates]
    metric = TangentDistance()
    start = time.process_time()
    misses = 0
    for x, target, rows in zip(X_new, y_new, nearest, strict=True):
        best = rows[metric.pairwise(x[None], X[rows])[0].argmin()]
        misses += y[best] != target
    seconds = time.process_time() - start
    print(
        f"  tangent distance among the {n_candidates} Euclidean nearest: "
        f"{100 * misses / len(X_new):.2f}% error, {seconds:.0f} CPU s"
    )


SECTIONS = {"table1": table1, "distances": distances, "table2": table2}

if __name__ == "__main__":
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()
