"""Slow, obvious references for the influence method (Abbasnejad et al. 2010)."""

import numpy as np


def literal_costs(X, kernels):
    """Eq. 4, 10, 19, 28 and 30, one sum at a time."""
    n = len(X)
    w = np.array([[np.sqrt(((a - b) ** 2).sum()) for b in X] for a in X])
    degree = [sum(w[i, j] for j in range(n)) for i in range(n)]
    u = [degree[i] / sum(degree) for i in range(n)]
    s = np.zeros(len(kernels))
    for k, K in enumerate(kernels):
        normal = np.empty((n, n))
        for i in range(n):
            for j in range(n):
                normal[i, j] = K[i, j] / np.sqrt(K[i, i] * K[j, j])
        for i in range(n):
            for j in range(n):
                distance = normal[i, i] + normal[j, j] - 2 * normal[i, j]
                s[k] += (1 - u[j]) * distance
    return np.array(u), s


def literal_diffusion_distances(W, time):
    """Eq. 5 and 7: probabilities of each walk, one step and one point at a time."""
    n = len(W)
    degree = [sum(W[i]) for i in range(n)]
    u = [d / sum(degree) for d in degree]
    walks = np.eye(n)
    for _ in range(time):
        walks = np.array(
            [
                [sum(walk[k] * W[k, j] / degree[k] for k in range(n)) for j in range(n)]
                for walk in walks
            ]
        )
    distances = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            squares = [(walks[i, k] - walks[j, k]) ** 2 / u[k] for k in range(n)]
            distances[i, j] = np.sqrt(sum(squares))
    return distances


def affine_by_sdp(K, cost):
    """Eq. 31 by a general semi-definite solver; the cost is scaled to one."""
    import cvxpy as cp

    scale = np.abs(cost).max()
    alpha = cp.Variable(len(K))
    combined = sum(alpha[i] * K[i] for i in range(len(K)))
    problem = cp.Problem(
        cp.Minimize(cost / scale @ alpha), [cp.sum(alpha) == 1, combined >> 0]
    )
    problem.solve(solver=cp.CLARABEL)
    if problem.status != "optimal":
        raise RuntimeError(problem.status)
    return alpha.value, problem.value * scale
