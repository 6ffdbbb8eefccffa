"""Data with far more columns than rows: gene expression, alleles, sequences."""

import io
import pathlib

import numpy as np
import pandas as pd
from members import Made
from rlazy import read_object
from sources import debian, wheel


def khan(cache: pathlib.Path) -> Made:
    """Small round blue cell tumours: 83 rows, 2,308 genes."""
    archive = wheel(cache, "ISLP")

    def read(name: str) -> np.ndarray:
        data = io.BytesIO(archive.read(f"ISLP/data/Khan_{name}.csv"))
        table = pd.read_csv(data)
        return (
            table.iloc[:, -2308:].to_numpy()
            if name[0] == "x"
            else table.iloc[:, -1].to_numpy()
        )

    X = np.vstack([read("xtrain"), read("xtest")])
    return X.astype(float), np.concatenate([read("ytrain"), read("ytest")])


def nci60(cache: pathlib.Path) -> Made:
    """Cancer cell lines: 64 rows, 6,830 genes."""
    archive = wheel(cache, "ISLP")
    X = np.load(io.BytesIO(archive.read("ISLP/data/NCI60data.npy")))
    labels = pd.read_csv(io.BytesIO(archive.read("ISLP/data/NCI60labs.csv")))
    return X.astype(float), labels.iloc[:, -1].astype(str).to_numpy()


def tissues(cache: pathlib.Path) -> Made:
    """Gene expression of tissues: 189 rows, 500 genes."""
    found = read_object(debian(cache, "r-cran-dslabs"), "tissue_gene_expression")
    return np.asarray(found["x"], float), np.asarray(found["y"]).astype(str)


def cattle(cache: pathlib.Path) -> Made:
    """Allele counts of 704 cattle of 15 breeds."""
    found = read_object(debian(cache, "r-cran-adegenet"), "microbov")
    X = np.asarray(getattr(found, "tab", None), float)
    return X, np.asarray(found.pop).astype(str)


def trace(cache: pathlib.Path) -> Made:
    """Read simulated signals of a nuclear power plant's instruments."""
    found = np.load(io.BytesIO(wheel(cache, "tslearn").read(
        "tslearn/.cached_datasets/Trace.npz")))  # fmt: skip
    X = np.vstack([found["X_train"], found["X_test"]])
    return X.reshape(len(X), -1), np.concatenate([found["y_train"], found["y_test"]])
