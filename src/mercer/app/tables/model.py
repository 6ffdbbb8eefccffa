"""What is kept of a learned table: enough to predict new rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._base.html import Shown
from mercer._base.random import as_generator
from mercer._base.typing import FloatArray, IntArray
from mercer.active.cold import cold_rows
from mercer.active.strategies import ask_rows
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.table import as_table
from mercer.app.tables.target import read_target
from mercer.app.tables.written_vectors import read_vectors
from mercer.evidence.reading import is_labeled
from mercer.model.estimator import UnifiedKernelMachine
from mercer.model.questions import may_lack_classes
from mercer.model.view import names_of


class TableModel(Shown, ClassifierMixin, BaseEstimator):
    """Predicts the target of new rows; what `mercer learn` saves.

    Parameters
    ----------
    encoder : TableEncoder
        Fitted; from cells to points.
    model : UnifiedKernelMachine
        Fitted to the encoded table.
    target : str
        Name of the target column.
    id : str or None
        Name of the column of ids.
    image_shape : tuple of int or None
        Height, width and colours of the images, if the table was a folder of them.
    """

    def __init__(
        self,
        encoder: TableEncoder,
        model: UnifiedKernelMachine,
        *,
        target: str = "label",
        id: str | None = None,
        image_shape: tuple[int, int, int] | None = None,
    ) -> None:
        self.encoder = encoder
        self.model = model
        self.target = target
        self.id = id
        self.image_shape = image_shape

    def _facts(self) -> dict[str, Any]:
        facts = {
            "predicts": self.target,
            "classes": names_of(self.classes_),
            "columns": ", ".join(note.column for note in self.encoder.notes_),
        }
        sizes = getattr(self.model.machine, "class_sizes", None)
        if isinstance(sizes, dict):
            shares = (f"{name} {share:.1%}" for name, share in sizes.items())
            facts["class sizes that were given"] = ", ".join(shares)
        return facts

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the probabilities."""
        check_is_fitted(self.model, "classes_")
        classes: NDArray[Any] = self.model.classes_
        return classes

    def features(self, data: Any) -> FloatArray:
        """Return the learned features of rows, (m, r)."""
        return self.model.transform(self._points(data))

    def predict_proba(self, data: Any) -> FloatArray:
        """Return the probability of every class, (m, n_classes).

        Parameters
        ----------
        data : data frame, dict of arrays or Table
            With the columns of the table that was learned from; other columns, the
            target too, are not looked at.
        """
        return self.model.predict_proba(self._points(data))

    def _points(self, data: Any) -> Any:
        return self.encoder.transform(read_vectors(as_table(data)), compare_units=True)

    def predict(self, data: Any) -> NDArray[Any]:
        """Return the class of rows, (m,)."""
        proba = self.model.predict_proba(self._points(data))
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def ask(self, data: Any, n: int = 20) -> NDArray[Any]:
        """Return the row numbers, from 0, of the unlabelled rows most worth a label.

        Of the table that was learned from they are those that the session names first.

        Parameters
        ----------
        data : data frame, dict of arrays or Table
            If it has the target column, labelled rows are not asked for, and rows
            like them less.
        n : int, default=20
            Number of rows; fewer if fewer are unlabelled.
        """
        table = as_table(data)
        labeled, counts = np.array([], dtype=np.intp), np.array([], dtype=np.intp)
        if self.target in table.frame.columns:
            given = read_target(table, self.target).labels
            labeled = np.flatnonzero(is_labeled(given))
            counts = np.unique(given[labeled].astype(str), return_counts=True)[1]
        points = self._points(table)

        def features_of(rows: IntArray) -> FloatArray:
            return self.model.transform(points[rows])

        # As in a session that asks for the first time.
        state = as_generator(self.model.random_state)
        rng = np.random.default_rng([int(state.integers(2**31)), 1])
        if len(labeled) and may_lack_classes("fill", counts):
            n_points = len(points)
            return cold_rows(features_of, n, n_points=n_points, asked=labeled, rng=rng)
        return ask_rows(
            "fill",
            n,
            n_points=len(points),
            proba_of=lambda rows: self.model.predict_proba(points[rows]),
            features_of=features_of,
            labeled=labeled,
            rng=rng,
        )
