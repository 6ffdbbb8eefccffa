"""The approximate search: cells, and how far to probe for the recall wanted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._base.threads import in_threads
from mercer._base.typing import FloatArray
from mercer.neighbors import cells as _cells
from mercer.neighbors.cells import Cells, Plan
from mercer.neighbors.exact import (
    DensePoints,
    ExactSearch,
    Int32Array,
    complete,
    search_exact,
)
from mercer.neighbors.interface import Found, Neighbors
from mercer.neighbors.planning import make_plan

_SAMPLE = 2048  # rows to plan with
_KNOWN = 192  # of them, whose neighbours are found exactly
_VALIDATION = 192  # further such rows, to measure the recall with
_ROUNDING = 1 + 1e-12  # of sums in double precision


@dataclass(frozen=True, eq=False)
class CellSearch:
    """Points in cells, searched as far as the recall wanted needs.

    Plans are made once per k and kept, by whether the points themselves or new ones
    are the queries.
    """

    cells: Cells
    validation: Int32Array  # rows of X to measure the recall with
    sample: Int32Array  # rows of X to plan with
    recall: float
    truth: dict[int, Found] = field(default_factory=dict)
    plans: dict[int, Plan | None] = field(default_factory=dict)
    plans_for_new: dict[int, Plan | None] = field(default_factory=dict)

    @classmethod
    def prepare(
        cls, points: DensePoints, *, recall: float, rng: np.random.Generator
    ) -> "CellSearch":
        """Group the points into cells and draw the rows to plan and validate with."""
        cells = Cells.of(points, rng)
        n = len(points)
        some = rng.permutation(n)[: _VALIDATION + _SAMPLE].astype(np.int32)
        cut = min(_VALIDATION, n // 2)
        return cls(cells, some[:cut], some[cut:], recall)

    @property
    def points(self) -> DensePoints:
        """The points that are searched."""
        return self.cells.points

    def neighbors(self, k: int) -> Neighbors:
        """Find the k nearest others of all points, and the recall on sampled rows."""
        plan = self.plan(k, mutual=True)
        if plan is None:
            return ExactSearch(self.points).neighbors(k)
        cells, n = self.cells, len(self.points)
        places = cells.candidates(plan)
        ids = np.empty((n, k), dtype=np.int32)
        distances = np.empty((n, k))
        size = _cells._TASK

        def task(start: int) -> None:
            part = slice(start, start + size)
            cells.measure(
                self.points.X, cells.order[part], places[part], ids, distances
            )

        in_threads(task, range(0, n, size))
        own = np.arange(n, dtype=np.int32)
        complete(self.points, self.points.X, own, ids, distances)
        limits = self.true_neighbors(k)[1][: len(self.validation)]
        recall = float((distances[self.validation] <= limits).mean())
        return Neighbors(ids, distances, recall, "cells")

    def query(self, Q: Any, k: int) -> Found:
        """Find the k nearest points of new rows Q: indices and distances, (m, k)."""
        plan = None
        if k < len(self.points):
            plan = self.plan(k, mutual=False)
        if plan is None:
            return ExactSearch(self.points).query(Q, k)
        ids, distances = self.cells.search(Q, k, plan)
        nobody = np.full(len(ids), -1, dtype=np.int32)
        complete(self.points, Q, nobody, ids, distances)
        return ids, distances

    def plan(self, k: int, *, mutual: bool) -> Plan | None:
        """Choose how far to probe, once; None if the exact search is cheaper."""
        plans = self.plans if mutual else self.plans_for_new
        if k not in plans:
            known = self.true_neighbors(k)
            cut = len(self.validation)
            truth, limits = known[0][cut:], known[1][cut:]
            plans[k] = make_plan(
                self.cells, k, self.sample, truth, limits, self.recall,
                mutual=mutual,
            )  # fmt: skip
        return plans[k]

    def true_neighbors(self, k: int) -> tuple[Int32Array, FloatArray]:
        """Return neighbours of the validation rows and of the first to plan with.

        And the distance of the last of each, (m, 1).
        """
        if k not in self.truth:
            points = self.points
            rows = np.concatenate([self.validation, self.sample[:_KNOWN]])
            ids, distances = search_exact(points, points.X[rows], k, rows)
            self.truth[k] = ids, _ROUNDING * distances[:, -1:]
        return self.truth[k]
