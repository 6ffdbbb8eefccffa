"""How a tree of `mercer.fewlabels.trees` grows, compiled."""

import numpy as np
from numba import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53
_TIE = 1e-9  # two splits whose merits differ by less, relatively, are level


@njit(cache=True)
def _hash(state, key):  # type: ignore[no-untyped-def]
    """Return 64 bits that look random and are a function of the two (splitmix64)."""
    z = state + _MIX * (np.uint64(key) + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def _unit(bits):  # type: ignore[no-untyped-def]
    """Return a number in [0, 1)."""
    return float(bits >> np.uint64(11)) * _UNIT


@njit(cache=True)
def _extremes(values, rows):  # type: ignore[no-untyped-def]
    low = high = values[rows[0]]
    for i in rows:
        low, high = min(low, values[i]), max(high, values[i])
    return low, high


@njit(cache=True)
def _merit(values, Y, rows, threshold, total):  # type: ignore[no-untyped-def]
    """Return how unmixed the two sides are: squared weights over the weight, summed."""
    C = Y.shape[1]
    inside = np.zeros(C)
    for i in rows:
        if values[i] <= threshold:
            for c in range(C):
                inside[c] += Y[i, c]
    weight, squares, rest, others = 0.0, 0.0, 0.0, 0.0
    for c in range(C):
        weight += inside[c]
        squares += inside[c] ** 2
        rest += total[c] - inside[c]
        others += (total[c] - inside[c]) ** 2
    return squares / max(weight, 1e-300) + others / max(rest, 1e-300)


@njit(cache=True)
def _best_split(  # type: ignore[no-untyped-def]
    columns, Y, rows, total, order, places, fixed, n_tried, state, mirrored
):
    """Return the best of several random splits; column -1 where points are equal.

    Columns are taken from `order` one after the other where it is `fixed`, else drawn.
    """
    best, column, cut = -1.0, -1, 0.0
    d, n_seen, tried = len(order), 0, 0
    while n_seen < d and tried < n_tried:
        key = np.uint64(2 * n_seen)
        drawn = 0 if fixed else int(_unit(_hash(state, key)) * (d - n_seen))
        places[n_seen] = n_seen + drawn
        j = order[n_seen + drawn]
        order[n_seen + drawn], order[n_seen] = order[n_seen], j
        n_seen += 1
        low, high = _extremes(columns[j], rows)
        if low == high:
            continue
        tried += 1
        u = _unit(_hash(state, key + np.uint64(1)))
        u = 1 - u if mirrored else u
        threshold = low + u * (high - low)
        if not low <= threshold < high:  # by rounding
            threshold = low
        merit = _merit(columns[j], Y, rows, threshold, total)
        if merit > best * (1 + _TIE):
            best, column, cut = merit, j, threshold
    for k in range(n_seen - 1, -1, -1):  # what is drawn depends on the node alone
        order[k], order[places[k]] = order[places[k]], order[k]
    return column, cut


@njit(cache=True)
def grow_tree(columns, Y, first, pair, mirrored, n_tried):  # type: ignore[no-untyped-def]
    """Grow one tree.

    Parameters
    ----------
    columns : ndarray of shape (d, l)
    Y : ndarray of shape (l, C)
    first : int ndarray of shape (v,)
        Columns that vary; the root tries them from the one of this pair on.
    pair : int
    mirrored : bool
        Whether thresholds are drawn from the other end.
    n_tried : int
        Columns per node.

    Returns
    -------
    feature, threshold, left, leaf, mixed
        As in `RandomTrees`.
    depth : int
    """
    d, count = columns.shape
    C = Y.shape[1]
    most = 2 * count - 1
    feature, left = np.zeros(most, np.int32), np.zeros(most, np.int32)
    leaf, threshold = np.zeros(most, np.int32), np.full(most, np.inf)
    depth = np.zeros(most, np.int64)
    mixed, n_mixed = np.zeros((count, C)), 0
    rows, spare = np.arange(count), np.empty(count, np.int64)
    every, v = np.arange(d), len(first)
    root, places = np.empty(v, np.int64), np.empty(d, np.int64)
    for k in range(v):
        root[k] = first[(k + pair) % v]
    starts, stops = np.zeros(most, np.int64), np.zeros(most, np.int64)
    states = np.zeros(most, np.uint64)
    stops[0], states[0] = count, _hash(np.uint64(pair), np.uint64(0))
    n_nodes, node = 1, 0
    while node < n_nodes:
        inside = rows[starts[node] : stops[node]]
        total, present = np.zeros(C), 0
        for i in inside:
            for c in range(C):
                total[c] += Y[i, c]
        for c in range(C):
            present += total[c] > 0
        column, cut = -1, 0.0
        if present > 1:
            is_root = node == 0
            order = root if is_root else every
            column, cut = _best_split(
                columns, Y, inside, total, order, places, is_root, n_tried,
                states[node], mirrored,
            )  # fmt: skip
        if column < 0:
            leaf[node], left[node] = np.argmax(total), node
            if present > 1:
                leaf[node] = C + n_mixed
                mixed[n_mixed] = total / total.sum()
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
        inside[n_in:] = spare[:n_out]
        feature[node], threshold[node], left[node] = column, cut, n_nodes
        middle = starts[node] + n_in
        for side in range(2):
            child = n_nodes + side
            starts[child] = starts[node] if side == 0 else middle
            stops[child] = middle if side == 0 else stops[node]
            depth[child] = depth[node] + 1
            states[child] = _hash(states[node], np.uint64((side == 1) != mirrored))
        n_nodes += 2
        node += 1
    return (
        feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], leaf[:n_nodes],
        mixed[:n_mixed], depth[:n_nodes].max(),
    )  # fmt: skip
