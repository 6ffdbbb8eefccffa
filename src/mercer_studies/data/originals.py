"""Originals as their homes serve them, turned into the arrays of `mercer_studies.data`.

Each recipe takes the downloaded files, in the order of the registry's ``urls``.
"""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mercer_studies.data.arrays import Arrays


def from_table(
    files: list[Path],
    *,
    delimiter: str | None = ",",
    skip_columns: int = 0,
    renamed: dict[str, str] | None = None,
) -> Arrays:
    """Read rows of numbers with the class in the last column."""
    table = np.genfromtxt(
        files[0], delimiter=delimiter, dtype=np.str_, ndmin=2, encoding="utf-8"
    )
    labels = table[:, -1]
    for old, new in (renamed or {}).items():
        labels = np.where(labels == old, new, labels)
    classes, y = np.unique(labels, return_inverse=True)
    return {"X": table[:, skip_columns:-1].astype(float), "y": y, "classes": classes}


def from_covtype(files: list[Path]) -> Arrays:
    """Read the gzipped integers of Covertype."""
    with gzip.open(files[0], "rt") as stream:
        table = np.loadtxt(stream, delimiter=",", dtype=np.int16)
    classes, y = np.unique(table[:, -1].astype(np.int64), return_inverse=True)
    return {"X": table[:, :-1], "y": y, "classes": classes}


def from_libsvm(files: list[Path], *, n_features: int) -> Arrays:
    """Read LIBSVM's sparse text format."""
    from sklearn.datasets import load_svmlight_file

    X, labels = load_svmlight_file(str(files[0]), n_features=n_features)
    classes, y = np.unique(labels.astype(np.int64), return_inverse=True)
    return {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "shape": np.array(X.shape),
        "y": y,
        "classes": classes,
    }


def from_idx(files: list[Path]) -> Arrays:
    """Read MNIST: images and labels for training, then for test."""
    train_X, train_y, test_X, test_y = map(_read_idx, files)
    labels = np.concatenate([train_y, test_y]).astype(np.int64)
    classes, y = np.unique(labels, return_inverse=True)
    return {
        "X": np.concatenate([train_X, test_X]).reshape(len(y), -1),
        "y": y,
        "classes": classes,
        **_parts(len(train_y), len(test_y)),
    }


def _read_idx(file: Path) -> NDArray[np.uint8]:
    content = gzip.decompress(file.read_bytes())
    # Magic number: two zero bytes, 8 for unsigned bytes, the number of dimensions.
    if content[:3] != b"\0\0\x08":
        msg = f"{file.name} is not an IDX file of unsigned bytes"
        raise ValueError(msg)
    n_dims = content[3]
    shape = np.frombuffer(content, dtype=">i4", count=n_dims, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dims).reshape(shape)


def from_zip_codes(files: list[Path]) -> Arrays:
    """Read the USPS digits of the ESL page: training part, then test part."""
    tables = []
    for file in files:
        with gzip.open(file, "rt") as stream:
            tables.append(np.loadtxt(stream, ndmin=2))
    table = np.concatenate(tables)
    classes, y = np.unique(table[:, 0].astype(np.int64), return_inverse=True)
    return {
        "X": table[:, 1:].astype(np.float32),
        "y": y,
        "classes": classes,
        **_parts(*map(len, tables)),
    }


def _parts(n_train: int, n_test: int) -> Arrays:
    rows = np.arange(n_train + n_test)
    return {"train_idx": rows[:n_train], "test_idx": rows[n_train:]}


def from_iris(_files: list[Path]) -> Arrays:
    """Take Iris from scikit-learn."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    return {"X": iris.data, "y": iris.target, "classes": iris.target_names.astype(str)}


def from_wine(_files: list[Path]) -> Arrays:
    """Take Wine from scikit-learn, with the class names of UCI."""
    from sklearn.datasets import load_wine

    wine = load_wine()
    return {"X": wine.data, "y": wine.target, "classes": np.array(["1", "2", "3"])}


RECIPES: dict[str, Callable[[list[Path]], Arrays]] = {
    "iris": from_iris,
    "wine": from_wine,
    "heart": partial(from_table, delimiter=None),
    "ionosphere": partial(from_table, renamed={"g": "good", "b": "bad"}),
    "sonar": from_table,
    "glass": partial(from_table, skip_columns=1),
    "soybean_small": from_table,
    "covtype": from_covtype,
    "adult": partial(from_libsvm, n_features=123),
    "mnist": from_idx,
    "usps": from_zip_codes,
}
