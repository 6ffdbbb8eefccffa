"""Approximate nearest neighbours: k-means cells, a few of them searched per point.

Points are grouped into cells around centres. A point looks for neighbours in the
cells whose centres are nearest to it; the points that visit a cell do so together, as
one float32 matrix product. Beyond 96 columns the cells hold the leading
principal coordinates, more candidates are kept, and these are measured anew with all
columns. How many cells to visit is found on sampled rows with known neighbours.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
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
from mercer.graphs._partition import (
    cells_around,
    coordinates,
    kmeans,
    nearest_center,
    principal_axes,
    split,
)
from mercer.graphs._select import (
    choose_cells,
    group_by_cell,
    load_points,
    load_visitors,
    merge,
)

_CELL = 256  # points in a cell
_SAMPLE = 400  # rows with known neighbours, to choose and again to judge
_AROUND = 128  # cells around a cell, among which its points choose
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
        axes = principal_axes(points, rng)
        P = coordinates(points, points.X, axes)
        centers = kmeans(P, max(1, len(P) // _CELL), rng)
        # Cells of one region follow each other, so that a task's points share cells.
        regions = kmeans(centers, max(1, len(centers) // 32), rng)
        centers = centers[np.argsort(nearest_center(centers, regions), kind="stable")]
        labels, centers = split(nearest_center(P, centers), centers, _CELL)
        order = np.argsort(labels, kind="stable").astype(np.int32)
        starts = np.zeros(len(centers) + 1, dtype=np.int64)
        np.cumsum(np.bincount(labels, minlength=len(centers)), out=starts[1:])
        some = rng.choice(len(P), min(2 * _SAMPLE, len(P)), replace=False)
        sample, judges = np.array_split(some.astype(np.int32), 2)
        return cls(
            points,
            axes,
            centers,
            cells_around(centers, _AROUND),
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
        P = coordinates(self.points, Q, self.axes)
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
        visits = choose_cells(P, home, self.centers, self.near, plan.visits)
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
        while visits <= self.near.shape[1]:
            # Measuring a pair anew takes about as long as 16 entries of a product.
            cost = visits * _CELL * (r + 2) + 16 * kept * d
            if cost > 0.5 * n * (d + 1) or kept > 16 * k + 2:
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
