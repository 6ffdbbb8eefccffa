"""Rows of a sparse array as points of the exact search."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.machine_code.compiled import compiled
from mercer._base.typing import FloatArray, SparseArray
from mercer.neighbors.exact import Float32Array, power_of_two

_BLOCK_ENTRIES = 2**23


@dataclass(frozen=True, eq=False)
class SparsePoints:
    """Rows of a sparse array, with its transpose to find who shares a column."""

    X: SparseArray  # (n, d) csr, sorted indices
    columns: SparseArray  # (d, n) csr: the transpose
    scale: float
    squared_norms: FloatArray  # (n,) of the scaled rows
    rows_per_task: int

    @classmethod
    def of(cls, X: SparseArray) -> "SparsePoints":
        """Prepare the rows of X, a csr array with sorted indices."""
        scale = power_of_two(float(abs(X).max()) if X.nnz else 0.0)
        norms = _squared_norms(X, scale)
        rows = max(1, min(512, _BLOCK_ENTRIES // X.shape[0]))
        return cls(X, X.T.tocsr(), scale, norms, rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds: not the transpose."""
        return {name: x for name, x in vars(self).items() if name != "columns"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({**state, "columns": state["X"].T.tocsr()})

    def blocks(self, Q: SparseArray) -> Iterator[tuple[int, Float32Array]]:
        """Yield 0 and the values v of Q to all points."""
        G = np.empty((Q.shape[0], self.X.shape[0]), dtype=np.float32)
        G[:] = self.squared_norms
        T = self.columns
        _subtract_products(
            Q.indptr, Q.indices, Q.data, T.indptr, T.indices, T.data, self.scale, G
        )
        yield 0, G

    def squares(self, Q: SparseArray, rows: Any, points: Any) -> FloatArray:
        """Return squared distances of pairs, in units of 1 / scale."""
        X = self.X
        squares: FloatArray = _pair_squares(
            (Q.indptr, Q.indices, Q.data),
            (X.indptr, X.indices, X.data),
            self.scale,
            rows,
            points,
        )
        return squares

    def offsets(self, Q: SparseArray) -> tuple[FloatArray, Any]:
        """Return |q|^2, which v leaves out, and u; v errs by u (|q| + |c|)^2."""
        unit = np.finfo(np.float32).eps / 2
        return _squared_norms(Q, self.scale), (np.diff(Q.indptr) + 8) * unit


def _squared_norms(X: SparseArray, scale: float) -> FloatArray:
    scaled = X.data.astype(np.float64) * scale
    sums = np.concatenate([[0.0], np.cumsum(scaled**2)])
    norms: FloatArray = np.maximum(np.diff(sums[X.indptr]), 0.0)
    return norms


@compiled()
def _subtract_products(
    q_starts: Any,
    q_columns: Any,
    q_values: Any,
    starts: Any,
    points: Any,
    values: Any,
    scale: float,
    G: Any,
) -> None:
    """Take twice the inner products of the rows q and the points from G."""
    for t in range(len(G)):
        g = G[t]
        for a in range(q_starts[t], q_starts[t + 1]):
            column = q_columns[a]
            twice = np.float32(2 * scale * q_values[a])
            for b in range(starts[column], starts[column + 1]):
                g[points[b]] -= twice * np.float32(scale * values[b])


@compiled()
def _pair_squares(Q: Any, X: Any, scale: float, rows: Any, points: Any) -> Any:
    """Squared lengths of the differences of sparse rows, summed in double."""
    q_starts, q_columns, q_values = Q
    x_starts, x_columns, x_values = X
    squares = np.empty(len(rows))
    for c in range(len(rows)):
        a, a_stop = q_starts[rows[c]], q_starts[rows[c] + 1]
        b, b_stop = x_starts[points[c]], x_starts[points[c] + 1]
        total = 0.0
        while a < a_stop or b < b_stop:
            difference = 0.0
            q_next = q_columns[a] if a < a_stop else np.iinfo(np.int64).max
            x_next = x_columns[b] if b < b_stop else np.iinfo(np.int64).max
            if q_next <= x_next:
                difference += scale * np.float64(q_values[a])
                a += 1
            if x_next <= q_next:
                difference -= scale * np.float64(x_values[b])
                b += 1
            total += difference * difference
        squares[c] = total
    return squares
