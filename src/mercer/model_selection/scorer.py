"""A score over the rows whose label is known."""

from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from mercer._base.rows import take_rows
from mercer._base.typing import ArrayLike
from mercer.evidence.reading import known_labels


class LabeledScorer:
    """Score an estimator on the labelled rows of what it is given.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        A scikit-learn scorer or its name; None is the estimator's own `score`.

    See Also
    --------
    SemiSupervisedKFold : Folds that keep unlabelled rows in training.

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
            msg = "there is no labelled row to score on."
            raise ValueError(msg)
        score = check_scoring(estimator, self.scoring)
        return float(score(estimator, take_rows(X, np.flatnonzero(known)), labels))

    def __repr__(self) -> str:
        return f"LabeledScorer({self.scoring!r})"
