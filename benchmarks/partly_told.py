"""What partial knowledge of class sizes is worth, and what ten questions are.

    python benchmarks/partly_told.py told CACHE [--draws 1]
    python benchmarks/partly_told.py asked CACHE [--draws 1]

`told`: the default with 1, 2, 5 and 10 labels per class is told nothing, all sizes, the
share of the largest class, intervals (from a random number of times less than the share
up to 2, 3 or 5 times that), that a class above a half is "most", or the order. `asked`:
2 or 5 labels per class, and 10 or 20 more: those that `ask` chooses one by one, rows at
random, or rows at random when the model is told all sizes as well; measured on rows
that neither way labels. Sets of the choosing half of `collection/second.py`, those
whose largest class has 1.5 even shares or more and the others; ± over sets.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import pathlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from unseen import HERE, draw, problem

from mercer import UnifiedKernelMachine

UNEVEN, ASKED = 1.5, (10, 20)
Line = tuple[str, str, float, float]  # cell, way, accuracy and balanced accuracy


def known_parts(sizes: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    """Return what is told, by its name."""
    largest = int(sizes.argmax())
    found: dict[str, Any] = {
        "nothing": "estimate",
        "all sizes": sizes,
        "the largest share": {largest: float(sizes[largest])},
        "the order": " > ".join(map(str, np.argsort(-sizes, kind="stable"))),
        "most": {largest: "most"} if sizes[largest] > 0.5 else "estimate",
    }
    for factor in (2, 3, 5):
        low = sizes / factor ** rng.uniform(size=len(sizes))
        high = np.minimum(factor * low, 1.0)
        found[f"within {factor} times"] = {
            c: (float(low[c]), float(high[c])) for c in range(len(sizes))
        }
    return found


def accuracies(model: Any, truth: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """Return accuracy and balanced accuracy on some rows, in percent."""
    said = model.classes_[model.training_proba().argmax(axis=1)]
    right = (said == truth)[rows]
    by_class = [right[truth[rows] == c].mean() for c in np.unique(truth[rows])]
    return 100 * float(right.mean()), 100 * float(np.mean(by_class))


def told(start: Any, truth: np.ndarray, cell: str, number: int) -> Iterator[Line]:
    """Yield what each part of the sizes is worth."""
    sizes = np.bincount(truth) / len(truth)
    rows = np.setdiff1d(np.arange(len(truth)), start.labeled_)
    y = start.labels_
    parts = known_parts(sizes, np.random.default_rng([number, 5]))
    for way, known in parts.items():
        model = start.with_labels(y, class_sizes=known)
        yield cell, way, *accuracies(model, truth, rows)


def asked(start: Any, truth: np.ndarray, cell: str, number: int) -> Iterator[Line]:
    """Yield what more labels are worth."""
    sizes = np.bincount(truth) / len(truth)
    free = np.setdiff1d(np.arange(len(truth)), start.labeled_)
    order = np.random.default_rng([number, 77]).permutation(free)

    def more(rows: Any) -> np.ndarray:
        y = np.full(len(truth), -1)
        known = np.union1d(start.labeled_, np.asarray(rows, dtype=int))
        y[known] = truth[known]
        return y

    model, chosen = start, []
    for count in range(1, max(ASKED) + 1):
        chosen.extend(model.ask(1))
        model = start.with_labels(more(chosen))
        if count in ASKED and len(free) > 2 * count:
            rows = np.setdiff1d(free, [*chosen, *order[:count]])
            at_random = start.with_labels(more(order[:count]))
            known = at_random.with_labels(more(order[:count]), class_sizes=sizes)
            for way, found in (
                ("no question", start),
                ("chosen", model),
                ("at random", at_random),
                ("at random, all sizes told", known),
            ):
                yield f"{cell} + {count}", way, *accuracies(found, truth, rows)


def run(
    cache: pathlib.Path,
    draws: int,
    cells: tuple[str, ...],
    ways: Callable[..., Iterator[Line]],
) -> pd.DataFrame:
    """Return a line per set, cell, draw and way."""
    registry, found = pd.read_csv(HERE / "collection" / "second.csv"), []
    for name in registry["name"][registry["half"] == "choose"]:
        X, truth = problem(cache, name, scale=False, rows=600)
        shares, model = np.bincount(truth) / len(truth), None
        group = "uneven" if shares.max() * len(shares) >= UNEVEN else "even"
        for number in range(draws):
            for cell in cells:
                known = draw(truth, cell, number)
                if known is None:
                    continue
                y = np.full(len(truth), -1)
                y[known] = truth[known]
                if model is None:
                    model = UnifiedKernelMachine(random_state=0).fit(X, y)
                start = model.with_labels(y)
                lines = ways(start, truth, cell, number)
                found += [(group, name, number, *line) for line in lines]
    heads = ["group", "name", "draw", "cell", "way", "accuracy", "balanced"]
    return pd.DataFrame(found, columns=heads)


def table(frame: pd.DataFrame, base: str) -> None:
    """Print what each way adds to the base, over sets."""
    for (group, what), part in (
        ((g, w), p) for g, p in frame.groupby("group") for w in ("accuracy", "balanced")
    ):
        by_way = part.pivot_table(index=["name", "cell", "draw"], columns="way",
                                  values=what)  # fmt: skip
        mean = by_way[base].groupby("name").mean().mean()
        print(f"\n{group}, {what}: {base} {mean:.1f}")
        for way in by_way.columns.drop(base):
            lead = (by_way[way] - by_way[base]).groupby(level="name").mean()
            error = lead.std(ddof=1) / np.sqrt(len(lead))
            print(f"{way:28}{lead.mean():+6.1f} ± {error:.1f} ({len(lead)} sets)")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("told", "asked"))
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "told":
        cells = ("1/c", "2/c", "5/c", "10/c")
        table(run(args.cache, args.draws, cells, told), "nothing")
    else:
        table(run(args.cache, args.draws, ("2/c", "5/c"), asked), "chosen")


if __name__ == "__main__":
    main()
