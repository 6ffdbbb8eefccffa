"""Approximate nearest neighbours: k-means cells, a few of them searched per point.

Points are grouped into cells around centres. A point looks for neighbours in the
cells whose centres are nearest to it; the points that visit a cell do so together, as
one float32 matrix product. Beyond `_MAX_AXES` columns the cells hold the leading
principal coordinates, more candidates are kept, and these are measured anew with all
columns. How many cells to visit is found on sampled rows with known neighbours.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from mercer._typing import FloatArray
from mercer.graphs._exact import (
    DensePoints,
    Float32Array,
    Int32Array,
    nearest_of,
    run_tasks,
    search_exact,
)
from mercer.graphs._select import merge

_CELL = 256  # points in a cell
_MAX_AXES = 96
_AXES = 64
_SAMPLE = 400  # rows with known neighbours, to choose and again to judge
_VISITS = 256  # most cells a point may visit
_TASK = 16384
_ROWS = 1024


class Plan(NamedTuple):
    """How a search for k neighbours is run."""

    visits: int  # cells searched per point
    kept: int  # candidates measured with all columns, in double precision


@dataclass(frozen=True, eq=False)
class Cells:
    """Points grouped into cells; rows are reordered so that cells are contiguous."""

    points: DensePoints
    axes: Float32Array | None  # (d, r) principal directions, None: all columns
    centers: Float32Array  # (m, r)
    near: Int32Array  # (m, w) cells around each cell, nearest first, itself leading
    order: Int32Array  # (n,) row of X at each place
    starts: NDArray[np.int64]  # (m + 1,) first place of each cell
    rows: Float32Array  # (n, r) coordinates at each place
    sample: Int32Array  # rows of X the plan is made on
    judges: Int32Array  # further rows, to estimate the recall reached
    target: float
    plans: dict[int, Plan | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, points: DensePoints, *, target: float, rng: np.random.Generator
    ) -> "Cells":
        """Group the points by k-means on a sample of them."""
        with threadpool_limits(1, user_api="blas"):
            return cls._of(points, target, rng)

    @classmethod
    def _of(
        cls, points: DensePoints, target: float, rng: np.random.Generator
    ) -> "Cells":
        axes = _principal_axes(points, rng)
        P = _coordinates(points, points.X, axes)
        centers = _kmeans(P, max(1, len(P) // _CELL), rng)
        labels, centers = _split(nearest_center(P, centers), centers)
        order = np.argsort(labels, kind="stable").astype(np.int32)
        starts = np.zeros(len(centers) + 1, dtype=np.int64)
        np.cumsum(np.bincount(labels, minlength=len(centers)), out=starts[1:])
        some = rng.choice(len(P), min(2 * _SAMPLE, len(P)), replace=False)
        sample, judges = np.array_split(some.astype(np.int32), 2)
        return cls(
            points,
            axes,
            centers,
            _cells_around(centers),
            order,
            starts,
            P[order],
            sample,
            judges,
            target,
        )

    def neighbors(
        self, k: int, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray, float] | None:
        """Find the k nearest others of all points, and the recall on sampled rows.

        None is returned where the exact search is cheaper.
        """
        plan = self.plan(k, n_jobs)
        if plan is None:
            return None
        n = len(self.order)
        at_place = self.search_own(np.arange(n, dtype=np.int32), k, plan, n_jobs)
        ids = np.empty((n, k), dtype=np.int32)
        distances = np.empty((n, k))
        ids[self.order], distances[self.order] = at_place
        rows = self.judges
        _, truth = search_exact(self.points, self.points.X[rows], k, rows, n_jobs)
        return ids, distances, float((distances[rows] <= truth[:, -1:]).mean())

    def search(
        self, Q: Any, k: int, plan: Plan, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray]:
        """Find the k nearest points of new rows Q: indices and distances, (m, k)."""
        P = _coordinates(self.points, Q, self.axes)
        home = nearest_center(P, self.centers)
        nobody = np.full(len(P), -1, dtype=np.int32)
        return self._search(Q, P, home, nobody, k, plan, n_jobs)

    def search_own(
        self, places: Int32Array, k: int, plan: Plan, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray]:
        """Find the k nearest other points of those at `places`, in ascending order."""
        home = np.searchsorted(self.starts, places, side="right") - 1
        Q = _Rows(self.points.X, self.order[places])
        return self._search(Q, self.rows[places], home, places, k, plan, n_jobs)

    def _search(
        self,
        Q: Any,
        P: Float32Array,
        home: NDArray[np.intp],
        own: Int32Array,
        k: int,
        plan: Plan,
        n_jobs: int | None,
    ) -> tuple[Int32Array, FloatArray]:
        ids = np.empty((len(P), k), dtype=np.int32)
        squares = np.empty((len(P), k))

        def task(start: int) -> None:
            part = slice(start, start + _TASK)
            places = self._visit(P[part], home[part], own[part], plan)
            candidates = np.where(places >= 0, self.order[places], -1)
            found = nearest_of(self.points, Q[part], candidates, k)
            ids[part], squares[part] = found

        run_tasks(task, range(0, len(P), _TASK), n_jobs)
        return ids, np.sqrt(squares) / self.points.scale

    def _visit(
        self, P: Float32Array, home: NDArray[np.intp], own: Int32Array, plan: Plan
    ) -> Int32Array:
        """Return the places of each row's nearest points in the cells it visits."""
        best = np.full((len(P), plan.kept), np.inf, dtype=np.float32)
        places = np.full((len(P), plan.kept), -1, dtype=np.int32)
        width = min(self.near.shape[1], 4 * plan.visits)
        visits = choose_cells(P, home, self.centers, self.near[:, :width], plan.visits)
        largest = int(np.diff(self.starts).max())
        points = np.empty((largest, P.shape[1] + 2), dtype=np.float32)
        visitors = np.empty((_ROWS, P.shape[1] + 2), dtype=np.float32)
        values = np.empty(_ROWS * largest, dtype=np.float32)
        # The home cells first: they make the lists short for all others.
        for some in (visits[:, :1], visits[:, 1:]):
            grouped, stops = group_by_cell(some, len(self.centers))
            for cell in np.flatnonzero(np.diff(stops)):
                rows = grouped[stops[cell] : stops[cell + 1]]
                first, last = self.starts[cell], self.starts[cell + 1]
                B = points[: last - first]
                load_points(self.rows[first:last], self.centers[cell], B)
                for begin in range(0, len(rows), _ROWS):
                    group = rows[begin : begin + _ROWS]
                    A = visitors[: len(group)]
                    load_visitors(P, group, self.centers[cell], A)
                    G = values[: len(A) * len(B)].reshape(len(A), len(B))
                    np.matmul(A, B.T, out=G)
                    merge(G, group, first, own, best, places)
        return places

    def plan(self, k: int, n_jobs: int | None) -> Plan | None:
        """Choose the visits that reach the target recall; None if exact is cheaper."""
        if k not in self.plans:
            self.plans[k] = self._plan(k, n_jobs)
        return self.plans[k]

    def _plan(self, k: int, n_jobs: int | None) -> Plan | None:
        n, r = self.rows.shape
        d = self.points.X.shape[1]
        rows = self.sample
        truth, true_distances = search_exact(
            self.points, self.points.X[rows], k, rows, n_jobs
        )
        place = np.empty(n, dtype=np.int32)
        place[self.order] = np.arange(n, dtype=np.int32)
        mine = np.sort(place[rows])
        back = np.searchsorted(mine, place[rows])
        rank = self._rank_of_cells(place[rows], place[truth])
        kept = k + 2 if self.axes is None else 4 * k
        visits = 1
        while visits <= min(_VISITS, self.near.shape[1]):
            # Measuring a pair anew takes about as long as 16 entries of a product.
            cost = visits * _CELL * (r + 2) + 16 * kept * d
            if cost > 0.5 * n * (d + 1):
                return None
            reach = _lower(rank < visits)
            if reach >= self.target:
                plan = Plan(visits, kept)
                _, distances = self.search_own(mine, k, plan, n_jobs)
                got = _lower(distances[back] <= true_distances[:, -1:])
                if got >= self.target:
                    return plan
                if reach - got > (1 - self.target) / 4:
                    kept = kept * 3 // 2
                    continue
            visits += max(1, visits // 8)
        return None

    def _rank_of_cells(self, queries: Int32Array, found: Int32Array) -> Any:
        """Tell as how many-th each found point's cell would be visited."""
        home = np.searchsorted(self.starts, queries, side="right") - 1
        cell = np.searchsorted(self.starts, found, side="right") - 1
        around = self.near[home]
        squares = ((self.centers[around] - self.rows[queries][:, None]) ** 2).sum(
            axis=2
        )
        squares[:, 0] = -1
        rank = np.argsort(np.argsort(squares, axis=1, kind="stable"), axis=1)
        same = cell[:, :, None] == around[:, None, :]
        known = np.take_along_axis(rank, same.argmax(axis=2), axis=1)
        return np.where(same.any(axis=2), known, around.shape[1])


class _Rows:
    """Some rows of an array, copied only where a slice of them is asked for."""

    def __init__(self, X: Any, rows: Int32Array) -> None:
        self.X = X
        self.rows = rows

    def __getitem__(self, part: slice) -> Any:
        return self.X[self.rows[part]]


def _lower(found: Any) -> float:
    """Return the mean share found per row, less its standard error."""
    shares = found.mean(axis=1)
    return float(shares.mean() - shares.std() / np.sqrt(len(shares)))


def _principal_axes(
    points: DensePoints, rng: np.random.Generator
) -> Float32Array | None:
    n, d = points.X.shape
    if d <= _MAX_AXES:
        return None
    rows = np.sort(rng.choice(n, min(n, 8192), replace=False))
    sample = points.augmented(points.X[rows])[:, :-1]
    seed = int(rng.integers(2**31))
    _, _, axes = randomized_svd(sample, _AXES, n_iter=2, random_state=seed)
    return np.ascontiguousarray(axes.T, dtype=np.float32)


def _coordinates(
    points: DensePoints, X: Any, axes: Float32Array | None
) -> Float32Array:
    r = X.shape[1] if axes is None else axes.shape[1]
    P = np.empty((len(X), r), dtype=np.float32)
    for start in range(0, len(X), _ROWS):
        part = slice(start, start + _ROWS)
        local = points.augmented(X[part])[:, :-1]
        P[part] = local if axes is None else local @ axes
    return P


def nearest_center(P: Float32Array, centers: Float32Array) -> NDArray[np.intp]:
    """Return the index of the nearest centre of every row."""
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    nearest = np.empty(len(P), dtype=np.intp)
    G = np.empty((_ROWS, len(centers)), dtype=np.float32)
    for start in range(0, len(P), _ROWS):
        rows = P[start : start + _ROWS]
        g = np.matmul(rows, centers.T, out=G[: len(rows)])
        g -= half
        g.argmax(axis=1, out=nearest[start : start + _ROWS])
    return nearest


def _kmeans(P: Float32Array, m: int, rng: np.random.Generator) -> Float32Array:
    rows = rng.choice(len(P), min(len(P), 24 * m), replace=False)
    sample = P[rows]
    centers = sample[:m].copy()
    for _ in range(5):
        labels = nearest_center(sample, centers)
        count = np.bincount(labels, minlength=m)
        ones = np.ones(len(sample), dtype=np.float32)
        places = (labels, np.arange(len(sample)))
        sums = sparse.csr_array((ones, places), shape=(m, len(sample))) @ sample
        used = count > 0
        centers[used] = sums[used] / count[used, None]
    return centers


def _split(
    labels: NDArray[np.intp], centers: Float32Array
) -> tuple[NDArray[np.intp], Float32Array]:
    """Cut cells of many (near-)equal points into pieces around the same centre."""
    sizes = np.bincount(labels, minlength=len(centers))
    pieces = [centers]
    total = len(centers)
    for cell in np.flatnonzero(sizes > 8 * _CELL):
        members = np.flatnonzero(labels == cell)
        piece = np.arange(len(members)) // (4 * _CELL)
        labels[members[piece > 0]] = total + piece[piece > 0] - 1
        pieces.append(np.repeat(centers[cell : cell + 1], piece[-1], axis=0))
        total += int(piece[-1])
    return labels, np.concatenate(pieces)


def _cells_around(centers: Float32Array) -> Int32Array:
    m = len(centers)
    width = min(m, 4 * _VISITS)
    near = np.empty((m, width), dtype=np.int32)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    for start in range(0, m, _ROWS):
        G = half - centers[start : start + _ROWS] @ centers.T
        own = np.arange(len(G))
        G[own, start + own] = -np.inf
        near[start : start + _ROWS] = np.argsort(G, axis=1, kind="stable")[:, :width]
    return near


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def choose_cells(P: Any, home: Any, centers: Any, near: Any, visits: int) -> Any:
    """Return each row's `visits` nearest cells of those around its home, that first."""
    width = near.shape[1]
    chosen = np.empty((len(P), visits), np.int32)
    squares = np.empty(width, np.float32)
    for t in range(len(P)):
        around = near[home[t]]
        for w in range(width):
            center = centers[around[w]]
            total = np.float32(0)
            for i in range(P.shape[1]):
                difference = P[t, i] - center[i]
                total += difference * difference
            squares[w] = total
        squares[0] = -1
        count = 0
        # A cell is chosen by how many are nearer: no branch depends on the data.
        for w in range(width):
            x = squares[w]
            nearer = 0
            for other in range(width):
                nearer += squares[other] < x
            if nearer < visits and count < visits:
                chosen[t, count] = around[w]
                count += 1
    return chosen


@njit(nogil=True, cache=True)
def group_by_cell(visits: Any, m: int) -> Any:
    """List the rows that visit each cell: cell c has rows[stops[c]:stops[c + 1]]."""
    stops = np.zeros(m + 1, np.int64)
    for t in range(visits.shape[0]):
        for v in range(visits.shape[1]):
            stops[visits[t, v] + 1] += 1
    for c in range(m):
        stops[c + 1] += stops[c]
    following = stops[:-1].copy()
    rows = np.empty(visits.size, np.int32)
    for t in range(visits.shape[0]):
        for v in range(visits.shape[1]):
            c = visits[t, v]
            rows[following[c]] = t
            following[c] += 1
    return rows, stops


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def load_points(P: Any, center: Any, B: Any) -> None:
    """Write [x, |x|^2, 1] of the rows x of P, seen from the centre."""
    r = P.shape[1]
    for t in range(len(P)):
        total = np.float32(0)
        for i in range(r):
            B[t, i] = P[t, i] - center[i]
        for i in range(r):
            total += B[t, i] * B[t, i]
        B[t, r] = total
        B[t, r + 1] = 1


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def load_visitors(P: Any, rows: Any, center: Any, A: Any) -> None:
    """Write [-2 q, 1, |q|^2] of some rows q of P, seen from the centre."""
    r = P.shape[1]
    for t in range(len(rows)):
        total = np.float32(0)
        for i in range(r):
            difference = P[rows[t], i] - center[i]
            A[t, i] = -2 * difference
            total += difference * difference
        A[t, r] = 1
        A[t, r + 1] = total
