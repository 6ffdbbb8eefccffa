"""What a pool of anchor graphs has to know of all points: sums over blocks of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from mercer._base.typing import FloatArray, IntArray, SparseArray
from mercer.fewlabels.pools.gram import count_pairs, sum_pairs, ties_by_anchor

_BATCH = 65_536  # rows summed in single precision at a time


@dataclass(frozen=True, slots=True, eq=False)
class PoolSums:
    """Sums over some points; those of several blocks of points are added."""

    n: int
    halves: list[SparseArray]  # `half_gram` of each graph, (m, m)
    total: FloatArray  # (q,) sums of the columns of D
    squares: FloatArray  # (q, q) DᵀD
    low: float  # smallest entry of the last column of D, the density
    high: float  # largest one

    @classmethod
    def of(
        cls,
        ties: Sequence[SparseArray],
        dense: FloatArray,
        rows: IntArray | None = None,
    ) -> "PoolSums":
        """Sum over points in memory.

        Parameters
        ----------
        ties : sequence of csr_array of shape (n, m)
            Z of each graph.
        dense : ndarray of shape (n, q)
            D, the columns of the linear kernel and of the density.
        rows : int ndarray, optional
            Points to sum over; by default all.
        """
        if rows is not None:
            dense = dense[rows]
        q = dense.shape[1]
        total, squares = np.zeros(q), np.zeros((q, q))
        for some in gen_batches(len(dense), _BATCH):
            total += dense[some].sum(axis=0, dtype=np.float64)
            squares += dense[some].T @ dense[some]
        low, high = float(dense[:, -1].min()), float(dense[:, -1].max())
        halves = [half_gram(Z if rows is None else Z[rows]) for Z in ties]
        return cls(len(dense), halves, total, squares, low, high)

    def __add__(self, other: "PoolSums") -> "PoolSums":
        return PoolSums(
            self.n + other.n,
            [a + b for a, b in zip(self.halves, other.halves, strict=True)],
            self.total + other.total,
            self.squares + other.squares,
            min(self.low, other.low),
            max(self.high, other.high),
        )


def half_gram(Z: SparseArray) -> SparseArray:
    """Return H, upper triangular, (m, m), with H + Hᵀ = ZᵀZ, in double precision.

    Examples
    --------
    >>> half_gram(sparse.csr_array([[1.0, 0.0], [0.5, 0.5]])).toarray()
    array([[0.625, 0.25 ],
           [0.   , 0.125]])
    """
    Z = Z.sorted_indices()
    m = Z.shape[1]
    begins, ties, ends = ties_by_anchor(Z.indices, Z.indptr, m)
    rows = count_pairs(begins, ties, ends, Z.indices)
    if rows[-1] < 2**31:
        rows = rows.astype(np.int32)
    columns, sums = np.empty(rows[-1], dtype=rows.dtype), np.empty(rows[-1])
    sum_pairs(begins, ties, ends, Z.indices, Z.data, rows, columns, sums)
    filled = rows[:-1] < rows[1:]
    sums[rows[:-1][filled]] /= 2  # the diagonal comes first
    return sparse.csr_array((sums, columns, rows), shape=(m, m))


def gram_times(half: SparseArray, A: FloatArray) -> FloatArray:
    """Return ZᵀZ A."""
    product: FloatArray = half @ A + half.T @ A
    return product


def both_halves(half: SparseArray) -> SparseArray:
    """Return H + Hᵀ."""
    return sparse.csr_array(half + half.T)
