"""Growing the trees of `mercer.fewlabels.trees`, compiled."""

from typing import Any

import numpy as np

from mercer._base.machine_code.compiled import compiled
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


def grow_some(
    trees: range,
    columns: FloatArray,
    labels: tuple[IntArray, IntArray, FloatArray],
    C: int,
    every: IntArray,
    v: int,
    is_turned: BoolArray,
    n_tried: int,
) -> list[tuple[Any, ...]]:
    """Grow trees by their numbers; two in a row are a pair (`grow_tree`)."""
    # A tree changes the order of columns while it grows.
    return [
        grow_tree(
            columns,
            labels,
            C,
            every.copy(),
            v,
            tree // 2,
            ~is_turned if tree % 2 else is_turned,
            n_tried,
        )
        for tree in trees
    ]


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
    first, room = pair % max(v, 1), np.empty((3, max(count, d)), np.int64)
    root = np.concatenate([every[first:v], every[:first]])
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
