"""The loops of `mercer.fewlabels.trees`, compiled: growing trees, and their votes."""

from typing import Any

import numpy as np

from mercer._base.machine_code.compiled import compiled
from mercer._base.threads import in_blocks
from mercer._base.typing import BoolArray, FloatArray, IntArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HIGH, _UNIT = np.uint64(11), 2.0**-53  # 53 bits as a number in [0, 1)
_TIE = 1e-9  # two splits whose merits differ by less, relatively, are level


@compiled()
def _hash(state: Any, key: Any) -> Any:
    """Return 64 bits that look random and are a function of the two (splitmix64)."""
    z = state + _MIX * (np.uint64(key) + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@compiled()
def _merit(
    values: Any, labels: Any, rows: Any, threshold: Any, total: Any, inside: Any
) -> float:
    """Return how unmixed the two sides are: squared weights over the weight, summed."""
    starts, classes, weights = labels
    inside[:] = 0.0
    for i in rows:
        is_below = 1.0 if values[i] <= threshold else 0.0  # no branch to be guessed
        for k in range(starts[i], starts[i + 1]):
            inside[classes[k]] += is_below * weights[k]
    weight, squares, rest, others = 0.0, 0.0, 0.0, 0.0
    for c in range(len(total)):
        weight += inside[c]
        squares += inside[c] ** 2
        rest += total[c] - inside[c]
        others += (total[c] - inside[c]) ** 2
    return squares / max(weight, 1e-300) + others / max(rest, 1e-300)


@compiled()
def _best_split(
    columns: Any,
    labels: Any,
    rows: Any,
    total: Any,
    inside: Any,
    order: Any,
    places: Any,
    fixed: bool,
    n_tried: int,
    state: Any,
    is_turned: Any,
) -> Any:
    """Return the best of several random splits; column -1 where points are equal.

    Columns are taken from `order` one after the other where it is `fixed`, else drawn.
    """
    best, column, cut = -1.0, -1, 0.0
    d, n_seen, tried = len(order), 0, 0
    while n_seen < d and tried < n_tried:
        key = np.uint64(2 * n_seen)
        drawn = 0 if fixed else int((_hash(state, key) >> _HIGH) * _UNIT * (d - n_seen))
        places[n_seen] = n_seen + drawn
        j = order[n_seen + drawn]
        order[n_seen + drawn], order[n_seen] = order[n_seen], j
        n_seen += 1
        values = columns[j]
        low = high = values[rows[0]]
        for i in rows:
            low, high = min(low, values[i]), max(high, values[i])
        if low == high:
            continue
        tried += 1
        u = (_hash(state, key + np.uint64(1)) >> _HIGH) * _UNIT
        u = 1 - u if is_turned[j] else u
        threshold = low + u * (high - low)
        if not low <= threshold < high:  # by rounding
            threshold = low
        merit = _merit(values, labels, rows, threshold, total, inside)
        if merit > best * (1 + _TIE):
            best, column, cut = merit, j, threshold
    for k in range(n_seen - 1, -1, -1):  # what is drawn depends on the node alone
        order[k], order[places[k]] = order[places[k]], order[k]
    return column, cut


def grow_tree(
    columns: FloatArray,
    labels: tuple[IntArray, IntArray, FloatArray],
    C: int,
    every: IntArray,
    v: int,
    pair: int,
    is_turned: BoolArray,
    n_tried: int,
) -> tuple[Any, ...]:
    """Grow one tree.

    Parameters
    ----------
    columns : ndarray of shape (d, l)
    labels : tuple of ndarrays of shape (l + 1,), (m,) and (m,)
        Where the classes of each point start, classes, and their weights: a sparse
        matrix of shape (l, C).
    C : int
    every : int ndarray of shape (d,)
        Columns, those that vary first.
    v : int
        How many vary; the root tries these from the one of this pair on.
    pair : int
    is_turned : bool ndarray of shape (d,)
        Whether the thresholds of a column are drawn from its other end.
    n_tried : int
        Columns per node.

    Returns
    -------
    feature, threshold, left, leaf, mixed
        As in `RandomTrees`.
    depth : int
    """
    d, count = columns.shape
    most = 2 * count - 1
    # Made here: a function that makes arrays takes longer to compile.
    nodes = np.zeros((6, most), np.int64)
    threshold, states = np.full(most, np.inf), np.zeros(most, np.uint64)
    mixed = np.zeros((count, C))
    root, room = np.roll(every[:v], -pair), np.empty((3, max(count, d)), np.int64)
    n_nodes, n_mixed, deepest = _grow(
        columns, labels, every, root, pair, is_turned, n_tried, nodes, threshold,
        states, mixed, room, np.empty((2, C)),
    )  # fmt: skip
    feature, left, leaf = nodes[:3, :n_nodes]
    return feature, threshold[:n_nodes], left, leaf, mixed[:n_mixed], deepest


@compiled()
def _grow(
    columns: Any,
    labels: Any,
    every: Any,
    root: Any,
    pair: int,
    is_turned: Any,
    n_tried: int,
    nodes: Any,
    threshold: Any,
    states: Any,
    mixed: Any,
    room: Any,
    weights: Any,
) -> Any:
    """Fill in `nodes`, `threshold` and `mixed`; return how much of them, and depth."""
    feature, left, leaf = nodes[0], nodes[1], nodes[2]
    depth, starts, stops = nodes[3], nodes[4], nodes[5]
    total, below = weights[0], weights[1]
    rows, spare, places = room[0], room[1], room[2]
    C, n_mixed = len(total), 0
    for i in range(columns.shape[1]):
        rows[i] = i
    stops[0], states[0] = columns.shape[1], _hash(np.uint64(pair), np.uint64(0))
    n_nodes, node, deepest = 1, 0, 0
    while node < n_nodes:
        inside = rows[starts[node] : stops[node]]
        total[:], present = 0.0, 0
        for i in inside:
            for k in range(labels[0][i], labels[0][i + 1]):
                total[labels[1][k]] += labels[2][k]
        for c in range(C):
            present += total[c] > 0
        column, cut = -1, 0.0
        if present > 1:
            is_root = node == 0
            order = root if is_root else every
            column, cut = _best_split(
                columns, labels, inside, total, below, order, places, is_root, n_tried,
                states[node], is_turned,
            )  # fmt: skip
        if column < 0:
            left[node], weight = node, 0.0
            for c in range(C):
                leaf[node] = c if total[c] > total[leaf[node]] else leaf[node]
                weight += total[c]
            if present > 1:
                leaf[node] = C + n_mixed
                for c in range(C):
                    mixed[n_mixed, c] = total[c] / weight
                n_mixed += 1
            node += 1
            continue
        n_in, n_out = 0, 0
        for i in inside:
            if columns[column, i] <= cut:
                inside[n_in] = i
                n_in += 1
            else:
                spare[n_out] = i
                n_out += 1
        for k in range(n_out):
            inside[n_in + k] = spare[k]
        feature[node], threshold[node], left[node] = column, cut, n_nodes
        middle = starts[node] + n_in
        for side in range(2):
            child = n_nodes + side
            starts[child] = starts[node] if side == 0 else middle
            stops[child] = middle if side == 0 else stops[node]
            depth[child] = depth[node] + 1
            deepest = max(deepest, depth[child])
            states[child] = _hash(
                states[node], np.uint64((side == 1) != is_turned[column])
            )
        n_nodes += 2
        node += 1
    return n_nodes, n_mixed, deepest


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
