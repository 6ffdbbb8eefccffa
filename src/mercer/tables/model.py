"""What is kept of a learned table: enough to predict new rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._rows import take_rows
from mercer._typing import ArrayLike, FloatArray
from mercer.active.strategies import choose_rows
from mercer.kernels.base import Kernel
from mercer.tables.calibration import tempered
from mercer.tables.table import as_table
from mercer.tables.target import read_target

# Rows handled at once, so that a long table needs little more memory than a short one.
_CHUNK = 50_000


class FeatureKernel(Kernel):
    """The inner product of points that are features already.

    Examples
    --------
    >>> FeatureKernel()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def features(self, X: ArrayLike) -> FloatArray:
        """Return the points themselves, (m, r)."""
        return np.asarray(X, dtype=np.float64)

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> FloatArray:
        """Return the inner products between the rows of X and Z (or X)."""
        left = self.features(X)
        return left @ (left if Z is None else self.features(Z)).T

    def diag(self, X: ArrayLike) -> FloatArray:
        """Return the squared length of every row."""
        squares: FloatArray = np.square(self.features(X)).sum(axis=1)
        return squares


class TableModel(ClassifierMixin, BaseEstimator):
    """Predicts the target of new rows; what `mercer learn` saves.

    Parameters
    ----------
    encoder : TableEncoder
        Fitted; from cells to points.
    kernel : SpectralKernel
        Learned; from points to features.
    machine : KernelLogisticRegression
        Fitted on features; from features to classes.
    temperature : float
        Divides the scores, so that probabilities agree with held-out labels.
    target : str
        Name of the target column.
    id : str or None
        Name of the column of ids.
    image_shape : tuple of int or None
        Height, width and colours of the images, if the table was a folder of them.
    """

    def __init__(
        self,
        encoder: Any,
        kernel: Any,
        machine: Any,
        *,
        temperature: float = 1.0,
        target: str = "label",
        id: str | None = None,
        image_shape: tuple[int, int, int] | None = None,
    ) -> None:
        self.encoder = encoder
        self.kernel = kernel
        self.machine = machine
        self.temperature = temperature
        self.target = target
        self.id = id
        self.image_shape = image_shape

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the probabilities."""
        check_is_fitted(self.machine, "classes_")
        classes: NDArray[Any] = self.machine.classes_
        return classes

    def features(self, data: Any) -> FloatArray:
        """Return the learned features of rows, (m, r)."""
        table = as_table(data)
        X = self.encoder.transform(table)
        parts = [
            self.kernel.features(take_rows(X, rows)) for rows in chunks(len(table))
        ]
        return np.vstack(parts)

    def predict_proba(self, data: Any) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        Parameters
        ----------
        data : data frame, dict of arrays or Table
            With the columns of the table that was learned from; other columns, the
            target too, are not looked at.
        """
        table = as_table(data)
        X = self.encoder.transform(table)
        parts = [
            proba_of_features(
                self.machine, self.kernel.features(take_rows(X, r)), self.temperature
            )
            for r in chunks(len(table))
        ]
        return np.vstack(parts)

    def predict(self, data: Any) -> NDArray[Any]:
        """Return the class of rows, (m,)."""
        return np.asarray(self.classes_[self.predict_proba(data).argmax(axis=1)])

    def ask(
        self, data: Any, n: int = 20, *, query: str = "reduction", random_state: int = 0
    ) -> NDArray[Any]:
        """Return the row numbers, from 0, of the unlabelled rows most worth a label.

        Parameters
        ----------
        data : data frame, dict of arrays or Table
            If it has the target column, labelled rows are not asked for, and rows
            like them less.
        n : int, default=20
            How many; fewer when fewer are unlabelled.
        query : str, default="reduction"
            See `mercer.active.strategies.choose_rows`.
        random_state : int, default=0
            Breaks ties.
        """
        table = as_table(data)
        labeled = np.array([], dtype=np.intp)
        if (
            self.target in table.frame.columns
            and table.frame[self.target].notna().any()
        ):
            labels = read_target(table, self.target, allow_single=True)
            labeled = np.flatnonzero([label is not None for label in labels])
        features = self.features(table)
        proba = proba_of_features(self.machine, features, self.temperature)
        return choose_rows(
            query,
            n,
            proba=proba,
            features=features,
            labeled=labeled,
            candidates=np.setdiff1d(np.arange(len(table)), labeled),
            rng=np.random.default_rng(random_state),
        )


def chunks(n: int) -> list[NDArray[Any]]:
    """Return row numbers 0 to n - 1 in pieces."""
    return [
        np.arange(start, min(start + _CHUNK, n))
        for start in range(0, max(n, 1), _CHUNK)
    ]


def proba_of_features(
    machine: Any, features: FloatArray, temperature: float
) -> FloatArray:
    """Return tempered probabilities of points given by features.

    Points that no label reaches keep the shares of the classes.
    """
    proba: FloatArray = np.empty((len(features), len(machine.classes_)), np.float32)
    for rows in chunks(len(features)):
        p = machine.predict_proba(features[rows])
        reached = np.abs(p - machine.class_prior_).max(axis=1) > 1e-12
        p[reached] = tempered(p[reached], temperature)
        proba[rows] = p
    return proba
