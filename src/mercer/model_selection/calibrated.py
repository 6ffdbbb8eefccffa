"""Probabilities that held-out labels have calibrated."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.rows import take_rows
from mercer._base.typing import ArrayLike, FloatArray, IntArray, RandomState
from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED, are_shares, read_column
from mercer.evidence.row_names import warn_if_reordered
from mercer.evidence.score import LabeledScoreMixin
from mercer.model_selection.folds import SemiSupervisedKFold


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

    See Also
    --------
    fit_temperature : The temperature alone.
    expected_calibration_error : How far confidence and accuracy differ.

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
        """Fit on all rows and the temperature on held-out labelled ones.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Classes; -1, None and NaN are unlabelled.
        """
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
        """Return probabilities, (n, n_classes).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        check_is_fitted(self)
        p: FloatArray = softmax(_scores(self.estimator_, X) / self.temperature_, axis=1)
        return p

    def predict(self, X: ArrayLike) -> Any:
        """Return what the estimator predicts.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
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

    See Also
    --------
    TemperatureScaledClassifier : Does it by cross-validation.

    Notes
    -----
    The loss is convex in 1/T. The search is over log(1/T) within a factor e^12 of the
    scores' own scale, so separable scores give a finite answer.

    Examples
    --------
    >>> scores = np.tile([[4.0, 0.0]], (4, 1))  # too sure: one in four is wrong
    >>> round(fit_temperature(scores, np.array([0, 0, 0, 1])), 2)
    3.64
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
