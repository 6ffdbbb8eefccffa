"""How far queries probe: the least that gets the wanted share of neighbours.

A few rows whose neighbours are known tell what is missed even by probing very far. A
larger sample, searched that far, then tells what is missed by probing less far.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._base.typing import FloatArray
from mercer.neighbors.cells import Cells, Plan
from mercer.neighbors.exact import Float32Array, Int32Array, complete
from mercer.neighbors.panels import choose_probes
from mercer.neighbors.partition import ranks_by_coordinates

_SPARE = 1  # kept beyond k, for rounding
_ROWS = 128  # whose borders are looked at together
_MEASURE = 16  # entries of a product that take as long as measuring one again
_ERRORS = 3  # standard errors by which the share met must exceed the one wanted


def make_plan(
    cells: Cells,
    k: int,
    sample: Int32Array,
    truth: Int32Array,
    limits: FloatArray,
    target: float,
    *,
    mutual: bool,
) -> Plan | None:
    """Choose the reach that gets the target recall; None if exact is cheaper.

    Parameters
    ----------
    cells : Cells
    k : int
    sample : int32 ndarray of shape (s,)
        Rows to plan with.
    truth : int32 ndarray of shape (t, k)
        Neighbours of the first t of them.
    limits : ndarray of shape (t, 1)
        Distances of the last of these.
    target : float
        The recall wanted.
    mutual : bool
        Whether a pair is met if either point probes the other's cell. Otherwise it is
        if the first, a new one, probes the second's.
    """
    n, d = cells.points.X.shape
    place = np.empty(n, dtype=np.int32)
    place[cells.order] = np.arange(n, dtype=np.int32)
    queries = place[sample]
    some, theirs = queries[: len(truth)], place[truth]
    kept = k + _SPARE
    if cells.axes is not None:
        ranks = ranks_by_coordinates(cells.rows, some, theirs)
        enough = 1 - (1 - target) / 4
        kept += int(np.quantile(ranks, enough, method="higher"))
    exact = n * (d + 1)
    if _MEASURE * kept * d > exact:
        return None
    there = _borders(cells, some[:, None], theirs)
    far = there.max(initial=0, where=there < np.inf)
    ids, distances = _search_old(cells, k, sample, Plan(_above(far), kept))
    missed = 1 - float((distances[: len(truth)] <= limits).mean())
    met = _borders(cells, queries[:, None], place[ids])
    if mutual:
        back = _borders(cells, theirs, some[:, None])
        missed -= float(((there > far) & (back <= far)).mean())
        met = np.minimum(met, _borders(cells, place[ids], queries[:, None]))
    reach = _least_reach(met, target + missed)
    if reach is None:
        return None
    plan = Plan(_above(reach), kept)
    candidates = _mean_probes(cells, some, plan) * n / len(cells.grid.centers)
    cost = candidates * (cells.rows.shape[1] + 2) + _MEASURE * kept * d
    return plan if cost <= exact else None


def _above(x: Any) -> float:
    return float(np.nextafter(np.float32(max(0.0, x)), np.float32(np.inf)))


def _least_reach(met: Float32Array, wanted: float) -> float | None:
    """Return the smallest reach that meets the wanted share, beyond sampling error."""
    for share in np.linspace(min(wanted, 1), 1, 65):
        reach = float(np.quantile(met, share, method="higher"))
        shares = (met <= reach).mean(axis=1)
        error = shares.std() / np.sqrt(len(shares))
        if reach < np.inf and shares.mean() - _ERRORS * error >= wanted:
            return reach
    return None


def _search_old(
    cells: Cells, k: int, rows: Int32Array, plan: Plan
) -> tuple[Int32Array, FloatArray]:
    """Search for rows of X as if they were new, but leave out themselves."""
    wider = replace(plan, kept=plan.kept + 1)
    Q = cells.points.X[rows]
    ids, distances = cells.search(Q, k + 1, wider)
    nobody = np.full(len(rows), -1, dtype=np.int32)
    complete(cells.points, Q, nobody, ids, distances)
    own = ids == rows[:, None]
    own[:, -1] |= ~own.any(axis=1)
    return ids[~own].reshape(-1, k), distances[~own].reshape(-1, k)


def _borders(cells: Cells, a: Int32Array, b: Int32Array) -> Float32Array:
    """Return how far points a are from the border between their cell and b's, (m, k).

    It is minus infinity if they share it, infinity if b's is not around a's.
    """
    a, b = np.broadcast_arrays(a, b)
    borders = np.empty(a.shape, dtype=np.float32)
    for some in range(0, len(a), _ROWS):
        part = slice(some, some + _ROWS)
        borders[part] = _some_borders(cells, a[part], b[part])
    return borders


def _some_borders(cells: Cells, a: Int32Array, b: Int32Array) -> Float32Array:
    centers = cells.grid.centers
    start, end = cells.cell[a], cells.cell[b]
    way = centers[end] - centers[start]
    length = np.linalg.norm(way, axis=-1)
    forward = np.sum((cells.rows[a] - centers[start]) * way, axis=-1)
    border: Float32Array = length / 2 - forward / np.where(length > 0, length, 1)
    around = (cells.grid.near[start] == end[..., None]).any(axis=-1)
    border[~around] = np.inf
    border[start == end] = -np.inf
    return border


def _mean_probes(cells: Cells, places: Int32Array, plan: Plan) -> float:
    """Return how many cells points search on average, their own included."""
    _, queries = cells.queries(cells.rows[places])
    m = len(cells.grid.centers)
    count = choose_probes(0, m, queries, cells.grid, np.float32(plan.reach))
    return 1 + float(count) / len(places)
