"""Points grouped into k-means cells, a few of which are searched per query.

A query lies in one cell and probes those whose border with it is near, the border
being the plane midway between the two centres: a neighbour at distance d is beyond a
border only if that is nearer than d. Where the points themselves are the queries, a
pair is met if either of the two probes the other's cell. Beyond 96 columns the cells
hold the leading principal coordinates, more candidates are kept, and these are measured
again with all columns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from mercer._base.threads import in_threads
from mercer._base.typing import FloatArray
from mercer.neighbors.exact import DensePoints, Float32Array, Int32Array
from mercer.neighbors.panels import Grid, Queries, choose_probes, grid_of, queries_of
from mercer.neighbors.partition import (
    assign_cells,
    coordinates,
    kmeans,
    nearest_center,
    nearest_centers,
    principal_axes,
    split,
)
from mercer.neighbors.probes import empty_lists, insert_hits, search_cells
from mercer.neighbors.select import group_rows, measure

_CELL = 320  # points in a cell
_AROUND = 256  # cells around a cell, among which its points choose
_AROUND_REGION = 128  # cells around a region, among which its points find theirs
_TASK = 32768
_SIXTEEN_BITS = 1 + 1e-3  # of squared lengths
_NO_LIMITS = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search for k neighbours is run."""

    reach: float  # cells with nearer borders are probed
    kept: int  # candidates measured with all columns, in double precision


@dataclass(frozen=True, eq=False)
class Cells:
    """Points grouped into cells; rows are reordered so that cells are contiguous."""

    points: DensePoints
    axes: Float32Array | None  # (d, r) principal directions, None: all columns
    regions: Float32Array  # centres of the centres
    region_cells: Int32Array  # cells around each region
    grid: Grid
    order: Int32Array  # (n,) row of X at each place
    cell: Int32Array  # (n,) cell of each place
    rows: Float32Array  # (n, r) coordinates at each place

    @classmethod
    def of(cls, points: DensePoints, rng: np.random.Generator) -> "Cells":
        """Group the points by k-means on a sample of them."""
        axes = principal_axes(points, rng)
        P = coordinates(points, points.X, axes)
        centers = kmeans(P, max(1, len(P) // _CELL), rng)
        regions = kmeans(centers, max(1, len(centers) // 8), rng)
        # Cells of one region follow each other, so that a task's queries share cells.
        centers = centers[np.argsort(nearest_center(centers, regions), kind="stable")]
        region_cells = nearest_centers(regions, centers, _AROUND_REGION)
        cells = assign_cells(P, regions, centers, region_cells)
        cells, centers = split(cells, centers, _CELL)
        order, starts = group_rows(cells, len(centers))
        rows = P.take(order, axis=0)
        near = nearest_centers(centers, centers, _AROUND, others=True)
        grid = grid_of(rows, starts, centers, near)
        return cls(points, axes, regions, region_cells, grid, order, cells[order], rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds: `rows` and panels are laid out when it is read.

        How wide panels are depends on the processor.
        """
        state = dict(vars(self))
        grid = state.pop("grid")
        for name in ("rows", "_radii"):
            state.pop(name, None)
        return {**state, "grid": (grid.centers, grid.near, grid.starts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        centers, near, starts = state["grid"]
        P = coordinates(state["points"], state["points"].X, state["axes"])
        rows = P.take(state["order"], axis=0)
        grid = grid_of(rows, starts, centers, near)
        vars(self).update({**state, "rows": rows, "grid": grid})

    def queries(self, P: Float32Array) -> tuple[Int32Array, Queries]:
        """Sort rows by the cell they lie in; also return their order."""
        centers = self.grid.centers
        cells = assign_cells(P, self.regions, centers, self.region_cells)
        order, starts = group_rows(cells, len(centers))
        return order, queries_of(P[order], starts, self.grid)

    def search(self, Q: Any, k: int, plan: Plan) -> tuple[Int32Array, FloatArray]:
        """Find the k nearest points of new rows Q among those in probed cells.

        Returns indices and distances, (m, k). The last distance is infinite where too
        few points were met, and for rows farther from their centre than any point of
        the cell: what a plan says of rows like the points is not true of those.
        """
        P = coordinates(self.points, Q, self.axes)
        ids = np.empty((len(P), k), dtype=np.int32)
        distances = np.empty((len(P), k))
        grid, kept = self.grid, plan.kept
        m = len(grid.centers)

        def task(start: int) -> None:
            part = slice(start, start + _TASK)
            order, queries = self.queries(P[part])
            lists = empty_lists(len(order), kept)
            choose_probes(0, m, queries, grid, np.float32(plan.reach))
            for inside in (True, False):
                search_cells(
                    0, m, queries, grid, inside, False, _NO_LIMITS, lists, kept
                )
            found = lists.ids[:, :kept]
            self.measure(Q[part], order, found, ids[part], distances[part])
            distances[start + order[self._outside(queries)]] = np.inf

        in_threads(task, range(0, len(P), _TASK))
        return ids, distances

    @cached_property
    def _radii(self) -> Float32Array:
        """Squared distance of the farthest point of each cell from its centre, (m,)."""
        squares = self.grid.panels.heads[:, 0]
        panel_radii = np.where(squares < np.inf, squares, 0).max(axis=1)
        cells = np.repeat(np.arange(len(self.grid.centers)), np.diff(self.grid.firsts))
        radii = np.zeros(len(self.grid.centers), dtype=np.float32)
        np.maximum.at(radii, cells, panel_radii)
        return radii

    def _outside(self, queries: Queries) -> NDArray[np.intp]:
        """Return the queries farther from their centre than any point of the cell."""
        cells = np.repeat(np.arange(len(self.grid.centers)), np.diff(queries.stops))
        squares = row_norms(queries.rows - self.grid.centers[cells], squared=True)
        return np.flatnonzero(squares > _SIXTEEN_BITS * self._radii[cells])

    def candidates(self, plan: Plan) -> Int32Array:
        """Return the places of each point's nearest among those it meets, (n, kept)."""
        n = len(self.order)
        grid, kept = self.grid, plan.kept
        queries = queries_of(self.rows, grid.starts, grid)
        lists = empty_lists(n, kept)
        cuts = np.searchsorted(grid.starts, range(0, n, _TASK), side="right") - 1
        cuts = np.append(np.unique(cuts), len(grid.centers))
        hits: dict[int, tuple[Any, Any]] = {}

        def inside(t: int) -> None:
            lo, hi = cuts[t : t + 2]
            choose_probes(lo, hi, queries, grid, np.float32(plan.reach))
            search_cells(lo, hi, queries, grid, True, True, _NO_LIMITS, lists, kept)

        in_threads(inside, range(len(cuts) - 1))
        limits = lists.best[:, kept - 1].copy()

        def probed(t: int) -> None:
            lo, hi = cuts[t : t + 2]
            hits[t] = search_cells(
                lo, hi, queries, grid, False, True, limits, lists, kept
            )

        in_threads(probed, range(len(cuts) - 1))
        for t in sorted(hits):
            insert_hits(*hits[t], lists, kept)
        return lists.ids[:, :kept]

    def measure(
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
