"""Splits, scores and calibration that are right for partly labelled targets."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
)
from sklearn.metrics import check_scoring
from sklearn.utils import Tags, check_scalar, get_tags
from sklearn.utils.validation import check_is_fitted, indexable

from mercer._base.random import as_generator
from mercer._base.rows import take_rows
from mercer._base.typing import ArrayLike, FloatArray, IntArray, RandomState
from mercer.evidence.labels import Labels
from mercer.evidence.reading import (
    UNLABELED,
    are_shares,
    known_labels,
    read_column,
)
from mercer.evidence.row_names import warn_if_reordered
from mercer.evidence.score import LabeledScoreMixin


class SemiSupervisedKFold(BaseEstimator):
    """K folds of the labelled rows; the unlabelled rows train in every fold.

    Each labelled row is tested once per repeat, except a row that is alone in its
    class: it always trains, since no model could name a class it never saw. Classes
    are spread over the folds, so every training fold holds every class.

    Parameters
    ----------
    n_splits : int, default=5
        Folds; at least 2. With fewer testable labels than folds there is one fold
        per label.
    n_repeats : int, default=1
        How often to split the labels again.
    random_state : int, Generator, RandomState or None, default=None
        Deals the labels.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> for train, test in SemiSupervisedKFold(2, random_state=0).split(y, y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_repeats: int = 1,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: object = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test rows.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            Only its length is used.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled rows.
        groups : object
            Ignored.

        Yields
        ------
        train : ndarray
            All unlabelled rows and the labelled rows of the other folds.
        test : ndarray
            Labelled rows only.
        """
        check_scalar(self.n_splits, "n_splits", Integral, min_val=2)
        check_scalar(self.n_repeats, "n_repeats", Integral, min_val=1)
        if y is None:
            msg = "SemiSupervisedKFold needs y to know which rows are labelled."
            raise ValueError(msg)
        indexable(X, y)
        labels = Labels.read(y, min_classes=1)
        testable = _not_alone(labels)
        if len(testable) < 2:
            msg = (
                "Nothing can be left out: every class has a single label. "
                "Label two points of some class."
            )
            raise ValueError(msg)
        n_splits = min(self.n_splits, len(testable))
        rows = np.arange(len(labels.codes))
        rng = as_generator(self.random_state)
        for _ in range(self.n_repeats):
            # Members of a class stand side by side here, so dealing them out in turn
            # never puts a whole class into one fold.
            order = rng.permutation(testable)
            order = order[np.argsort(labels.codes[order], kind="stable")]
            for fold in range(n_splits):
                test = np.sort(order[fold::n_splits])
                yield np.setdiff1d(rows, test, assume_unique=True), test

    def get_n_splits(
        self, X: object = None, y: ArrayLike | None = None, groups: object = None
    ) -> int:
        """Return the number of splits; fewer than asked for when labels are few."""
        if y is None:
            return self.n_splits * self.n_repeats
        testable = _not_alone(Labels.read(y, min_classes=1))
        return min(self.n_splits, len(testable)) * self.n_repeats


def _not_alone(labels: Labels) -> IntArray:
    return labels.labeled[labels.counts()[labels.codes[labels.labeled]] > 1]


class PairKFold(BaseEstimator):
    """K folds of pairs, in which test pairs are of points that no training pair holds.

    Splits that deal out the pairs alone, as `KFold` does, test pairs of known points.
    Here the *points* are dealt out: a fold is tested on the pairs within its points and
    trained on those within the other points; pairs across are in neither.

    Parameters
    ----------
    n_splits : int, default=5
        Folds; at least 2. Few are better: of all pairs each fold tests a share of
        1 / n_splits squared.
    random_state : int, Generator, RandomState or None, default=None
        Deals the points.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [2, 3], [0, 2], [1, 3]])
    >>> for train, test in PairKFold(2, random_state=1).split(pairs):
    ...     print(pairs[train].tolist(), pairs[test].tolist())
    [[1, 3]] [[0, 2]]
    [[0, 2]] [[1, 3]]
    """

    def __init__(self, n_splits: int = 5, *, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(
        self, X: ArrayLike, y: object = None, groups: object = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test pairs.

        Parameters
        ----------
        X : array-like of shape (m, 2) or (m, 2, n_features)
            Pairs of row numbers, of names, or of points.
        y, groups : object
            Ignored.
        """
        check_scalar(self.n_splits, "n_splits", Integral, min_val=2)
        ends = _ends_of(np.asarray(X))
        n = int(ends.max(initial=-1)) + 1
        if n < 2 * self.n_splits:
            msg = (
                f"the pairs are of {n} points, and {self.n_splits} folds need two "
                "points each."
            )
            raise ValueError(msg)
        fold = as_generator(self.random_state).permutation(n) % self.n_splits
        left, right = fold[ends].T
        for k in range(self.n_splits):
            train = np.flatnonzero((left != k) & (right != k))
            yield train, np.flatnonzero((left == k) & (right == k))

    def get_n_splits(
        self, X: object = None, y: object = None, groups: object = None
    ) -> int:
        """Return the number of splits."""
        return self.n_splits


def _ends_of(pairs: Any) -> IntArray:
    """Return the ends of pairs as numbers of distinct points, (m, 2)."""
    if pairs.ndim == 3:
        rows = pairs.reshape(-1, pairs.shape[2])
        found = np.unique(rows, axis=0, return_inverse=True)[1]
    else:
        found = np.unique(pairs, return_inverse=True)[1]
    return np.asarray(found).reshape(-1, 2)


class LabeledScorer:
    """Score an estimator on the labelled rows of what it is given.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        A scikit-learn scorer or its name; None is the estimator's own `score`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), np.array([1, 1, -1, -1])
    >>> LabeledScorer("accuracy")(DummyClassifier().fit(X, [1, 1, 1, 1]), X, y)
    1.0
    """

    def __init__(self, scoring: Any = None) -> None:
        self.scoring = scoring

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
        """Return the score over rows whose label is known."""
        known, labels = known_labels(y)
        if not known.any():
            msg = "There is no labelled row to score on."
            raise ValueError(msg)
        score = check_scoring(estimator, self.scoring)
        return float(score(estimator, take_rows(X, np.flatnonzero(known)), labels))

    def __repr__(self) -> str:
        return f"LabeledScorer({self.scoring!r})"


class TemperatureScaledClassifier(MetaEstimatorMixin, LabeledScoreMixin, BaseEstimator):
    r"""Calibrated probabilities from held-out scores of the labelled rows.

    With scores :math:`s(x)` of a model that did not see x's label, the temperature is
    :math:`\hat T = \arg\min_T -\sum_i \log \mathrm{softmax}(s(x_i)/T)_{y_i}`, and
    probabilities are :math:`\mathrm{softmax}(s(x)/\hat T)`. Unlabelled rows train
    every fold and are never a class; predictions do not change.

    Parameters
    ----------
    estimator : classifier
        Takes y with -1 for unlabelled rows; has `decision_function` or
        `predict_proba`.
    cv : int or splitter, default=5
        An integer stands for that many folds of `SemiSupervisedKFold`.
    random_state : int, Generator, RandomState or None, default=None
        Deals the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows.
    temperature_ : float
        Divides the scores.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer.machines.rls import RLSClassifier
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> y[::2] = -1
    >>> model = TemperatureScaledClassifier(RLSClassifier("rbf"), random_state=0)
    >>> model.fit(X, y).predict_proba([[0.0, 1.0], [0.5, 0.3]]).round(2)
    array([[0.96, 0.04],
           [0.72, 0.28]])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit on all rows and the temperature on held-out labelled ones."""
        if not is_classifier(self.estimator):
            msg = f"estimator must be a classifier, got {self.estimator!r}."
            raise TypeError(msg)
        cv = self.cv
        if isinstance(cv, Integral):
            cv = SemiSupervisedKFold(int(cv), random_state=self.random_state)
        warn_if_reordered(X, y)
        labels = Labels.read(y, min_classes=2)
        X, y = _indexable(X), y if are_shares(y) else read_column(y)[0]
        is_pairwise = get_tags(self.estimator).input_tags.pairwise
        scores, codes = [], []
        for train, test in cv.split(X, y):
            held_out = test[labels.codes[test] != UNLABELED]
            if len(held_out) == 0:
                continue
            columns = train if is_pairwise else None
            model = clone(self.estimator)
            model.fit(_part(X, train, columns), take_rows(y, train))
            if len(model.classes_) < len(labels.classes):
                msg = (
                    "a training fold of cv has no label of some class; give cv as a "
                    "number, or SemiSupervisedKFold, whose folds hold every class."
                )
                raise ValueError(msg)
            scores.append(_scores(model, _part(X, held_out, columns)))
            codes.append(labels.codes[held_out])
        if not scores:
            msg = (
                "no test fold of cv has a labelled row; give cv as a number, or "
                "SemiSupervisedKFold, whose folds test labelled rows."
            )
            raise ValueError(msg)
        self.temperature_ = fit_temperature(np.vstack(scores), np.concatenate(codes))
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return probabilities, (n, n_classes)."""
        check_is_fitted(self)
        p: FloatArray = softmax(_scores(self.estimator_, X) / self.temperature_, axis=1)
        return p

    def predict(self, X: ArrayLike) -> Any:
        """Return what the estimator predicts."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen by `fit`."""
        return int(_of_fitted(self, "n_features_in_"))

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns seen by `fit`, where they have names."""
        return _of_fitted(self, "feature_names_in_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
        return tags


def _indexable(values: Any) -> Any:
    return values if hasattr(values, "shape") else np.asarray(values)


def _part(X: Any, rows: IntArray, columns: IntArray | None) -> Any:
    """Return rows of X, of kernel values those with the points of some columns."""
    if columns is None:
        return take_rows(X, rows)
    return take_rows(X if hasattr(X, "tocsr") else np.asarray(X), rows)[:, columns]


def _of_fitted(model: Any, name: str) -> Any:
    if "estimator_" not in vars(model):
        msg = f"{type(model).__name__} has no {name} before it is fitted."
        raise AttributeError(msg)
    return getattr(model.estimator_, name)


def _scores(model: Any, X: ArrayLike) -> FloatArray:
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
        # One column per class; a single one is the second class against the first.
        return np.c_[-scores / 2, scores / 2] if scores.ndim == 1 else scores
    smallest = np.finfo(float).tiny
    logs: FloatArray = np.log(np.maximum(model.predict_proba(X), smallest))
    return logs


def fit_temperature(scores: FloatArray, codes: IntArray) -> float:
    r"""Return T minimising the log-loss of softmax(scores / T).

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)
        One column per class.
    codes : ndarray of shape (n,)
        True columns.

    Notes
    -----
    The loss is convex in 1/T. The search is over log(1/T) within a factor e^12 of the
    scores' own scale, so separable scores give a finite answer.
    """
    scale = float(np.std(scores - scores.mean(axis=1, keepdims=True)))
    if scale == 0:
        return 1.0
    rows = np.arange(len(codes))

    def loss(log_inverse: float) -> float:
        logs = log_softmax(scores * (np.exp(log_inverse) / scale), axis=1)
        return -float(np.mean(logs[rows, codes]))

    best = minimize_scalar(loss, bounds=(-12, 12), method="bounded")
    return scale / float(np.exp(best.x))


def expected_calibration_error(
    y: ArrayLike,
    proba: FloatArray,
    classes: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean gap between confidence and accuracy over equal-width bins.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    proba : ndarray of shape (n, n_classes)
        Predicted probabilities.
    classes : array-like of shape (n_classes,)
        What the columns stand for.
    n_bins : int, default=15
        Bins of the largest probability over [0, 1].
    sample_weight : array-like of shape (n,), optional
        How much each point counts; all alike by default.

    Examples
    --------
    >>> import numpy as np
    >>> sure = np.array([[0.9, 0.1], [0.9, 0.1]])
    >>> round(expected_calibration_error([0, 1], sure, [0, 1]), 3)
    0.4
    """
    confidence = proba.max(axis=1)
    right = np.asarray(classes)[proba.argmax(axis=1)] == np.asarray(y)
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    weights = np.ones(len(bins)) if sample_weight is None else np.asarray(sample_weight)
    gaps = np.bincount(bins, weights=weights * (right - confidence), minlength=n_bins)
    return float(np.abs(gaps).sum() / weights.sum())
