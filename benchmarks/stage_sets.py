"""Data sets of `stages.py`: the data folder, scikit-learn's own, and generated ones.

Four groups. `tables` have at most 2,000 rows, `larger` sets up to 70,000, `images` are
pixels of digits, objects and faces, `clusters` are generated so that classes are clear
clusters. Nothing is downloaded.
"""

import csv
import os
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer

DATA = pathlib.Path(os.environ.get("MERCER_DATA", "data"))
COLLECTIONS = pathlib.Path(__file__).parent / "collection"
Points = tuple[Any, np.ndarray]


class Source(NamedTuple):
    """Where a data set comes from."""

    group: str
    make: Callable[[], Points]
    cost: float  # rows times classes, about: the longest is run first


def stored(
    path: pathlib.Path,
    *,
    rows: int | None = None,
    prefix: str = "",
    counts: bool = False,
    components: int | None = None,
) -> Callable[[], Points]:
    """Return what reads a file of arrays; counts of words become tf-idf."""

    def make() -> Points:
        with np.load(path) as found:
            y = found["y"].astype(int)
            if prefix + "X" in found:
                X = found[prefix + "X"].astype(np.float64)
            else:
                parts = [found[prefix + part] for part in ("data", "indices", "indptr")]
                parts[0] = parts[0].astype(np.float64)
                X = sparse.csr_matrix(tuple(parts), shape=found[prefix + "shape"])
        if counts:
            X = TfidfTransformer().fit_transform(X)
        if rows is not None and rows < len(y):
            kept = np.sort(np.random.default_rng(7).permutation(len(y))[:rows])
            X, y = X[kept], y[kept]
        if components is not None:
            X = PCA(components, random_state=0).fit_transform(X)
        return X, y

    return make


def blobs(
    seed: int,
    sizes: list[int],
    d: int = 2,
    spread: float = 1.0,
    box: float = 10.0,
    per_class: int = 1,
) -> Callable[[], Points]:
    """Return what makes Gaussian clusters, one or several per class."""

    def make() -> Points:
        X, y = datasets.make_blobs(
            sizes,
            n_features=d,
            cluster_std=spread,
            center_box=(-box, box),
            random_state=seed,
        )
        return X, y // per_class

    return make


def made(function: Callable[..., Points], **options: Any) -> Callable[[], Points]:
    """Return what calls a generator or a loader of scikit-learn."""
    return lambda: function(**options)


def sources(
    cache: pathlib.Path | None = None, half: str = "choose"
) -> dict[str, Source]:
    """Return all data sets by name.

    Files of `cache` (see `benchmarks/collection`) are taken if they are in this half.
    Those of both collections may lie there.
    """
    found: dict[str, Source] = {}

    def add(group: str, name: str, make: Callable[[], Points], cost: float) -> None:
        found[name] = Source(group, make, cost)

    for name in ("iris", "wine", "heart", "ionosphere", "sonar", "glass", "g50c"):
        add("tables", name, stored(DATA / f"{name}.npz"), 1e3)
    add("tables", "soybean", stored(DATA / "soybean_small.npz"), 1e3)
    add("tables", "a1a", stored(DATA / "a1a.npz"), 4e3)
    add("tables", "covertype 1,500", stored(DATA / "covtype.npz", rows=1500), 1e4)
    own = made(datasets.load_breast_cancer, return_X_y=True)
    add("tables", "breast cancer", own, 1e3)
    for seed in range(6):
        options: dict[str, Any] = {
            "n_samples": 600,
            "n_features": (5, 10, 20, 20, 40, 100)[seed],
            "n_informative": (2, 4, 5, 10, 6, 10)[seed],
            "n_redundant": (1, 2, 5, 0, 10, 20)[seed],
            "n_classes": (2, 3, 4, 2, 5, 3)[seed],
            "n_clusters_per_class": (1, 2, 1, 3, 1, 2)[seed],
            "weights": (None, None, None, [0.8], None, [0.6, 0.3])[seed],
            "random_state": seed,
        }
        make = made(datasets.make_classification, **options)
        add("tables", f"generated {seed}", make, 2e3)
    quantiles = made(
        datasets.make_gaussian_quantiles, n_samples=600, n_classes=3, random_state=0
    )
    add("tables", "quantiles", quantiles, 2e3)

    for name in ("uspst", "ssl_digit1", "ssl_usps", "ssl_coil", "ssl_coil2"):
        add("images", name, stored(DATA / f"{name}.npz"), 1e4)
    for name in ("coil20_32x32", "pie_32x32_10subjects"):
        add("images", name, stored(DATA / f"{name}.npz"), 3e4)
    for name in ("pcmac", "ssl_text"):
        add("larger", name, stored(DATA / f"{name}.npz"), 3e4)
    webkb = stored(DATA / "webkb_course.npz", prefix="page_", counts=True)
    add("larger", "webkb pages", webkb, 1e4)
    add("images", "digits", made(datasets.load_digits, return_X_y=True), 2e4)
    add("images", "usps", stored(DATA / "usps.npz"), 1e5)
    add("larger", "news20", stored(DATA / "news20_bydate.npz", counts=True), 4e5)
    add("larger", "a9a", stored(DATA / "a9a.npz"), 1e5)
    add("larger", "covertype", stored(DATA / "covtype.npz", rows=50_000), 4e5)
    add("images", "mnist", stored(DATA / "mnist.npz", components=50), 7e5)
    many = made(
        datasets.make_classification,
        n_samples=20_000,
        n_features=20,
        n_informative=8,
        n_classes=5,
        random_state=0,
    )
    add("larger", "generated, 20,000", many, 1e5)

    for seed in range(6):
        add("clusters", f"blobs {seed}", blobs(seed, [150, 50, 30, 70]), 2e3)
    for seed in range(3):
        make = blobs(10 + seed, [100] * 12, d=3)
        add("clusters", f"twelve blobs {seed}", make, 1e4)
        make = blobs(20 + seed, [80] * 8, d=5, spread=2.0, per_class=2)
        add("clusters", f"two per class {seed}", make, 4e3)
    wide = blobs(30, [4000, 2000, 1000, 3000], d=10, spread=2.5)
    add("clusters", "blobs, 10,000", wide, 4e4)
    for noise in (0.05, 0.15):
        moons = made(datasets.make_moons, n_samples=600, noise=noise, random_state=0)
        add("clusters", f"moons, noise {noise}", moons, 1e3)
    rings = made(
        datasets.make_circles, n_samples=600, noise=0.05, factor=0.5, random_state=0
    )
    add("clusters", "circles", rings, 1e3)

    if cache is not None:
        for registry in ("registry", "second"):
            text = (COLLECTIONS / f"{registry}.csv").read_text(encoding="utf-8")
            for row in csv.DictReader(text.splitlines()):
                path = cache / f"{row['name']}.npz"
                if row["half"] == half and path.exists():
                    group = "images" if row["kind"] == "image" else "collection"
                    cost = float(row["n"]) * float(row["C"])
                    add(group, row["name"], stored(path), cost)
    return found


def problem(source: Source, rows: int | None = None) -> Points:
    """Return points with columns that vary, and classes 0, 1, ... of two rows or more.

    At most so many rows, shuffled: some sets come in the order of their classes.
    """
    X, y = source.make()
    order = np.random.default_rng(1).permutation(len(y))[:rows]
    X, y = X[order], np.unique(y[order], return_inverse=True)[1]
    kept = np.flatnonzero(np.bincount(y)[y] > 1)
    X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    if sparse.issparse(X):
        return X[:, np.flatnonzero(np.diff(X.tocsc().indptr) > 1)], y
    return X[:, X.std(axis=0) > 0], y
