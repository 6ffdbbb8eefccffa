"""A classifier that keeps the pool, for loops that pass it labelled rows only."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import checked_points
from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED
from mercer.evidence.row_names import warn_if_reordered
from mercer.evidence.score import LabeledScoreMixin


@dataclass(eq=False)
class KnownPool:
    """Points found again by their values, and the model of them."""

    points: FloatArray  # (n, d), all of them
    model: Any  # fitted to these points or not; one that is shares its basis

    def __post_init__(self) -> None:
        self._rows: dict[bytes, list[int]] = {}
        for row, key in enumerate(_keys(self.points)):
            self._rows.setdefault(key, []).append(row)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: the rows are found again from the points."""
        return {"points": self.points, "model": self.model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def rows_of(self, X: FloatArray) -> IntArray:
        """Return the first row equal to each point, or -1, (m,)."""
        return np.array([self._rows.get(key, [-1])[0] for key in _keys(X)], np.intp)

    def learn(self, X: FloatArray, codes: IntArray) -> "LearnedPool":
        """Return a model of the pool with the labels of some of its points.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Points; those that are not in the pool join it.
        codes : ndarray of shape (m,)
            Their classes, or -1.
        """
        y = np.full(len(self.points), UNLABELED)
        new = []
        for i, key in enumerate(_keys(X)):
            # Equal points get a row each; one more with another label is new.
            free = (r for r in self._rows.get(key, []) if y[r] in (UNLABELED, codes[i]))
            row = next(free, None)
            if row is not None:
                y[row] = max(y[row], codes[i])
            else:
                new.append(i)
        if len(np.unique(y[y != UNLABELED])) + len(np.unique(codes[new])) < 2:
            known = codes[codes != UNLABELED]
            return LearnedPool(self, None, np.unique(known))
        if new:
            points = np.vstack([self.points, X[new]])
            grown = KnownPool(points, clone(self.model))
            model = grown.model.fit(points, np.append(y, codes[new]))
            return LearnedPool(grown, model, model.classes_)
        if not hasattr(self.model, "machine_"):
            self.model = clone(self.model).fit(self.points, y)
            return LearnedPool(self, self.model, self.model.classes_)
        model = self.model.with_labels(y)
        return LearnedPool(self, model, model.classes_)


@dataclass(frozen=True, eq=False)
class LearnedPool:
    """What `KnownPool.learn` found."""

    pool: KnownPool
    model: Any  # None with fewer than two classes
    classes: IntArray  # codes that the model knows

    def proba(self, X: FloatArray, n_classes: int) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        With one class it is certain, with none all are as likely.
        """
        if self.model is None:
            P = np.zeros((len(X), n_classes))
            P[:, self.classes if len(self.classes) else slice(None)] = 1.0
            P /= P.sum(axis=1, keepdims=True)
            return P
        rows = self.pool.rows_of(X)
        known = rows >= 0
        P = np.zeros((len(X), n_classes))
        inside: FloatArray = np.empty((len(X), len(self.classes)))
        if known.any():
            inside[known] = self.model.training_proba()[rows[known]]
        if not known.all():
            inside[~known] = self._elsewhere(X[~known])
        P[:, self.classes] = inside
        return P

    def _elsewhere(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.model.predict_proba(X))


class PoolClassifier(LabeledScoreMixin, BaseEstimator):
    """The default model inside loops that train on labelled rows only.

    modAL, and wrappers of scikit-activeml, call ``fit(X[labelled], y[labelled])``. A
    model that learns from all points would see six of them. This one is given all
    points once and finds the labelled rows among them.

    Parameters
    ----------
    model : UnifiedKernelMachine
        Cloned.
    pool : array-like of shape (n, n_features), default=None
        All points. None: the rows that `fit` is given.
    classes : array-like, default=None
        All classes, if some may not be labelled yet.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : fitted UnifiedKernelMachine, or None with fewer than two classes
    n_features_in_ : int

    Notes
    -----
    The basis is computed once for a pool and shared by clones. Rows that are not in
    the pool join it, which costs a new basis.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import UnifiedKernelMachine
    >>> X, y = make_moons(150, noise=0.05, random_state=0)
    >>> few = [0, 1, 2, 3, 4, 5]
    >>> PoolClassifier(UnifiedKernelMachine(), X).fit(X[few], y[few]).score(X, y) > 0.9
    True
    """

    def __init__(
        self, model: Any, pool: Any = None, classes: ArrayLike | None = None
    ) -> None:
        self.model = model
        self.pool = pool
        self.classes = classes

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on the pool with the labels of these rows.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows of the pool, or others.
        y : array-like of shape (m,)
            Labels; -1, None and NaN mark unlabelled rows.
        """
        warn_if_reordered(X, y)
        points = checked_points(X, self, sparse=False)
        self.classes_, codes = coded(y, self.classes)
        self._known = known_pool(self, points)
        self._learned = self._known.learn(points, codes)
        self.model_ = self._learned.model
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of every class, (m, n_classes)."""
        check_is_fitted(self, "classes_")
        points = checked_points(X, self, reset=False, sparse=False)
        return self._learned.proba(points, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of points, (m,)."""
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def __sklearn_clone__(self) -> Any:
        return share_pool(self)


def known_pool(estimator: Any, points: FloatArray) -> KnownPool:
    """Return the pool of an estimator: the one it has, or one of its own parameters."""
    if estimator.pool is None:
        return KnownPool(points, clone(estimator.model))
    known: KnownPool | None = getattr(estimator, "_known", None)
    made_of = getattr(estimator, "_made_of", None)
    if known is None or made_of != (id(estimator.pool), id(estimator.model)):
        pool = checked_points(estimator.pool, sparse=False)
        known = KnownPool(pool, clone(estimator.model))
        estimator._made_of = (id(estimator.pool), id(estimator.model))
    return known


def share_pool(estimator: Any) -> Any:
    """Return a clone that shares the pool and its basis, unfitted."""
    copy = type(estimator)(**estimator.get_params(deep=False))
    for name in ("_known", "_made_of"):
        if hasattr(estimator, name) and estimator.pool is not None:
            setattr(copy, name, getattr(estimator, name))
    return copy


def coded(y: ArrayLike, given: ArrayLike | None) -> tuple[NDArray[Any], IntArray]:
    """Return the classes, and codes of labels among these; some may have no label."""
    if given is None:
        labels = Labels.read(y, min_classes=1)
        return labels.classes, labels.codes
    classes = np.unique(np.asarray(given))
    labels = Labels.read(y)
    codes = labels.codes.copy()
    if not len(labels.classes):
        return classes, codes
    unknown = np.setdiff1d(labels.classes, classes)
    if len(unknown):
        msg = (
            f"y contains {unknown.tolist()}, which are not in "
            f"classes={classes.tolist()}."
        )
        raise ValueError(msg)
    place = np.searchsorted(classes, labels.classes)
    codes[labels.labeled] = place[labels.codes[labels.labeled]]
    return classes, codes


def _keys(X: FloatArray) -> list[bytes]:
    # Adding zero turns -0.0 into 0.0.
    return [row.tobytes() for row in np.ascontiguousarray(X, dtype=np.float64) + 0.0]
