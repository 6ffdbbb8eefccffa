"""Strategies of scikit-activeml here, and the queries of this library there."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer._labels import encode_labels
from mercer._typing import IntArray


def from_skactiveml(strategy: Any) -> Callable[..., IntArray]:
    """Return a query for `UnifiedKernelMachine` from a pool strategy.

    Parameters
    ----------
    strategy : skactiveml.base.SingleAnnotatorPoolQueryStrategy
        It sees the learned features as points. One that asks for a classifier gets
        the model itself, already fitted.

    Examples
    --------
    ``UnifiedKernelMachine(query=from_skactiveml(CoreSet()))``
    """
    wants_model = "clf" in inspect.signature(strategy.query).parameters

    def query(model: Any, n: int, rng: np.random.Generator) -> IntArray:
        features = model.kernel_.features()
        codes = np.full(len(features), np.nan)
        codes[model.labeled_] = np.searchsorted(
            model.classes_, model.transduction_[model.labeled_]
        )
        asker = clone(strategy).set_params(
            missing_label=np.nan, random_state=int(rng.integers(2**31))
        )
        extra = {"clf": _as_classifier(model), "fit_clf": False} if wants_model else {}
        return np.asarray(asker.query(features, codes, batch_size=n, **extra))

    return query


def _as_classifier(model: Any) -> Any:
    """Return the fitted model as a classifier of its own training features."""
    from skactiveml.base import SkactivemlClassifier

    class Fitted(SkactivemlClassifier):
        """Knows the probabilities of the training rows, found by their features."""

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict_proba(self, X: Any) -> Any:
            proba = model.training_proba()
            if len(X) == len(proba):
                return proba
            rest = np.setdiff1d(np.arange(len(proba)), model.labeled_)
            return proba[rest]

    fitted = Fitted(classes=list(range(len(model.classes_))))
    fitted.classes_ = np.arange(len(model.classes_))
    return fitted


def to_skactiveml(model: Any) -> Any:
    """Return a scikit-activeml strategy that asks what a model would ask.

    Parameters
    ----------
    model : UnifiedKernelMachine
        Cloned and fitted to the X and y of each query; its `query` decides.

    Returns
    -------
    skactiveml.base.SingleAnnotatorPoolQueryStrategy
    """
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy

    class Asks(SingleAnnotatorPoolQueryStrategy):
        """What the model would ask, in scikit-activeml's words."""

        def __init__(
            self, model: Any, missing_label: Any = np.nan, random_state: Any = None
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
        ) -> NDArray[Any]:
            if candidates is not None or return_utilities:
                msg = "candidates and return_utilities are not supported."
                raise ValueError(msg)
            encode_labels(y)
            return np.asarray(clone(self.model).fit(X, y).ask(batch_size))

    return Asks(model)
