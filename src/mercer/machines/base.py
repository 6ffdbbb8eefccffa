"""What the kernel machines share: labels, a kernel map, and what no label reaches."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_same_length, checked_points
from mercer._base.mixins import NestedParameters
from mercer._base.proba import codes_of, lead, probabilities
from mercer._base.ranges import all_equal
from mercer._base.threads import using_threads
from mercer._base.typing import ArrayLike, BoolArray, ClassShares, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.evidence.row_names import warn_if_reordered
from mercer.evidence.score import LabeledScoreMixin
from mercer.exceptions import DisconnectedGraphWarning, NearlyConstantKernelWarning
from mercer.graphs.neighbors import Graph
from mercer.graphs.points import n_points
from mercer.kernels.spec import KernelLike
from mercer.machines._maps import (
    FeatureMap,
    KernelMap,
    is_constant,
    is_learner,
    is_precomputed,
    make_map,
)
from mercer.machines._sizes import (
    ToldSizes,
    known_shares,
    predicted_shares,
    read_sizes,
    size_offsets,
)
from mercer.machines._training import TrainingPoints, TrainingPredictions
from mercer.spectrum.features import DenseFeatures, Features


class Solution(NamedTuple):
    """What a machine found; one column for two classes, else one per class.

    See Also
    --------
    KernelMachine : Keeps it; docs/project/architecture.md has an example.
    """

    coef: FloatArray  # (m, q) weights of the features of the map
    dual_coef: FloatArray  # (l, q)
    intercept: FloatArray  # (q,)


class KernelMachine(
    TrainingPredictions, NestedParameters, LabeledScoreMixin, BaseEstimator
):
    r"""A classifier :math:`f(x) = \sum_i \alpha_i k(x, x_i) + b` over labelled points.

    Subclasses write `_check_parameters` and `_solve`: docs/project/architecture.md has
    an example. `fit` trains on points, `solve` on the features of a kernel.

    See Also
    --------
    RLSClassifier : The shortest subclass.
    Solution : What `_solve` returns.
    """

    kernel: KernelLike | None
    # A machine of your own need not have these two as parameters.
    class_sizes: ClassShares | None = None
    unreached: ClassShares = "prior"
    kernel_: Any  # resolved on the training points; None if precomputed
    learner_: Any  # fitted, if the kernel is to be learned
    classes_: NDArray[Any]
    class_prior_: FloatArray  # (n_classes,)
    labeled_: IntArray
    dual_coef_: FloatArray  # (l, q)
    intercept_: FloatArray  # (q,)
    size_offset_: FloatArray  # (q,) added to the decision to give classes their sizes
    _map: KernelMap
    _given: FloatArray  # (l, n_classes)
    _indistinct: str  # why no training point differs from another, or ""
    _unreached_words: tuple[str, ...] = ("prior",)

    def fit(
        self, X: Any, y: Labels | ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on the labelled points.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            All points, labelled or not; kernel values, (n, n), with
            ``kernel="precomputed"``. A learner may also take a `Graph`.
        y : array-like of shape (n,) or (n, n_classes)
            Labels; -1, None and NaN mark unlabelled points. With two columns or more,
            the shares of the classes in each row; zeros where there is no label.
        sample_weight : array-like of shape (n,), optional
            Weights of the losses: a label of weight 2 is one given twice, one of weight
            0 is none. Those of unlabelled points are not read.
        """
        warn_if_reordered(X, y)
        self._check_parameters()
        X = self._checked(X, reset=True)
        labels = Labels.read(y, n=n_points(X), weights=sample_weight, min_classes=2)
        self._map, training = self._make_map(X, labels)
        if training is None:
            training = self._map.represent(X)
        features = DenseFeatures.plain(training)
        same = "" if isinstance(X, Graph) or not all_equal(X) else _ALL_EQUAL
        self._indistinct = same or _why_constant(features)
        return self._train(labels, features)

    def solve(
        self,
        kernel: Any,
        labels: Labels | ArrayLike,
        *,
        features: Features | None = None,
        rows: IntArray | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train on points that are known by the features of a kernel alone.

        Parameters
        ----------
        kernel : SpectralKernel or other kernel with `features`
            Represents new points.
        labels : Labels or array-like of shape (n,)
            Labels of the points; -1, None and NaN are unlabelled.
        features : Features, optional
            Features of all points, labelled or not; by default of those the kernel
            was learned on.
        rows : int ndarray of shape (n,), optional
            Positions of the points among those the kernel was learned on, where
            `features` are of some.
        sample_weight : array-like of shape (n,), optional
            Weights of the losses.
        """
        self._check_parameters()
        labels = Labels.read(labels, weights=sample_weight, min_classes=2)
        if features is None:
            features = kernel.at_training()
        check_same_length(features, labels.codes, "features", "labels")
        self._map = FeatureMap(kernel, features.rows(labels.labeled))
        self._indistinct = _why_constant(features)
        return self._train(labels, features, rows)

    def _train(
        self, labels: Labels, features: Features, rows: IntArray | None = None
    ) -> Self:
        self.classes_ = labels.classes
        self.labeled_ = labels.labeled
        self.kernel_ = self._map.kernel
        self._given, weights = labels.one_hot(), self._weights(labels)
        shares = weights @ self._given
        self.class_prior_ = shares / shares.sum()
        with using_threads():
            solution = self._solve_all(labels, weights, features, rows)
        self.dual_coef_ = solution.dual_coef
        self.intercept_ = solution.intercept
        self._readout = self._map.readout(solution.coef, solution.dual_coef)
        self._reach_shares = self.class_prior_
        if not isinstance(self.unreached, str):
            self._reach_shares = known_shares(
                self.unreached, self.classes_, "unreached", allow_zero=True
            )
        self.size_offset_ = np.zeros_like(lead(self.class_prior_))
        sizes = self._wanted_sizes(labels)
        if sizes is not None and not self._indistinct:
            self._match(sizes, features)
        self._remember(TrainingPoints.of(features, labels, rows))
        return self

    def _wanted_sizes(self, labels: Labels) -> ToldSizes | None:
        """Return what is known of the shares that the decision is to have."""
        if self.class_sizes is None:
            return None
        return read_sizes(self.class_sizes, labels.classes)

    def _match(self, sizes: ToldSizes, features: Features) -> None:
        """Set the offsets that give the classes their shares of the points reached."""
        unreached = self._map.unreached_of(features)
        if not unreached.all():
            scores = features.times(self._readout)[~unreached]
            scores = self._combine(scores + self.intercept_)
            counts = np.bincount(self._codes_of(scores), minlength=len(self.classes_))
            shares = sizes.nearest(predicted_shares(counts))
            self.size_offset_ = size_offsets(scores, shares)

    def _solve_all(
        self,
        labels: Labels,
        weights: FloatArray,
        features: Features,
        rows: IntArray | None,
    ) -> Solution:
        return self._solve(labels, weights)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the decision values of points.

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            New points; with ``kernel="precomputed"`` their kernel values with all
            training points, (m, n).

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
            For two classes one number, above 0 for ``classes_[1]``.
        """
        scores = self._scores(self.represent(X))
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of points, (m,).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        codes = self._codes_of(self._scores(self.represent(X)))
        return self.classes_[codes]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        Here the logistic function of the decision values, which says which class is
        more likely than which; `TemperatureScaledClassifier` makes the confidence
        right. Points that no labelled point reaches have the shares of the classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        R = self.represent(X)
        return self._proba(self._scores(R), self._map.unreached(R))

    def represent(self, X: ArrayLike) -> FloatArray:
        """Return points as the machine sees them: features or kernel values, (m, k).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        check_is_fitted(self, "dual_coef_")
        return self._map.represent(self._checked(X, reset=False))

    def similarity(self, X: ArrayLike) -> FloatArray:
        """Return the kernel values with the labelled points, (m, n_labeled).

        ``similarity(X) @ dual_coef_ + intercept_`` is the decision, labelled point by
        labelled point.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        return self._map.similarity(self.represent(X))

    def similarity_and_decision(self, R: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `similarity` and decision values, (m, q), of represented points.

        Parameters
        ----------
        R : ndarray of shape (m, k)
            What `represent` returned.
        """
        return self._map.similarity(R), self._scores(R)

    def _scores(self, R: FloatArray) -> FloatArray:
        """Return decision values, (m, q), and the prior where no label reaches."""
        scores = self._combine(R @ self._readout + self.intercept_) + self.size_offset_
        return self._with_prior(scores, self._map.unreached(R))

    def _with_prior(self, scores: FloatArray, unreached: BoolArray) -> FloatArray:
        """Return scores with the prior where no label reaches, and warn."""
        if self._indistinct:
            scores[:] = self._prior_scores()
            msg = (
                f"{self._indistinct}, so that nothing tells the classes apart: "
                f"{len(scores)} points get {self._unreached_get()}."
            )
            warnings.warn(msg, NearlyConstantKernelWarning, stacklevel=4)
        elif unreached.any():
            scores[unreached] = self._prior_scores()
            msg = (
                f"{unreached.sum()} of {len(scores)} points are not reached by any "
                "labelled point (their kernel values are all 0) and get "
                f"{self._unreached_get()}. Label one of them, or join them to the rest "
                "(raise n_neighbors, widen the kernel)."
            )
            warnings.warn(msg, DisconnectedGraphWarning, stacklevel=4)
        return scores

    def _unreached_get(self) -> str:
        if not isinstance(self.unreached, str):
            return "the shares given as unreached="
        if self.unreached == "intercept":
            return "the decision of the intercept alone"
        return "the class shares of the labelled points"

    def _proba(self, scores: FloatArray, unreached: BoolArray) -> FloatArray:
        proba = self._proba_of(scores)
        proba[unreached | bool(self._indistinct)] = self._prior_proba()
        return proba

    def _proba_of(self, scores: FloatArray) -> FloatArray:
        return probabilities(scores)

    def _combine(self, scores: FloatArray) -> FloatArray:
        """Return one column for two classes, else one per class."""
        return scores

    def _codes_of(self, scores: FloatArray) -> IntArray:
        """Return the position in `classes_` of the predicted classes, (m,)."""
        return codes_of(scores)

    def _make_map(self, X: Any, labels: Labels) -> tuple[KernelMap, FloatArray | None]:
        if not is_learner(self.kernel):
            return make_map(self.kernel, X, labels.labeled)
        if isinstance(self.kernel, FrozenEstimator):
            msg = (
                "kernel is a frozen learner, which may know other points than X. Give "
                "its `kernel_`, or call `solve` with its features."
            )
            raise TypeError(msg)
        self.learner_ = clone(self.kernel).fit(X, labels.given())
        kernel = self.learner_.kernel_
        if not hasattr(kernel, "features"):
            return make_map(kernel, X, labels.labeled)
        training = kernel.features()
        return FeatureMap(kernel, training[labels.labeled]), training

    def _weights(self, labels: Labels) -> FloatArray:
        return labels.weight()

    def _check_parameters(self) -> None:
        words = self._unreached_words
        if isinstance(self.unreached, str) and self.unreached not in words:
            allowed = " or ".join(map(repr, words))
            msg = (
                f"unreached must be {allowed}, or the shares of the classes; got "
                f"{self.unreached!r}."
            )
            raise ValueError(msg)

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        raise NotImplementedError

    def _prior_scores(self) -> FloatArray:
        """Return the decision values that stand for the prior, (q,)."""
        return lead(self._reach_shares)

    def _prior_proba(self) -> FloatArray:
        """Return the probabilities where no label reaches, (n_classes,)."""
        return self._reach_shares

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, Graph):
            return X
        precomputed = is_precomputed(self.kernel)
        X = checked_points(
            X, self, reset=reset, sparse=not precomputed, tensors=not precomputed
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


_ALL_EQUAL = "all training points are equal"


def _why_constant(features: Features) -> str:
    if not is_constant(features):
        return ""
    return "the kernel is constant over the training points (is its gamma too small?)"
