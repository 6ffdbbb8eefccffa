"""Features of a pool of anchor graphs, never written out for all points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.fewlabels.pools.anchor_sums import gram_times, half_gram
from mercer.spectrum.features import DenseFeatures
from mercer.spectrum.scores import ArrayScores


@dataclass(frozen=True, slots=True, eq=False)
class AnchorColumns:
    r"""Columns :math:`U = [Z_1 T_1, Z_2 T_2, \dots, D] - 1 m^\top` of n points.

    Behaves as an array of shape (n, r) of which rows are taken; the columns of graphs
    are kept as the few ties Z of each point and the small matrices T.
    """

    ties: tuple[SparseArray, ...]  # Z, (n, m) each, s non-zeros per row
    maps: tuple[FloatArray, ...]  # T, (m, r) each
    dense: FloatArray  # D, (n, q)
    mean: FloatArray  # m, (r,)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""
        return len(self.dense), len(self.mean)

    def __len__(self) -> int:
        return len(self.dense)

    def __getitem__(self, rows: Any) -> FloatArray:
        """Return some rows, in double precision."""
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        graphs = [Z[rows] @ T for Z, T in zip(self.ties, self.maps, strict=True)]
        found: FloatArray = np.hstack([*graphs, self.dense[rows]]) - self.mean
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return self[:].astype(np.float64 if dtype is None else dtype, copy=False)

    def times(self, A: FloatArray) -> FloatArray:
        """Return U A, (n, C)."""
        start = 0
        product = np.broadcast_to(-(self.mean @ A), (len(self), A.shape[1])).copy()
        for Z, T in zip(self.ties, self.maps, strict=True):
            inner = T @ A[start : start + T.shape[1]]
            product += Z @ inner.astype(Z.dtype, copy=False)
            start += T.shape[1]
        product += self.dense @ A[start:].astype(self.dense.dtype, copy=False)
        return product

    def class_sums(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the sums of the rows of each class, (r, C)."""
        H = np.equal.outer(codes, np.arange(n_classes)) * 1.0
        parts = [T.T @ (Z.T @ H) for Z, T in zip(self.ties, self.maps, strict=True)]
        parts.append((H.T.astype(self.dense.dtype, copy=False) @ self.dense).T)
        sums: FloatArray = np.vstack(parts) - np.outer(self.mean, H.sum(axis=0))
        return sums

    def take(self, rows: IntArray) -> "AnchorColumns":
        """Return the columns of some points."""
        ties = tuple(sparse.csr_array(Z[rows]) for Z in self.ties)
        return AnchorColumns(ties, self.maps, self.dense[rows], self.mean)


@dataclass(frozen=True, slots=True, eq=False)
class AnchorFeatures:
    r"""Features :math:`\Phi = U \operatorname{diag}(\rho)` of all points."""

    columns: AnchorColumns
    root: FloatArray  # (r,)
    known: tuple[FloatArray, FloatArray] | None = None  # moments of the columns

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of columns."""
        return self.columns.shape

    def rows(self, rows: IntArray) -> FloatArray:
        """Return the features of some points, (m, r)."""
        return self.columns[rows] * self.root

    def times(self, A: FloatArray) -> FloatArray:
        r"""Return :math:`\Phi A`, (n, C)."""
        return self.columns.times(self.root[:, None] * A)

    def scores(self, A: FloatArray, offset: FloatArray) -> ArrayScores:
        r"""Return :math:`\Phi A + 1 b^\top`, (n, C)."""
        return ArrayScores(self.times(A) + offset)

    def class_sums(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the sums of the features of each class, (r, C)."""
        return self.root[:, None] * self.columns.class_sums(codes, n_classes)

    def moments(self) -> tuple[FloatArray, float]:
        """Return the mean of the columns, (r,), and the mean squared length."""
        mean, squares = self.known or moments_of(self.columns)
        return mean * self.root, float(squares @ self.root**2)

    def take(self, rows: IntArray) -> "AnchorFeatures":
        """Return the features of some points."""
        return AnchorFeatures(self.columns.take(rows), self.root)

    def sample(self, rows: IntArray) -> tuple[DenseFeatures, FloatArray]:
        """Return the features of some points, centred, and their second moment."""
        U = self.columns[rows].astype(self.columns.dense.dtype, copy=False)
        return DenseFeatures(U, self.root).sample(np.arange(len(U)))


def moments_of(columns: AnchorColumns) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the mean square of the columns, (r,) each."""
    n = len(columns)
    means, squares = [], []
    for Z, T in zip(columns.ties, columns.maps, strict=True):
        means.append(np.asarray(Z.sum(axis=0, dtype=np.float64)).ravel() @ T / n)
        squares.append(np.einsum("jr,jr->r", T, gram_times(half_gram(Z), T)) / n)
    D = columns.dense
    means.append(D.mean(axis=0, dtype=np.float64))
    squares.append(np.einsum("ij,ij->j", D, D, dtype=np.float64) / n)
    mean = np.concatenate(means)
    square = np.concatenate(squares) - 2 * mean * columns.mean + columns.mean**2
    return mean - columns.mean, square
