"""scikit-activeml here and there: strategies, queries, and a classifier with a pool.

Needs ``mercer[activeml]``.
"""

import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._base.extras import require
from mercer._base.proba import probabilities
from mercer._base.typing import FloatArray, IntArray
from mercer.active.pool import KnownPool, LearnedPool, known_pool, share_pool
from mercer.evidence.reading import UNLABELED

require("skactiveml", extra="activeml", purpose="The adapter of scikit-activeml")

from skactiveml import utils as _utils  # noqa: E402
from skactiveml.base import (  # noqa: E402
    SingleAnnotatorPoolQueryStrategy,
    SkactivemlClassifier,
)

MISSING: Any = _utils.MISSING_LABEL


def from_skactiveml(strategy: Any, **arguments: Any) -> Callable[..., IntArray]:
    """Return a query for `UnifiedKernelMachine` from a pool strategy.

    Parameters
    ----------
    strategy : skactiveml.base.SingleAnnotatorPoolQueryStrategy
        It sees the learned features as points. One that asks for a classifier gets
        the model itself, which learns again where the strategy tries labels; one that
        asks for an ensemble gets the model and three others trained on the features.
    **arguments : object
        Further arguments of its `query`, e.g. ``discriminator=...``.

    Examples
    --------
    ``UnifiedKernelMachine(query=from_skactiveml(CoreSet()))``
    """
    wanted = set(inspect.signature(strategy.query).parameters)

    def query(model: Any, n: int, rng: np.random.Generator) -> IntArray:
        features = np.asarray(model.kernel_.features())
        n_classes = len(model.classes_)
        codes = np.full(len(features), np.nan)
        codes[model.labeled_] = np.searchsorted(
            model.classes_, model.transduction_[model.labeled_]
        )
        asker = clone(strategy)
        settings: dict[str, Any] = {
            "missing_label": np.nan,
            "random_state": int(rng.integers(2**31)),
            "classes": list(range(n_classes)),
        }
        known = asker.get_params(deep=False)
        asker.set_params(**{k: v for k, v in settings.items() if k in known})
        given = dict(arguments)
        own = FeatureClassifier.of(model, features, codes)
        if "clf" in wanted and "clf" not in given:
            given["clf"] = own
            if "fit_clf" in wanted:  # those that try labels train it themselves
                given.setdefault("fit_clf", "ignore_partial_fit" in wanted)
        if "estimator" in wanted and "estimator" not in given:
            given |= {"estimator": own, "fit_estimator": False}
        if "ensemble" in wanted and "ensemble" not in given:
            given |= {"ensemble": committee(own, features, codes, rng)}
            given["fit_ensemble"] = False
        if "discriminator" in wanted and "discriminator" not in given:
            given["discriminator"] = _discriminator(rng)
        n = min(n, len(features) - len(model.labeled_))
        if n == 0:
            return np.empty(0, dtype=np.intp)
        return np.asarray(asker.query(features, codes, batch_size=n, **given))

    return query


class PoolSkactivemlClassifier(SkactivemlClassifier):
    """The default model as a classifier of scikit-activeml; unlabelled rows count.

    `SklearnClassifier` drops the rows without a label before it fits. This one keeps
    them, and those of a pool that it was given.

    Parameters
    ----------
    model : UnifiedKernelMachine
        Cloned.
    pool : array-like of shape (n, n_features), default=None
        All points, if `fit` is given some of them only.
    classes, missing_label, cost_matrix, random_state
        As in `skactiveml.base.SkactivemlClassifier`.
    """

    def __init__(
        self,
        model: Any,
        pool: Any = None,
        classes: Any = None,
        missing_label: Any = MISSING,
        cost_matrix: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classes=classes,
            missing_label=missing_label,
            cost_matrix=cost_matrix,
            random_state=random_state,
        )
        self.model = model
        self.pool = pool

    def fit(self, X: Any, y: Any) -> Self:
        """Train on all rows, labelled or not.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows of the pool, or others.
        y : array-like of shape (m,)
            Labels, and `missing_label` where there is none.
        """
        points, codes, _ = self._validate_data(X, y)
        if len(points) == 0:
            self._learned = LearnedPool(
                KnownPool(np.empty((0, 0)), self.model), None, np.empty(0, np.intp)
            )
            return self
        points = np.asarray(points, dtype=np.float64)
        self._known = known_pool(self, points)
        self._learned = self._known.learn(points, np.asarray(codes, np.intp))
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every class, (m, n_classes)."""
        check_is_fitted(self, "_learned")
        points = check_array(X, dtype=np.float64)
        _utils.check_n_features(self, points, reset=self.n_features_in_ is None)
        return self._learned.proba(points, len(self.classes_))

    def __sklearn_clone__(self) -> Any:
        return share_pool(self)


class FeatureClassifier(PoolSkactivemlClassifier):
    """A fitted model as a classifier of its own training features.

    Features that are not those of a training row (a strategy may change them) are
    judged by the linear function of features that gives the model's own decisions.
    """

    @classmethod
    def of(cls, model: Any, features: FloatArray, codes: FloatArray) -> Any:
        """Return the classifier that a model is on its features."""
        made = cls(model, features, classes=list(range(len(model.classes_))))
        made._known = _FeaturePool(features, model)
        made._made_of = (id(features), id(model))
        return made.fit(features, codes)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn other labels of the training rows; weights are not supported."""
        if sample_weight is not None:
            msg = "the model has no weights of labels; leave sample_weight out."
            raise ValueError(msg)
        return super().fit(X, y)


class _FeaturePool(KnownPool):
    """Features of the training rows; the model itself knows the points."""

    def learn(self, X: FloatArray, codes: IntArray) -> LearnedPool:
        y = np.full(len(self.points), UNLABELED)
        rows = self.rows_of(X)
        if (rows < 0).any():
            msg = (
                f"{int((rows < 0).sum())} of {len(rows)} points are not among the "
                "features of the training rows, which are all that can be labelled."
            )
            raise ValueError(msg)
        y[rows] = np.maximum(y[rows], codes)
        found = np.unique(y[y != UNLABELED])
        if len(found) < 2:
            return LearnedPool(self, None, found)
        names = self.model.classes_
        kind = names.dtype if names.dtype.kind in "if" else object
        labels = np.full(len(y), -1 if kind is not object else None, dtype=kind)
        labels[y != UNLABELED] = names[y[y != UNLABELED]]
        return _OnFeatures(self, self.model.with_labels(labels), found)


class _OnFeatures(LearnedPool):
    def _elsewhere(self, X: FloatArray) -> FloatArray:
        scores = np.log(np.maximum(self.model.training_proba(), 1e-300))
        scores -= scores.mean(axis=1, keepdims=True)
        ones = np.ones((len(self.pool.points), 1))
        readout = np.linalg.lstsq(np.hstack([self.pool.points, ones]), scores)[0]
        return probabilities(X @ readout[:-1] + readout[-1])


def committee(
    own: Any, features: FloatArray, codes: FloatArray, rng: np.random.Generator
) -> list[Any]:
    """Return the model and three classifiers of its features, all fitted."""
    from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    seed = int(rng.integers(2**31))
    others = [
        ParzenWindowClassifier(classes=own.classes, random_state=seed),
        SklearnClassifier(LogisticRegression(), classes=own.classes, random_state=seed),
        SklearnClassifier(
            GaussianNB(var_smoothing=1e-3), classes=own.classes, random_state=seed
        ),
    ]
    return [own, *(member.fit(features, codes) for member in others)]


def _discriminator(rng: np.random.Generator) -> Any:
    from skactiveml.classifier import SklearnClassifier
    from sklearn.linear_model import LogisticRegression

    return SklearnClassifier(
        LogisticRegression(), classes=[0, 1], random_state=int(rng.integers(2**31))
    )


class KernelQuery(SingleAnnotatorPoolQueryStrategy):
    """A strategy of scikit-activeml that asks what a model would ask.

    Parameters
    ----------
    model : UnifiedKernelMachine
        Cloned and fitted to the X and y of each query; its `query` decides. With fewer
        than two classes the rows are typical and diverse ones.
    missing_label, random_state
        As in `skactiveml.base.PoolQueryStrategy`.
    """

    def __init__(
        self, model: Any, missing_label: Any = MISSING, random_state: Any = None
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.model = model

    def query(
        self,
        X: Any,
        y: Any,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """Return the rows to ask about, and how useful each row was at each choice.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            All points.
        y : array-like of shape (n,)
            Labels, and `missing_label` where there is none.
        candidates : None, array-like of int, or array-like of points
            What may be asked about; by default the rows without a label.
        batch_size : int, default=1
            How many.
        return_utilities : bool, default=False
            Also return utilities, (batch_size, n_candidates). They are ranks: the row
            taken first has the largest.
        """
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        points, mapping = self._transform_candidates(candidates, X, y)
        first = 0
        if mapping is None:  # points of their own, which join the others
            first, mapping = len(X), len(X) + np.arange(len(points))
            X = np.vstack([X, points])
        chosen = self._ask(X, y, np.asarray(mapping), batch_size)
        rank = np.zeros(len(X))
        rank[chosen] = np.arange(len(chosen), 0, -1)
        utilities = np.full((batch_size, len(X)), np.nan)
        for step in range(batch_size):
            left = np.setdiff1d(mapping, chosen[:step])
            utilities[step, left] = rank[left]
        chosen, utilities = chosen - first, utilities[:, first:]
        return (chosen, utilities) if return_utilities else chosen

    def _ask(self, points: Any, y: Any, candidates: IntArray, n: int) -> IntArray:
        known = np.flatnonzero(_utils.is_labeled(y, self.missing_label_))
        seed = int(np.random.default_rng(_seed_of(self.random_state_)).integers(2**31))
        codes = np.unique(np.asarray(y)[known], return_inverse=True)[1]
        labels = np.full(len(points), UNLABELED)
        labels[known] = codes
        model = clone(self.model)
        if model.get_params(deep=False).get("random_state") is None:
            model.set_params(random_state=seed)
        model.fit(points, labels)
        silent = np.setdiff1d(np.arange(len(points)), np.r_[known, candidates])
        again = np.intersect1d(known, candidates)  # labelled, and to be asked about
        rows = np.asarray(model.ask(n, exclude=silent))
        short = n - len(rows)
        return np.r_[rows, again[:short]].astype(np.intp) if short > 0 else rows


def _seed_of(random_state: Any) -> list[int]:
    """Return numbers that a RandomState stands for, without drawing from it."""
    return [int(v) for v in random_state.get_state()[1][:4]]


def to_skactiveml(
    model: Any, missing_label: Any = MISSING, random_state: Any = None
) -> KernelQuery:
    """Return a scikit-activeml strategy that asks what a model would ask.

    Parameters
    ----------
    model : UnifiedKernelMachine
        Cloned and fitted to the X and y of each query; its `query` decides.
    missing_label, random_state
        As in `skactiveml.base.PoolQueryStrategy`.
    """
    return KernelQuery(model, missing_label=missing_label, random_state=random_state)
