"""How many labels simulated people need who answer through the page's requests.

For each data set a person who knows the truth answers what the studio asks, starting
from no label at all. Against it: the same person labels rows in random order, through
the same requests. Counted are the labels after which the accuracy on all rows that are
not labelled reaches 95% of full accuracy, and stays there for five more labels. Full
accuracy is that of the model on rows held out when four fifths are labelled.

A person looks at each question for a third of a second, and the next one waits for
the model: on a machine with nothing else to do, learning takes less than `PATIENCE`.

    python benchmarks/studio_loop.py --draws 5
    python benchmarks/studio_loop.py --cache CACHE --sets penbased,musk,texture

The second reads sets of `benchmarks/collection`, at most 800 rows of each.
"""

import argparse
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from unseen import problem

from mercer.app.studio.engine import wait_until
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.session import Session
from mercer.app.tables.table import Table
from mercer.app.tables.task import Task
from mercer.model.estimator import UnifiedKernelMachine

SETS = {
    "digits": load_digits,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "iris": load_iris,
}
SHARE, STEADY, ROWS = 0.95, 5, 800
WAIT = 30.0  # this machine may be busy
THOUGHT = 0.33  # seconds that a person looks at a question


def table_of(X: np.ndarray) -> Table:
    n = len(X)
    return Table(pd.DataFrame({"id": [str(k) for k in range(n)]}), {"x": X})


def full_accuracy(X: np.ndarray, y: np.ndarray) -> float:
    points = TableEncoder().fit_transform(table_of(X).without({"id"}))
    right = 0
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for known, hidden in folds.split(X, y):
        labels = np.full(len(y), -1)
        labels[known] = y[known]
        model = UnifiedKernelMachine(random_state=0).fit(points, labels)
        right += int((model.transduction_[hidden] == y[hidden]).sum())
    return right / len(y)


def labels_needed(
    X: np.ndarray, y: np.ndarray, aim: float, *, order: str, seed: int, most: int
) -> int:
    """Return the labels after which the accuracy stays above the aim."""
    rng = np.random.default_rng(seed)
    names = tuple(str(c) for c in np.unique(y))
    with tempfile.TemporaryDirectory() as folder:
        items = Items(table_of(X), Task(id="id"))
        store = Store(sqlite_url(Path(folder) / "labels.db"))
        session = Session.open(items.table, id="id", random_state=seed)
        studio = Studio(items, store, classes=names, session=session, patience=WAIT)
        running = Running(studio, token="secret", rate=10_000.0)
        running.start()
        headers = {"Authorization": "Bearer secret"}
        try:
            with httpx.Client(
                base_url=running.address, headers=headers, timeout=2 * WAIT
            ) as client:
                return _label(client, studio, y, aim, order, rng, most)
        finally:
            running.stop()


def _label(client, studio, y, aim, order, rng, most) -> int:
    assert wait_until(lambda: studio.snapshot.ready, 600)
    shuffled = iter(rng.permutation(len(y)))
    said = {"who": "simulated", "data": studio.items.fingerprint}
    question = client.post("/api/next", json=said).json()["question"]
    reached = 0
    for k in range(most):
        row = int(next(shuffled))
        if order == "studio":
            time.sleep(THOUGHT)
            row = question["row"]
        act = {**said, "token": f"t{k}", "row": row, "label": int(y[row])}
        question = client.post("/api/answer", json=act).raise_for_status().json()
        question = question["question"]
        assert wait_until(
            lambda k=k: studio.snapshot.n_labels == k + 1 or studio.snapshot.error, 600
        )
        assert not studio.snapshot.error, studio.snapshot.error
        if studio.snapshot.proba is None:
            continue
        codes, _ = studio.labels()
        best = np.array(studio.snapshot.classes)[studio.snapshot.proba.argmax(axis=1)]
        right = np.mean((best == y)[codes < 0])
        reached = reached + 1 if right >= aim else 0
        if reached > STEADY:
            return k + 1 - STEADY
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--most", type=int, default=150)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--cache", type=Path)
    args = parser.parse_args()
    print("| data | full accuracy | studio | random | ratio |\n|---|---|---|---|---|")
    for name in args.sets.split(","):
        if args.cache is None:
            X, y = SETS[name](return_X_y=True)
        else:
            X, y = problem(args.cache, name, scale=False, rows=ROWS)
        full = full_accuracy(X, y)
        needed = {
            order: [
                labels_needed(
                    X, y, SHARE * full, order=order, seed=seed, most=args.most
                )
                for seed in range(args.draws)
            ]
            for order in ("studio", "random")
        }
        told = [
            f"{np.mean(n):.1f} ± {np.std(n, ddof=1) / np.sqrt(len(n)):.1f}"
            for n in needed.values()
        ]
        ratio = np.mean(needed["studio"]) / np.mean(needed["random"])
        print(f"| {name} | {full:.1%} | {' | '.join(told)} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
