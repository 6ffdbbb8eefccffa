"""Approximate nearest neighbours: k-means cells, a few of them searched per point.

Points are grouped into cells around centres. A point is at home in one of them and
visits those whose border with home it is near to, the border being the plane midway
between the two centres: a neighbour at distance d is beyond a border only if that is
nearer than d. A point is offered in turn to all points it meets, so that a pair is met
if either of the two visits the other's home. Beyond 96 columns the cells hold the
leading principal coordinates, more candidates are kept, and these are measured anew
with all columns.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from mercer._typing import FloatArray
from mercer.graphs._exact import (
    DensePoints,
    Float32Array,
    Int32Array,
    complete,
    run_tasks,
    search_exact,
)
from mercer.graphs._panels import Grid, Guests, choose_visits, grid_of, guests_of
from mercer.graphs._partition import (
    coordinates,
    home_cells,
    kmeans,
    nearest_center,
    nearest_centers,
    principal_axes,
    split,
)
from mercer.graphs._planning import Plan, make_plan
from mercer.graphs._select import group_rows, measure
from mercer.graphs._visits import empty_lists, insert_hits, visit

_CELL = 320  # points in a cell
_SAMPLE = 2048  # rows to plan with
_KNOWN = 192  # of them, whose neighbours are found exactly
_JUDGES = 192  # further such rows, to judge with
_AROUND = 128  # cells around a cell, among which its points choose
_AROUND_REGION = 128  # cells around a region, among which its points find their home
_TASK = 32768
_ROUNDING = 1 + 1e-12  # of sums in double precision
_SIXTEEN_BITS = 1 + 1e-3  # of squared lengths
_NO_LIMITS = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Cells:
    """Points grouped into cells; rows are reordered so that cells are contiguous."""

    points: DensePoints
    axes: Float32Array | None  # (d, r) principal directions, None: all columns
    regions: Float32Array  # centres of the centres
    region_cells: Int32Array  # cells around each region
    grid: Grid
    order: Int32Array  # (n,) row of X at each place
    home: Int32Array  # (n,) cell of each place
    rows: Float32Array  # (n, r) coordinates at each place
    judges: Int32Array  # rows of X to judge with
    sample: Int32Array  # rows of X to plan with
    target: float
    known: dict[int, tuple[Int32Array, FloatArray]] = field(default_factory=dict)
    # By number of neighbours, for pairs of the points and for new points. The keys
    # are plain numbers: the file format of `mercer.persist` knows no tuples as keys.
    plans: dict[int, Plan | None] = field(default_factory=dict)
    plans_for_new: dict[int, Plan | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, points: DensePoints, *, target: float, rng: np.random.Generator
    ) -> "Cells":
        """Group the points by k-means on a sample of them."""
        axes = principal_axes(points, rng)
        P = coordinates(points, points.X, axes)
        centers = kmeans(P, max(1, len(P) // _CELL), rng)
        regions = kmeans(centers, max(1, len(centers) // 8), rng)
        # Cells of one region follow each other, so that a task's points share cells.
        centers = centers[np.argsort(nearest_center(centers, regions), kind="stable")]
        region_cells = nearest_centers(regions, centers, _AROUND_REGION)
        home = home_cells(P, regions, centers, region_cells)
        home, centers = split(home, centers, _CELL)
        order, starts = group_rows(home, len(centers))
        rows = P.take(order, axis=0)
        near = nearest_centers(centers, centers, _AROUND, others=True)
        some = rng.permutation(len(P))[: _JUDGES + _SAMPLE].astype(np.int32)
        n_judges = min(_JUDGES, len(P) // 2)
        return cls(
            points,
            axes,
            regions,
            region_cells,
            grid_of(rows, starts, centers, near),
            order,
            home[order],
            rows,
            some[:n_judges],
            some[n_judges:],
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
        ids = np.empty((n, k), dtype=np.int32)
        distances = np.empty((n, k))

        def task(start: int) -> None:
            part = slice(start, start + _TASK)
            some = self.order[part]
            self._measure(self.points.X, some, places[part], ids, distances)

        run_tasks(task, range(0, n, _TASK), n_jobs)
        own = np.arange(n, dtype=np.int32)
        complete(self.points, self.points.X, own, ids, distances, n_jobs)
        limits = self.true_neighbors(k, n_jobs)[1][: len(self.judges)]
        return ids, distances, float((distances[self.judges] <= limits).mean())

    def search(
        self, Q: Any, k: int, plan: Plan, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray]:
        """Find the k nearest points of new rows Q: indices and distances, (m, k)."""
        grid, kept = self.grid, plan.kept
        P = coordinates(self.points, Q, self.axes)
        ids = np.empty((len(P), k), dtype=np.int32)
        distances = np.empty((len(P), k))

        def task(start: int) -> None:
            part = slice(start, start + _TASK)
            order, guests = self.guests(P[part])
            lists = empty_lists(len(order), kept)
            m = len(grid.centers)
            choose_visits(0, m, guests, grid, np.float32(plan.reach))
            for at_home in (True, False):
                visit(0, m, guests, grid, at_home, False, _NO_LIMITS, lists, kept)
            found = lists.ids[:, :kept]
            self._measure(Q[part], order, found, ids[part], distances[part])
            distances[start + order[self._strange(guests)]] = np.inf

        run_tasks(task, range(0, len(P), _TASK), n_jobs)
        nobody = np.full(len(P), -1, dtype=np.int32)
        complete(self.points, Q, nobody, ids, distances, n_jobs)
        return ids, distances

    @cached_property
    def _radii(self) -> Float32Array:
        """Squared distance of the farthest point of each cell from its centre, (m,)."""
        squares = self.grid.panels.heads[:, 0]
        panel_radii = np.where(squares < np.inf, squares, 0).max(axis=1)
        home = np.repeat(np.arange(len(self.grid.centers)), np.diff(self.grid.firsts))
        radii = np.zeros(len(self.grid.centers), dtype=np.float32)
        np.maximum.at(radii, home, panel_radii)
        return radii

    def _strange(self, guests: Guests) -> NDArray[np.intp]:
        """Return the rows farther from their home than any of its points.

        What the plan says of points like those it was made with is not true of them.
        """
        home = np.repeat(np.arange(len(self.grid.centers)), np.diff(guests.stops))
        squares = row_norms(guests.rows - self.grid.centers[home], squared=True)
        return np.flatnonzero(squares > _SIXTEEN_BITS * self._radii[home])

    def guests(self, P: Float32Array) -> tuple[Int32Array, Guests]:
        """Sort rows by home; return their order, too."""
        centers = self.grid.centers
        home = home_cells(P, self.regions, centers, self.region_cells)
        order, stops = group_rows(home, len(centers))
        return order, guests_of(P[order], stops, self.grid)

    def _meet(self, plan: Plan, n_jobs: int | None) -> Int32Array:
        """Return the places of each point's nearest among those it meets."""
        n = len(self.order)
        grid, kept = self.grid, plan.kept
        guests = guests_of(self.rows, grid.starts, grid)
        lists = empty_lists(n, kept)
        cuts = np.searchsorted(grid.starts, range(0, n, _TASK), side="right") - 1
        cuts = np.append(np.unique(cuts), len(grid.centers))
        hits: dict[int, tuple[Any, Any]] = {}

        def stay(t: int) -> None:
            lo, hi = cuts[t : t + 2]
            choose_visits(lo, hi, guests, grid, np.float32(plan.reach))
            visit(lo, hi, guests, grid, True, True, _NO_LIMITS, lists, kept)

        run_tasks(stay, range(len(cuts) - 1), n_jobs)
        limits = lists.best[:, kept - 1].copy()

        def go(t: int) -> None:
            lo, hi = cuts[t : t + 2]
            hits[t] = visit(lo, hi, guests, grid, False, True, limits, lists, kept)

        run_tasks(go, range(len(cuts) - 1), n_jobs)
        for t in sorted(hits):
            insert_hits(*hits[t], lists, kept)
        return lists.ids[:, :kept]

    def _measure(
        self,
        Q: Any,
        which: Int32Array,
        places: Int32Array,
        ids: Int32Array,
        distances: FloatArray,
    ) -> None:
        """Write the nearest of the candidates of the rows `which` of Q.

        Distances are measured with all columns, in double precision.
        """
        X, scale = self.points.X, self.points.scale
        measure(Q, which, X, scale, self.order, places, ids, distances)

    def plan(self, k: int, n_jobs: int | None, *, both: bool) -> Plan | None:
        """Choose how far to visit, once; None if the exact search is cheaper."""
        plans = self.plans if both else self.plans_for_new
        if k not in plans:
            plans[k] = make_plan(self, k, n_jobs, both=both)
        return plans[k]

    def true_neighbors(
        self, k: int, n_jobs: int | None
    ) -> tuple[Int32Array, FloatArray]:
        """Return those of the judges and the first to plan with, and how far they are.

        The latter is (m, 1), the distance of the last.
        """
        if k not in self.known:
            points = self.points
            rows = np.concatenate([self.judges, self.sample[:_KNOWN]])
            ids, distances = search_exact(points, points.X[rows], k, rows, n_jobs)
            self.known[k] = ids, _ROUNDING * distances[:, -1:]
        return self.known[k]
