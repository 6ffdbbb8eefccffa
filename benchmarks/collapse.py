"""Whether the step that sets class sizes ever costs a draw more than 10 points.

Two classes of 99:1, 95:5 and 90:10 of which the rare one lies beside or inside the
other, in a cloud, on a line, a curve or a ring, or behind a gap, and the sets with a
rare class of `collection/second.py` (choosing half); one, two, three and five labels
per class. The default is compared with the same model without the step
(`class_sizes=None`), on the rows without a label.

    python benchmarks/collapse.py RESULTS.csv [--draws 20] [--cache CACHE] [--seed 0]
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import csv
import pathlib
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from unseen import HERE, problem

from mercer.fewlabels import AutoKernel, LeaveOneOutRLS

LABELS, ROWS, SHARES = (1, 2, 3, 5), 600, (0.01, 0.05, 0.1)


def cloud(rare: np.ndarray, rng: np.random.Generator, d: int, gap: float) -> np.ndarray:
    """Return a Gaussian cloud, and another one so far away along the first axis."""
    X = rng.standard_normal((len(rare), d))
    X[rare, 0] += gap
    return X


def curve(rare: np.ndarray, rng: np.random.Generator, d: int) -> np.ndarray:
    """Return a line or a curve that has the rare class at its end."""
    t = rng.standard_normal(len(rare))
    t[rare] = 4 + 0.3 * t[rare]
    X = np.column_stack([t, np.sin(t), np.cos(t)])[:, :d]
    return X + 0.02 * rng.standard_normal(X.shape) * (d > 1)


def ring(rare: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a ring, and the rare class beside a small part of it."""
    angle = rng.uniform(0, 2 * np.pi, len(rare))
    angle[rare] *= 0.03
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X *= 1 + 0.05 * rng.standard_normal((len(rare), 1))
    X[rare] *= 1.3
    return X


CLOUDS = ((1, 4), (2, 3), (2, 4), (2, 6), (5, 4), (10, 5), (20, 8))
PLACES: dict[str, tuple[Callable[..., np.ndarray], tuple[float, ...]]] = {
    **{f"cloud {d} {gap}": (cloud, (d, gap)) for d, gap in CLOUDS},
    "line": (curve, (1,)),
    "curve": (curve, (3,)),
    "ring": (ring, ()),
}


def problems(
    cache: pathlib.Path | None, seed: int
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, points and classes."""
    for share in SHARES:
        rare = np.arange(ROWS) < max(round(share * ROWS), 6)
        for name, (function, options) in PLACES.items():
            X = function(rare, np.random.default_rng(seed), *options)
            yield f"{name}, {share:.0%}", X, rare.astype(int)
    if cache is not None:
        registry = pd.read_csv(HERE / "collection" / "second.csv")
        own = (registry["half"] == "choose") & (registry["kind"] == "rare")
        for name in registry["name"][own]:
            yield (name, *problem(cache, name, scale=False, rows=ROWS))


def draws(
    X: np.ndarray, y: np.ndarray, count: int, seed: int
) -> Iterator[tuple[int, int, float, float]]:
    """Yield labels per class, draw, and accuracy with and without the step."""
    first = np.full(len(y), -1)
    at = np.unique(y, return_index=True)[1]
    first[at] = y[at]
    pool = AutoKernel(random_state=0).fit(X, first).basis_
    groups = [np.flatnonzero(y == c) for c in np.unique(y)]
    for labels in LABELS:
        for number in range(count):
            rng = np.random.default_rng([number, labels, 99 + seed])
            rows = [
                rng.choice(g, min(labels, len(g) - 1), replace=False) for g in groups
            ]
            known = np.concatenate(rows)
            given = np.full(len(y), -1)
            given[known] = y[known]
            kernel = AutoKernel().learn(pool, given).kernel_
            right = []
            for sizes in ("estimate", None):
                machine = LeaveOneOutRLS(class_sizes=sizes)
                machine.solve(kernel, given)
                guess = np.asarray(machine.training_proba_).argmax(axis=1)
                right.append(100 * float((guess == y)[given < 0].mean()))
            yield labels, number, right[0], right[1]


def main(
    results: pathlib.Path, count: int, cache: pathlib.Path | None, seed: int
) -> None:
    """Run all draws, and print the worst."""
    warnings.simplefilter("ignore")
    with results.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "labels", "draw", "with", "without"])
        for name, X, y in problems(cache, seed):
            for row in draws(X, y, count, seed):
                writer.writerow([name, *row])
            file.flush()
    found = pd.read_csv(results)
    gain = found["with"] - found["without"]
    print(f"{len(gain)} draws: mean {gain.mean():+.2f}, worst {gain.min():+.1f}")
    for most in (5, 10):
        lost, gained = int((gain < -most).sum()), int((gain > most).sum())
        print(f"more than {most} points: lost in {lost}, gained in {gained}")
    print(found.assign(gain=gain).groupby("set")["gain"].agg(["mean", "min", "max"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0, help="of points and labels")
    arguments = parser.parse_args()
    main(arguments.results, arguments.draws, arguments.cache, arguments.seed)
