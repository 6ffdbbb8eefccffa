r"""Nearest neighbours among tensors: all pairs, at the speed of matrix products.

On a GPU with Triton, scores :math:`q \cdot c - |c|^2 / 2` are computed in 16 bits and
never written: of every 32 points only the best score is kept, the best groups of each
query are chosen by these, and their members are measured in single precision. Above
half a million points a query meets only the tiles of points near it. Elsewhere the
scores are written block by block, and the best of each block are measured again. Recall
is measured against double precision on sampled rows; where these do not reach the
recall wanted, products twice as long take over (`in_halves`), then all tiles, and then
the search of all pairs in single precision.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._base.rows import thinned
from mercer._base.tensors import as_tensor, torch
from mercer.backends.torch.files import InFiles
from mercer.backends.torch.tiles import ROWS, Listing, every_tile, near_tiles

ALL_PAIRS_UP_TO = 2**19  # points; beyond, each meets the tiles near it
KERNELS_FROM = 2**14  # points
_SPARE = 4  # candidates measured beyond k
_SAMPLE = 256  # rows on which recall is measured
_BLOCK_BYTES = 2**31  # scores that are written at a time on a GPU
_BLOCK_BYTES_CPU = 2**26
_COLUMNS = 2**18  # points whose scores are written at a time
_ROUNDING = 1e-5  # relative, of squared distances in single precision


@dataclass(frozen=True, slots=True, eq=False)
class TorchNeighbors:
    """The k nearest neighbours of each of n points, the point itself left out."""

    indices: Any  # (n, k) int64
    distances: Any  # (n, k) float64, ascending
    recall: float  # share of true neighbours found, on sampled rows
    method: str  # what was used: "tiles" or "exact"
    order: Any  # (n,) the points, near ones next to each other where that is known

    def in_order(self) -> tuple["TorchNeighbors", Any]:
        """Return the neighbours of the points in their order, and the place of each.

        Products with a graph in this order read what they have just read.
        """
        t, order = torch(), self.order
        place = t.empty_like(order)
        place[order] = t.arange(len(order), device=order.device)
        indices, distances = place[self.indices[order]], self.distances[order]
        return replace(self, indices=indices, distances=distances), place


@dataclass(frozen=True, eq=False)
class TorchPoints(InFiles):
    """Rows of a tensor, centred and scaled for the search."""

    X: Any  # (n, d) as given
    rows: Any  # (n, d) float32, centred; largest entry about 1
    center: Any  # (d,)
    scale: float  # power of two
    half: Any  # (n,) half the squared lengths of the rows

    @classmethod
    def of(cls, X: Any) -> "TorchPoints":
        """Prepare the rows of X, which is kept and not copied."""
        t = torch()
        if X.ndim != 2 or X.shape[1] == 0 or len(X) < 2:
            msg = (
                f"X has the shape {tuple(X.shape)}; give a tensor with two rows or "
                "more and one column or more."
            )
            raise ValueError(msg)
        if not bool(t.isfinite(X).all()):
            msg = "X contains NaN or infinity."
            raise ValueError(msg)
        some = thinned(X, 1024).double()
        center = some.median(dim=0).values.to(X.dtype)
        largest = float((X - center).abs().max())
        scale = 2.0 ** -float(np.ceil(np.log2(largest))) if largest > 0 else 1.0
        rows = ((X - center) * scale).float()
        return cls(X, rows, center, scale, 0.5 * (rows * rows).sum(dim=1))

    def __len__(self) -> int:
        return len(self.X)

    def __getstate__(self) -> dict[str, Any]:
        """Return the points as given, of which all else is made."""
        state = super().__getstate__()
        return {name: state[name] for name in ("X", "_tensors", "_device")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_tensors": ["X"]})
        vars(self).update(vars(TorchPoints.of(vars(self)["X"])))

    def moved(self, Q: Any) -> Any:
        """Return new rows as the points are: centred, scaled, float32."""
        return ((Q - self.center) * self.scale).float()


@dataclass(frozen=True, eq=False)
class TorchSearch(InFiles):
    """Points on a device, ready to be searched."""

    points: TorchPoints
    recall: float
    rng: np.random.Generator

    @classmethod
    def prepare(
        cls,
        X: Any,
        *,
        device: str | None = None,
        recall: float = 0.99,
        rng: np.random.Generator,
    ) -> "TorchSearch":
        """Move points to a device, unless they are there, and scale them."""
        return cls(TorchPoints.of(as_tensor(X, device)), recall, rng)

    def neighbors(self, k: int) -> TorchNeighbors:
        """Find the k nearest others of all points; the result holds tensors."""
        t = torch()
        points = self.points
        n = len(points)
        if not 1 <= k < n:
            msg = f"k must be an integer from 1 to n - 1 = {n - 1}, got {k!r}."
            raise ValueError(msg)
        rows, truth, limits = self._known(k)
        if has_kernels(points):
            for listing in self._listings(rows, truth):
                # The sample tells at once whether products are exact enough.
                _, distances = search_tiles(points, k, listing, rows)
                if float((distances <= limits).double().mean()) < self.recall:
                    continue
                ids, distances = search_tiles(points, k, listing)
                recall = float((distances[rows] <= limits).double().mean())
                if recall >= self.recall:
                    return TorchNeighbors(
                        ids, distances, recall, "tiles", listing.order
                    )
        own = t.arange(n, device=points.X.device)
        ids, distances = search_plain(points, points.X, k, own)
        recall = float((distances[rows] <= limits).double().mean())
        return TorchNeighbors(ids, distances, recall, "exact", own)

    def query(self, Q: Any, k: int) -> tuple[Any, Any]:
        """Find the k nearest points of each row of Q: tensors of shape (m, k)."""
        t = torch()
        points = self.points
        Q = as_tensor(Q, str(points.X.device)).to(points.X.dtype)
        nobody = t.full((len(Q),), -1, device=points.X.device)
        return search_plain(points, Q, k, nobody)

    def _listings(self, rows: Any, truth: Any) -> Iterator[Listing]:
        """Yield which tiles to search: those near a query, or all.

        First with products of 16 bits, then with finer ones: where points are many
        times as far from the centre as from their neighbours, 16 bits do not tell them
        apart.
        """
        t = torch()
        P = self.points.rows
        is_far = len(P) > ALL_PAIRS_UP_TO
        if is_far:
            near = near_tiles(P, rows, truth, self.recall, self.rng)
            yield near
            yield replace(near, is_fine=True)
        order = t.arange(len(P), device=P.device)
        every = Listing(order, every_tile(len(P), P.device))
        if not is_far:
            yield every
        yield replace(every, is_fine=True)

    def _known(self, k: int) -> tuple[Any, Any, Any]:
        """Return sampled rows, their neighbours and the distance of the last."""
        t = torch()
        X = self.points.X
        n = len(X)
        some = np.sort(self.rng.choice(n, min(n, _SAMPLE), replace=False))
        rows = t.as_tensor(some, device=X.device)
        limits = t.empty((len(rows), 1), dtype=t.float64, device=X.device)
        truth = t.empty((len(rows), k), dtype=t.int64, device=X.device)
        for start in range(0, len(rows), 32):
            part = rows[start : start + 32]
            squares = _squares(X, part, self.points.center)
            squares[t.arange(len(part)), part] = t.inf
            nearest = squares.topk(k, dim=1, largest=False)
            limits[start : start + 32, 0] = nearest.values[:, -1].sqrt()
            truth[start : start + 32] = nearest.indices
        return rows, truth, limits * (1 + _ROUNDING)


def has_kernels(points: TorchPoints) -> bool:
    """Tell whether Triton's kernels can run, and pay, on these points."""
    if points.X.device.type != "cuda" or len(points) < KERNELS_FROM:
        return False
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


def search_tiles(
    points: TorchPoints, k: int, listing: Listing, some: Any = None
) -> tuple[Any, Any]:
    """Find the k nearest others of all points among those of the tiles listed.

    With `some`, find those of these rows among all points.
    """
    from mercer.backends.torch.kernels import Groups

    t = torch()
    order = listing.order
    rows = points.rows[order]
    groups = Groups.of(rows, points.half[order], is_fine=listing.is_fine)
    own = t.arange(len(rows), device=rows.device)
    if some is not None:
        place = t.empty_like(order)
        place[order] = own
        every = every_tile(len(rows), rows.device)[: -(-len(some) // ROWS)]
        found, squares = groups.search(points.rows[some], k, place[some], every)
        return order[found], squares.double().sqrt() / points.scale
    found, squares = groups.search(rows, k, own, listing.tiles)
    ids = t.empty_like(found)
    ids[order] = order[found]
    distances = t.empty(squares.shape, dtype=t.float64, device=rows.device)
    distances[order] = squares.double().sqrt() / points.scale
    return ids, distances


def _squares(X: Any, rows: Any, center: Any) -> Any:
    """Return squared distances of some rows to all, in double precision, (m, n)."""
    t = torch()
    parts = []
    q = X[rows].double() - center
    for start in range(0, len(X), 2**20):
        x = X[start : start + 2**20].double() - center
        parts.append((x * x).sum(dim=1) - 2 * q @ x.T)
    return (t.cat(parts, dim=1) + (q * q).sum(dim=1)[:, None]).clamp_(min=0)


def search_plain(points: TorchPoints, Q: Any, k: int, own: Any) -> tuple[Any, Any]:
    """Find the k nearest points of rows, leaving out ``own[row]``.

    Parameters
    ----------
    points : TorchPoints
    Q : tensor of shape (m, d)
        Rows like those of ``points.X``.
    k : int
        At most n, or n - 1 where rows leave out a point.
    own : integer tensor of shape (m,)
        -1 for rows that leave out none.

    Returns
    -------
    ids : int64 tensor of shape (m, k)
    distances : float64 tensor of shape (m, k)
        Ascending; equal ones by index.
    """
    t = torch()
    n, device = len(points), Q.device
    kept = min(k + _SPARE + 1, n)
    size = _BLOCK_BYTES_CPU if device.type == "cpu" else _BLOCK_BYTES
    columns = min(n, _COLUMNS)
    step = max(1, size // (4 * columns))
    all_ids = t.empty((len(Q), k), dtype=t.int64, device=device)
    all_distances = t.empty((len(Q), k), dtype=t.float64, device=device)
    for start in range(0, len(Q), step):
        part = slice(start, start + step)
        q, me = points.moved(Q[part]), own[part, None]
        best = t.full((len(q), 0), t.inf, device=device)
        ids = t.empty((len(q), 0), dtype=t.int64, device=device)
        for first in range(0, n, columns):
            last = min(first + columns, n)
            scores = points.half[first:last] - q @ points.rows[first:last].T
            values, places = scores.topk(min(kept, last - first), dim=1, largest=False)
            best = t.cat([best, values], dim=1)
            ids = t.cat([ids, places + first], dim=1)
            best, order = best.topk(min(kept, best.shape[1]), dim=1, largest=False)
            ids = ids.gather(1, order)
        ids = ids.sort(dim=1).values
        squares = _measured(points.X, Q[part], ids)
        squares[ids == me] = t.inf
        squares, order = squares.sort(dim=1, stable=True)
        all_ids[part] = ids.gather(1, order)[:, :k]
        all_distances[part] = squares[:, :k].sqrt()
    return all_ids, all_distances


def _measured(rows: Any, q: Any, ids: Any) -> Any:
    """Return squared distances of rows to their candidates, summed in double."""
    difference = rows[ids].double() - q[:, None].double()
    return (difference * difference).sum(dim=2)
