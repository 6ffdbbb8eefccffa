"""How far points visit: the least that gets the wanted share of neighbours.

A few rows whose neighbours are known tell what is missed even by visiting very far. A
larger sample, searched that far, then tells what is missed by visiting less far.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mercer._typing import FloatArray
from mercer.graphs._exact import Float32Array, Int32Array
from mercer.graphs._panels import choose_visits
from mercer.graphs._partition import ranks_by_coordinates

if TYPE_CHECKING:
    from mercer.graphs._cells import Cells

_SPARE = 1  # kept beyond k, for rounding
_ROWS = 128  # whose borders are looked at together
_MEASURE = 16  # entries of a product that take as long as measuring one anew
_ERRORS = 3  # standard errors that the share met is to be above the one wanted


class Plan(NamedTuple):
    """How a search for k neighbours is run."""

    reach: float  # cells with nearer borders are visited
    kept: int  # candidates measured with all columns, in double precision


def make_plan(cells: "Cells", k: int, n_jobs: int | None, *, both: bool) -> Plan | None:
    """Choose the reach that gets the target recall; None if exact is cheaper.

    With `both` a pair is met if either point visits the other's home, otherwise if the
    first, a new one, visits the second's.
    """
    n, r = cells.rows.shape
    d = cells.points.X.shape[1]
    known = cells.true_neighbors(k, n_jobs)
    truth, limits = (x[len(cells.judges) :] for x in known)
    place = np.empty(n, dtype=np.int32)
    place[cells.order] = np.arange(n, dtype=np.int32)
    queries = place[cells.sample]
    some, theirs = queries[: len(truth)], place[truth]
    kept = k + _SPARE
    if cells.axes is not None:
        ranks = ranks_by_coordinates(cells.rows, some, theirs)
        enough = 1 - (1 - cells.target) / 4
        kept += int(np.quantile(ranks, enough, method="higher"))
    exact = 0.5 * n * (d + 1)
    if _MEASURE * kept * d > exact:
        return None
    there = _borders(cells, some[:, None], theirs)
    far = there.max(initial=0, where=there < np.inf)
    ids, distances = _search_old(cells, k, Plan(_above(far), kept), n_jobs)
    missed = 1 - float((distances[: len(truth)] <= limits).mean())
    met = _borders(cells, queries[:, None], place[ids])
    if both:
        back = _borders(cells, theirs, some[:, None])
        missed -= float(((there > far) & (back <= far)).mean())
        met = np.minimum(met, _borders(cells, place[ids], queries[:, None]))
    reach = _least_reach(met, cells.target + missed)
    if reach is None:
        return None
    plan = Plan(_above(reach), kept)
    candidates = 1.5 * _mean_visits(cells, some, plan) * n / len(cells.grid.centers)
    cost = candidates * (r + 2) + _MEASURE * kept * d
    return plan if cost <= exact else None


def _above(x: Any) -> float:
    return float(np.nextafter(np.float32(max(0.0, x)), np.float32(np.inf)))


def _least_reach(met: Float32Array, wanted: float) -> float | None:
    """Return the least reach for which the share met is surely the one wanted."""
    for share in np.linspace(min(wanted, 1), 1, 65):
        reach = float(np.quantile(met, share, method="higher"))
        shares = (met <= reach).mean(axis=1)
        error = shares.std() / np.sqrt(len(shares))
        if reach < np.inf and shares.mean() - _ERRORS * error >= wanted:
            return reach
    return None


def _search_old(
    cells: "Cells", k: int, plan: Plan, n_jobs: int | None
) -> tuple[Int32Array, FloatArray]:
    """Search for the sampled rows as if they were new, but leave out themselves."""
    rows = cells.sample
    wider = plan._replace(kept=plan.kept + 1)
    ids, distances = cells.search(cells.points.X[rows], k + 1, wider, n_jobs)
    own = ids == rows[:, None]
    own[:, -1] |= ~own.any(axis=1)
    return ids[~own].reshape(-1, k), distances[~own].reshape(-1, k)


def _borders(cells: "Cells", a: Int32Array, b: Int32Array) -> Float32Array:
    """Return how far points a are from the border between their home and b's, (m, k).

    It is minus infinity if they share it, infinity if there is no way from a's.
    """
    a, b = np.broadcast_arrays(a, b)
    borders = np.empty(a.shape, dtype=np.float32)
    for some in range(0, len(a), _ROWS):
        part = slice(some, some + _ROWS)
        borders[part] = _some_borders(cells, a[part], b[part])
    return borders


def _some_borders(cells: "Cells", a: Int32Array, b: Int32Array) -> Float32Array:
    centers = cells.grid.centers
    start, end = cells.home[a], cells.home[b]
    way = centers[end] - centers[start]
    length = np.linalg.norm(way, axis=-1)
    forward = np.sum((cells.rows[a] - centers[start]) * way, axis=-1)
    border: Float32Array = length / 2 - forward / np.where(length > 0, length, 1)
    known = (cells.grid.near[start] == end[..., None]).any(axis=-1)
    border[~known] = np.inf
    border[start == end] = -np.inf
    return border


def _mean_visits(cells: "Cells", places: Int32Array, plan: Plan) -> float:
    """Return how many cells points search on average, home included."""
    _, guests = cells.guests(cells.rows[places])
    m = len(cells.grid.centers)
    count = choose_visits(0, m, guests, cells.grid, np.float32(plan.reach))
    return 1 + float(count) / len(places)
