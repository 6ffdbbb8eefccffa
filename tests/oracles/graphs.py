"""Slow, obvious references for neighbours, graphs and Laplacians."""

import numpy as np
from scipy.spatial.distance import cdist


def distances(X, Z=None):
    return cdist(X, X if Z is None else Z)


def cosine_distances(X):
    """One minus the cosine; rows of zeros are one further direction."""
    zero = ~X.any(axis=1)
    Y = np.hstack([X, zero[:, None]])
    Y = Y / np.sqrt((Y**2).sum(axis=1))[:, None]
    return 1 - Y @ Y.T


def neighbors(D, k):
    """The k nearest others by a full sort; equal distances by index."""
    D = np.array(D, dtype=float)
    np.fill_diagonal(D, np.inf)
    indices = np.array([np.lexsort((np.arange(len(D)), row))[:k] for row in D])
    return indices, np.take_along_axis(D, indices, axis=1)


def adjacency(D, k, *, weights="gaussian", sigma=None, symmetry="union"):
    """The symmetric graph, edge by edge."""
    n = len(D)
    indices, lengths = neighbors(D, k)
    chosen = np.zeros((n, n), dtype=bool)
    for i in range(n):
        chosen[i, indices[i]] = True
    edges = chosen | chosen.T if symmetry == "union" else chosen & chosen.T
    if weights == "gaussian" and sigma is None:
        sigma = np.sqrt(np.mean([D[i, j] ** 2 for i, j in np.argwhere(edges)]))
    W = np.zeros((n, n))
    for i, j in np.argwhere(edges):
        if weights == "binary":
            W[i, j] = 1
        elif weights == "gaussian":
            W[i, j] = np.exp(-(D[i, j] ** 2) / (2 * sigma**2))
        else:
            W[i, j] = np.exp(-(D[i, j] ** 2) / (lengths[i, -1] * lengths[j, -1]))
    return W


def laplacian(W, kind):
    n = len(W)
    d = W.sum(axis=1)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if kind == "combinatorial":
                L[i, j] = d[i] * (i == j) - W[i, j]
            elif W[i, j] == 0:
                L[i, j] = float(i == j)
            else:
                scale = d[i] if kind == "random_walk" else np.sqrt(d[i] * d[j])
                L[i, j] = (i == j) - W[i, j] / scale
    return L
