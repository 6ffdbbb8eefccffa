"""Which question is ahead, with few labels and with more, for both purposes.

    python benchmarks/queries.py [chosen | judged]

Two labels per class, then eight batches of five questions. *Table*: accuracy on all
rows that could be asked, answers included. *New*: on the other half of the rows, which
is in the pool and never asked. Needs MERCER_DATA.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from mercer import UnifiedKernelMachine
from mercer_studies.data import load

warnings.simplefilter("ignore")
OF_SKLEARN = {
    "iris": load_iris,
    "wine": load_wine,
    "breast": load_breast_cancer,
    "digits": load_digits,
}
MOST = 600  # rows
SETS = {
    "chosen": ("iris", "wine", "breast", "digits"),
    "judged": ("heart", "ionosphere", "glass", "uspst", "ssl_digit1", "ssl_usps"),
}
QUERIES = ("random", "margin", "entropy", "reduction", "fill", "fill_new")
DRAWS, ROUNDS, BATCH = 4, 8, 5


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points and class numbers, at most 600 rows."""
    if name in OF_SKLEARN:
        X, y = OF_SKLEARN[name](return_X_y=True)
    else:
        found = load(name)
        X, y = found.X, found.y
    codes = np.unique(y, return_inverse=True)[1]
    some = np.random.default_rng(0).permutation(len(codes))[:MOST]
    return X[some], codes[some]


def run(name: str, query: str) -> np.ndarray:
    """Return accuracies, (draws, rounds + 1, 2)."""
    X, y = data(name)
    model = UnifiedKernelMachine(query=query, random_state=0).fit(X, y)
    found = np.empty((DRAWS, ROUNDS + 1, 2))
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        order = rng.permutation(len(y))
        table, new = np.sort(order[: len(y) // 2]), np.sort(order[len(y) // 2 :])
        given = np.full(len(y), -1)
        for c in np.unique(y[table]):
            given[rng.permutation(table[y[table] == c])[:2]] = c
        now = model.with_labels(given)
        for step in range(ROUNDS + 1):
            right = now.transduction_ == y
            found[draw, step] = right[table].mean(), right[new].mean()
            rows = now.ask(BATCH, exclude=new)
            now.tell(rows, y[rows])
    return found


def main(kind: str) -> None:
    total: dict[str, list[np.ndarray]] = {query: [] for query in QUERIES}
    for name in SETS[kind]:
        for query in total:
            found = run(name, query).mean(axis=0)
            total[query].append(found)
            early, late = found[1:4].mean(axis=0), found[6:].mean(axis=0)
            print(
                f"{name} | {query} | table {early[0]:.3f} {late[0]:.3f} | "
                f"new {early[1]:.3f} {late[1]:.3f}",
                flush=True,
            )
    print("mean | query | table: 5-15 questions, 30-40 | new: the same")
    ends = {
        query: np.array([[f[1:4].mean(axis=0), f[6:].mean(axis=0)] for f in runs])
        for query, runs in total.items()
    }  # (sets, 2 ends, 2 purposes)
    for query, found in ends.items():
        gain = found - ends["reduction"]
        error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        cells = [
            f"{found[:, end, purpose].mean():.3f} ({gain[:, end, purpose].mean():+.3f} "
            f"± {error[end, purpose]:.3f})"
            for purpose in (0, 1)
            for end in (0, 1)
        ]
        print(f"{kind} | {query} | " + " | ".join(cells))


if __name__ == "__main__":
    for kind in sys.argv[1:] or SETS:
        main(kind)
