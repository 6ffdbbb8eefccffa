"""Nearest neighbours: CPU seconds and recall of Mercer and its peers.

Run ``python benchmarks/neighbors.py [set ...]``, with the sets

- ``small``: 7,000 x 50, exact; the peer is the float32 matrix product alone;
- ``curved``: 200,000 x 50, twenty Gaussians of 10 dimensions each, plus noise;
- ``hard``: the same with 15 dimensions each;
- ``isotropic``: 200,000 x 50, one Gaussian, where nothing but all pairs will do;
- ``mnist``: 70,000 x 784.

Every method finds the 10 nearest others of all points on one core. Each peer is tuned
to the recall wanted: of its settings (see `PEERS`) the first that reaches it on
sampled rows is timed, index and search together; tuning is not counted. Mercer chooses
its own settings, which is counted. Its runs are interleaved with the peers'. Compiled
functions are warmed up first; BLAS and OpenMP run on one thread, so that waiting
threads do not count as work.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

from mercer.graphs.search import nearest_neighbors

K = 10


def mixture(n: int, d: int, intrinsic: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    labels = rng.integers(20, size=n)
    centers = rng.normal(size=(20, d))
    axes = rng.normal(size=(20, intrinsic, d)) / np.sqrt(intrinsic)
    X = 0.1 * rng.normal(size=(n, d))
    for c in range(20):
        members = np.flatnonzero(labels == c)
        X[members] += centers[c] + rng.normal(size=(len(members), intrinsic)) @ axes[c]
    return X.astype(np.float32)


def mnist() -> np.ndarray:
    from mercer.datasets import load

    return load("mnist", dtype=np.float32).X


SETS: dict[str, tuple[Callable[[], np.ndarray], float]] = {
    "curved": (lambda: mixture(200_000, 50, 10), 0.99),
    "hard": (lambda: mixture(200_000, 50, 15), 0.99),
    "isotropic": (lambda: mixture(200_000, 50, 50), 0.99),
    "mnist": (mnist, 0.98),
}


class Judge:
    """Recall on sampled rows; a neighbour counts if no farther than the k-th."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.rows = np.random.default_rng(1).choice(len(X), 1000, replace=False)
        self.limit = np.empty(len(self.rows))
        for start in range(0, len(self.rows), 100):
            rows = self.rows[start : start + 100]
            G = (X**2).sum(axis=1) - 2 * X[rows] @ X.T
            near = np.argpartition(G, K + 4, axis=1)[:, : K + 5]
            self.limit[start : start + 100] = np.sort(self.squares(rows, near))[:, K]

    def squares(self, rows: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Measure pairs in double precision."""
        difference = self.X[rows][:, None].astype(float) - self.X[indices]
        return np.einsum("ijk,ijk->ij", difference, difference)

    def recall(self, indices: np.ndarray) -> float:
        """Judge the neighbours of the sampled rows, the rows themselves left out."""
        close = self.squares(self.rows, indices) <= self.limit[:, None] * (1 + 1e-9)
        real = (indices != self.rows[:, None]) & (indices >= 0)
        return float(np.minimum((close & real).sum(axis=1), K).mean() / K)


def cpu(call: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def run_faiss(X: np.ndarray, judge: Judge, wanted: float) -> Iterator[tuple]:
    import faiss

    faiss.omp_set_num_threads(1)

    def build() -> "faiss.IndexIVFFlat":
        quantizer = faiss.IndexFlatL2(X.shape[1])
        index = faiss.IndexIVFFlat(quantizer, X.shape[1], len(X) // 400)
        index.cp.niter, index.cp.max_points_per_centroid = 5, 64
        index.train(X)
        index.add(X)
        return index

    built, index = cpu(build)
    for index.nprobe in (4, 6, 8, 9, 10, 11, 12, 14, 16, 20, 30, 50, 100, 300):
        recall = judge.recall(index.search(X[judge.rows], K + 1)[1])
        if recall >= wanted:
            break
    searched, _ = cpu(lambda: index.search(X, K + 1))
    yield f"nprobe={index.nprobe}", built + searched, recall


def run_hnswlib(X: np.ndarray, judge: Judge, wanted: float) -> Iterator[tuple]:
    import hnswlib

    for effort in (40, 80):

        def build(effort: int = effort) -> "hnswlib.Index":
            index = hnswlib.Index("l2", X.shape[1])
            index.init_index(len(X), M=16, ef_construction=effort, random_seed=0)
            index.set_num_threads(1)
            index.add_items(X)
            return index

        built, index = cpu(build)
        for ef in (12, 16, 20, 30, 40, 60, 80, 120, 160, 240, 320):
            index.set_ef(ef)
            recall = judge.recall(index.knn_query(X[judge.rows], K + 1)[0].astype(int))
            if recall >= wanted:
                break
        searched, _ = cpu(lambda index=index: index.knn_query(X, K + 1))
        yield f"M=16, ef_c={effort}, ef={ef}", built + searched, recall


def run_pynndescent(X: np.ndarray, judge: Judge, wanted: float) -> Iterator[tuple]:
    import pynndescent

    pynndescent.NNDescent(X[:3000], n_neighbors=K + 1, n_jobs=1, random_state=0)
    for width in (11, 13, 15, 17, 20, 30, 60):
        seconds, index = cpu(
            lambda width=width: pynndescent.NNDescent(
                X, n_neighbors=width, n_jobs=1, random_state=0
            )
        )
        recall = judge.recall(index.neighbor_graph[0][judge.rows])
        if recall >= wanted:
            break
    yield f"n_neighbors={width}", seconds, recall


PEERS = {"faiss": run_faiss, "pynndescent": run_pynndescent, "hnswlib": run_hnswlib}


def show(name: str, method: str, seconds: float, recall: float, ours: float) -> None:
    ratio = f"{seconds / ours:6.2f}" if ours else ""
    print(f"| {name} | {method} | {seconds:.2f} | {recall:.4f} | {ratio} |", flush=True)


def compare(name: str, peers: list[str]) -> None:
    make, wanted = SETS[name]
    X = make()
    judge = Judge(X)

    def mercer() -> tuple[float, float, str]:
        def call() -> object:
            rng = np.random.default_rng(0)
            return nearest_neighbors(X, K, recall=wanted, rng=rng, n_jobs=1)

        seconds, found = cpu(call)
        return seconds, judge.recall(found.indices[judge.rows]), found.method

    nearest_neighbors(X[:9000], K, rng=np.random.default_rng(0), n_jobs=1)
    for peer in peers:
        for setting, seconds, recall in PEERS[peer](X, judge, wanted):
            ours, our_recall, method = mercer()
            show(name, f"mercer ({method})", ours, our_recall, 0)
            show(name, f"{peer} ({setting})", seconds, recall, ours)


def compare_small() -> None:
    for d in (10, 50, 250):
        X = mixture(7000, d, 10)
        Y = X.copy()  # X @ X.T itself would be taken for the cheaper symmetric product
        ours, product = [], []
        for _ in range(7):
            rng = np.random.default_rng(0)
            ours.append(cpu(lambda: nearest_neighbors(X, K, rng=rng, n_jobs=1))[0])  # noqa: B023
            product.append(cpu(lambda: X @ Y.T)[0])  # noqa: B023
        name = f"7000 x {d}"
        show(name, "mercer (exact)", min(ours), 1.0, 0)
        show(name, "matrix product", min(product), 1.0, min(ours))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=["small", *SETS])
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    arguments = parser.parse_args()
    print("| data | method | CPU s | recall | ratio to mercer |")
    print("|---|---|---|---|---|")
    for name in arguments.sets:
        if name == "small":
            compare_small()
        else:
            compare(name, arguments.peers)


if __name__ == "__main__":
    main()
