r"""Exact nearest neighbours at the speed of a float32 matrix product.

Values :math:`v_{qc} = |c|^2 - 2 q \cdot c` come from one product of
:math:`[-2q, 1]` and :math:`[c, |c|^2]`; each row keeps a few more than k of the
smallest. Their distances are then summed again in double precision; d is the k-th. A
point that is nearer than that has a norm of at most :math:`|q| + d`, so rounding moves
its v by at most :math:`e = u (2 |q| + d)^2`, far points notwithstanding. A row is done
if :math:`d^2 - |q|^2 + e` is below the largest value kept; otherwise every point whose
value is not above it is measured in double precision. So neighbours are right whatever
the scale.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer._base.rows import thinned
from mercer._base.threads import in_threads
from mercer._base.typing import FloatArray
from mercer.neighbors.interface import Found, Neighbors
from mercer.neighbors.select import (
    BLOCK,
    dense_pair_squares,
    insert_pairs,
    load_rows,
    merge,
    pairs_below,
)

Float32Array = NDArray[np.float32]
Int32Array = NDArray[np.int32]

_SPARE = 4  # kept beyond k, so that nearly all rows are done at once
_ROWS = 512
_FEW = 8192  # points that make one block
_MEDIAN = 1024  # rows whose median, which outliers do not move, is the centre
_COLUMNS = 512  # of a block of more, which stays in the cache


class Points(Protocol):
    """Points an exact search can run on."""

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows, as given."""

    @property
    def scale(self) -> float:
        """Power of two that brings the largest coordinate near 1."""

    @property
    def rows_per_task(self) -> int:
        """How many rows are searched together."""

    def blocks(self, Q: Any) -> Iterator[tuple[int, Float32Array]]:
        """Yield the first point of a block and the values v of Q to the block."""

    def squares(self, Q: Any, rows: Any, points: Any) -> FloatArray:
        """Return squared distances of pairs, in units of 1 / scale."""

    def offsets(self, Q: Any) -> tuple[FloatArray, Any]:
        """Return |q|^2, which v leaves out, and u; v errs by u (|q| + |c|)^2."""


@dataclass(frozen=True, eq=False)
class DensePoints:
    """Rows of a dense array."""

    X: Any  # (n, d) float32 or float64, as given
    scale: float
    center: FloatArray  # (d,) median of some scaled rows
    rows_per_task: int = _ROWS

    @classmethod
    def of(cls, X: Any) -> "DensePoints":
        """Prepare the rows of X, which is kept and not copied."""
        scale = power_of_two(max(-float(X.min()), float(X.max())))
        some = np.multiply(thinned(X, _MEDIAN), scale, dtype=float)
        center = np.median(some, axis=0)
        return cls(X, scale, center)

    def __len__(self) -> int:
        return len(self.X)

    def augmented(self, rows: Any) -> Float32Array:
        """Return [x, |x|^2] of rows, scaled and centred."""
        B = np.empty((len(rows), rows.shape[1] + 1), dtype=np.float32)
        # Compiled for one layout.
        load_rows(np.ascontiguousarray(rows), self.scale, self.center, B)
        return B

    def blocks(self, Q: Any) -> Iterator[tuple[int, Float32Array]]:
        """Yield the first point of a block and the values v of Q to the block."""
        A = -2 * self.augmented(Q)
        A[:, -1] = 1
        width = len(self.X) if len(self.X) <= _FEW else _COLUMNS
        G = np.empty((len(Q), width), dtype=np.float32)
        for first in range(0, len(self.X), width):
            B = self.augmented(self.X[first : first + width])
            yield first, np.matmul(A, B.T, out=G[:, : len(B)])

    def squares(self, Q: Any, rows: Any, points: Any) -> FloatArray:
        """Return squared distances of pairs, in units of 1 / scale."""
        Q = np.ascontiguousarray(Q)
        result: FloatArray = dense_pair_squares(Q, self.X, self.scale, rows, points)
        return result

    def offsets(self, Q: Any) -> tuple[FloatArray, Any]:
        """Return |q|^2, which v leaves out, and u; v errs by u (|q| + |c|)^2."""
        q2 = self.augmented(Q)[:, -1].astype(np.float64)
        return q2, (self.X.shape[1] + 8) * np.finfo(np.float32).eps / 2


def power_of_two(largest: float) -> float:
    """Return the power of two that brings `largest` into [1/2, 1), or near it.

    That of subnormal numbers would overflow.
    """
    return float(2.0 ** min(1023, -np.frexp(largest)[1])) if largest > 0 else 1.0


def search_exact(
    points: Points, Q: Any, k: int, own: Int32Array
) -> tuple[Int32Array, FloatArray]:
    """Find the k nearest points of each row of Q, leaving out `own[row]` (-1: none).

    Equal distances are ordered by index. Returns indices and distances, (m, k).
    """
    m = Q.shape[0]
    ids = np.empty((m, k), dtype=np.int32)
    squares = np.full((m, k), np.inf)

    def task(start: int) -> None:
        part = slice(start, start + points.rows_per_task)
        ids[part], squares[part] = _search_rows(points, Q[part], k, own[part])

    in_threads(task, range(0, m, points.rows_per_task))
    return ids, np.sqrt(squares) / points.scale


@dataclass(frozen=True, eq=False)
class ExactSearch:
    """All points are compared with every query."""

    points: Points

    def neighbors(self, k: int) -> Neighbors:
        """Find the k nearest neighbours of every point but itself."""
        own = np.arange(self.points.X.shape[0], dtype=np.int32)
        found = search_exact(self.points, self.points.X, k, own)
        return Neighbors(*found, 1.0, "exact")

    def query(self, Q: Any, k: int) -> Found:
        """Find the k nearest points of each row of Q."""
        nobody = np.full(Q.shape[0], -1, dtype=np.int32)
        return search_exact(self.points, Q, k, nobody)


def complete(
    points: Points,
    Q: Any,
    own: Int32Array,
    ids: Int32Array,
    distances: FloatArray,
) -> None:
    """Search exactly for the rows of Q whose last distance is infinite."""
    rows = np.flatnonzero(distances[:, -1] == np.inf)
    found = search_exact(points, Q[rows], ids.shape[1], own[rows])
    ids[rows], distances[rows] = found


def _search_rows(
    points: Points, Q: Any, k: int, own: Int32Array
) -> tuple[Int32Array, FloatArray]:
    m = Q.shape[0]
    kept = k + _SPARE
    every_row = np.arange(m, dtype=np.int32)
    best = np.full((m, kept), np.inf, dtype=np.float32)
    candidates = np.full((m, kept), -1, dtype=np.int32)
    lanes = np.empty(BLOCK, np.float32)
    for first, G in points.blocks(Q):
        merge(G, every_row, first, own, best, candidates, lanes)
    ids, squares = nearest_of(points, Q, candidates, k)
    q2, unit = points.offsets(Q)
    bounds = _largest_values(squares[:, -1], q2, unit)
    open_rows = np.flatnonzero(bounds >= best[:, -1])
    if len(open_rows):
        _settle(points, Q, own, open_rows, bounds, ids, squares)
    return ids, squares


def _largest_values(squares: FloatArray, q2: FloatArray, unit: Any) -> FloatArray:
    """Return the largest computed v of points within these squared distances."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = unit * (2 * np.sqrt(q2) + np.sqrt(squares)) ** 2
        values: FloatArray = squares - q2 + error
    values[np.isnan(values)] = np.inf  # of queries too far away to tell
    return values


def nearest_of(
    points: Points, Q: Any, candidates: Int32Array, k: int
) -> tuple[Int32Array, FloatArray]:
    """Return the k nearest of each row's candidates, -1 being none, and squares."""
    rows, slots = np.nonzero(candidates >= 0)
    rows = rows.astype(np.int32)
    which = candidates[rows, slots]
    ids = np.full((len(candidates), k), np.iinfo(np.int32).max, dtype=np.int32)
    squares = np.full((len(candidates), k), np.inf)
    insert_pairs(rows, which, points.squares(Q, rows, which), squares, ids)
    return ids, squares


def _settle(
    points: Points,
    Q: Any,
    own: Int32Array,
    open_rows: NDArray[np.intp],
    bounds: FloatArray,
    ids: Int32Array,
    squares: FloatArray,
) -> None:
    """Measure all points whose values may equal the k-th."""
    some = Q[open_rows]
    k = ids.shape[1]
    found = np.full((len(open_rows), k), np.iinfo(np.int32).max, dtype=np.int32)
    lengths = np.full((len(open_rows), k), np.inf)
    limits = np.nextafter(bounds[open_rows].astype(np.float32), np.float32(np.inf))
    for first, G in points.blocks(some):
        rows, which = pairs_below(G, limits, first, own[open_rows])
        insert_pairs(rows, which, points.squares(some, rows, which), lengths, found)
    ids[open_rows] = found
    squares[open_rows] = lengths
