"""The data of the benchmark, drawn once and read by every method from one file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_digits

from mercer._base.typing import FloatArray
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.kernels.parametric import RBF
from mercer.spectrum.directions import graph_null_vectors
from mercer.spectrum.gram import GramBasis
from mercer_studies.bench.cells import NEIGHBORS, PAIRS

Arrays = dict[str, NDArray[np.generic]]
LABELS_PER_CLASS = 5
N_CLASSES = 20


def mixture(
    n: int, d: int = 50, intrinsic: int = 10, *, n_classes: int = N_CLASSES
) -> Arrays:
    """Draw Gaussians of a few dimensions each, plus noise; each is a class."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    centers = rng.normal(size=(n_classes, d))
    axes = rng.normal(size=(n_classes, intrinsic, d)) / np.sqrt(intrinsic)
    X = 0.1 * rng.normal(size=(n, d))
    for c in range(n_classes):
        rows = np.flatnonzero(truth == c)
        X[rows] += centers[c] + rng.normal(size=(len(rows), intrinsic)) @ axes[c]
    return {"X": X.astype(np.float32), "truth": truth}


def sheet(n: int) -> Arrays:
    """Draw a sheet rolled up in three of 50 dimensions; each half is a class."""
    rng = np.random.default_rng(0)
    t = rng.uniform(1.5 * np.pi, 4.5 * np.pi, n)
    X = 0.05 * rng.normal(size=(n, 50))
    X[:, :3] += np.stack([t * np.cos(t), rng.uniform(0, 10, n), t * np.sin(t)], axis=1)
    return {"X": X.astype(np.float32), "truth": (t > 3 * np.pi).astype(int)}


def digits(n: int) -> Arrays:
    """Return handwritten digits of 8 x 8 pixels, at most 1,797."""
    X, truth = load_digits(return_X_y=True)
    return {"X": X[:n].astype(np.float32), "truth": truth[:n]}


def mnist(n: int) -> Arrays:
    """Return handwritten digits of 28 x 28 pixels, at most 70,000."""
    from mercer_studies.data import load

    data = load("mnist", dtype=np.float32)
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    return {"X": np.asarray(data.X)[rows], "truth": np.asarray(data.y)[rows]}


POINTS: dict[str, Callable[[int], Arrays]] = {
    "mixture": mixture,
    "mixture15": partial(mixture, intrinsic=15),
    "isotropic": partial(mixture, intrinsic=50),
    "sheet": sheet,
    "digits": digits,
    "mnist": mnist,
}


def partly_labelled(data: str, n: int) -> Arrays:
    """Return points, their classes, and labels of which a few per class are known."""
    found = POINTS[data](n)
    truth = found["truth"]
    rng = np.random.default_rng(0)
    y = np.full(len(truth), -1)
    for c in np.unique(truth):
        rows = np.flatnonzero(truth == c)
        y[rng.choice(rows, min(LABELS_PER_CLASS, len(rows)), replace=False)] = c
    return {**found, "y": y}


def points(data: str, n: int) -> Arrays:
    """Return points, and the k-th distance of some rows, found in double precision."""
    X = POINTS[data](n)["X"]
    rows = np.random.default_rng(1).choice(len(X), min(len(X), 500), replace=False)
    limits = np.empty(len(rows))
    for i, row in enumerate(rows):
        difference = X.astype(np.float64) - X[row].astype(np.float64)
        squares = np.einsum("ij,ij->i", difference, difference)
        limits[i] = np.partition(squares, NEIGHBORS)[NEIGHBORS]  # the row is nearest
    return {"X": X, "rows": rows, "limits": limits}


def graph_laplacian(data: str, n: int) -> Arrays:
    """Return the normalised Laplacian of a neighbour graph, in parts."""
    X = POINTS[data](n)["X"]
    graph = neighbor_graph(X, NEIGHBORS, rng=np.random.default_rng(0))
    L = sparse.csr_array(laplacian(graph.adjacency))
    null, _ = graph_null_vectors(graph, "normalized", at_most=PAIRS + 1)
    return {
        "data": L.data,
        "indices": L.indices,
        "indptr": L.indptr,
        "null": null.toarray(),
    }


def decaying_spectrum(data: str, d: int) -> Arrays:
    """Return the matrix and the vector of Hoi, Lyu and Chang (2006), eq. (14)."""
    n_labels = 100
    found = POINTS[data](600)
    X: FloatArray = found["X"].astype(np.float64)
    basis = GramBasis(d, kernel=RBF(gamma="mean_distance")).fit(X)
    U = basis.vectors_[:n_labels]
    target = np.where(found["truth"][:n_labels].astype(int) % 2 == 0, 1.0, -1.0)
    return {"G": np.square(U.T @ U), "b": np.square(U.T @ target)}


MAKERS: dict[str, Callable[[str, int], Arrays]] = {
    "learn": partly_labelled,
    "neighbors": points,
    "eigenpairs": graph_laplacian,
    "solvers": decaying_spectrum,
}


def saved(task: str, data: str, n: int, folder: Path) -> Path:
    """Return the file of the data of a cell; it is written the first time."""
    path = folder / f"{task}-{data}-{n}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".tmp.npz")
        np.savez(partial, **MAKERS[task](data, n))  # type: ignore[arg-type]
        partial.replace(path)
    return path
