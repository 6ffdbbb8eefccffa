r"""The features of all points, wherever they live, through a few products.

Whatever the default does with the features :math:`\Phi` of n points is one of: some
rows, :math:`\Phi A`, the sums of the rows of each class and the moments of the columns.
A backend that offers these, and `Scores` of all points, serves the whole model.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from mercer._base.threads import in_blocks
from mercer._base.typing import FloatArray, IntArray
from mercer.spectrum.scores import UNDECIDED, ArrayScores, Scores

# Products of this many steps are done by BLAS without a copy of their factors, which
# would take longer than the product itself where one of them is this narrow.
_SMALL = 1_000_000
# Columns of less variance, as a share of the largest, change no regression whose ridge
# is above 1e-6 of it by more than rounding does. In single precision it does more.
_NO_WEIGHT, _NO_SINGLE_WEIGHT = 1e-20, 1e-14


class Features(Protocol):
    """Features of n points, r numbers per point."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the features of some points, (m, r)."""

    def times(self, A: FloatArray) -> FloatArray:
        r"""Return :math:`\Phi A`, (n, C), for A of shape (r, C)."""

    def scores(self, A: FloatArray, offset: FloatArray) -> Scores:
        r"""Return :math:`\Phi A + 1 b^\top`, (n, C), where the features are."""

    def class_sums(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the sums of the features of each class, (r, C).

        Points of negative classes are in no sum.
        """

    def moments(self) -> tuple[FloatArray, float]:
        """Return the mean of the columns, (r,), and the mean squared length."""

    def take(self, rows: IntArray) -> "Features":
        """Return the features of some points, to be used as these are."""

    def sample(self, rows: IntArray) -> tuple["Features", FloatArray]:
        r"""Return the features of some points, and their second moment, (r, r).

        They have mean 0 over these points, and are written out, for many products. The
        moment is :math:`\Phi^\top \Phi / m`.
        """


@dataclass(frozen=True, slots=True, eq=False)
class DenseFeatures:
    r"""Features :math:`\Phi = U R` in memory; only U is as long as the data.

    Examples
    --------
    >>> Phi = DenseFeatures(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([2.0, 0.5]))
    >>> Phi.rows(np.array([1]))
    array([[2., 1.]])
    >>> Phi.times(np.ones((2, 1))).ravel()
    array([2., 3.])
    >>> Phi.class_sums(np.array([0, 0]), 1).ravel()
    array([4., 1.])
    >>> Phi.moments()
    (array([2. , 0.5]), 4.5)
    """

    vectors: FloatArray  # (n, k) U, kept and not copied
    root: FloatArray  # (k,) the diagonal of R, or (k, r) R
    # (k,) mean and mean square of the columns of U, where they are known
    columns: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def plain(cls, Phi: FloatArray) -> "DenseFeatures":
        """Return features that are there already."""
        return cls(Phi, np.ones(Phi.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""
        return len(self.vectors), self.root.shape[-1]

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the features of some points, (m, r)."""
        U = self.vectors[rows].astype(np.float64, copy=False)
        return U * self.root if self.root.ndim == 1 else U @ self.root

    def times(self, A: FloatArray) -> FloatArray:
        r"""Return :math:`\Phi A`, (n, C)."""
        inner = self.root[:, None] * A if self.root.ndim == 1 else self.root @ A
        inner = inner.astype(self.vectors.dtype, copy=False)
        product = np.empty((len(self.vectors), A.shape[1]), order="F")
        step = max(_SMALL // max(inner.size, 1), 64)

        def task(block: slice) -> None:
            for start in range(block.start, block.stop, step):
                rows = slice(start, min(start + step, block.stop))
                product[rows] = self.vectors[rows] @ inner

        if len(product) <= 16 * step:
            task(slice(0, len(product)))
        else:
            in_blocks(task, len(product), 16 * step, step)
        return product

    def scores(self, A: FloatArray, offset: FloatArray) -> ArrayScores:
        r"""Return :math:`\Phi A + 1 b^\top`, (n, C)."""
        found = self.times(A)
        found += offset
        return ArrayScores(found)

    def class_sums(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the sums of the features of each class, (r, C)."""
        sums = np.zeros((n_classes, self.vectors.shape[1]))
        _add_rows(self.vectors, codes, sums)
        weighted = sums * self.root if self.root.ndim == 1 else sums @ self.root
        return np.ascontiguousarray(weighted.T)

    def moments(self) -> tuple[FloatArray, float]:
        """Return the mean of the columns, (r,), and the mean squared length."""
        if self.root.ndim == 1:
            mean, squares = self.columns or column_moments(self.vectors)
            return mean * self.root, float(squares @ self.root**2)
        mean = self.vectors.mean(axis=0) @ self.root
        C = self.vectors.T @ self.vectors / len(self.vectors)
        return mean, float(np.einsum("jr,jk,kr->", self.root, C, self.root))

    def take(self, rows: IntArray) -> "DenseFeatures":
        """Return the features of some points."""
        return DenseFeatures(self.vectors[rows], self.root)

    def narrowed(self) -> tuple["DenseFeatures", slice]:
        """Return the features without outer columns of no weight, and which are left.

        Columns of kernels that the labels have ruled out would be read in every
        product. Where they are few, all are left.
        """
        r = self.root.shape[-1]
        if self.root.ndim == 2:
            return self, slice(0, r)
        mean, squares = self.columns or column_moments(self.vectors)
        weights = self.root**2 * squares
        is_single = self.vectors.dtype == np.float32
        least = _NO_SINGLE_WEIGHT if is_single else _NO_WEIGHT
        counted = np.flatnonzero(weights > least * weights.max(initial=0.0))
        kept = slice(counted[0], counted[-1] + 1) if len(counted) else slice(0, 0)
        if kept.stop - kept.start > 0.9 * r:
            return self, slice(0, r)
        narrow = DenseFeatures(
            self.vectors[:, kept], self.root[kept], (mean[kept], squares[kept])
        )
        return narrow, kept

    def sample(self, rows: IntArray) -> tuple["DenseFeatures", FloatArray]:
        """Return the features of some points, centred, and their second moment."""
        U = self.vectors[rows]
        total = np.zeros((1, U.shape[1]))
        _add_rows(U, np.zeros(len(U), np.intp), total)
        U -= (total[0] / max(len(U), 1)).astype(U.dtype)
        moment = (U.T @ U).astype(np.float64, copy=False) / max(len(U), 1)
        if self.root.ndim == 1:
            moment *= np.outer(self.root, self.root)
        else:
            moment = self.root.T @ moment @ self.root
        return DenseFeatures(U, self.root), moment


@dataclass(frozen=True, slots=True, eq=False)
class Standardised:
    """Features with mean 0 and mean squared length 1, made of others on the way."""

    raw: Features
    mean: FloatArray  # (r,) of the raw ones
    scale: float  # root of their mean squared distance from the mean

    @classmethod
    def of(cls, raw: Features) -> "Standardised":
        """Centre and scale features; those of one point for all keep their scale."""
        mean, square = raw.moments()
        variance = square - float(mean @ mean)
        if variance <= 1e-14 * square:
            variance = 0.0
        return cls(raw, mean, float(np.sqrt(variance)) or 1.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""
        return self.raw.shape

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the features of some points, (m, r)."""
        return (self.raw.rows(rows) - self.mean) / self.scale

    def times(self, A: FloatArray) -> FloatArray:
        r"""Return :math:`\Phi A`, (n, C)."""
        A = A / self.scale
        return self.raw.times(A) - self.mean @ A

    def scores(self, A: FloatArray, offset: FloatArray) -> Scores:
        r"""Return :math:`\Phi A + 1 b^\top`, (n, C), where the features are."""
        A = A / self.scale
        return self.raw.scores(A, offset - self.mean @ A)

    def class_sums(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the sums of the features of each class, (r, C)."""
        counts = class_counts(codes, n_classes)
        sums = self.raw.class_sums(codes, n_classes) - np.outer(self.mean, counts)
        return sums / self.scale

    def moments(self) -> tuple[FloatArray, float]:
        """Return the mean of the columns, (r,), and the mean squared length."""
        mean, square = self.raw.moments()
        moved = mean - self.mean
        square += float(self.mean @ (self.mean - 2 * mean))
        return moved / self.scale, square / self.scale**2

    def take(self, rows: IntArray) -> "Standardised":
        """Return the features of some points, centred and scaled as before."""
        return Standardised(self.raw.take(rows), self.mean, self.scale)

    def sample(self, rows: IntArray) -> tuple["Standardised", FloatArray]:
        """Return the features of some points, centred, and their second moment."""
        raw, moment = self.raw.sample(rows)
        centred = Standardised(raw, np.zeros_like(self.mean), self.scale)
        return centred, moment / self.scale**2


def column_moments(U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and mean square of the columns of U."""
    squares = np.einsum("ij,ij->j", U, U, dtype=np.float64) / len(U)
    return U.mean(axis=0, dtype=np.float64), squares


def class_counts(decision: IntArray, n_classes: int) -> IntArray:
    """Return how many points each class has, (C,); ties are in none.

    Examples
    --------
    >>> class_counts(np.array([0, UNDECIDED, 2, 2]), 3)
    array([1, 0, 2])
    """
    return np.bincount(decision[decision != UNDECIDED], minlength=n_classes)


@njit(cache=True)
def _add_rows(U, codes, sums):  # type: ignore[no-untyped-def]
    """Add every row of U to the sum of its class, if it has one."""
    n, r = U.shape
    for i in range(n):
        c = codes[i]
        if c >= 0:
            for j in range(r):
                sums[c, j] += U[i, j]
