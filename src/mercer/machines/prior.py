"""What is predicted before two classes have a label."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.graphs.points import n_points
from mercer.spectrum.features import Features


class PriorMachine(ClassifierMixin, BaseEstimator):
    """Predicts the only class there is, whatever the point; none without a label.

    A model that waits for its first labels has this machine, so that it can ask.

    Examples
    --------
    >>> labels = Labels(np.array([0, -1]), np.array(["spam"]))
    >>> machine = PriorMachine().solve(None, labels)
    >>> machine.predict(np.zeros((2, 1)))
    array(['spam', 'spam'], dtype='<U4')
    """

    classes_: NDArray[Any]
    labeled_: IntArray
    training_proba_: FloatArray  # (n, 0) or (n, 1)
    transduction_: NDArray[Any]

    def solve(
        self, kernel: Any, labels: Labels, *, features: Features | None = None
    ) -> Self:
        """Take note of the class, if there is one; kernel and features are ignored."""
        self.classes_, self.labeled_ = labels.classes, labels.labeled
        n, C = len(labels.codes), len(labels.classes)
        self.training_proba_ = np.ones((n, C))
        self.transduction_ = np.repeat(labels.classes, n) if C else labels.given()
        return self

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Raise: there is nothing to learn from one class."""
        msg = "PriorMachine stands in until two classes have a label; it is not fitted."
        raise TypeError(msg)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of points, (m,)."""
        self._check_class()
        return np.repeat(self.classes_, n_points(X))

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of every class, (m, n_classes)."""
        check_is_fitted(self, "classes_")
        return np.ones((n_points(X), len(self.classes_)))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return zeros, (m,): there is nothing to decide."""
        self._check_class()
        return np.zeros(n_points(X))

    def represent(self, X: ArrayLike) -> FloatArray:
        """Raise: nothing pulls a point to a class."""
        self._check_class()
        msg = f"there is one class only, {self.classes_[0]!r}; label a row of another."
        raise ValueError(msg)

    def _check_class(self) -> None:
        check_is_fitted(self, "classes_")
        if len(self.classes_) == 0:
            msg = (
                "no row has a label yet; `ask` names rows to label, `tell` takes them."
            )
            raise ValueError(msg)
