"""Fifty eigenpairs of MNIST's neighbour graph, next to scipy's eigsh.

Run with MERCER_DATA set: python benchmarks/eigen.py [repetitions]
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from mercer.datasets import load
from mercer.graphs.laplacian import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.spectrum.eigen import smallest_eigenpairs
from mercer.spectrum.graph import graph_null_vectors

R = 50


def main(repetitions: int = 3) -> None:
    X = np.asarray(load("mnist").X, dtype=np.float32)
    graph = neighbor_graph(X, 10, rng=np.random.default_rng(0))
    W = graph.adjacency
    L, N = laplacian(W), sparse.eye_array(W.shape[0]) - laplacian(W)
    null, _ = graph_null_vectors(graph, "normalized", at_most=R + 1)

    def ours(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        return smallest_eigenpairs(L, R, upper=2.0, null=null, rng=rng).values

    def scipys(seed: int, tol: float) -> np.ndarray:
        v0 = np.random.default_rng(seed).standard_normal(W.shape[0])
        return 1.0 - eigsh(N, R, which="LA", tol=tol, v0=v0)[0]

    runs = {
        "mercer, tol 1e-8": ours,
        "eigsh, tol 1e-8": lambda seed: scipys(seed, 1e-8),
        "eigsh, tol 1e-3": lambda seed: scipys(seed, 1e-3),
    }
    reference = float(scipys(99, 1e-13).sum())
    ours(0)  # compiles
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    missing = dict.fromkeys(runs, 0.0)
    for seed in range(repetitions):
        for name, run in runs.items():
            start = time.process_time()
            values = run(seed)
            seconds[name].append(time.process_time() - start)
            missing[name] = max(missing[name], float(values.sum()) - reference)
    base = np.median(seconds["eigsh, tol 1e-8"])
    print(f"{R} eigenpairs, n = {W.shape[0]:,}, {W.nnz:,} entries, 1 BLAS thread")
    print(f"sum of the eigenvalues (eigsh, tol 1e-13): {reference:.10f}")
    print(f"{'':20}{'CPU s':>8}{'ratio':>8}{'sum too large by':>20}")
    for name, times in seconds.items():
        cpu = np.median(times)
        print(f"{name:20}{cpu:8.2f}{cpu / base:8.2f}{missing[name]:20.1e}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
