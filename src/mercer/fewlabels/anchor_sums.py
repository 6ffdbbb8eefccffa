"""What a pool of anchor graphs has to know of all points: sums over blocks of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from mercer._typing import FloatArray, SparseArray

_BATCH = 65_536  # rows summed in single precision at a time


@dataclass(frozen=True, slots=True, eq=False)
class PoolSums:
    """Sums over some points; those of several blocks of points are added."""

    n: int
    grams: tuple[SparseArray, ...]  # ZᵀZ of each graph, (m, m)
    total: FloatArray  # (q,) sums of the columns of D
    squares: FloatArray  # (q, q) DᵀD
    low: float  # smallest entry of the last column of D, the density
    high: float  # largest one

    @classmethod
    def of(cls, ties: Sequence[SparseArray], dense: FloatArray) -> "PoolSums":
        """Sum over points that are at hand.

        Parameters
        ----------
        ties : sequence of csr_array of shape (n, m)
            Z of each graph.
        dense : ndarray of shape (n, q)
            D, the columns of the plain kernels and of the density.
        """
        q = dense.shape[1]
        total, squares = np.zeros(q), np.zeros((q, q))
        for rows in gen_batches(len(dense), _BATCH):
            total += dense[rows].sum(axis=0, dtype=np.float64)
            squares += dense[rows].T @ dense[rows]
        low, high = float(dense[:, -1].min()), float(dense[:, -1].max())
        return cls(len(dense), tuple(map(gram, ties)), total, squares, low, high)

    def __add__(self, other: "PoolSums") -> "PoolSums":
        return PoolSums(
            self.n + other.n,
            tuple(a + b for a, b in zip(self.grams, other.grams, strict=True)),
            self.total + other.total,
            self.squares + other.squares,
            min(self.low, other.low),
            max(self.high, other.high),
        )


def gram(Z: SparseArray) -> SparseArray:
    """Return ZᵀZ, (m, m), in double precision.

    Examples
    --------
    >>> gram(sparse.csr_array([[1.0, 0.0], [0.5, 0.5]])).toarray()
    array([[1.25, 0.25],
           [0.25, 0.25]])
    """
    Z = Z.astype(np.float64)
    return sparse.csr_array(Z.T @ Z)
