"""Size of saved models next to their data, and CPU seconds to save and to load them.

    python benchmarks/saved.py [name ...]

Some twenty labels in all, and at least three per class. Dense data
count as double precision, sparse ones as their three arrays. mnist and the texts come
from the folder that MERCER_DATA names.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.decomposition import PCA

import mercer
from mercer_studies.data import load


def blobs(n: int, d: int, n_classes: int) -> tuple[Any, Any]:
    X, y = make_blobs(n, d, centers=n_classes, cluster_std=6, random_state=0)
    return X, y


def mnist() -> tuple[Any, Any]:
    data = load("mnist", dtype=np.float32)
    X = PCA(50, random_state=0).fit_transform(data.X)
    return X.astype(np.float64), data.y


def texts() -> tuple[Any, Any]:
    data = load("pcmac")
    return data.X, data.y


CASES = {
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "two classes": lambda: blobs(2000, 20, 2),
    "texts": texts,
    "mnist": mnist,
    "anchors": lambda: blobs(200_000, 50, 10),
}


def few_labels(truth: Any) -> Any:
    classes, codes = np.unique(truth, return_inverse=True)
    per_class = max(3, 20 // len(classes))
    rng, y = np.random.default_rng(0), np.full(len(truth), -1)
    for c in range(len(classes)):
        y[rng.choice(np.flatnonzero(codes == c), per_class, replace=False)] = c
    return y


def size(X: Any) -> int:
    arrays = [X.data, X.indices, X.indptr] if issparse(X) else [X]
    return sum(array.nbytes for array in arrays)


for name in sys.argv[1:] or CASES:
    X, truth = CASES[name]()
    model = mercer.UnifiedKernelMachine(random_state=0).fit(X, few_labels(truth))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.skops"
        mercer.save(model.classes_, file)  # imports what saving needs
        times = [time.process_time()]
        mercer.save(model, file)
        times.append(time.process_time())
        mercer.load(file)
        times.append(time.process_time())
        MB = file.stat().st_size / 1e6
    saving, loading = np.diff(times)
    print(
        f"| {name} | {X.shape[0]:,} x {X.shape[1]:,} | {size(X) / 1e6:.2f} | {MB:.2f} "
        f"| {1e6 * MB / size(X):.1f} | {saving:.1f} | {loading:.1f} |",
        flush=True,
    )
