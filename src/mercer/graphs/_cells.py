"""Approximate nearest neighbours: k-means cells, a few of them searched per point.

Points are grouped into cells around centres. A point looks for neighbours in the
cells whose centres are nearest to it, and is offered in turn to all points there: a
pair is met if either of the two visits the other's cell. The points that visit a cell
do so together, as one float32 matrix product. Beyond 96 columns the cells hold the
leading principal coordinates, more candidates are kept, and these are measured anew
with all columns. How many cells to visit follows from sampled rows whose neighbours
are known.
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
    Rows,
    nearest_of,
    run_tasks,
    search_exact,
)
from mercer.graphs._partition import (
    choose_cells,
    coordinates,
    empty_lists,
    home_cells,
    kmeans,
    nearest_center,
    nearest_centers,
    principal_axes,
    products,
    ranks_by_coordinates,
    split,
)
from mercer.graphs._select import BLOCK, column_hits, insert_hits, merge

_CELL = 256  # points in a cell
_SAMPLE = 256  # rows with known neighbours, to choose and again to judge
_AROUND = 128  # cells around a cell, among which its points choose
_TASK = 32768
_SPARE = 2  # kept beyond k, for the rounding of single precision


class Plan(NamedTuple):
    """How a search for k neighbours is run."""

    visits: int  # cells searched per point
    kept: int  # candidates measured with all columns, in double precision


@dataclass(frozen=True, eq=False)
class Cells:
    """Points grouped into cells; rows are reordered so that cells are contiguous."""

    points: DensePoints
    axes: Float32Array | None  # (d, r) principal directions, None: all columns
    regions: Float32Array  # centres of the centres
    region_cells: Int32Array  # cells around each region
    centers: Float32Array  # (m, r)
    near: Int32Array  # (m, w) other cells around each cell
    order: Int32Array  # (n,) row of X at each place
    starts: NDArray[np.int64]  # (m + 1,) first place of each cell
    home: NDArray[np.intp]  # (n,) cell of each place
    rows: Float32Array  # (n, r) coordinates at each place
    sample: Int32Array  # rows of X, half of them to plan on and half to judge
    target: float
    known: dict[int, tuple[Int32Array, FloatArray]] = field(default_factory=dict)
    plans: dict[tuple[int, bool], Plan | None] = field(default_factory=dict)

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
        regions = kmeans(centers, max(1, len(centers) // 16), rng)
        # Cells of one region follow each other, so that a task's points share cells.
        centers = centers[np.argsort(nearest_center(centers, regions), kind="stable")]
        region_cells = nearest_centers(regions, centers, _AROUND)
        home = home_cells(P, regions, centers, region_cells)
        home, centers = split(home, centers, _CELL)
        order = np.argsort(home, kind="stable").astype(np.int32)
        starts = np.zeros(len(centers) + 1, dtype=np.int64)
        np.cumsum(np.bincount(home, minlength=len(centers)), out=starts[1:])
        some = rng.choice(len(P), min(2 * _SAMPLE, len(P)), replace=False)
        return cls(
            points,
            axes,
            regions,
            region_cells,
            centers,
            nearest_centers(centers, centers, _AROUND, others=True),
            order,
            starts,
            home[order],
            P[order],
            some.astype(np.int32),
            target,
        )

    def neighbors(
        self, k: int, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray, float] | None:
        """Find the k nearest others of all points, and the recall on sampled rows.

        None is returned where the exact search is cheaper.
        """
        plan = self.plan(k, n_jobs, both=True)
        if plan is None:
            return None
        n = len(self.order)
        places = self._meet(plan, n_jobs)
        Q = Rows(self.points.X, self.order)
        ids = np.empty((n, k), dtype=np.int32)
        distances = np.empty((n, k))
        ids[self.order], distances[self.order] = self._measure(Q, places, k, n_jobs)
        _, truth = self._known(k, n_jobs)
        judges = slice(len(truth) // 2, None)
        close = distances[self.sample[judges]] <= truth[judges, -1:]
        return ids, distances, float(close.mean())

    def search(
        self, Q: Any, k: int, plan: Plan, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray]:
        """Find the k nearest points of new rows Q: indices and distances, (m, k)."""
        P = coordinates(self.points, Q, self.axes)
        best, places = empty_lists(len(P), plan.kept)

        def task(start: int) -> None:
            part = slice(start, start + _TASK)
            home = home_cells(P[part], self.regions, self.centers, self.region_cells)
            visits = self._visits(P[part], home, plan.visits)
            nobody = np.full(len(visits), -1, dtype=np.int32)
            for cell, rows, G in self._products(P[part], visits):
                first = self.starts[cell]
                merge(G, rows, first, nobody, best[part], places[part])

        run_tasks(task, range(0, len(P), _TASK), n_jobs)
        return self._measure(Q, places, k, n_jobs)

    def _meet(self, plan: Plan, n_jobs: int | None) -> Int32Array:
        """Return the places of each point's nearest among those it meets."""
        n = len(self.order)
        visits = np.empty((n, plan.visits), dtype=np.int32)
        best, places = empty_lists(n, plan.kept)
        own = np.arange(n, dtype=np.int32)
        # The nearest cells first: they make the lists short for all others.
        for ranks in (slice(0, 1), slice(1, 3), slice(3, plan.visits)):
            limits = np.append(best[:, -1], np.zeros(BLOCK, dtype=np.float32))
            hits: dict[int, tuple[Any, Any]] = {}

            def task(
                start: int,
                ranks: slice = ranks,
                limits: Float32Array = limits,
                hits: dict[int, tuple[Any, Any]] = hits,
            ) -> None:
                part = slice(start, start + _TASK)
                P, mine = self.rows[part], visits[part]
                if ranks.start == 0:
                    mine[:] = self._visits(P, self.home[part], plan.visits)
                pairs, values = np.empty((0, 2), np.int32), np.empty(0, np.float32)
                count = 0
                for cell, rows, G in self._products(P, mine[:, ranks]):
                    first = self.starts[cell]
                    merge(G, rows, first, own[part], best[part], places[part])
                    if ranks.start > 0:
                        pairs, values, count = column_hits(
                            G, rows, first, limits, pairs, values, count
                        )
                hits[start] = pairs[:count], values[:count]

            run_tasks(task, range(0, n, _TASK), n_jobs)
            for start in sorted(hits):
                insert_hits(*hits[start], start, visits, best, places)
        return places

    def _visits(
        self, P: Float32Array, home: NDArray[np.intp], count: int
    ) -> Int32Array:
        """Return the cells that rows at home in `home` visit, that first."""
        others = choose_cells(P, home, self.centers, self.centers, self.near, count - 1)
        return np.column_stack([home.astype(np.int32), others])

    def _products(self, P: Float32Array, visits: Int32Array) -> Any:
        def points_of(cell: int) -> Float32Array:
            return self.rows[self.starts[cell] : self.starts[cell + 1]]

        return products(P, visits, self.centers, points_of)

    def _measure(
        self, Q: Any, places: Int32Array, k: int, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray]:
        """Return the k nearest of candidates by distances in double precision."""
        ids = np.empty((len(places), k), dtype=np.int32)
        squares = np.empty((len(places), k))

        def task(start: int) -> None:
            part = slice(start, start + _TASK)
            some = places[part]
            candidates = np.where(some >= 0, self.order[some], -1)
            ids[part], squares[part] = nearest_of(self.points, Q[part], candidates, k)

        run_tasks(task, range(0, len(places), _TASK), n_jobs)
        return ids, np.sqrt(squares) / self.points.scale

    def plan(self, k: int, n_jobs: int | None, *, both: bool) -> Plan | None:
        """Choose the visits that reach the target recall; None if exact is cheaper.

        With `both` a pair is met if either point visits the other's cell, otherwise
        if the first, a new one, visits the second's.
        """
        if (k, both) not in self.plans:
            self.plans[k, both] = self._plan(k, n_jobs, both)
        return self.plans[k, both]

    def _plan(self, k: int, n_jobs: int | None, both: bool) -> Plan | None:
        n, r = self.rows.shape
        d = self.points.X.shape[1]
        half = slice(0, len(self.sample) // 2)
        truth, _ = self._known(k, n_jobs)
        place = np.empty(n, dtype=np.int32)
        place[self.order] = np.arange(n, dtype=np.int32)
        queries, found = place[self.sample[half]], place[truth[half]]
        alone = self._rank_of_cells(queries, found, both=False)
        met = self._rank_of_cells(queries, found, both=True) if both else alone
        kept = k + _SPARE
        shown = np.zeros(found.shape, dtype=np.intp)
        if self.axes is not None:
            shown = ranks_by_coordinates(self.rows, queries, found)
            enough = self.target + 0.75 * (1 - self.target)
            kept += int(np.quantile(shown, enough, method="higher"))
        for visits in range(1, self.near.shape[1] + 2):
            # Measuring a pair anew takes about as long as 16 entries of a product.
            cost = 1.5 * visits * _CELL * (r + 2) + 16 * kept * d
            if cost > 0.5 * n * (d + 1):
                return None
            if _lower((met < visits) & (shown < kept)) >= self.target:
                plan = Plan(visits, kept)
                # Points too close for single precision are found less often than met.
                expected = ((alone < visits) & (shown < kept)).mean()
                reached = self._found_alone(k, plan, n_jobs)
                return plan if reached >= expected - (1 - self.target) else None
        return None

    def _known(self, k: int, n_jobs: int | None) -> tuple[Int32Array, FloatArray]:
        """Return the true neighbours of the sampled rows, and distances."""
        if k not in self.known:
            Q = self.points.X[self.sample]
            self.known[k] = search_exact(self.points, Q, k, self.sample, n_jobs)
        return self.known[k]

    def _found_alone(self, k: int, plan: Plan, n_jobs: int | None) -> float:
        """Return the recall of the sampled rows, searched as if they were new."""
        half = slice(0, len(self.sample) // 2)
        Q = self.points.X[self.sample[half]]
        limits = self._known(k, n_jobs)[1][half, -1:]
        # One more, as each row finds itself.
        _, distances = self.search(Q, k + 1, plan._replace(kept=plan.kept + 1), n_jobs)
        return float(((distances <= limits).sum(axis=1) - 1).mean() / k)

    def _rank_of_cells(
        self, queries: Int32Array, found: Int32Array, both: bool
    ) -> NDArray[np.intp]:
        """Tell as how many-th the cell would be visited in which two points meet."""
        width = self.near.shape[1] + 1

        def visits(places: Int32Array) -> Int32Array:
            return self._visits(self.rows[places], self.home[places], width)

        a = visits(queries)
        same = a[:, None, :] == self.home[found][:, :, None]
        if both:
            b = visits(found.ravel()).reshape(*found.shape, width)
            same |= b == self.home[queries][:, None, None]
        ranks: NDArray[np.intp] = np.where(same.any(2), same.argmax(2), width)
        return ranks


def _lower(found: Any) -> float:
    """Return the mean share found per row, less its standard error."""
    shares = found.mean(axis=1)
    return float(shares.mean() - shares.std() / np.sqrt(len(shares)))
