"""How good the predictions are, from labels that were hidden."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from mercer._labels import UNLABELED, Labels
from mercer._rows import take_rows
from mercer._typing import FloatArray, IntArray
from mercer.model_selection import (
    SemiSupervisedKFold,
    expected_calibration_error,
)
from mercer.spectrum._base import BasisMixin
from mercer.tables.calibration import cautious_temperature, tempered
from mercer.tables.model import FeatureKernel

N_SPLITS = 5
# Unlabelled rows that take part in the folds; the basis has seen all of them.
_ROWS_IN_FOLDS = 20_000


@dataclass(frozen=True)
class Score:
    """A share of right answers with its 95 % interval."""

    name: str
    accuracy: float
    low: float
    high: float
    balanced: float  # mean over the classes of the share found
    lead: float = 0.0  # of Mercer over this model, on the same rows
    lead_low: float = 0.0
    lead_high: float = 0.0


@dataclass(frozen=True, eq=False)
class Check:
    """What cross-validation on the labelled rows found.

    Every number comes from models that did not see the label in question.
    """

    rows: IntArray  # (t,) tested rows
    codes: IntArray  # (t,) their labels
    proba: FloatArray  # (t, n_classes) held out, calibrated, mean over repeats
    scores: tuple[Score, ...]  # Mercer first, then the baselines
    temperature: float
    error_before: float  # expected calibration error
    error_after: float
    confusion: FloatArray  # (n_classes, n_classes) given by predicted
    n_splits: int
    n_repeats: int


class RowsOfBasis(BasisMixin):
    """A fitted basis at some of its rows, scaled to be orthonormal on average."""

    def __init__(self, basis: Any, rows: IntArray) -> None:
        self.basis = basis
        self.rows = rows
        n = len(basis.vectors_)
        self.vectors_ = basis.vectors_[rows] * np.sqrt(n / len(rows))
        self.values_ = basis.values_
        self.certificate_ = basis.certificate_


def check_by_hiding(
    X: Any,
    labels: Labels,
    basis: Any,
    learn: Callable[[Any, IntArray, IntArray], Any],
    machine: Any,
    *,
    rng: np.random.Generator,
    advance: Callable[[float], None],
) -> Check | None:
    """Hide labels in turn and predict them, with Mercer and with two baselines.

    The basis sees no label, so it is kept; the kernel and the machine are learned
    anew from the labels that are left. The baselines see the labelled rows alone.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    labels : Labels
    basis : fitted basis
    learn : callable
        ``learn(basis, codes, rows)`` returns a fitted learner on a basis over `rows`.
    machine : classifier with `kernel=`
    rng : numpy.random.Generator
    advance : callable
        Told the share of the work that is done.

    Returns
    -------
    Check or None
        None if no class has two labels.
    """
    counts = np.bincount(labels.codes[labels.labeled], minlength=len(labels.classes))
    if counts.max() < 2:
        return None
    rows = _rows_in_folds(labels, rng)
    part = basis if len(rows) == len(labels.codes) else RowsOfBasis(basis, rows)
    codes = labels.codes[rows]
    n_repeats = 2 if len(labels.labeled) <= 200 else 1
    folds = SemiSupervisedKFold(
        N_SPLITS, n_repeats=n_repeats, random_state=int(rng.integers(2**31))
    )
    models = _baselines(len(labels.labeled))
    place = np.cumsum(codes != UNLABELED) - 1  # among the labelled rows
    X_labeled = take_rows(X, labels.labeled)
    shape = (1 + len(models), n_repeats, len(labels.labeled), len(labels.classes))
    proba = np.zeros(shape)
    fold_of = np.full(shape[1:3], -1)
    splits = list(folds.split(codes, codes))
    for k, (_, test) in enumerate(splits):
        advance(k / len(splits))
        repeat = k * n_repeats // len(splits)
        # Labels are codes here, so that every model orders the classes alike.
        hidden = codes.copy()
        hidden[test] = UNLABELED
        known = np.flatnonzero(hidden != UNLABELED)
        X_known, X_test = (take_rows(X_labeled, place[r]) for r in (known, test))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final fit tells what is to be told
            features = learn(part, hidden, rows).kernel_.features()
            fitted = clone(machine).set_params(kernel=FeatureKernel())
            fitted.fit(features[known], hidden[known])
            _store(proba[0, repeat], place[test], fitted, features[test])
            for m, model in enumerate(models.values(), 1):
                fitted = clone(model).fit(X_known, hidden[known])
                _store(proba[m, repeat], place[test], fitted, X_test)
        fold_of[repeat, place[test]] = k
    tested = np.flatnonzero(fold_of[0] >= 0)
    return _summary(
        labels.labeled[tested],
        labels.codes[labels.labeled[tested]],
        proba[:, :, tested],
        ("Mercer", *models),
        fold_of[:, tested],
        n_splits=len(splits) // n_repeats,
    )


def _rows_in_folds(labels: Labels, rng: np.random.Generator) -> IntArray:
    rest = np.flatnonzero(labels.codes == UNLABELED)
    if len(rest) > _ROWS_IN_FOLDS:
        rest = rng.choice(rest, _ROWS_IN_FOLDS, replace=False)
    return np.sort(np.concatenate([labels.labeled, rest]))


def _store(proba: FloatArray, rows: IntArray, model: Any, X: Any) -> None:
    """Keep held-out probabilities; a class the model never saw has 0."""
    columns = np.asarray(model.classes_, dtype=np.intp)
    proba[np.ix_(rows, columns)] = model.predict_proba(X)


def _baselines(n_labels: int) -> dict[str, Any]:
    return {
        "logistic regression": make_pipeline(
            MaxAbsScaler(), LogisticRegression(max_iter=1000)
        ),
        "random forest": RandomForestClassifier(
            50, min_samples_leaf=1 if n_labels <= 5000 else 3, random_state=0
        ),
    }


def _summary(
    rows: IntArray,
    codes: IntArray,
    proba: FloatArray,  # (models, repeats, t, n_classes)
    names: tuple[str, ...],
    folds: IntArray,  # (repeats, t)
    *,
    n_splits: int,
) -> Check:
    right = (proba.argmax(axis=3) == codes).mean(axis=1)  # (models, t)
    n_repeats, _, q = proba[0].shape
    confusion = np.zeros((q, q))
    said = proba[0].argmax(axis=2)
    np.add.at(confusion, (np.broadcast_to(codes, said.shape), said), 1 / n_repeats)
    flat, all_codes = proba[0].reshape(-1, q), np.tile(codes, n_repeats)
    calm, temperature = _calibrated(flat, all_codes, folds.ravel(), len(codes))
    classes = np.arange(q)
    return Check(
        rows=rows,
        codes=codes,
        proba=calm.reshape(n_repeats, -1, q).mean(axis=0),
        scores=tuple(
            _score(name, right[k], right[0], codes) for k, name in enumerate(names)
        ),
        temperature=temperature,
        error_before=expected_calibration_error(all_codes, flat, classes, n_bins=10),
        error_after=expected_calibration_error(all_codes, calm, classes, n_bins=10),
        confusion=confusion,
        n_splits=n_splits,
        n_repeats=n_repeats,
    )


def _calibrated(
    proba: FloatArray, codes: IntArray, folds: IntArray, n_rows: int
) -> tuple[FloatArray, float]:
    """Return held-out probabilities by temperatures that did not see the row either.

    The second result is the temperature of all rows, for predictions.
    """
    row = np.arange(len(codes)) % n_rows
    calm = proba.copy()
    for fold in np.unique(folds):
        inside = folds == fold
        others = ~np.isin(row, row[inside])
        if others.any():
            n_others = len(np.unique(row[others]))
            T = cautious_temperature(proba[others], codes[others], n_others)
            calm[inside] = tempered(proba[inside], T)
    return calm, cautious_temperature(proba, codes, n_rows)


def _score(name: str, right: FloatArray, mercer: FloatArray, codes: IntArray) -> Score:
    low, high = wilson_interval(float(right.mean()), len(right))
    found = [right[codes == c].mean() for c in np.unique(codes)]
    lead, lead_low, lead_high = paired_interval(mercer - right)
    return Score(
        name,
        float(right.mean()),
        low,
        high,
        float(np.mean(found)),
        lead,
        lead_low,
        lead_high,
    )


def paired_interval(gains: FloatArray) -> tuple[float, float, float]:
    """Return the mean difference of two models on the same rows and its 95 % interval.

    Agresti and Min (2005): half a row is added to each of the four outcomes, so that
    a few rows without a difference do not pass for certainty.

    Examples
    --------
    >>> lead, low, high = paired_interval(np.array([1.0, 1.0, 0.0, -1.0]))
    >>> lead, low < 0 < high
    (0.25, True)
    """
    n = len(gains) + 2
    middle = float(gains.sum()) / n
    spread = np.sqrt((float(np.abs(gains).sum()) + 1) / n - middle**2) / np.sqrt(n)
    half = float(norm.ppf(0.975)) * float(spread)
    return float(gains.mean()), middle - half, middle + half


def wilson_interval(share: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share seen in n cases.

    Examples
    --------
    >>> low, high = wilson_interval(0.9, 20)
    >>> round(low, 3), round(high, 3)
    (0.699, 0.972)
    """
    z = float(norm.ppf(0.5 + level / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def doubtful_labels(check: Check, n: int = 20) -> IntArray:
    """Return positions in `check.rows` whose label looks wrong, worst first.

    A label is doubtful if, with the label hidden, another class had a probability of
    at least one half, and four times that of the label.
    """
    t = np.arange(len(check.codes))
    own = check.proba[t, check.codes]
    best = check.proba.max(axis=1)
    order = np.argsort(own - best, kind="stable")
    return np.asarray(order[((best >= 0.5) & (best >= 4 * own))[order]][:n])
