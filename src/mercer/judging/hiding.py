"""How good the predictions are, from labels that were hidden."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from mercer._base.random import draw_rows
from mercer._base.rows import take_rows
from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED
from mercer.judging.intervals import (
    effective_number,
    held_out_interval,
    paired_interval,
)
from mercer.model_selection import SemiSupervisedKFold, expected_calibration_error

N_SPLITS = 5
# Unlabelled rows that take part in the folds; the basis has seen all of them.
ROWS_IN_FOLDS = 20_000
# Labels that are hidden and predicted: no more folds than that takes. The interval of
# 5,000 is 1.6 points wide at most on either side.
ENOUGH_LABELS = 5_000


class Judged(Protocol):
    """A fitted model that can predict labelled rows without their labels."""

    def held_out_proba(
        self, test: IntArray, *, rows: IntArray | None = None
    ) -> FloatArray:
        """Return probabilities of the rows `test`, (t, n_classes)."""

    def training_proba(self) -> FloatArray:
        """Return probabilities of all rows, (n, n_classes)."""


@dataclass(frozen=True)
class Score:
    """A share of correct predictions with its 95% interval.

    See Also
    --------
    Check : Has one for the model and for each baseline.

    Examples
    --------
    >>> Score("Mercer", 0.9, low=0.82, high=0.95, balanced=0.88).lead  # over itself
    0.0
    """

    name: str  # of the model
    accuracy: float  # to expect on unlabelled rows: see `held_out_interval`
    low: float  # 95% interval of `accuracy`
    high: float  # its upper end
    balanced: float  # mean over the classes of the share found
    lead: float = 0.0  # of Mercer over this model, on the same rows
    lead_low: float = 0.0  # 95% interval of `lead`
    lead_high: float = 0.0  # its upper end


@dataclass(frozen=True, eq=False)
class Check:
    """What cross-validation on the labelled rows found.

    Every number comes from models that did not see the label in question.

    See Also
    --------
    check_by_hiding : Returns it, and has an example.
    """

    rows: IntArray  # (t,) tested rows
    codes: IntArray  # (t,) their labels
    proba: FloatArray  # (t, n_classes) held out, mean over repeats
    scores: tuple[Score, ...]  # Mercer first, then the baselines
    calibration_error: float  # expected calibration error of `proba`
    confusion: FloatArray  # (n_classes, n_classes) given by predicted
    n_splits: int  # folds
    n_repeats: int  # how often the folds were dealt
    n_tried: int  # of the folds of a repeat; all unless there are very many labels
    weights: FloatArray  # (t,) how much each counts; 1 unless class sizes are known
    shift: float = 0.0  # confidence about unlabelled rows, less that about hidden ones


def check_by_hiding(
    model: Judged,
    X: Any,
    labels: Labels,
    *,
    rng: np.random.Generator,
    advance: Callable[[float], None] = lambda share: None,
    n_splits: int = N_SPLITS,
    n_repeats: int | None = None,
    rows_in_folds: int | None = None,
    enough_labels: int | None = None,
    class_sizes: FloatArray | None = None,
) -> Check | None:
    """Hide labels in turn and predict them, with the model and with two baselines.

    The basis sees no label, so it is kept; kernel and machine are learned again from
    the labels that are left. The baselines see the labelled rows alone.

    Parameters
    ----------
    model : Judged
        Fitted to X and these labels.
    X : array or sparse array of shape (n, d)
        All points; the baselines take the labelled ones.
    labels : Labels
        Labels of the points.
    rng : numpy.random.Generator
        Deals the folds and draws the unlabelled rows.
    advance : callable, optional
        Told the share of the work that is done.
    n_splits : int, default=5
        Folds of the labelled rows.
    n_repeats : int, optional
        How often folds are dealt; by default twice up to 200 labels, else once.
    rows_in_folds : int, optional
        Unlabelled rows at most that the models of the folds see; 20,000 by default.
    enough_labels : int, optional
        Folds are left out once this many labels have been hidden; 5,000 by default.
    class_sizes : ndarray of shape (n_classes,), optional
        Shares of the classes among all rows. Where they are known, the hidden labels of
        a class count as much as its rows do, however many labels it has.

    Returns
    -------
    Check or None
        None if no class has two labels, or fewer than two classes have any.

    See Also
    --------
    held_out_interval : The interval it reports.
    expected_gain : What more labels would bring.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import UnifiedKernelMachine
    >>> X, truth = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, truth, -1)
    >>> model = UnifiedKernelMachine(random_state=0).fit(X, y)
    >>> rng = np.random.default_rng(0)
    >>> check = check_by_hiding(model, X, model.labels_, rng=rng)
    >>> [score.name for score in check.scores], len(check.rows)
    (['Mercer', 'logistic regression', 'random forest'], 30)
    """
    labeled = labels.labeled
    codes = labels.codes[labeled]
    counts = labels.counts()
    # Votes of sources name classes that no label has.
    if np.count_nonzero(counts) < 2 or counts.max() < 2:
        return None
    if n_repeats is None:
        n_repeats = 2 if len(labeled) <= 200 else 1
    rows = _rows_in_folds(labels, rows_in_folds or ROWS_IN_FOLDS, rng)
    folds = SemiSupervisedKFold(
        n_splits, n_repeats=n_repeats, random_state=int(rng.integers(2**31))
    )
    models = baselines(len(labeled))
    X_labeled = take_rows(X, labeled)
    shape = (1 + len(models), n_repeats, len(labeled), len(labels.classes))
    proba = np.zeros(shape)
    tested = np.zeros(len(labeled), dtype=bool)
    splits = list(folds.split(codes, codes))
    n_splits = len(splits) // n_repeats
    can_be_tested = sum(len(test) for _, test in splits[:n_splits])
    share = (enough_labels or ENOUGH_LABELS) / can_be_tested
    n_tried = min(n_splits, int(np.ceil(n_splits * share)))
    splits = [split for k, split in enumerate(splits) if k % n_splits < n_tried]
    for k, (_, test) in enumerate(splits):
        advance(k / len(splits))
        repeat = k * n_repeats // len(splits)
        known = np.setdiff1d(np.arange(len(labeled)), test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final fit says what there is to say
            proba[0, repeat, test] = model.held_out_proba(labeled[test], rows=rows)
            for m, baseline in enumerate(models.values(), 1):
                rival = clone(baseline).fit(take_rows(X_labeled, known), codes[known])
                columns = np.ix_(test, rival.classes_)  # 0 for a class it never saw
                found = rival.predict_proba(take_rows(X_labeled, test))
                proba[m, repeat][columns] = found
        tested[test] = True
    rest = labels.codes == UNLABELED
    alone = 1 - can_be_tested / len(labeled)
    weights = np.ones(int(tested.sum()))
    if class_sizes is not None:
        weights, alone = _by_size(codes[tested], class_sizes)
    return _summary(
        labeled[tested],
        codes[tested],
        proba[:, :, tested],
        ("Mercer", *models),
        n_splits=n_splits,
        n_tried=n_tried,
        weights=weights,
        alone=alone,
        others=model.training_proba()[rest].max(axis=1),
    )


def baselines(n_labels: int) -> dict[str, Any]:
    """Return what people use on the labelled rows alone, unfitted."""
    return {
        "logistic regression": make_pipeline(
            MaxAbsScaler(), LogisticRegression(max_iter=1000)
        ),
        "random forest": RandomForestClassifier(
            50, min_samples_leaf=1 if n_labels <= 5000 else 3, random_state=0
        ),
    }


def _rows_in_folds(labels: Labels, most: int, rng: np.random.Generator) -> IntArray:
    rest = draw_rows(np.flatnonzero(labels.codes == UNLABELED), most, rng)
    return np.sort(np.concatenate([labels.labeled, rest]))


def _by_size(codes: IntArray, sizes: FloatArray) -> tuple[FloatArray, float]:
    """Return weights of labels that give each class its share, and what is untested."""
    counts = np.bincount(codes, minlength=len(sizes))
    weights = sizes[codes] / counts[codes]
    return len(codes) * weights / weights.sum(), float(sizes[counts == 0].sum())


def _summary(
    rows: IntArray,
    codes: IntArray,
    proba: FloatArray,  # (models, repeats, t, n_classes)
    names: tuple[str, ...],
    *,
    n_splits: int,
    n_tried: int,
    weights: FloatArray,  # (t,)
    alone: float,  # share of the rows about which the tested labels say nothing
    others: FloatArray,  # confidence about the unlabelled rows
) -> Check:
    shift = 0.0
    if len(others):
        confident = proba[0].max(axis=2).mean(axis=0)
        shift = float(others.mean() - np.average(confident, weights=weights))
    n_rest = len(others) or np.inf
    right = (proba.argmax(axis=3) == codes).mean(axis=1)  # (models, t)
    n_repeats, _, q = proba[0].shape
    confusion = np.zeros((q, q))
    said = proba[0].argmax(axis=2)
    np.add.at(confusion, (np.broadcast_to(codes, said.shape), said), 1 / n_repeats)
    flat, all_codes = proba[0].reshape(-1, q), np.tile(codes, n_repeats)
    return Check(
        rows=rows,
        codes=codes,
        proba=proba[0].mean(axis=0),
        scores=tuple(
            _score(name, right[k], right[0], codes, weights, shift, alone, n_rest)
            for k, name in enumerate(names)
        ),
        calibration_error=expected_calibration_error(
            all_codes,
            flat,
            np.arange(q),
            n_bins=10,
            sample_weight=np.tile(weights, n_repeats),
        ),
        confusion=confusion,
        n_splits=n_splits,
        n_repeats=n_repeats,
        n_tried=n_tried,
        weights=weights,
        shift=shift,
    )


def _score(
    name: str,
    right: FloatArray,
    mercer: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    shift: float,
    alone: float,
    n_rest: float,
) -> Score:
    n = effective_number(weights)
    expected, low, high = held_out_interval(
        float(np.average(right, weights=weights)),
        n,
        shift=shift,
        n_untested=n * alone / (1 - alone),
        n_rest=n_rest,
    )
    found = [right[codes == c].mean() for c in np.unique(codes)]
    lead, lead_low, lead_high = paired_interval(mercer - right, weights)
    return Score(
        name,
        expected,
        low,
        high,
        float(np.mean(found)),
        lead,
        lead_low,
        lead_high,
    )
