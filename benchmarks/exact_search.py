"""The exact search next to the matrix product that it cannot do without.

    python benchmarks/exact_search.py

7,000 points in single precision, the 10 nearest others of each. The product is that of
X and a copy of X (NumPy does X @ X.T itself by half), once with new memory for the
result, as one writes it, and once into memory that is there. CPU seconds on one core,
best of ten interleaved runs.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import time
from collections.abc import Callable

import numpy as np

from mercer.neighbors.index import nearest_neighbors

N, K, RUNS = 7_000, 10, 10
ROOM = np.empty((N, N), np.float32)


def search(X: np.ndarray, _: np.ndarray) -> object:
    return nearest_neighbors(X, K, method="exact", rng=np.random.default_rng(0))


def product(X: np.ndarray, Y: np.ndarray) -> object:
    return X @ Y.T


def product_in_place(X: np.ndarray, Y: np.ndarray) -> object:
    return np.matmul(X, Y.T, out=ROOM)


def seconds(work: Callable[..., object], X: np.ndarray, Y: np.ndarray) -> float:
    start = time.process_time()
    work(X, Y)
    return time.process_time() - start


def main() -> None:
    print("| columns | search, s | product, s | ratio | product in place, s | ratio |")
    print("|---|---|---|---|---|---|")
    for d in (10, 50, 250):
        X = np.random.default_rng(0).normal(size=(N, d)).astype(np.float32)
        Y = X.copy()
        works = (search, product, product_in_place)
        search(X, Y)  # compiled before the clock starts
        runs = [[seconds(work, X, Y) for work in works] for _ in range(RUNS)]
        ours, new, there = np.min(runs, axis=0)
        print(f"| {d} | {ours:.3f} | {new:.3f} | {ours / new:.2f} ", end="")
        print(f"| {there:.3f} | {ours / there:.2f} |")


if __name__ == "__main__":
    main()
