# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
"""Triton kernels of the search: maxima of groups of scores, selection, measuring.

Points are laid out in tiles of 64 groups of 32. A query meets the points of the tiles
that are listed for its block: all of them, or those near it.
"""

from dataclasses import dataclass
from typing import Any

import triton
import triton.language as tl

from mercer._base.tensors import torch
from mercer.backends.torch.tiles import COLUMNS, MEMBERS, ROWS, in_halves

DEPTH = 64  # coordinates multiplied at a time
WARPS = 4
STAGES = 4
_SPARE = 3  # groups beyond k: the query's own, and some for rounding
_ROWS_AT_A_TIME = 2**16


@triton.jit
def _group_maxima(
    Q, C, half, listed, maxima, tops, n_listed,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    MEMBERS: tl.constexpr,
):  # fmt: skip
    """Write the largest scores of the groups of one tile, and the largest of these.

    Columns are ordered so that the members of a group are BN apart: maxima are taken
    element by element, and no score leaves its register.
    """
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    slot = tl.program_id(1)
    tile = tl.load(listed + tl.program_id(0) * n_listed + slot)
    j = tl.arange(0, BN)
    e = tl.arange(0, BK)
    best = tl.full((BM, BN), float("-inf"), tl.float32)
    queries = Q + rows[:, None] * D + e[None, :]
    if D == BK:
        q = tl.load(queries)
        for member in range(MEMBERS):
            columns = (tile * MEMBERS + member).to(tl.int64) * BN + j
            c = tl.load(C + columns[None, :] * D + e[:, None])
            score = tl.dot(q, c) - tl.load(half + columns)[None, :]
            best = tl.maximum(best, score)
    else:
        for member in range(MEMBERS):
            columns = (tile * MEMBERS + member).to(tl.int64) * BN + j
            points = C + columns[None, :] * D + e[:, None]
            score = tl.zeros((BM, BN), tl.float32)
            for k in range(0, D, BK):
                score = tl.dot(tl.load(queries + k), tl.load(points + k), score)
            best = tl.maximum(best, score - tl.load(half + columns)[None, :])
    place = rows[:, None] * n_listed * BN + slot * BN + j[None, :]
    tl.store(maxima + place, best)
    tl.store(tops + rows * n_listed + slot, tl.max(best, axis=1))


@triton.jit
def _best_groups(
    tops, maxima, listed, groups, n_listed, KEPT: tl.constexpr,
    TILES: tl.constexpr, SLOTS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Write the numbers of the best groups of one query, -1 where there are fewer.

    The best groups lie in the tiles whose largest scores are best.
    """
    row = tl.program_id(0).to(tl.int64)
    tile = tl.arange(0, TILES)
    there = tile < n_listed
    top = tl.load(tops + row * n_listed + tile, mask=there, other=float("-inf"))
    slot = tl.arange(0, SLOTS)
    tiles = tl.zeros((SLOTS,), tl.int32) - 1
    for i in range(KEPT):
        best = tl.max(top, axis=0)
        pick = tl.max(tl.where(top == best, tile, -1), axis=0)
        pick = tl.where(best == float("-inf"), -1, pick)
        tiles = tl.where(slot == i, pick, tiles)
        top = tl.where(tile == pick, float("-inf"), top)
    place = tiles[:, None] * BN + tl.arange(0, BN)[None, :]
    used = (tiles >= 0)[:, None]
    score = tl.load(
        maxima + row * n_listed * BN + place, mask=used, other=float("-inf")
    )
    names = tl.load(listed + (row // BM) * n_listed + tiles, mask=tiles >= 0, other=0)
    group = names[:, None] * BN + tl.arange(0, BN)[None, :]
    for i in range(KEPT):
        best = tl.max(tl.max(score, axis=1), axis=0)
        pick = tl.max(tl.max(tl.where(score == best, group, -1), axis=1), axis=0)
        pick = tl.where(best == float("-inf"), -1, pick)
        tl.store(groups + row * KEPT + i, pick)
        score = tl.where(group == pick, float("-inf"), score)


@triton.jit
def _measure(
    X, Q, own, groups, ids, squares, n, d: tl.constexpr, k: tl.constexpr,
    KEPT: tl.constexpr, SLOTS: tl.constexpr, MEMBERS: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Write the nearest members of the groups of one query, and squared distances."""
    row = tl.program_id(0).to(tl.int64)
    member = tl.arange(0, MEMBERS)
    slot = tl.arange(0, SLOTS)
    e = tl.arange(0, BK)
    me = tl.load(own + row)
    distance = tl.full((SLOTS, MEMBERS), float("inf"), tl.float32)
    for i in range(KEPT):
        group = tl.load(groups + row * KEPT + i)
        point = group.to(tl.int64) * MEMBERS + member
        there = (point >= 0) & (point < n)
        total = tl.zeros((MEMBERS,), tl.float32)
        for start in range(0, d, BK):
            inside = start + e < d
            q = tl.load(Q + row * d + start + e, mask=inside, other=0.0)
            x = tl.load(
                X + point[:, None] * d + (start + e)[None, :],
                mask=there[:, None] & inside[None, :],
                other=0.0,
            )
            difference = x - q[None, :]
            total += tl.sum(difference * difference, axis=1)
        total = tl.where(there & (point != me), total, float("inf"))
        distance = tl.where((slot == i)[:, None], total[None, :], distance)
    group = tl.load(groups + row * KEPT + slot, mask=slot < KEPT, other=-1)
    point = group[:, None] * MEMBERS + member[None, :]
    for i in range(k):
        best = tl.min(tl.min(distance, axis=1), axis=0)
        candidate = tl.where(distance == best, point, 2147483647)
        pick = tl.min(tl.min(candidate, axis=1), axis=0)
        tl.store(ids + row * k + i, pick)
        tl.store(squares + row * k + i, best)
        distance = tl.where(point == pick, float("inf"), distance)


def _power_of_two(n: int) -> int:
    return max(16, 1 << (n - 1).bit_length())


@dataclass(frozen=True, eq=False)
class Groups:
    """Points in groups of consecutive rows, laid out for the kernels."""

    rows: Any  # (n, d) float32
    columns: Any  # (tiles * MEMBERS * COLUMNS, D) float16
    half: Any  # (tiles * MEMBERS * COLUMNS,) infinite for places without a point
    n_tiles: int
    is_fine: bool  # whether points are in more than 16 bits

    @classmethod
    def of(cls, rows: Any, half: Any, *, is_fine: bool = False) -> "Groups":
        """Lay out rows, whose half squared lengths are given."""
        t = torch()
        n = len(rows)
        size = MEMBERS * COLUMNS
        n_tiles = -(-n // size)
        point = t.arange(n_tiles * size, device=rows.device)
        point = point.view(n_tiles, COLUMNS, MEMBERS).transpose(1, 2).reshape(-1)
        there = point < n
        point = point.clamp_(max=n - 1)
        halves = t.where(there, half[point], t.inf)
        wide = in_halves(rows, are_points=True) if is_fine else rows
        return cls(rows, _padded(wide)[point], halves, n_tiles, is_fine)

    def search(self, Q: Any, k: int, own: Any, listed: Any) -> tuple[Any, Any]:
        """Find the k nearest points of rows among those of the listed tiles.

        Parameters
        ----------
        Q : tensor of shape (m, d)
            Float32, as the points are.
        k : int
        own : integer tensor of shape (m,)
            A point that the row leaves out; -1 for none.
        listed : int32 tensor of shape (blocks, t)
            Tiles for each block of 128 rows.

        Returns
        -------
        ids : int64 tensor of shape (m, k)
        squares : tensor of shape (m, k)
            Squared distances, ascending.
        """
        t = torch()
        n, d = self.rows.shape
        n_listed = listed.shape[1]
        width = n_listed * COLUMNS
        kept = min(k + _SPARE, width)
        slots = _power_of_two(kept)
        ids = t.empty((len(Q), k), dtype=t.int32, device=Q.device)
        squares = t.empty((len(Q), k), device=Q.device)
        step = min(_ROWS_AT_A_TIME, -(-len(Q) // ROWS) * ROWS)
        maxima = t.empty((step, width), device=Q.device)
        tops = t.empty((step, n_listed), device=Q.device)
        groups = t.empty((step, kept), dtype=t.int32, device=Q.device)
        for start in range(0, len(Q), step):
            q = Q[start : start + step].contiguous()
            some = _padded(in_halves(q, are_points=False) if self.is_fine else q)
            blocks, D = len(some) // ROWS, some.shape[1]
            near = listed[start // ROWS : start // ROWS + blocks].contiguous()
            _group_maxima[(blocks, n_listed)](
                some, self.columns, self.half, near, maxima, tops, n_listed,
                D=D, BM=ROWS, BN=COLUMNS, BK=min(D, DEPTH), MEMBERS=MEMBERS,
                num_warps=WARPS, num_stages=STAGES,
            )  # fmt: skip
            _best_groups[(len(q),)](
                tops, maxima, near, groups, n_listed, KEPT=kept,
                TILES=_power_of_two(n_listed), SLOTS=slots, BM=ROWS, BN=COLUMNS,
                num_warps=1 if slots < 32 else 4,
            )  # fmt: skip
            _measure[(len(q),)](
                self.rows, q, own[start : start + step], groups,
                ids[start:], squares[start:], n, d=d, k=k,
                KEPT=kept, SLOTS=slots, MEMBERS=MEMBERS, BK=min(64, _power_of_two(d)),
                num_warps=1 if slots < 32 else 4,
            )  # fmt: skip
        return ids.long(), squares


def _padded(rows: Any) -> Any:
    """Return rows in 16 bits, their number and their length filled up with zeros."""
    t = torch()
    n, d = rows.shape
    wide = _power_of_two(d) if d <= DEPTH else -(-d // DEPTH) * DEPTH
    padded = t.zeros((-(-n // ROWS) * ROWS, wide), dtype=t.float16, device=rows.device)
    padded[:n, :d] = rows
    return padded
