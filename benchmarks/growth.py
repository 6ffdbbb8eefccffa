"""How time and memory of the default grow from 10^4 to 10^6 points.

    python benchmarks/growth.py run RESULTS.jsonl [--sizes 10000 100000 1000000]
    python benchmarks/growth.py table RESULTS.jsonl

Five kinds of data of 50 columns in single precision: easy clusters, a curved sheet,
duplicates, heavy tails and one dense blob; two classes, ten labels of each. Every fit
has a process of its own and is warmed up on 2,000 points, so that nothing is compiled
in the time that counts. Results are appended; those that are there are not run again.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer import UnifiedKernelMachine

D = 50
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
Points = NDArray[np.float32]


def clusters(n: int, rng: np.random.Generator) -> tuple[Points, NDArray[np.int64]]:
    centers = 3 * rng.standard_normal((6, D), dtype=np.float32)
    which = rng.integers(6, size=n)
    X = rng.standard_normal((n, D), dtype=np.float32)
    X += centers[which]
    return X, which % 2


def sheet(n: int, rng: np.random.Generator) -> tuple[Points, NDArray[np.int64]]:
    t = rng.uniform(1.5 * np.pi, 4.5 * np.pi, n)
    X = 0.05 * rng.standard_normal((n, D), dtype=np.float32)
    X[:, 0] += t * np.cos(t)
    X[:, 1] += t * np.sin(t)
    X[:, 2] += rng.uniform(0, 10, n)
    return X, (t > 3 * np.pi).astype(np.int64)


def duplicates(n: int, rng: np.random.Generator) -> tuple[Points, NDArray[np.int64]]:
    X, y = clusters(n // 10, rng)
    rows = rng.integers(len(X), size=n)
    return X[rows], y[rows]


def tails(n: int, rng: np.random.Generator) -> tuple[Points, NDArray[np.int64]]:
    y = rng.integers(2, size=n)
    X = rng.standard_t(2, size=(n, D)).astype(np.float32)
    X[:, 0] += 8 * y
    return X, y


def blob(n: int, rng: np.random.Generator) -> tuple[Points, NDArray[np.int64]]:
    X = rng.standard_normal((n, D), dtype=np.float32)
    return X, (X[:, 0] > 0).astype(np.int64)


DATA: dict[
    str, Callable[[int, np.random.Generator], tuple[Points, NDArray[np.int64]]]
] = {f.__name__: f for f in (clusters, sheet, duplicates, tails, blob)}


def measure(name: str, n: int) -> dict[str, float | str]:
    """Fit the default in this process."""
    for size in (2_000, n):
        X, truth = DATA[name](size, np.random.default_rng(0))
        y = np.full(size, -1)
        for c in (0, 1):
            y[np.flatnonzero(truth == c)[:10]] = c
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        model = UnifiedKernelMachine(random_state=0).fit(X, y)
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "data": name,
        "n": n,
        "seconds": round(seconds, 2),
        "gigabytes": round(peak / 2**20, 2),
        "added": round((peak - before) / 2**20, 2),
        "accuracy": round(
            100 * float(np.mean((model.transduction_ == truth)[y < 0])), 1
        ),
        "why": model.basis_.certificate_.reason,
    }


def read(path: pathlib.Path) -> list[dict[str, float | str]]:
    return [json.loads(line) for line in path.open()] if path.exists() else []


def run(args: argparse.Namespace) -> None:
    path = pathlib.Path(args.results)
    done = {(row["data"], row["n"]) for row in read(path)}
    for n in args.sizes:
        for name in args.data:
            if (name, n) in done:
                continue
            print(f"{name}, {n:,} points ...", flush=True)
            command = [sys.executable, __file__, "one", name, str(n)]
            found = subprocess.run(command, capture_output=True, text=True, check=True)
            with path.open("a") as file:
                file.write(found.stdout.splitlines()[-1] + "\n")


def slope(rows: list[dict[str, float | str]], what: str) -> float:
    """Return the slope of log(what) against log(n)."""
    n, value = (np.log([float(row[key]) for row in rows]) for key in ("n", what))
    return float(np.polyfit(n, value, 1)[0])


def table(args: argparse.Namespace) -> None:
    rows = sorted(read(pathlib.Path(args.results)), key=lambda row: float(row["n"]))
    print("| data | n | CPU s | GB | accuracy | basis |\n|---|---|---|---|---|---|")
    for row in rows:
        why = str(row["why"]).split(",")[0]
        print(
            f"| {row['data']} | {row['n']:,} | {row['seconds']} | {row['gigabytes']} | "
            f"{row['accuracy']} | {why} |"
        )
    for name in DATA:
        mine = [row for row in rows if row["data"] == name]
        if len(mine) > 1:
            print(f"{name}: time slope {slope(mine, 'seconds'):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    every = commands.add_parser("run")
    every.add_argument("results")
    every.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    every.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    every.set_defaults(act=run)
    shown = commands.add_parser("table")
    shown.add_argument("results")
    shown.set_defaults(act=table)
    one = commands.add_parser("one")
    one.add_argument("name")
    one.add_argument("n", type=int)
    one.set_defaults(act=lambda args: print(json.dumps(measure(args.name, args.n))))
    args = parser.parse_args()
    args.act(args)


if __name__ == "__main__":
    main()
