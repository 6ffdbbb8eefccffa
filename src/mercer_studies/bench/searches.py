"""Searches for the ten nearest others of every point.

Each peer is tuned before it is measured: of its settings, the first that reaches the
recall wanted on sampled rows. A method returns its setting, and the search to be timed,
index included, which returns neighbours of all points, (n, k) or (n, k + 1).
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from mercer_studies.bench.cells import NEIGHBORS as K

Search = tuple[str, Callable[[], Any]]
Recall = Callable[[Any], float]  # of neighbours of all points


def _first(
    settings: Iterable[Any], run: Callable[[Any], Any], recall: Recall, wanted: float
) -> Any:
    """Return the first setting that reaches the recall wanted, else the last."""
    setting = None
    for setting in settings:
        if recall(run(setting)) >= wanted:
            break
    return setting


def mercer_search(X: Any, recall: Recall, wanted: float) -> Search:
    """Mercer's search, which chooses its own settings in the time that counts."""
    from mercer.neighbors.index import nearest_neighbors

    def run() -> Any:
        rng = np.random.default_rng(0)
        return nearest_neighbors(X, K, recall=wanted, rng=rng, n_jobs=1).indices

    return "", run


def brute_force(X: Any, recall: Recall, wanted: float) -> Search:
    """scikit-learn's exhaustive search."""
    from sklearn.neighbors import NearestNeighbors

    def run() -> Any:
        search = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=1).fit(X)
        return search.kneighbors(return_distance=False)

    return "exact", run


def faiss_cells(X: Any, recall: Recall, wanted: float) -> Search:
    """Cells of faiss, IndexIVFFlat."""
    faiss: Any = import_module("faiss")

    faiss.omp_set_num_threads(1)

    def run(nprobe: int) -> Any:
        d = X.shape[1]
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, max(1, len(X) // 400))
        index.cp.niter, index.cp.max_points_per_centroid = 5, 64
        index.cp.min_points_per_centroid = 1
        index.train(X)
        index.add(X)
        index.nprobe = nprobe
        return index.search(X, K + 1)[1]

    best = _first((4, 8, 12, 20, 50, 100, 300), run, recall, wanted)
    return f"nprobe={best}", lambda: run(best)


def hnsw(X: Any, recall: Recall, wanted: float) -> Search:
    """Hnswlib with 16 links per point."""
    hnswlib: Any = import_module("hnswlib")

    def run(ef: int) -> Any:
        index = hnswlib.Index("l2", X.shape[1])
        index.init_index(len(X), M=16, ef_construction=80, random_seed=0)
        index.set_num_threads(1)
        index.add_items(X)
        index.set_ef(ef)
        return index.knn_query(X, K + 1)[0].astype(int)

    best = _first((16, 30, 60, 120, 240), run, recall, wanted)
    return f"M=16, ef={best}", lambda: run(best)


def nn_descent(X: Any, recall: Recall, wanted: float) -> Search:
    """Nearest-neighbour descent of pynndescent."""
    pynndescent: Any = import_module("pynndescent")

    def run(width: int) -> Any:
        index = pynndescent.NNDescent(X, n_neighbors=width, n_jobs=1, random_state=0)
        return index.neighbor_graph[0][:, : K + 1]

    best = _first((11, 13, 15, 20, 30, 60), run, recall, wanted)
    return f"n_neighbors={best}", lambda: run(best)
