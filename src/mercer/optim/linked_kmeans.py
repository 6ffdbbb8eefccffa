"""k-means whose clusters keep must-links and cannot-links."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus

from mercer._base.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LinkedClusters:
    """Result of `linked_kmeans`."""

    labels: IntArray  # (n,) cluster of each point
    broken: BoolArray  # (m,) cannot-links that could not be kept
    cost: float  # sum of squared distances to the centres


def linked_kmeans(
    rows: FloatArray,
    n_clusters: int,
    groups: IntArray,
    apart: IntArray,
    *,
    n_init: int = 10,
    max_iter: int = 100,
    rng: np.random.Generator,
) -> LinkedClusters:
    """Divide points into clusters; groups stay whole, linked groups are kept apart.

    Parameters
    ----------
    rows : ndarray of shape (n, r)
        Points.
    n_clusters : int
        At most the number of groups.
    groups : int ndarray of shape (n,)
        Points of one group must be in one cluster.
    apart : int ndarray of shape (m, 2)
        Pairs of points that must not be in one cluster.
    n_init : int, default=10
        Starts; the one that breaks fewest links, then of least cost, counts.
    max_iter : int, default=100
        Bound on the rounds of each.
    rng : Generator
        Draws the starts.

    Notes
    -----
    COP-k-means (Wagstaff, Cardie, Rogers and Schroedl, ICML 2001) on the means of the
    groups, weighed by their sizes. Where it would give up, because every cluster holds
    a group that must be apart, the link is broken and reported. Groups in many links
    choose first, and then those that are surest, so that few are broken; whether fewer
    could be is a colouring problem, and not decided.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> found = linked_kmeans(
    ...     rows,
    ...     2,
    ...     groups=np.arange(4),
    ...     apart=np.array([[0, 1]]),
    ...     rng=np.random.default_rng(0),
    ... )
    >>> bool(found.labels[0] != found.labels[1]), found.broken.tolist()
    (True, [False])
    """
    names, group = np.unique(groups, return_inverse=True)
    k = len(names)
    if n_clusters > k:
        msg = f"{n_clusters} clusters of {k} groups of linked points: ask for fewer."
        raise ValueError(msg)
    sizes = np.bincount(group).astype(np.float64)
    member = sparse.csr_array((np.ones(len(rows)), (group, np.arange(len(rows)))))
    means = np.asarray(member @ rows) / sizes[:, None]
    ends = group[apart.reshape(-1, 2)]
    inner = ends[:, 0] == ends[:, 1]
    foes: list[set[int]] = [set() for _ in range(k)]
    for a, b in ends[~inner].tolist():
        foes[a].add(b)
        foes[b].add(a)
    best: tuple[int, float, IntArray] | None = None
    for _ in range(n_init):
        seed = int(rng.integers(2**31))
        centers = kmeans_plusplus(
            means, n_clusters, sample_weight=sizes, random_state=seed
        )[0]
        chosen = np.full(k, -1)
        for _ in range(max_iter):
            before, chosen = chosen, _assign(means, centers, foes)
            if np.array_equal(before, chosen):
                break
            for c in range(n_clusters):
                inside = chosen == c
                if inside.any():
                    centers[c] = np.average(
                        means[inside], axis=0, weights=sizes[inside]
                    )
        n_broken = int((chosen[ends[:, 0]] == chosen[ends[:, 1]]).sum())
        cost = float((sizes * ((means - centers[chosen]) ** 2).sum(axis=1)).sum())
        if best is None or (n_broken, cost) < best[:2]:
            best = n_broken, cost, chosen
    assert best is not None
    chosen = best[2]
    broken = chosen[ends[:, 0]] == chosen[ends[:, 1]]
    return LinkedClusters(chosen[group], np.asarray(broken), best[1])


def _assign(means: FloatArray, centers: FloatArray, foes: list[set[int]]) -> IntArray:
    """Give each group the nearest centre that holds none of its foes."""
    distance = ((means[:, None, :] - centers[None]) ** 2).sum(axis=2)
    ranked = np.argsort(distance, axis=1, kind="stable")
    if centers.shape[0] > 1:
        two = np.partition(distance, 1, axis=1)[:, :2]
        lead = two[:, 1] - two[:, 0]
    else:
        lead = np.zeros(len(means))
    n_foes = np.array([len(f) for f in foes])
    chosen = ranked[:, 0].copy()
    done = n_foes == 0
    for g in np.lexsort((-lead, -n_foes)).tolist():
        if done[g]:
            continue
        taken = {int(chosen[f]) for f in foes[g] if done[f]}
        free = [c for c in ranked[g].tolist() if c not in taken]
        chosen[g] = free[0] if free else ranked[g, 0]
        done[g] = True
    return chosen
