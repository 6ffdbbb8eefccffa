"""The votes of the trees of `mercer.fewlabels.trees`, compiled."""

from typing import Any

import numpy as np

from mercer._base.machine_code.compiled import compiled
from mercer._base.threads import in_blocks
from mercer._base.typing import FloatArray, IntArray

# Fewer points are not worth the ranks; in larger trees few points are at any node.
_RANKED_FROM, _MOST_NODES = 4096, 4096
_SIDE_BY_SIDE = 1024  # points
_PER_BLOCK = 8 * _SIDE_BY_SIDE  # points that a thread takes at a time, at least
_TILE = 256  # points whose lines, which hold several columns, stay in the cache
_ONE_BY_ONE = 128  # points that go down a tree at a time: their steps overlap


def count_votes(trees: Any, X: FloatArray) -> FloatArray:
    """Return how many trees vote for each class, (m, C).

    Parameters
    ----------
    trees : RandomTrees
    X : ndarray of shape (m, d)
    """
    votes = np.zeros((len(X), trees.mixed.shape[1]))
    nodes = trees.roots, trees.feature, trees.left, trees.leaf, trees.mixed
    sizes = np.diff(trees.roots, append=len(trees.left))
    arrays: Any = *nodes, trees.depths, trees.threshold
    move: Any = _move_one_by_one
    step = _ONE_BY_ONE
    # Ranks are taken of all columns, which as many trees pay for.
    if (
        len(X) >= _RANKED_FROM
        and X.shape[1] <= len(sizes)
        and sizes.max() <= _MOST_NODES
    ):
        cuts, starts, rank = _ranked(trees, X.shape[1])
        place = _places(trees, sizes)
        most = max(np.diff(starts).max(), place.max())
        if most <= np.iinfo(np.int16).max:
            kind = np.uint8 if most <= np.iinfo(np.uint8).max else np.int16
            arrays = cuts, starts, nodes, rank.astype(kind), place.astype(kind)
            move, step = _move_side_by_side, _SIDE_BY_SIDE

    def work(block: slice) -> None:
        for start in range(block.start, block.stop, step):
            rows = slice(start, min(start + step, block.stop))
            move(np.ascontiguousarray(X[rows], np.float64), *arrays, votes[rows])

    in_blocks(work, len(X), _PER_BLOCK)
    return votes


def _ranked(trees: Any, d: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Return thresholds in order, where those of a column start, and ranks of nodes."""
    inner = np.flatnonzero(trees.left != np.arange(len(trees.left)))
    order = inner[np.lexsort((trees.threshold[inner], trees.feature[inner]))]
    column = trees.feature[order]
    starts = np.searchsorted(column, np.arange(d + 1))
    rank = np.zeros(len(trees.left), np.int64)
    rank[order] = np.arange(len(order)) - starts[column]
    return trees.threshold[order], starts, rank


def _places(trees: Any, sizes: IntArray) -> IntArray:
    """Return a number for each node of a tree; a leaf of one class has that class."""
    C = trees.mixed.shape[1]
    is_other = (trees.left != np.arange(len(trees.left))) | (trees.leaf >= C)
    before = np.cumsum(is_other) - is_other
    number = C + before - np.repeat(before[trees.roots], sizes)
    places: IntArray = np.where(is_other, number, trees.leaf)
    return places


def _move_side_by_side(
    X: FloatArray,
    cuts: FloatArray,
    starts: IntArray,
    nodes: tuple[Any, ...],
    rank: IntArray,
    place: IntArray,
    votes: FloatArray,
) -> None:
    """Add the votes of all trees for a few points to `votes`, (m, C).

    A node moves all points that are at it, and what it asks is a comparison of two
    small whole numbers, 32 or 64 at a time. So are votes of leaves of one class
    counted.
    """
    m, C = votes.shape
    ranks = np.empty((X.shape[1], m), rank.dtype)
    _rank_points(X, cuts, starts, ranks)
    counts, classes = np.zeros((C, m), np.int32), np.arange(C, dtype=place.dtype)
    at = np.empty(m, place.dtype)
    _move(ranks, *nodes, rank, place, classes, at, counts, votes)
    votes += counts.T


@compiled()
def _rank_points(X: Any, cuts: Any, starts: Any, ranks: Any) -> None:
    """Count the thresholds below each value, column by column."""
    d, m = ranks.shape
    x, at = np.empty(_TILE), np.empty(_TILE, np.int64)
    for begin in range(0, m, _TILE):
        width = min(_TILE, m - begin)
        for j in range(d):
            first, size = starts[j], starts[j + 1] - starts[j]
            if size == 0:
                continue
            for i in range(width):
                x[i], at[i] = X[begin + i, j], first
            while size > 1:  # all points at once: no branch to be guessed
                half = size // 2
                for i in range(width):
                    at[i] += half if cuts[at[i] + half - 1] < x[i] else 0
                size -= half
            for i in range(width):
                ranks[j, begin + i] = at[i] - first + (cuts[at[i]] < x[i])


@compiled()
def _move(
    ranks: Any,
    roots: Any,
    feature: Any,
    left: Any,
    leaf: Any,
    mixed: Any,
    rank: Any,
    place: Any,
    classes: Any,
    at: Any,
    counts: Any,
    votes: Any,
) -> None:
    m, C = votes.shape
    for tree in range(len(roots)):
        root = roots[tree]
        stop = roots[tree + 1] if tree + 1 < len(roots) else len(left)
        for i in range(m):
            at[i] = place[root]
        for k in range(root, stop):  # parents come before their children
            if left[k] == k:
                continue
            here, cut, values = place[k], rank[k], ranks[feature[k]]
            low, high = place[left[k]], place[left[k] + 1]
            for i in range(m):
                child = high if values[i] > cut else low
                at[i] = child if at[i] == here else at[i]
        for c in range(C):
            count, mine = counts[c], classes[c]
            for i in range(m):
                count[i] += at[i] == mine
        for k in range(root, stop):
            if leaf[k] >= C and left[k] == k:
                for i in range(m):
                    if at[i] == place[k]:
                        for c in range(C):
                            votes[i, c] += mixed[leaf[k] - C, c]


@compiled()
def _move_one_by_one(
    X: Any,
    roots: Any,
    feature: Any,
    left: Any,
    leaf: Any,
    mixed: Any,
    depths: Any,
    threshold: Any,
    votes: Any,
) -> None:
    """Add the votes of all trees for a few points to `votes`, (m, C)."""
    m, C = votes.shape
    node = np.empty(_ONE_BY_ONE, np.int32)
    for tree in range(len(roots)):
        for i in range(m):
            node[i] = roots[tree]
        for _ in range(depths[tree]):
            for i in range(m):
                at = node[i]
                node[i] = left[at] + (X[i, feature[at]] > threshold[at])
        for i in range(m):
            kind = leaf[node[i]]
            if kind < C:
                votes[i, kind] += 1.0
            else:
                for c in range(C):
                    votes[i, c] += mixed[kind - C, c]
