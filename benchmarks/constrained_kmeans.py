"""K-means with pairwise constraints, the usual baselines for kernels from pairs.

PCKMeans: Basu, Banerjee and Mooney, "Active semi-supervision for pairwise constrained
clustering", SDM 2004. MPCKMeans: Bilenko, Basu and Mooney, "Integrating constraints and
metric learning in semi-supervised clustering", ICML 2004, with one diagonal metric for
all clusters. Both pay for each violated pair, start from the must-link neighbourhoods
and assign points one after the other in random order.
"""

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.pairs import Pairs


def constrained_kmeans(
    X: FloatArray,
    pairs: Pairs,
    n_clusters: int,
    *,
    rng: np.random.Generator,
    learn_metric: bool,
    weight: float = 1.0,
    n_init: int = 5,
    max_iter: int = 50,
) -> IntArray:
    """Return the clusters of the best of `n_init` starts, by the methods' objective."""
    runs = [
        _run(X, pairs, n_clusters, rng, learn_metric, weight, max_iter)
        for _ in range(n_init)
    ]
    return min(runs, key=lambda run: run[0])[1]


def _run(X, pairs, n_clusters, rng, learn_metric, weight, max_iter):
    n = len(X)
    neighbours = [([], []) for _ in range(n)]  # must-linked and cannot-linked points
    for i, j, sign in zip(pairs.first, pairs.second, pairs.signs, strict=True):
        kind = 0 if sign > 0 else 1
        neighbours[i][kind].append(j)
        neighbours[j][kind].append(i)
    centres = _neighbourhood_centres(X, pairs, n_clusters, rng)
    metric = np.ones(X.shape[1])
    labels = np.argmin(_distances(X, centres, metric), axis=1)
    best = np.inf
    for _ in range(max_iter):
        labels = _assign(X, centres, metric, labels, neighbours, weight, rng)
        for k in range(n_clusters):
            if np.any(labels == k):
                centres[k] = X[labels == k].mean(axis=0)
        if learn_metric:
            metric = _diagonal_metric(X, centres, labels, pairs, weight)
        objective = _objective(X, centres, metric, labels, pairs, weight)
        if objective >= best - 1e-9 * abs(best):
            break
        best = objective
    return best, labels


def _neighbourhood_centres(X, pairs, n_clusters, rng):
    """Take the means of the largest must-link components, then far random points."""
    component = pairs.component_labels
    sizes = np.bincount(component)
    order = np.argsort(-sizes, kind="stable")[:n_clusters]
    centres = [X[component == c].mean(axis=0) for c in order if sizes[c] > 1]
    while len(centres) < n_clusters:
        if not centres:
            centres.append(X[rng.integers(len(X))])
            continue
        nearest = _distances(X, np.array(centres), np.ones(X.shape[1])).min(axis=1)
        centres.append(X[rng.choice(len(X), p=nearest / nearest.sum())])
    return np.array(centres)


def _distances(X, centres, metric):
    return ((X[:, None, :] - centres[None]) ** 2 @ metric).reshape(len(X), -1)


def _spread(X, metric):
    """Largest squared distance over the data, approximated by the bounding box."""
    return float(np.ptp(X, axis=0) ** 2 @ metric)


def _assign(X, centres, metric, labels, neighbours, weight, rng):
    """One pass of iterated conditional modes."""
    labels = labels.copy()
    base = _distances(X, centres, metric) - np.log(np.maximum(metric, 1e-12)).sum()
    farthest = _spread(X, metric)
    plain = np.all(metric == 1)
    for i in rng.permutation(len(X)):
        cost = base[i].copy()
        must, cannot = neighbours[i]
        for others, same_is_wrong in ((must, False), (cannot, True)):
            if not others:
                continue
            price = np.full(len(others), weight)
            if not plain:
                apart = (X[others] - X[i]) ** 2 @ metric
                price = weight * (
                    np.maximum(farthest - apart, 0) if same_is_wrong else apart
                )
            at = np.bincount(labels[others], weights=price, minlength=len(cost))
            cost += at if same_is_wrong else price.sum() - at
        labels[i] = int(np.argmin(cost))
    return labels


def _violated(labels, pairs):
    same = labels[pairs.first] == labels[pairs.second]
    return (~same & (pairs.signs > 0)), (same & (pairs.signs < 0))


def _diagonal_metric(X, centres, labels, pairs, weight):
    must, cannot = _violated(labels, pairs)
    squares = (X[pairs.first] - X[pairs.second]) ** 2
    scatter = ((X - centres[labels]) ** 2).sum(axis=0)
    scatter += weight / 2 * squares[must].sum(axis=0)
    scatter += weight * np.maximum(np.ptp(X, axis=0) ** 2 - squares[cannot], 0).sum(
        axis=0
    )
    return len(X) / np.maximum(scatter, 1e-9)


def _objective(X, centres, metric, labels, pairs, weight):
    must, cannot = _violated(labels, pairs)
    value = float(((X - centres[labels]) ** 2 @ metric).sum())
    value -= len(X) * float(np.log(metric).sum())
    if np.all(metric == 1):
        return value + weight * float(must.sum() + cannot.sum())
    apart = (X[pairs.first] - X[pairs.second]) ** 2 @ metric
    farthest = _spread(X, metric)
    paid = apart[must].sum() + np.maximum(farthest - apart[cannot], 0).sum()
    return value + weight * float(paid)
