"""The score of a classifier on rows of which some have no label."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from mercer._base.checks import check_same_length
from mercer._base.proba import log_of
from mercer._base.typing import ArrayLike, FloatArray
from mercer._base.words import counted
from mercer.evidence.reading import known_labels
from mercer.exceptions import UnlabeledClassWarning


class LabeledScoreMixin(ClassifierMixin):
    """A classifier with `predict_proba` whose score warns of unlabelled rows."""

    predict_proba: Callable[[Any], FloatArray]

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithm of `predict_proba`, (m, n_classes).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return log_of(self.predict_proba(X))

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of rows predicted right; unlabelled ones count as wrong.

        Parameters
        ----------
        X, y : array-like of shape (m, n_features) and (m,)
        sample_weight : array-like of shape (m,), optional
        """
        known, labels = known_labels(y)
        if known.all():
            return float(super().score(X, labels, sample_weight))
        n = int((~known).sum())
        unlabeled = counted(n, "row to score is", "rows to score are")
        msg = (
            f"{unlabeled} unlabelled; unlabelled rows count as wrong. In a "
            "search or cross-validation use scoring=LabeledScorer() and "
            "cv=SemiSupervisedKFold() of mercer.model_selection."
        )
        warnings.warn(msg, UnlabeledClassWarning, stacklevel=2)
        found = np.asarray(self.predict(X))
        check_same_length(found, known, "X", "y")
        right = np.zeros(len(known))
        right[known] = found[known] == labels
        weights: Any = sample_weight
        return float(np.average(right, weights=weights))
