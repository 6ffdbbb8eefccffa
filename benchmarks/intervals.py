"""How often the interval of `mercer learn` holds the truth.

Tables come from packages of R in Debian (`apt-get download r-cran-mlbench ...` into a
folder) and from scikit-learn. Of each, some labels are kept at random and the others
hidden; the claim of `mercer.learn` is compared with the share of hidden labels that it
predicts right.

    python benchmarks/intervals.py tables FOLDER        # unpack the packages
    python benchmarks/intervals.py run FOLDER out.csv --labels 20 40 80 --seeds 4
    python benchmarks/intervals.py show out.csv
"""

import argparse
import bz2
import io
import lzma
import subprocess
import tempfile
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

PACKAGES = {
    "r-cran-mlbench": {
        "BreastCancer": "Class",
        "PimaIndiansDiabetes": "diabetes",
        "Sonar": "Class",
        "Soybean": "Class",
        "Vehicle": "Class",
        "Vowel": "Class",
        "Satellite": "classes",
        "HouseVotes84": "Class",
    },
    "r-cran-mass": {"crabs": "sp", "birthwt": "low", "survey": "Exer"},
    "r-cran-palmerpenguins": {"penguins": "species"},
    "r-cran-kernlab": {"spam": "type", "musk": "Class"},
    "r-cran-rpart": {"stagec": "pgstat"},
    "r-cran-modeldata": {"cells": "class", "attrition": "Attrition"},
    "r-cran-cardata": {"TitanicSurvival": "survived", "Chile": "vote"},
    "r-cran-mclust": {"banknote": "Status", "thyroid": "Diagnosis"},
    "r-cran-gclus": {"body": "Gender"},
}
MOST_ROWS = 800


def unpack(folder: Path) -> None:
    """Write every table of the packages in a folder as Parquet."""
    for package, wanted in PACKAGES.items():
        for deb in folder.glob(f"{package}_*.deb"):
            with tempfile.TemporaryDirectory() as root:
                subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
                found = list(Path(root).rglob("data/Rdata.rdb"))
                objects = lazy_objects(found[0]) if found else {}
                for file in Path(root).rglob("data/*.r[dD]a"):
                    objects |= read_r(file.read_bytes())
            for name, target in wanted.items():
                if name in objects and target in getattr(objects[name], "columns", ()):
                    save(objects[name], target, folder / f"{name}.parquet")
                else:
                    print(f"{package}: no {name} with {target}")
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "digits"):
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        save(data.frame, "target", folder / f"{name}.parquet")


def save(frame: pd.DataFrame, target: str, path: Path) -> None:
    frame = frame.dropna(subset=target).reset_index(drop=True)
    for name in frame.columns:
        if frame[name].dtype == object or str(frame[name].dtype) == "category":
            frame[name] = frame[name].astype("str")
    frame = frame.rename(columns={target: "TARGET"})
    frame["TARGET"] = "class " + frame["TARGET"].astype(str)
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    frame.columns = [str(c) for c in frame.columns]
    frame.to_parquet(path)
    print(path.name, frame.shape, frame["TARGET"].nunique())


def read_r(data: bytes) -> Any:
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rdata.conversion.convert(rdata.parser.parse_data(data))


def lazy_objects(rdb: Path) -> dict[str, Any]:
    """Return the objects of a lazy-load database of R that can be read."""
    packed = rdb.with_suffix(".rdx").read_bytes()
    try:
        index = read_r(zlib.decompress(packed))
    except zlib.error:  # gzip, bzip2 or xz, which the reader knows
        index = read_r(packed)
    data, found = rdb.read_bytes(), {}
    for name, place in index["variables"].items():
        start, length = (int(v) for v in np.ravel(place)[:2])
        piece = data[start : start + length]
        kind, body = piece[4:5], piece[4:]
        try:
            if kind == b"2":
                raw = bz2.decompress(body[1:])
            elif kind == b"Z":
                raw = lzma.decompress(body[1:], format=lzma.FORMAT_RAW, filters=_LZMA)
            else:
                raw = zlib.decompress(body)
            found[name] = read_r(io.BytesIO(raw).getvalue())
        except Exception as error:
            print(f"{rdb}: {name} cannot be read ({type(error).__name__})")
    return found


_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 6}]


def run(folder: Path, out: Path, labels: list[int], seeds: int) -> None:
    """Append a line per run to a CSV file; runs that are there are skipped."""
    import mercer
    from mercer.judging import hiding

    hiding.baselines = lambda n_labels: {}  # what others reach is not asked here
    done = set()
    if out.exists():
        old = pd.read_csv(out)
        done = set(zip(old["table"], old["labels"], old["seed"], strict=True))
    for seed in range(seeds):
        for path in sorted(folder.glob("*.parquet")):
            for n in labels:
                if (path.stem, n, seed) in done:
                    continue
                line = one(mercer.learn, path, n, seed)
                frame = pd.DataFrame([line])
                frame.to_csv(out, mode="a", header=not out.exists(), index=False)
                print(line, flush=True)


def one(learn: Any, path: Path, n: int, seed: int) -> dict[str, Any]:
    frame = pd.read_parquet(path)
    truth = frame["TARGET"].to_numpy()
    rng = np.random.default_rng((seed, n))
    if n > len(frame) // 2:
        n = len(frame) // 2
    while True:
        known = rng.choice(len(frame), n, replace=False)
        if len(np.unique(truth[known])) > 1:
            break
    given = np.full(len(frame), None, dtype=object)
    given[known] = truth[known]
    start = time.process_time()
    result = learn(frame.assign(TARGET=given), target="TARGET", random_state=seed)
    said = result.predictions["prediction"].to_numpy()
    hidden = np.setdiff1d(np.arange(len(frame)), known)
    line = {"table": path.stem, "labels": n, "seed": seed, "rows": len(frame)}
    line["truth"] = float((said[hidden] == truth[hidden]).mean())
    counts = np.unique(truth[known], return_counts=True)[1]
    line |= {"classes": len(np.unique(truth)), "single": int((counts == 1).sum())}
    if result.check is not None:
        ours = result.check.scores[0]
        line |= {"claim": ours.accuracy, "low": ours.low, "high": ours.high}
        line["tested"] = len(result.check.rows)
    line["cpu"] = round(time.process_time() - start, 2)
    return line


def show(out: Path) -> None:
    """Print coverage, and by how much claims are too high, by number of labels."""
    frame = pd.read_csv(out).dropna(subset="claim")
    frame["inside"] = (frame["low"] <= frame["truth"]) & (
        frame["truth"] <= frame["high"]
    )
    frame["above"] = frame["truth"] > frame["high"]
    frame["gap"] = frame["claim"] - frame["truth"]
    frame["width"] = frame["high"] - frame["low"]
    figures = ["inside", "above", "gap", "width", "truth"]
    print(frame.groupby("labels")[figures].mean().round(3))
    print(frame.groupby(frame["single"] > 0)[figures].mean().round(3))
    print(frame[figures].mean().round(3).to_dict(), len(frame))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["tables", "run", "show"])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--labels", nargs="+", type=int, default=[20, 40, 80])
    parser.add_argument("--seeds", type=int, default=4)
    chosen = parser.parse_args()
    if chosen.what == "tables":
        unpack(chosen.paths[0])
    elif chosen.what == "run":
        run(*chosen.paths, chosen.labels, chosen.seeds)
    else:
        show(chosen.paths[0])
