"""What a fitted model predicts of new points and of its own."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._base.rows import in_batches, is_dask
from mercer._base.threads import using_threads
from mercer._base.typing import ArrayLike, FloatArray, IntArray, Points
from mercer.fewlabels.pools.dask import lazily
from mercer.model.fitted import FittedModel
from mercer.model.parts import proba_of


class Predictions(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FittedModel):
    """Predictions of `UnifiedKernelMachine`."""

    fit: Any

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of points, (m,).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Points, new or not; a tensor or a Dask array as well.
        """
        check_is_fitted(self, "machine_")
        return self._of_rows(X, "predict", self.machine_.predict, self.classes_[:0])

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        A machine without probabilities gives those of its decision values.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Points, new or not; a tensor or a Dask array as well.
        """
        check_is_fitted(self, "machine_")
        none = np.empty((0, len(self.classes_)))
        return self._of_rows(X, "predict_proba", self._proba, none)

    def _proba(self, X: Points) -> FloatArray:
        """Return probabilities; 0 for a class that sources never made the likeliest."""
        found = proba_of(self.machine_)(X)
        classes = self.machine_.classes_
        if len(classes) == len(self.classes_):
            return np.asarray(found)
        wide = np.zeros((len(found), len(self.classes_)))
        wide[:, np.searchsorted(self.classes_, classes)] = found
        return wide

    def training_proba(self) -> FloatArray:
        """Return the probabilities of the training rows, (n, n_classes)."""
        self._check_rows()
        if self.believed_ is not None:
            beliefs: FloatArray = self.believed_.beliefs
            return beliefs
        with using_threads(self.n_jobs):
            if self._X is None:
                return np.asarray(self.machine_.training_proba_)
            return in_batches(proba_of(self.machine_), self._X)

    def _training_proba_of(self, rows: IntArray) -> FloatArray:
        """Return the probabilities of some training rows, (m, n_classes)."""
        has_part = self._X is None and self.believed_ is None
        if has_part and hasattr(self.machine_, "proba_of_rows"):
            found: FloatArray = self.machine_.proba_of_rows(rows)
            return found
        return self.training_proba()[rows]

    @property
    def label_distributions_(self) -> FloatArray:
        """Class probabilities of the training rows, labels as given, (n, n_classes)."""
        found = np.array(self.training_proba())
        found[self.labeled_] = self.labels_.one_hot()
        return found

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return decision values, (m,) for two classes, else (m, n_classes).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Points, new or not.
        """
        check_is_fitted(self, "machine_")
        X = self._checked(X, reset=False)
        with using_threads(self.n_jobs):
            return in_batches(self.machine_.decision_function, X)

    def fit_transform(
        self, X: ArrayLike, y: ArrayLike, **evidence: object
    ) -> FloatArray:
        """Fit and return the features of the training rows, without a search.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            All points, labelled or not.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled points.
        **evidence : object
            What else `fit` takes, such as ``sources``.
        """
        self.fit(X, y, **evidence)
        if self.features_ is None or is_dask(X):
            return self.transform(X)
        return self.features_.rows(np.arange(len(self.ids_)))

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return features whose inner products are the learned kernel, (m, r).

        Those of a Dask array are lazy.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Points, new or not; a tensor or a Dask array as well.
        """
        check_is_fitted(self, "machine_")
        none = np.empty((0, self._n_features_out))
        return self._of_rows(X, "transform", self.learner_.transform, none)

    def without_rows(self) -> Self:
        """Return a model that predicts new points and forgets its own where it can.

        Neighbour graphs need their points to place new ones; anchor graphs do not. The
        copy cannot `ask`, `tell` or `explain`.
        """
        check_is_fitted(self, "machine_")
        slim = copy(self)
        slim.machine_, slim.learner_ = copy(self.machine_), copy(self.learner_)
        vars(slim.machine_).pop("training_proba_", None)
        if self.basis_ is not None:
            basis = self.basis_.without_rows()
            kernel = replace(self.kernel_, basis=basis)
            slim.basis_ = slim.learner_.basis_ = basis
            slim.kernel_ = slim.learner_.kernel_ = slim.machine_.kernel_ = kernel
            slim.machine_._map = self.machine_._map.with_kernel(kernel)
        slim.features_ = slim.sources_ = slim.believed_ = None
        slim.ids_ = self.ids_[:0]
        slim.labels_ = self.labels_.take(np.arange(0))
        slim.machine_.transduction_ = self.classes_[:0]
        return slim

    def _of_rows(
        self, X: Points, name: str, method: Callable[[Any], Any], none: NDArray[Any]
    ) -> NDArray[Any]:
        """Return what a method says of rows; of a Dask array when that is computed."""
        if is_dask(X):
            lazy: NDArray[Any] = lazily(self, name, X, none)
            return lazy
        X = self._checked(X, reset=False)
        with using_threads(self.n_jobs):
            return in_batches(method, X)
