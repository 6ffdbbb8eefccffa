"""Scores of all points against classes, wherever the features of the points are."""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.optim.leads import ArrayLeads, decided

UNDECIDED = -1


class Leads(Protocol):
    """Leads of the classes over each other, for offsets that change."""

    def matched(
        self, b: FloatArray, places: IntArray, part: FloatArray, max_iter: int
    ) -> FloatArray:
        """Return offsets at which the leads between two places are zero, (C,).

        Parameters
        ----------
        b : ndarray of shape (C,)
            Offsets to begin with.
        places : int ndarray of shape (C, 2)
            In the ascending order of the leads of a class.
        part : ndarray of shape (C,)
            How far between them, in [0, 1].
        max_iter : int
            Sweeps over the classes.
        """


class Scores(Protocol):
    """Scores of n points against C classes.

    Small NumPy arrays go in and come out; what has one number per point and class stays
    where it is. A decision, one number per point, is a NumPy array. Nothing is changed
    in place.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of classes."""

    def decide(self, b: FloatArray | None = None, *, tol: float = 1e-8) -> IntArray:
        """Return the class with the largest score plus offset, (n,).

        `UNDECIDED` where two are level: where the lead, in units of the largest score,
        is at most `tol`.
        """

    def leads(self) -> Leads:
        """Return the leads of the classes, for offsets that change."""

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the scores of some points, (m, C)."""

    def take(self, rows: IntArray) -> Self:
        """Return the scores of some points, where all of them are."""

    def moved(self, b: FloatArray) -> Self:
        """Return the scores plus an offset per class."""

    def times(self, A: FloatArray) -> Self:
        """Return the product with a matrix, for A of shape (C, k)."""

    def combined(self, a: float, other: Self | None = None, b: float = 1.0) -> Self:
        """Return a times these scores, plus b times others."""

    def log_centred(self, added: float) -> Self:
        """Return the logarithms of the scores plus a number, less their mean."""

    def mean(self) -> FloatArray:
        """Return the mean of the scores of each class, (C,)."""

    def mean_squares(self) -> FloatArray:
        """Return the mean square of the scores of each class, (C,)."""

    def to_numpy(self) -> FloatArray:
        """Return all scores, (n, C)."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayScores:
    """Scores in an array.

    Examples
    --------
    >>> scores = ArrayScores(np.array([[1.0, 0.0], [0.3, 0.1 + 0.2], [0.0, 2.0]]))
    >>> scores.decide()
    array([ 0, -1,  1])
    >>> scores.moved(np.array([0.0, -3.0])).decide()
    array([0, 0, 0])
    """

    values: FloatArray  # (n, C)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of classes."""
        n, C = self.values.shape
        return n, C

    def decide(self, b: FloatArray | None = None, *, tol: float = 1e-8) -> IntArray:
        """Return the class with the largest score plus offset, (n,)."""
        b = np.zeros(self.values.shape[1]) if b is None else b
        columns = np.ascontiguousarray(self.values.T)
        ends = np.stack([columns.max(axis=1), columns.min(axis=1)])
        level = tol * float(np.abs(ends + b).max())
        found: IntArray = decided(columns, b, level, UNDECIDED)
        return found

    def leads(self) -> ArrayLeads:
        """Return the leads of the classes, for offsets that change."""
        return ArrayLeads(self.values)

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the scores of some points, (m, C)."""
        some: FloatArray = self.values[rows]
        return some

    def take(self, rows: IntArray) -> "ArrayScores":
        """Return the scores of some points, class by class in memory."""
        return ArrayScores(np.asfortranarray(self.values[rows]))

    def moved(self, b: FloatArray) -> "ArrayScores":
        """Return the scores plus an offset per class."""
        return ArrayScores(self.values + b)

    def times(self, A: FloatArray) -> "ArrayScores":
        """Return the product with a matrix, for A of shape (C, k)."""
        return ArrayScores(self.values @ A)

    def combined(
        self, a: float, other: "ArrayScores | None" = None, b: float = 1.0
    ) -> "ArrayScores":
        """Return a times these scores, plus b times others."""
        # Sizes are matched, and points decided, class by class.
        values = a * np.asfortranarray(self.values)
        if other is not None:
            values += other.values if b == 1 else b * other.values
        return ArrayScores(values)

    def log_centred(self, added: float) -> "ArrayScores":
        """Return the logarithms of the scores plus a number, less their mean."""
        values = self.values + added
        np.log(values, out=values)
        values -= values.mean(axis=1)[:, None]
        return ArrayScores(values)

    def mean(self) -> FloatArray:
        """Return the mean of the scores of each class, (C,)."""
        means: FloatArray = self.values.mean(axis=0)
        return means

    def mean_squares(self) -> FloatArray:
        """Return the mean square of the scores of each class, (C,)."""
        V = self.values
        squares: FloatArray = np.einsum("ij,ij->j", V, V) / len(V)
        return squares

    def to_numpy(self) -> FloatArray:
        """Return all scores, (n, C)."""
        return self.values
