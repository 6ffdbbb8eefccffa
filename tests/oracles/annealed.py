"""Slow, obvious references for the annealed machines (Dai and Yeung 2007)."""

import numpy as np


def best_kernel_weights(K, targets, noise):
    """min over the simplex of tᵀ (K + D)⁻¹ t by a conic solver.

    Uses the variational form min over f_j of sum_j |f_j|² / lambda_j with
    f = sum_j K_j^{1/2} f_j.
    """
    import cvxpy as cp

    N, n, _ = K.shape
    roots = []
    for k in K:
        values, vectors = np.linalg.eigh(k)
        roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    weights = cp.Variable(N, nonneg=True)
    parts = [cp.Variable((n, targets.shape[1])) for _ in range(N)]
    fitted = sum(root @ part for root, part in zip(roots, parts, strict=True))
    residual = cp.multiply(1 / np.sqrt(noise)[:, None], targets - fitted)
    norms = sum(
        cp.quad_over_lin(cp.vec(part, order="F"), weights[j])
        for j, part in enumerate(parts)
    )
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(residual) + norms), [cp.sum(weights) == 1]
    )
    problem.solve(solver=cp.CLARABEL)
    return np.asarray(weights.value), float(problem.value)


def best_under_loss(K, targets, noise, loss):
    """min over the simplex and f of the weighted loss, one column of targets."""
    import cvxpy as cp

    N, n, _ = K.shape
    roots = []
    for k in K:
        values, vectors = np.linalg.eigh(k)
        roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    weights = cp.Variable(N, nonneg=True)
    parts = [cp.Variable(n) for _ in range(N)]
    f = sum(root @ part for root, part in zip(roots, parts, strict=True))
    plus, minus = (1 + targets) / 2 / noise, (1 - targets) / 2 / noise
    if loss == "hinge":
        cost = plus @ cp.pos(1 - f) + minus @ cp.pos(1 + f)
    else:
        cost = plus @ cp.logistic(-f) + minus @ cp.logistic(f)
    norms = sum(cp.quad_over_lin(part, weights[j]) for j, part in enumerate(parts))
    problem = cp.Problem(cp.Minimize(cost + norms), [cp.sum(weights) == 1])
    problem.solve(solver=cp.CLARABEL)
    return np.asarray(weights.value), np.asarray(f.value), float(problem.value)


def multiple_kernel_rls(K, y, C):
    """Eq. 4 of Mao and Tsang as a program with one quadratic constraint per kernel.

    Over weights that sum to 1 the inner minimum over them is the largest form.
    """
    import cvxpy as cp

    alpha, largest = cp.Variable(len(y)), cp.Variable()
    forms = [cp.quad_form(alpha, cp.psd_wrap(k)) <= largest for k in K]
    objective = alpha @ y - (largest + cp.sum_squares(alpha) / C) / 2
    problem = cp.Problem(cp.Maximize(objective), forms)
    problem.solve(solver=cp.CLARABEL)
    multipliers = np.array([form.dual_value for form in forms]).ravel()
    return multipliers / multipliers.sum(), np.asarray(alpha.value), problem.value


def best_soft_labels(g, temperature, ratio):
    """Eq. 9 by a conic solver."""
    import cvxpy as cp

    P = cp.Variable(g.shape)
    energy = cp.sum(cp.multiply(P, g / temperature)) - cp.sum(cp.entr(P))
    problem = cp.Problem(
        cp.Minimize(energy),
        # The last share follows from the others.
        [cp.sum(P, axis=1) == 1, cp.sum(P, axis=0)[:-1] == len(g) * ratio[:-1]],
    )
    problem.solve(solver=cp.CLARABEL)
    return np.asarray(P.value), temperature * float(problem.value)


LOSSES = {
    "squared": lambda margin: (1 - margin) ** 2,
    "hinge": lambda margin: max(0.0, 1 - margin),
    "logistic": lambda margin: np.logaddexp(0, -margin),
}


def free_energy(K, codes, coef, P, *, gamma, beta, temperature, loss="squared"):
    """Eq. 5 for two classes, term by term."""
    cost = LOSSES[loss]
    f = K @ coef[:, 0]
    energy = gamma * coef[:, 0] @ K @ coef[:, 0]
    row = 0
    for i, code in enumerate(codes):
        if code >= 0:
            energy += cost(f[i] if code == 1 else -f[i])
            continue
        p = P[row, 1]
        row += 1
        energy += beta * (p * cost(f[i]) + (1 - p) * cost(-f[i]))
        for share in (p, 1 - p):
            if share > 0:
                energy += temperature * share * np.log(share)
    return energy
