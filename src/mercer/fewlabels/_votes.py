"""Which leaves points fall into, compiled.

One point goes down a tree step by step, each of which waits for the one before. Many
points are faster side by side: a node moves all points of a block that are at it, and
what it asks is made a comparison of two small whole numbers, 32 at a time.
"""

from typing import Any

import numpy as np
from numba import njit

from mercer._typing import FloatArray, IntArray

# Fewer points are not worth the ranks; in larger trees few points are at any node.
_RANKED_FROM, _MOST_NODES = 4096, 4096
_MOST_RANK = np.iinfo(np.int16).max
_SIDE_BY_SIDE = 1024  # points
_BLOCK = 128  # points that go down a tree one by one: their steps overlap


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
    # Ranks are taken of all columns, which as many trees pay for.
    if (
        len(X) >= _RANKED_FROM
        and X.shape[1] <= len(sizes)
        and sizes.max() <= _MOST_NODES
    ):
        cuts, starts, rank = _ranked(trees, X.shape[1])
        if np.diff(starts).max() <= _MOST_RANK:
            _move_side_by_side(X, *nodes, cuts, starts, rank, votes)
            return votes
    _move_one_by_one(X, *nodes, trees.depths, trees.threshold, votes)
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


@njit(cache=True, nogil=True)
def _vote(nodes, leaf, mixed, votes):  # type: ignore[no-untyped-def]
    """Add what the leaves that points are at say of them."""
    m, C = votes.shape
    for i in range(m):
        kind = leaf[nodes[i]]
        if kind < C:
            votes[i, kind] += 1.0
        else:
            for c in range(C):
                votes[i, c] += mixed[kind - C, c]


@njit(cache=True, nogil=True)
def _rank_points(X, start, cuts, starts, ranks):  # type: ignore[no-untyped-def]
    """Count the thresholds below each value of a block of points, column by column."""
    d, m = ranks.shape
    x, at = np.empty(m), np.empty(m, np.int64)
    for j in range(d):
        first, size = starts[j], starts[j + 1] - starts[j]
        if size == 0:
            continue
        for i in range(m):
            x[i], at[i] = X[start + i, j], first
        while size > 1:
            half = size // 2
            for i in range(m):
                at[i] += half if cuts[at[i] + half - 1] < x[i] else 0
            size -= half
        for i in range(m):
            ranks[j, i] = at[i] - first + (cuts[at[i]] < x[i])


@njit(cache=True, nogil=True)
def _move_side_by_side(  # type: ignore[no-untyped-def]
    X, roots, feature, left, leaf, mixed, cuts, starts, rank, votes
):
    """Add the votes of all trees for the rows of X to `votes`, (m, C)."""
    n = len(X)
    ranks = np.zeros((X.shape[1], _SIDE_BY_SIDE), np.int16)
    node = np.empty(_SIDE_BY_SIDE, np.int16)  # counted from the root
    for start in range(0, n, _SIDE_BY_SIDE):
        m = min(_SIDE_BY_SIDE, n - start)
        _rank_points(X, start, cuts, starts, ranks[:, :m])
        at = node[:m]
        for tree in range(len(roots)):
            root = roots[tree]
            end = roots[tree + 1] if tree + 1 < len(roots) else len(left)
            at[:] = 0
            for k in range(root, end):  # parents come before their children
                if left[k] == k:
                    continue
                here, cut = np.int16(k - root), np.int16(rank[k])
                low, high = np.int16(left[k] - root), np.int16(left[k] - root + 1)
                values = ranks[feature[k], :m]
                for i in range(m):
                    child = high if values[i] > cut else low
                    at[i] = child if at[i] == here else at[i]
            _vote(at, leaf[root:end], mixed, votes[start : start + m])


@njit(cache=True, nogil=True)
def _move_one_by_one(  # type: ignore[no-untyped-def]
    X, roots, feature, left, leaf, mixed, depths, threshold, votes
):
    """Add the votes of all trees for the rows of X to `votes`, (m, C)."""
    n = len(X)
    node = np.empty(_BLOCK, np.int32)
    for start in range(0, n, _BLOCK):
        m = min(_BLOCK, n - start)
        for tree in range(len(roots)):
            node[:m] = roots[tree]
            for _ in range(depths[tree]):
                for i in range(m):
                    at = node[i]
                    node[i] = left[at] + (X[start + i, feature[at]] > threshold[at])
            _vote(node[:m], leaf, mixed, votes[start : start + m])
