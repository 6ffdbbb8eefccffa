"""A classifier of pairs: the same, or not."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_array, check_scalar, column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import checked_points
from mercer._base.proba import log_of
from mercer._base.random import as_generator
from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray, RandomState
from mercer.evidence.pairs.thresholds import best_cut, check_strategy
from mercer.evidence.row_names import positions_of, row_ids
from mercer.kernels.spec import Featured, Fittable
from mercer.learners._pair_blend import blend, calibrate, links, relearned
from mercer.learners.pairwise import PairwiseKernel


class PairClassifier(ClassifierMixin, BaseEstimator):
    r"""Tells whether two points belong together, from pairs that do and do not.

    A kernel is learned from the pairs, and blended with two simpler ones: diffusion on
    the graph of all points, which needs no pair, and the columns in a linear metric,
    for which few pairs are enough. Shares are those that predict held-out pairs. Pairs
    that are near in the blend are called the same.

    Parameters
    ----------
    learner : learner or None, default=None
        Takes ``fit(X, pairs=pairs)``; None is `PairwiseKernel`.
    preprocessor : array-like or data frame of shape (n, n_features), default=None
        All points, in pairs or not: pairs are then row numbers, or row names of a data
        frame, and other points take part as well. None: pairs hold the points
        themselves.
    cv : int or None, default=5
        Folds of pairs whose held-out similarities set the shares of the kernels, the
        threshold and the probabilities; fewer where there are fewer pairs of a kind.
        None takes similarities of the training pairs, which are larger than they should
        be, and equal shares.
    random_state : int, Generator, RandomState or None, default=None
        Deals the folds; for the default learner.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second one means the same.
    kernel_ : BlendedKernel
        Scores of the learned kernel, the graph and the columns.
    learner_ : fitted learner
    shares_ : ndarray of shape (3,)
        Shares of the learned kernel, the graph and the columns.
    threshold_ : float
        Pairs are the same where minus the similarity is not above it.
    n_features_in_ : int

    See Also
    --------
    PairwiseKernel : The kernel it is made of.
    mercer.model_selection.PairKFold : Folds of pairs.

    Notes
    -----
    The contract of metric-learn: ``fit(pairs, y)`` with pairs of shape (m, 2, d), or
    (m, 2) with a `preprocessor`; `predict`, `decision_function`, `score`,
    `pair_score`, `pair_distance`, `get_metric`, `transform`, `set_threshold` and
    `calibrate_threshold`. There is no Mahalanobis matrix: the kernel is not linear.
    The distance is that of the features of `kernel_`, for `DBSCAN` and neighbours, and
    the similarity is 1 minus half its square.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, t = load_iris(return_X_y=True)
    >>> ends = np.random.default_rng(0).integers(0, 150, (100, 2))
    >>> y = np.where(t[ends[:, 0]] == t[ends[:, 1]], 1, -1)
    >>> model = PairClassifier(preprocessor=X, random_state=0).fit(ends[:60], y[:60])
    >>> model.score(ends[60:], y[60:]) > 0.9
    True
    """

    def __init__(
        self,
        learner: Fittable | None = None,
        preprocessor: ArrayLike | None = None,
        *,
        cv: int | None = 5,
        random_state: RandomState = None,
    ) -> None:
        self.learner = learner
        self.preprocessor = preprocessor
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        pairs: ArrayLike,
        y: ArrayLike,
        calibration_params: dict[str, Any] | None = None,
    ) -> Self:
        """Learn the kernel, the threshold and the probabilities.

        Parameters
        ----------
        pairs : array-like of shape (m, 2, n_features) or (m, 2)
            Points, or rows of the `preprocessor`.
        y : array-like of shape (m,)
            Two values; the larger one means the same (1 and -1, 1 and 0, booleans).
        calibration_params : dict, optional
            As `calibrate_threshold` takes them; most pairs right by default.
        """
        rule = dict(calibration_params or {})
        check_strategy(**rule)
        if self.cv is not None:
            check_scalar(self.cv, "cv", Integral, min_val=2)
        points, ends = self._read(pairs, fitting=True)
        same = self._sides(y, len(ends))
        rng = as_generator(self.random_state)
        seed = int(rng.integers(2**31))
        learner = self.learner
        if learner is None:
            learner = PairwiseKernel(random_state=seed)
        found = links(ends, same, points.shape[0])
        self.learner_ = clone(learner).fit(points, pairs=found)
        blended = blend(
            self.learner_.kernel_,
            relearned(self.learner_, points),
            points,
            ends,
            same,
            n_folds=self._folds(same),
            seed=seed,
        )
        self.kernel_ = blended.kernel
        self.shares_ = np.array(blended.kernel.shares)
        self._line = calibrate(blended.scores, same)[:2]
        self.threshold_ = -best_cut(blended.scores, same, **rule)
        return self

    def decision_function(self, pairs: ArrayLike) -> FloatArray:
        """Return the similarity of each pair, (m,).

        Parameters
        ----------
        pairs : array-like of shape (m, 2) or (m, 2, n_features)
            Numbers of rows, or the points themselves.
        """
        return 1 - self.pair_distance(pairs) ** 2 / 2

    pair_score = decision_function  # as metric-learn calls it

    def pair_distance(self, pairs: ArrayLike) -> FloatArray:
        """Return the distance of each pair in the features of the kernel, (m,).

        Parameters
        ----------
        pairs : array-like of shape (m, 2) or (m, 2, n_features)
            Numbers of rows, or the points themselves.
        """
        left, right = self._features(pairs)
        return np.asarray(np.linalg.norm(left - right, axis=1))

    def predict(self, pairs: ArrayLike) -> NDArray[Any]:
        """Return one of `classes_` for each pair, (m,).

        Parameters
        ----------
        pairs : array-like of shape (m, 2) or (m, 2, n_features)
            Numbers of rows, or the points themselves.
        """
        scores = self.decision_function(pairs)
        return self.classes_[(-scores <= self.threshold_).astype(np.intp)]

    def predict_proba(self, pairs: ArrayLike) -> FloatArray:
        """Return the probabilities of both classes, (m, 2), from held-out pairs.

        Parameters
        ----------
        pairs : array-like of shape (m, 2) or (m, 2, n_features)
            Numbers of rows, or the points themselves.
        """
        scores = self.decision_function(pairs)
        p = expit(self._line[0] * scores + self._line[1])
        return np.column_stack([1 - p, p])

    def predict_log_proba(self, pairs: ArrayLike) -> FloatArray:
        """Return the logarithm of `predict_proba`, (m, 2).

        Parameters
        ----------
        pairs : array-like of shape (m, 2) or (m, 2, n_features)
            Numbers of rows, or the points themselves.
        """
        return log_of(self.predict_proba(pairs))

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return features whose inner products are the kernel, (n, r).

        Parameters
        ----------
        X : array-like of shape (n, n_features) or (n,)
            Points, or rows of the `preprocessor`.
        """
        check_is_fitted(self, "kernel_")
        if self.preprocessor is not None and np.ndim(X) == 1:
            X = self._points()[self._numbers(np.asarray(X))]
        return np.asarray(self.kernel_.features(checked_points(X, sparse=False)))

    def get_metric(self) -> "KernelMetric":
        """Return the distance of two points, for `DBSCAN` or `KNeighborsClassifier`.

        It remembers the features of points that it has met, and does not change when
        the classifier is fitted again.
        """
        check_is_fitted(self, "kernel_")
        return KernelMetric(self.kernel_)

    def set_threshold(self, threshold: float) -> Self:
        """Call pairs the same where minus the similarity is not above `threshold`.

        Parameters
        ----------
        threshold : float
            Of `predict`.
        """
        check_is_fitted(self, "kernel_")
        if not isinstance(threshold, Real):
            msg = f"threshold must be a real number, got {type(threshold).__name__}."
            raise ValueError(msg)
        if np.isnan(threshold):
            msg = "threshold is NaN; -inf calls no pair the same, inf every pair."
            raise ValueError(msg)
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self,
        pairs_valid: ArrayLike,
        y_valid: ArrayLike,
        strategy: str = "accuracy",
        min_rate: float | None = None,
        beta: float = 1.0,
    ) -> Self:
        """Choose the threshold on other pairs.

        Parameters
        ----------
        pairs_valid, y_valid : array-like
            As in `fit`.
        strategy : {"accuracy", "f_beta", "max_tpr", "max_tnr"}, default="accuracy"
            See `mercer.evidence.pairs.thresholds.best_cut`. "max_tpr" with
            ``min_rate=0.99`` allows one false alarm in a hundred different pairs.
        min_rate : float, optional
            Of "max_tpr" and "max_tnr".
        beta : float, default=1.0
            Of "f_beta".
        """
        rule: dict[str, Any] = {"strategy": strategy, "min_rate": min_rate}
        check_strategy(**rule, beta=beta)
        scores = self.decision_function(pairs_valid)
        same = np.asarray(column_or_1d(y_valid)) == self.classes_[1]
        self.threshold_ = -best_cut(scores, same, **rule, beta=beta)
        return self

    def _folds(self, same: BoolArray) -> int:
        """Return in how many folds pairs are held out; 1 for none."""
        fewest = int(min(same.sum(), (~same).sum()))
        return 1 if self.cv is None else min(self.cv, fewest)

    def _features(self, pairs: ArrayLike) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self, "kernel_")
        points, ends = self._read(pairs, fitting=False)
        used, ends = np.unique(ends, return_inverse=True)
        Phi = np.asarray(self.kernel_.features(np.asarray(points)[used]))
        left, right = ends.reshape(-1, 2).T
        return Phi[left], Phi[right]

    def _read(self, pairs: ArrayLike, *, fitting: bool) -> tuple[Any, IntArray]:
        """Return points and the rows of both ends of each pair, (m, 2)."""
        if self.preprocessor is not None:
            ends = check_array(pairs, dtype=None, ensure_all_finite=False)
            _check_two(ends)
            points = self._points()
            flat = self._numbers(ends.ravel()).reshape(-1, 2)
        else:
            tuples = checked_points(pairs, sparse=False, allow_nd=True)
            if tuples.ndim != 3:
                msg = (
                    f"pairs must have the shape (m, 2, n_features), got {tuples.shape};"
                    " for pairs of row numbers give the points as preprocessor."
                )
                raise ValueError(msg)
            _check_two(tuples)
            rows = tuples.reshape(-1, tuples.shape[2])
            points, flat = np.unique(rows, axis=0, return_inverse=True)
            flat = flat.reshape(-1, 2)
        if fitting:
            self.n_features_in_ = int(points.shape[1])
        elif points.shape[1] != self.n_features_in_:
            msg = (
                f"the points have {points.shape[1]} features, but PairClassifier is "
                f"expecting {self.n_features_in_} features as input."
            )
            raise ValueError(msg)
        return points, flat

    def _points(self) -> Any:
        return checked_points(self.preprocessor, sparse=False)

    def _numbers(self, names: NDArray[Any]) -> IntArray:
        n = self._points().shape[0]
        return positions_of(names, row_ids(self.preprocessor, n))

    def _sides(self, y: ArrayLike, n_pairs: int) -> BoolArray:
        values = np.asarray(column_or_1d(y))
        if len(values) != n_pairs:
            msg = f"there are {n_pairs} pairs and {len(values)} answers in y."
            raise ValueError(msg)
        if not np.isin(values, (-1, 0, 1)).all() or len(np.unique(values)) != 2:
            msg = (
                "y must hold two values, of which the larger means the same: 1 and -1, "
                f"1 and 0, or True and False; got {np.unique(values)[:5].tolist()}."
            )
            raise ValueError(msg)
        self.classes_ = np.unique(values)
        return np.asarray(values == self.classes_[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.two_d_array = self.preprocessor is not None
        tags.classifier_tags.multi_class = False
        return tags


class KernelMetric:
    """The distance of two points in the features of a kernel."""

    def __init__(self, kernel: Featured) -> None:
        self.kernel = kernel
        self._known: dict[bytes, FloatArray] = {}

    def __call__(self, u: ArrayLike, v: ArrayLike, squared: bool = False) -> float:
        """Return the distance of two vectors, or its square."""
        left, right = self._features(u), self._features(v)
        distance = float(np.linalg.norm(left - right))
        return distance**2 if squared else distance

    def _features(self, point: ArrayLike) -> FloatArray:
        row = np.asarray(point, dtype=np.float64)
        if row.size != row.shape[-1]:
            msg = f"a metric compares two vectors, got shape {row.shape}."
            raise ValueError(msg)
        row = row.ravel()
        key = row.tobytes()
        if key not in self._known:
            self._known[key] = self.kernel.features(row[None])[0]
        return self._known[key]


def _check_two(tuples: NDArray[Any]) -> None:
    if tuples.shape[1] != 2:
        msg = f"a pair has two ends, got {tuples.shape[1]} in shape {tuples.shape}."
        raise ValueError(msg)
