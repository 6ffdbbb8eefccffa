"""Nearest neighbours: CPU seconds and recall of Mercer and its peers.

Run ``python benchmarks/neighbors.py [set ...]``, with the sets

- ``small``: 7,000 x 50, exact; the peer is the float32 matrix product alone;
- ``curved``: 200,000 x 50, twenty Gaussians of 10 dimensions each, plus noise;
- ``hard``: the same with 15 dimensions each;
- ``isotropic``: the same with all 50 dimensions each;
- ``mnist``: 70,000 x 784.

Every method finds the 10 nearest others of all points on one core. Each peer is tuned
to the recall wanted: of its settings (see `PEERS`) the first of each ladder that
reaches it on sampled rows is timed, index and search together; tuning is not counted.
Mercer chooses its own settings, which is counted. Runs are interleaved, `--repeats` of
each, and the shortest counts. Compiled functions are warmed up first; BLAS and OpenMP
run on one thread, so that waiting threads do not count as work.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mercer.graphs.search import Neighbors, nearest_neighbors

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


Tuned = Iterator[tuple[str, Callable[[], object], float]]  # setting, run, recall


def tune_faiss(X: np.ndarray, judge: Judge, wanted: float) -> Tuned:
    import faiss

    faiss.omp_set_num_threads(1)

    def build() -> "faiss.IndexIVFFlat":
        quantizer = faiss.IndexFlatL2(X.shape[1])
        index = faiss.IndexIVFFlat(quantizer, X.shape[1], len(X) // 400)
        index.cp.niter, index.cp.max_points_per_centroid = 5, 64
        index.train(X)
        index.add(X)
        return index

    def run(nprobe: int) -> object:
        index = build()
        index.nprobe = nprobe
        return index.search(X, K + 1)

    index = build()
    for nprobe in (4, 6, 8, 9, 10, 11, 12, 14, 16, 20, 30, 50, 100, 300):
        index.nprobe = nprobe
        recall = judge.recall(index.search(X[judge.rows], K + 1)[1])
        if recall >= wanted:
            break
    yield f"nprobe={nprobe}", partial(run, nprobe), recall


def tune_hnswlib(X: np.ndarray, judge: Judge, wanted: float) -> Tuned:
    import hnswlib

    def build(effort: int) -> "hnswlib.Index":
        index = hnswlib.Index("l2", X.shape[1])
        index.init_index(len(X), M=16, ef_construction=effort, random_seed=0)
        index.set_num_threads(1)
        index.add_items(X)
        return index

    def run(effort: int, ef: int) -> object:
        index = build(effort)
        index.set_ef(ef)
        return index.knn_query(X, K + 1)

    for effort in (40, 80):
        index = build(effort)
        for ef in (12, 16, 20, 30, 40, 60, 80, 120, 160, 240, 320):
            index.set_ef(ef)
            recall = judge.recall(index.knn_query(X[judge.rows], K + 1)[0].astype(int))
            if recall >= wanted:
                break
        yield f"M=16, ef_c={effort}, ef={ef}", partial(run, effort, ef), recall


def tune_pynndescent(X: np.ndarray, judge: Judge, wanted: float) -> Tuned:
    import pynndescent

    def run(width: int, candidates: int | None) -> object:
        return pynndescent.NNDescent(
            X, n_neighbors=width, max_candidates=candidates, n_jobs=1, random_state=0
        )

    pynndescent.NNDescent(X[:3000], n_neighbors=K + 1, n_jobs=1, random_state=0)
    for candidates in (None, 30):  # None: as many as n_neighbors, up to 60
        for width in (11, 12, 13, 14, 15, 16, 17, 20, 30, 60):
            index = run(width, candidates)
            recall = judge.recall(index.neighbor_graph[0][judge.rows])
            if recall >= wanted:
                break
        name = f"n_neighbors={width}, max_candidates={candidates}"
        yield name, partial(run, width, candidates), recall


PEERS = {"faiss": tune_faiss, "pynndescent": tune_pynndescent, "hnswlib": tune_hnswlib}


def show(name: str, method: str, seconds: float, recall: float, ours: float) -> None:
    ratio = f"{seconds / ours:6.2f}" if ours else ""
    print(f"| {name} | {method} | {seconds:.2f} | {recall:.4f} | {ratio} |", flush=True)


def compare(name: str, peers: list[str], repeats: int) -> None:
    make, wanted = SETS[name]
    X = make()
    judge = Judge(X)

    def mercer() -> Neighbors:
        rng = np.random.default_rng(0)
        return nearest_neighbors(X, K, recall=wanted, rng=rng, n_jobs=1)

    nearest_neighbors(X[:9000], K, rng=np.random.default_rng(0), n_jobs=1)
    for peer in peers:
        for setting, run, recall in PEERS[peer](X, judge, wanted):
            ours, theirs = [], []
            for _ in range(repeats):
                theirs.append(cpu(run)[0])
                seconds, found = cpu(mercer)
                ours.append(seconds)
            our_recall = judge.recall(found.indices[judge.rows])
            show(name, f"mercer ({found.method})", min(ours), our_recall, 0)
            show(name, f"{peer} ({setting})", min(theirs), recall, min(ours))


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
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    arguments = parser.parse_args()
    print("| data | method | CPU s | recall | ratio to mercer |")
    print("|---|---|---|---|---|")
    for name in arguments.sets:
        if name == "small":
            compare_small()
        else:
            compare(name, arguments.peers, arguments.repeats)


if __name__ == "__main__":
    main()
