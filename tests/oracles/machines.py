"""Slow, obvious references for the machines and their solvers."""

import numpy as np
from scipy.linalg import pinv
from scipy.optimize import minimize
from scipy.special import log_expit, logsumexp


def rls_by_pinv(features, targets, C):
    """Minimiser of |w|^2/2 + C/2 |y - Phi w|^2 from the dual system."""
    K = features @ features.T
    if np.isinf(C):
        return features.T @ (pinv(K, rtol=1e-10) @ targets)
    return features.T @ np.linalg.solve(K + np.eye(len(K)) / C, targets)


def rls_loo_by_refits(features, targets, C):
    """Residual of every point under the machine trained without it."""
    out = np.empty_like(targets)
    for i in range(len(features)):
        rest = np.arange(len(features)) != i
        w = rls_by_pinv(features[rest], targets[rest], C)
        out[i] = targets[i] - features[i] @ w
    return out


def klr_objective(features, targets, weights, C, coef, intercept):
    """Loss plus penalty; targets of one column are binary, else one-hot."""
    scores = features @ coef + intercept
    if targets.shape[1] == 1:
        margins = np.where(targets > 0, scores, -scores)
        losses = -log_expit(margins).ravel()
    else:
        losses = logsumexp(scores, axis=1) - (targets * scores).sum(axis=1)
    return 0.5 * (coef**2).sum() + C * (weights @ losses)


def klr_in_the_dual(K, signs, C):
    """Function values of (17)-(18): minimise over alpha with f = K alpha."""

    def value_and_gradient(alpha):
        f = K @ alpha
        loss = -C * log_expit(signs * f).sum()
        slope = -C * signs * np.exp(log_expit(-signs * f))
        return loss + 0.5 * alpha @ f, K @ (slope + alpha)

    best = minimize(
        value_and_gradient,
        np.zeros(len(K)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 50000, "ftol": 1e-16, "gtol": 1e-11},
    )
    return K @ best.x, best.fun


def lap_rls_dense(K, L, targets, labeled, gamma_A, gamma_I):
    """Expansion of Belkin et al. (2006), eq. 8, without 1/(l+u)^2."""
    n, size = len(K), len(labeled)
    J = np.zeros((n, n))
    J[labeled, labeled] = 1.0
    Y = np.zeros((n, targets.shape[1]))
    Y[labeled] = targets
    system = J @ K + gamma_A * size * np.eye(n) + gamma_I * size * (L @ K)
    return np.linalg.solve(system, Y)


def lap_svm_by_cvxpy(K, L, signs, labeled, gamma_A, gamma_I):
    """Values over all points, and the bias, of Belkin et al. (2006), section 4.3."""
    import cvxpy as cp

    values, vectors = np.linalg.eigh(K)
    R = vectors * np.sqrt(np.clip(values, 0, None))
    low, basis = np.linalg.eigh(L)
    root = (basis * np.sqrt(np.clip(low, 0, None))).T @ R
    w, b = cp.Variable(len(K)), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(signs, R[labeled] @ w + b))) / len(labeled)
    penalty = gamma_A * cp.sum_squares(w) + gamma_I * cp.sum_squares(root @ w)
    problem = cp.Problem(cp.Minimize(hinge + penalty))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return R @ w.value, float(b.value), problem.value


def mkl_by_qcqp(kernels, signs, C):
    """Optimal value and weights of MKL as the QCQP of Lanckriet et al. (2004).

    `signs` has one +1/-1 column per class; the weights are shared. Variables are
    divided by C and values by C: the solver then sees numbers of one size.
    """
    import cvxpy as cp

    roots = []
    for K in kernels:
        values, vectors = np.linalg.eigh(C * K)
        kept = values > 1e-13 * values[-1]  # columns of rounding stall the solver
        roots.append(vectors[:, kept] * np.sqrt(values[kept]))
    alphas = [cp.Variable(len(signs)) for _ in signs.T]
    bound = cp.Variable()
    pairs = list(zip(signs.T, alphas, strict=True))
    budget = [
        cp.sum([cp.sum_squares(R.T @ cp.multiply(y, a)) for y, a in pairs]) <= bound
        for R in roots
    ]
    box = [c for a in alphas for c in (a >= 0, a <= 1)]
    balance = [y @ a == 0 for y, a in pairs]
    objective = cp.Maximize(sum(cp.sum(a) for a in alphas) - bound / 2)
    problem = cp.Problem(objective, budget + box + balance)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-8, tol_gap_rel=1e-8)
    # The constraint t_m <= bound is scaled by the cost 1/2 of the bound.
    return C * problem.value, 2 * np.array([c.dual_value for c in budget]).ravel()
