"""Which columns matter: hidden labels predicted again with a column shuffled."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.rows import take_rows
from mercer._base.typing import FloatArray, IntArray
from mercer.app.report.story import Influence
from mercer.app.tables.encoding import TableEncoder
from mercer.evidence.labels import Labels
from mercer.judging.intervals import mean_interval
from mercer.model.estimator import UnifiedKernelMachine
from mercer.model_selection import SemiSupervisedKFold

# Beyond these it would take too long.
MOST_ROWS, MOST_COLUMNS = 50_000, 60
# Shuffled rows that are predicted for each part of the hidden labels.
_PREDICTED = 4000
_SPLITS = 3
# A column is shuffled at most this often; chance is averaged out.
_SHUFFLES = 10


def column_influences(
    model: UnifiedKernelMachine,
    encoder: TableEncoder,
    X: Any,
    labels: Labels,
    *,
    rng: np.random.Generator,
) -> tuple[Influence, ...]:
    """Return the permutation importance of the columns, the largest first.

    A third of the labels at a time is hidden; the model that is learned without them
    predicts their rows as they are, and with the cells of one column exchanged between
    labelled rows. What counts is the probability that it gives to the right class: with
    few labels a prediction rarely changes sides. There are none for tables of one
    column, of very many, or with very many rows.
    """
    places = encoder.places()
    if not 2 <= len(places) <= MOST_COLUMNS or X.shape[0] > MOST_ROWS:
        return ()
    if (labels.counts() >= 2).sum() < 2:
        return ()
    known = labels.labeled
    codes = labels.codes[known]
    folds = SemiSupervisedKFold(_SPLITS, random_state=int(rng.integers(2**31)))
    gains: dict[str, list[FloatArray]] = {name: [] for name in places}
    for _, test in folds.split(codes, codes):
        some = test[: max(_PREDICTED // len(places), 1)]
        hidden = labels.without(known[test]).given()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            without = model.with_labels(hidden)
            rows = _shuffled(X, known, some, places, rng)
            right = _support(without, rows, labels.classes[codes[some]])
        # (columns, shuffles, rows)
        shuffled = right[1:].reshape(len(places), -1, len(some)).mean(axis=1)
        for name, lower in zip(places, shuffled, strict=True):
            gains[name].append(right[0] - lower)
    found = [
        Influence(name, *mean_interval(np.concatenate(parts)))
        for name, parts in gains.items()
        if parts
    ]
    return tuple(sorted(found, key=lambda i: -i.loss))


def _shuffled(
    X: Any,
    known: IntArray,
    some: IntArray,
    places: dict[str, IntArray],
    rng: np.random.Generator,
) -> FloatArray:
    """Return rows as they are, then for each column some with that column exchanged."""
    n_shuffles = int(np.clip(_PREDICTED // (len(some) * len(places)), 1, _SHUFFLES))
    each = [columns for columns in places.values() for _ in range(n_shuffles)]
    drawn = [rng.permutation(len(known))[: len(some)] for _ in each]
    cells = take_rows(X, known[np.concatenate([some, *drawn])])
    plain, *others = np.split(np.asarray(cells, dtype=float), len(each) + 1)
    blocks = [plain]
    for columns, other in zip(each, others, strict=True):
        block = plain.copy()
        block[:, columns] = other[:, columns]
        blocks.append(block)
    return np.vstack(blocks)


def _support(model: Any, rows: FloatArray, given: NDArray[Any]) -> FloatArray:
    """Return the probability of the right class, one line per block of rows."""
    proba = model.predict_proba(rows).reshape(-1, len(given), len(model.classes_))
    # Every class has a label that is not hidden.
    own = np.searchsorted(model.classes_, given)
    return np.asarray(proba[:, np.arange(len(given)), own])
