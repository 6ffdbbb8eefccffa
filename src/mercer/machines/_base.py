"""What the kernel machines share: labels, a kernel map, and what no label reaches."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._checks import check_same_length
from mercer._labels import Labels, encode_labels, one_column, require_y
from mercer._proba import log_of, probabilities
from mercer._rows import all_equal
from mercer._typing import ArrayLike, FloatArray, IntArray
from mercer.exceptions import DisconnectedGraphWarning, NearlyConstantKernelWarning
from mercer.graphs.neighbors import Graph
from mercer.machines._maps import (
    GramMap,
    KernelMap,
    is_constant,
    is_learner,
    is_precomputed,
    learned_map,
    make_map,
)


class Solution(NamedTuple):
    """What a machine found; one column for two classes, else one per class."""

    coef: FloatArray  # (m, q) weights of the features of the map
    dual_coef: FloatArray  # (l, q)
    intercept: FloatArray  # (q,)


class KernelMachine(ClassifierMixin, BaseEstimator):
    r"""A classifier :math:`f(x) = \sum_i \alpha_i k(x, x_i) + b` over labelled points.

    Subclasses write `_check_parameters` and `_solve`.
    """

    kernel: Any
    kernel_: Any  # resolved on the training points; None if precomputed
    learner_: Any  # fitted, if the kernel is to be learned
    classes_: NDArray[Any]
    class_prior_: FloatArray  # (n_classes,)
    labeled_: IntArray
    dual_coef_: FloatArray  # (l, q)
    intercept_: FloatArray  # (q,)
    transduction_: NDArray[Any]  # (n,)
    _map: KernelMap
    _indistinct: str  # why no training point differs from another, or ""
    _unreached_get = "the class shares of the labelled points"

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on the labelled points.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            All points, labelled or not; kernel values, (n, n), with
            ``kernel="precomputed"``. A learner may also take a `Graph`.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled points.
        """
        return self._fit(X, y)

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        y = require_y(y, type(self).__name__)
        self._check_parameters()
        X = self._checked(X, reset=True)
        labels = encode_labels(y)
        y = one_column(y)
        n = X.n_points if isinstance(X, Graph) else X.shape[0]
        check_same_length(np.empty(n), labels.codes, "X", "y")
        weights = self._weights(labels, sample_weight)
        self.classes_ = labels.classes
        self.labeled_ = labels.labeled
        shares = weights @ labels.one_hot()
        self.class_prior_ = shares / shares.sum()
        self._map, training = self._make_map(X, y, labels)
        self.kernel_ = self._map.kernel
        self._indistinct = _why_indistinct(X, self._map, training)
        solution = self._solve(labels, weights)
        self.dual_coef_ = solution.dual_coef
        self.intercept_ = solution.intercept
        self._readout = self._map.readout(solution.coef, solution.dual_coef)
        self.transduction_ = self._transduce(X, labels, training)
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the decision values of points.

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            New points; with ``kernel="precomputed"`` their kernel values with all
            training points, (m, n). None is the training rows, without a search,
            where the kernel was learned by this machine.

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
            For two classes one number, above 0 for ``classes_[1]``.
        """
        scores = self._scores_at(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of points, (m,)."""
        codes = self._codes_of(self._scores_at(X))
        return self.classes_[codes]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        Here the logistic function of the decision values, which says which class is
        more likely than which; `TemperatureScaledClassifier` makes the confidence
        right. Points that no labelled point reaches have the shares of the classes.
        """
        R = self._represent(X)
        proba = probabilities(self._scores(R))
        lost = np.full(len(R), True) if self._indistinct else self._map.unreached(R)
        proba[lost] = self._prior_proba()
        return proba

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Return the logarithm of `predict_proba`, (m, n_classes)."""
        return log_of(self.predict_proba(X))

    def similarity(self, X: ArrayLike) -> FloatArray:
        """Return the kernel values with the labelled points, (m, n_labeled).

        ``similarity(X) @ dual_coef_ + intercept_`` is the decision, labelled point by
        labelled point.
        """
        return self._map.similarity(self._represent(X))

    def similarity_and_decision(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return `similarity` and decision values, (m, q), from one search."""
        R = self._represent(X)
        return self._map.similarity(R), self._scores(R)

    def _scores_at(self, X: Any) -> FloatArray:
        return self._scores(self._represent(X))

    def _represent(self, X: Any) -> FloatArray:
        check_is_fitted(self, "dual_coef_")
        if X is not None:
            return self._map.represent(self._checked(X, reset=False))
        self._check_training_rows_are_known()
        return self._map.represent(None)

    def _check_training_rows_are_known(self) -> None:
        # A kernel that was handed over ready-made may know other rows than ours.
        if isinstance(self._map, GramMap) or hasattr(self.kernel, "features"):
            msg = (
                "X=None means the training rows, which only a machine that learned its "
                "kernel has kept; pass X."
            )
            raise ValueError(msg)

    def _scores(self, R: FloatArray) -> FloatArray:
        """Return decision values, (m, q), and the prior where no label reaches."""
        scores = self._combine(R @ self._readout + self.intercept_)
        if self._indistinct:
            scores[:] = self._prior_scores()
            msg = (
                f"{self._indistinct}, so that nothing tells the classes apart: "
                f"{len(R)} points get {self._unreached_get}."
            )
            warnings.warn(msg, NearlyConstantKernelWarning, stacklevel=3)
            return scores
        unreached = self._map.unreached(R)
        if unreached.any():
            scores[unreached] = self._prior_scores()
            msg = (
                f"{unreached.sum()} of {len(R)} points are not reached by any labelled "
                f"point (their kernel values are all 0) and get {self._unreached_get}. "
                "Label one of them, or join them to the rest (raise n_neighbors, "
                "widen the kernel)."
            )
            warnings.warn(msg, DisconnectedGraphWarning, stacklevel=3)
        return scores

    def _combine(self, scores: FloatArray) -> FloatArray:
        """Return one column for two classes, else one per class."""
        return scores

    def _codes_of(self, scores: FloatArray) -> IntArray:
        """Return the position in `classes_` that decision values speak for, (m,)."""
        if scores.shape[1] == 1:
            return (scores[:, 0] > 0).astype(np.intp)
        best: IntArray = scores.argmax(axis=1)
        return best

    def _transduce(
        self, X: Any, labels: Labels, training: FloatArray | None
    ) -> NDArray[Any]:
        """Return the given labels and, for the other points, predictions."""
        answer: NDArray[Any] = self.classes_[np.maximum(labels.codes, 0)]
        rest = np.setdiff1d(np.arange(len(labels.codes)), labels.labeled)
        if len(rest):
            R = training[rest] if training is not None else self._map.represent(X[rest])
            answer[rest] = self.classes_[self._codes_of(self._scores(R))]
        return answer

    def _make_map(
        self, X: Any, y: ArrayLike, labels: Labels
    ) -> tuple[KernelMap, FloatArray | None]:
        if is_learner(self.kernel):
            self.learner_ = clone(self.kernel).fit(X, y)
            kernel = self.learner_.kernel_
            kernel_map, training = learned_map(kernel, X, labels.labeled)
            if isinstance(self.kernel, FrozenEstimator) and training is not None:
                _check_frozen(kernel, X, len(training), len(labels.codes))
            return kernel_map, training
        return make_map(self.kernel, X, labels.labeled)

    def _weights(self, labels: Labels, sample_weight: ArrayLike | None) -> FloatArray:
        return np.ones(len(labels.labeled))

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        raise NotImplementedError

    def _prior_scores(self) -> FloatArray:
        """Return the decision values that stand for the prior, (q,)."""
        prior = self.class_prior_
        return prior[1:] - prior[:1] if len(prior) == 2 else prior

    def _prior_proba(self) -> FloatArray:
        """Return the probabilities where no label reaches, (n_classes,)."""
        return self.class_prior_

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, Graph):
            return X
        precomputed = is_precomputed(self.kernel)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=False if precomputed else "csr",
            dtype=np.float64,
        )
        if precomputed and reset and X.shape[0] != X.shape[1]:
            msg = (
                f"kernel='precomputed' takes the kernel values of all training points, "
                f"(n, n); got shape {X.shape}."
            )
            raise ValueError(msg)
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        precomputed = is_precomputed(self.kernel)
        learned_from_pairs = (
            is_learner(self.kernel) and get_tags(self.kernel).input_tags.pairwise
        )
        tags.input_tags.pairwise = precomputed or learned_from_pairs
        tags.input_tags.sparse = not precomputed
        return tags


def _why_indistinct(X: Any, kernel_map: KernelMap, training: FloatArray | None) -> str:
    if not isinstance(X, Graph) and all_equal(X):
        return "all training points are equal"
    if is_constant(kernel_map, X, training):
        return (
            "the kernel is constant over the training points (is its gamma too small?)"
        )
    return ""


def _check_frozen(kernel: Any, X: Any, n_known: int, n: int) -> None:
    """Raise unless a frozen learner's kernel was learned on the rows of X."""
    if n_known != n:
        msg = (
            f"the learner is frozen and was fitted to {n_known} points, X has {n}. "
            "Give its `kernel_` for other points."
        )
        raise ValueError(msg)
    if hasattr(kernel, "basis") and hasattr(kernel.basis, "check_rows"):
        kernel.basis.check_rows(X)


def targets_of(labels: Labels) -> FloatArray:
    """Return +1/-1 in one column for two classes, else one-hot 0/1 columns."""
    one_hot = labels.one_hot()
    if one_hot.shape[1] == 2:
        return one_hot[:, 1:] - one_hot[:, :1]
    return one_hot
