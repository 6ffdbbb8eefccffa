"""A warning where code around an estimator takes "unlabelled" for a class."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from mercer._base.checks import check_same_length
from mercer._base.proba import log_of
from mercer._base.typing import ArrayLike, FloatArray
from mercer._base.words import counted
from mercer.evidence.reading import UNLABELED, known_labels
from mercer.exceptions import UnlabeledClassWarning

WRAPPERS = (
    "BaggingClassifier",
    "CalibratedClassifierCV",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "StackingClassifier",
    "VotingClassifier",
)
_DEPTH = 40  # frames between a wrapper and our `fit`, joblib's included


def warn_of_wrapper() -> None:
    """Warn if `fit` was called by a wrapper of scikit-learn that has a class -1.

    Such a wrapper codes y itself: by the time it reaches us, -1 is a class like any
    other, and nothing in y tells. `OutputCodeClassifier` codes every y by -1 and 1 and
    is refused. With `n_jobs` above 1 a wrapper cannot be seen.
    """
    frame: Any = sys._getframe(1)
    for _ in range(_DEPTH):
        frame = frame.f_back
        if frame is None:
            return
        caller = frame.f_locals.get("self")
        if type(caller).__name__ not in WRAPPERS:
            continue
        if type(caller).__name__ == "OutputCodeClassifier":
            msg = (
                "OutputCodeClassifier trains on -1 and 1, and -1 means unlabelled "
                "here. Fit the model itself, which takes many classes."
            )
            raise ValueError(msg)
        classes = np.asarray(getattr(caller, "classes_", ()))
        if classes.dtype.kind in "if" and UNLABELED in classes:
            msg = (
                f"{type(caller).__name__} takes -1 for a class; here it marks "
                "unlabelled rows. Fit the model itself on (X, y)."
            )
            warnings.warn(msg, UnlabeledClassWarning, stacklevel=3)
        return


class LabeledScoreMixin(ClassifierMixin):
    """A classifier with `predict_proba` whose score warns of unlabelled rows."""

    predict_proba: Callable[[Any], FloatArray]

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithm of `predict_proba`, (m, n_classes)."""
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
