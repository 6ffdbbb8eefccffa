"""Slow, obvious references for the spectral learners."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import ortho_group
from sklearn.base import BaseEstimator

from mercer._base.typing import BoolArray, FloatArray

SETTINGS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13},
    "OSQP": {"eps_abs": 1e-11, "eps_rel": 1e-11, "max_iter": 1_000_000},
}


def decaying_spectrum_by_qp(
    base: list[FloatArray],
    T: FloatArray,
    decay: float,
    free: BoolArray | None = None,
    solver: str = "CLARABEL",
) -> FloatArray:
    """Hoi et al. (14): min ||D mu|| with <D mu, T> fixed, from the l² x d matrix D."""
    import cvxpy as cp

    D = np.stack([K.ravel() for K in base], axis=1)
    scale = np.abs(D).max()
    D = D / scale
    agreement = D.T @ T.ravel()
    mu = cp.Variable(D.shape[1])
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(D @ mu)),
        [agreement / np.abs(agreement).max() @ mu == 1, *chain(mu, decay, free)],
    )
    problem.solve(solver=solver, **SETTINGS[solver])
    return np.asarray(mu.value)


def ordered_spectrum_by_qcqp(
    base: list[FloatArray], T: FloatArray, free: BoolArray | None = None
) -> FloatArray:
    """Zhu et al. (2004): max <K, T> with ||K|| <= 1 and ordered weights."""
    import cvxpy as cp

    D = np.stack([K.ravel() for K in base], axis=1)
    D = D / np.abs(D).max()
    mu = cp.Variable(D.shape[1])
    problem = cp.Problem(
        cp.Maximize(T.ravel() @ (D @ mu) / np.linalg.norm(T)),
        [cp.norm(D @ mu) <= 1, *chain(mu, 1.0, free)],
    )
    problem.solve(solver="CLARABEL")
    return np.asarray(mu.value)


def chain(mu: Any, decay: float, free: BoolArray | None) -> list[Any]:
    """Constraints mu >= 0 and mu_i >= decay mu_(i+1) along the entries not free."""
    kept = range(mu.shape[0]) if free is None else np.flatnonzero(~free)
    links = [mu[int(i)] >= decay * mu[int(j)] for i, j in pairwise(kept)]
    return [mu >= 0, *links]


def alignment(K: FloatArray, T: FloatArray) -> float:
    """Cosine of the angle between two matrices."""
    return float((K * T).sum() / np.linalg.norm(K) / np.linalg.norm(T))


def closed_form_by_solver(
    A: FloatArray, B: FloatArray, C: float, mu: float
) -> FloatArray:
    """Mao and Tsang, Problem (7) in the eigenvalues, by a conic solver."""
    import cvxpy as cp

    weights = cp.Variable(len(A), nonneg=True)
    loss = cp.sum(cp.multiply(A, cp.inv_pos(weights + 1 / C))) / 2
    problem = cp.Problem(cp.Minimize(loss + mu * B @ weights))
    problem.solve(solver="CLARABEL")
    return np.asarray(weights.value)


def problem_seven(
    K: FloatArray, L: FloatArray, Y: FloatArray, C: float, mu: float
) -> float:
    """Mao and Tsang, objective (7) with dense matrices; Y is 0 where unlabelled."""
    inverse = np.linalg.inv(K + np.eye(len(K)) / C)
    return float(np.trace(Y.T @ inverse @ Y) / 2 + mu * np.trace(K @ L))


class GivenBasis(BaseEstimator):
    """A basis with given vectors and values, for tests that rotate eigenspaces."""

    def __init__(self, vectors: FloatArray, values: FloatArray) -> None:
        self.vectors = vectors
        self.values = values

    def fit(self, X: Any, y: Any = None) -> "GivenBasis":
        self.vectors_, self.values_ = np.asarray(self.vectors), np.asarray(self.values)
        return self

    def extend(self, X: Any) -> FloatArray:
        return self.vectors_


def rotate_eigenspaces(
    vectors: FloatArray, values: FloatArray, seed: int
) -> FloatArray:
    """Return another orthonormal basis of every repeated eigenvalue's space."""
    turned = vectors.copy()
    for value in np.unique(np.round(values, 8)):
        members = np.flatnonzero(np.abs(values - value) < 1e-6)
        if len(members) > 1:
            turn = ortho_group.rvs(len(members), random_state=seed)
            turned[:, members] = vectors[:, members] @ turn
    return turned


def parameter_free_decision(
    W: FloatArray, labeled: Any, Y: FloatArray, power: float, eps: float
) -> FloatArray:
    """Mao and Tsang, Algorithm 1 as printed, dense; for simple spectra."""
    degree = W.sum(axis=1)
    L = np.eye(len(W)) - W / np.sqrt(np.outer(degree, degree))
    gamma, U = np.linalg.eigh(np.linalg.matrix_power(L, int(power)))
    A = np.square(U[labeled].T @ Y).sum(axis=1)
    B = np.maximum(gamma, 0.0) + eps
    root = np.sqrt(A / (2 * B))
    x, y, z, u = A @ root, root @ root, root.sum(), A.sum()
    K = (U * (abs((z * u - len(W) * x) / (y * u - z * x)) * root)) @ U.T
    shifted = K - np.eye(len(W))
    return np.asarray(
        shifted[:, labeled] @ np.linalg.solve(K[np.ix_(labeled, labeled)], Y)
    )
