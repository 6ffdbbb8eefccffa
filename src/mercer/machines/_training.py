"""What a machine says of the points that it was trained on, once somebody looks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._base.threads import using_threads
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.machines._maps import KernelMap
from mercer.spectrum.features import Features

# Limit of work: predictions of more points wait until somebody looks at them. Those of
# fewer take no time, and warnings about them come when they are trained on.
AT_ONCE_UP_TO = 20_000
_KNOWN = ("training_proba_", "transduction_")


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPoints:
    """Points that a machine was trained on, as far as predicting them needs them."""

    features: Features
    codes: IntArray  # (n,) of given labels, -1 where there is none
    rows: IntArray | None  # which of the points of the kernel they are; None for all

    @classmethod
    def of(
        cls, features: Features, labels: Labels, rows: IntArray | None
    ) -> "TrainingPoints":
        """Keep what predicting needs."""
        return cls(features, labels.codes, rows)

    def take(self, some: IntArray) -> "TrainingPoints":
        """Return some of the points."""
        rows = some if self.rows is None else self.rows[some]
        return TrainingPoints(self.features.take(some), self.codes[some], rows)


class TrainingPredictions:
    """Predictions of the training points, computed when they are first looked at."""

    classes_: NDArray[Any]
    labeled_: IntArray
    size_offset_: FloatArray
    intercept_: FloatArray
    _map: KernelMap
    _given: FloatArray
    _readout: FloatArray
    _own: TrainingPoints | None = None

    def _remember(self, own: TrainingPoints) -> None:
        """Take note of the points; few of them are predicted at once."""
        for name in _KNOWN:
            vars(self).pop(name, None)
        self._own = own
        if len(own.codes) <= AT_ONCE_UP_TO:
            self._look()

    @cached_property
    def transduction_(self) -> NDArray[Any]:
        """Given labels, and predictions for the unlabelled training points, (n,)."""
        self._look()
        found: NDArray[Any] = vars(self)["transduction_"]
        return found

    @cached_property
    def training_proba_(self) -> FloatArray:
        """Probabilities of the training points, labels aside, (n, n_classes)."""
        self._look()
        found: FloatArray = vars(self)["training_proba_"]
        return found

    @property
    def label_distributions_(self) -> FloatArray:
        """Class probabilities of the training rows, labels as given, (n, n_classes)."""
        check_is_fitted(self, "dual_coef_")
        found = np.array(self.training_proba_)
        found[self.labeled_] = self._given
        return found

    def proba_of_rows(self, rows: IntArray) -> FloatArray:
        """Return the probabilities of some training points, (m, n_classes).

        Parameters
        ----------
        rows : int ndarray of shape (m,)
            Positions among the training points.
        """
        if "training_proba_" in vars(self) or self._own is None:
            return self.training_proba_[rows]
        scores, unreached = self._training_scores(self._own.take(rows))
        return self._proba(scores, unreached)

    def _look(self) -> None:
        own = self._own
        if own is None:
            msg = f"{type(self).__name__} does not have its training points."
            raise AttributeError(msg)
        with using_threads():
            scores, unreached = self._training_scores(own)
            proba = self._proba(scores, unreached)
        codes = np.where(own.codes < 0, self._codes_of(scores), own.codes)
        vars(self).update(training_proba_=proba, transduction_=self.classes_[codes])

    def _training_scores(self, own: TrainingPoints) -> tuple[FloatArray, BoolArray]:
        """Return decision values of training points, and which no label reaches."""
        scores = self._map.products_of(own.features, self._readout, own.rows)
        scores = self._combine(scores + self.intercept_) + self.size_offset_
        unreached = self._map.unreached_of(own.features)
        return self._with_prior(scores, unreached), unreached

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: predictions in place of the points."""
        if self._own is not None and not all(name in vars(self) for name in _KNOWN):
            self._look()
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_own"}

    def _combine(self, scores: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _codes_of(self, scores: FloatArray) -> IntArray:
        raise NotImplementedError

    def _proba(self, scores: FloatArray, unreached: BoolArray) -> FloatArray:
        raise NotImplementedError

    def _with_prior(self, scores: FloatArray, unreached: BoolArray) -> FloatArray:
        raise NotImplementedError
