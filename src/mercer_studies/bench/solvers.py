"""Eigenpairs next to eigsh, and a solver next to cvxpy."""

from importlib import import_module
from typing import Any

import numpy as np

from mercer_studies.bench.cells import PAIRS

DECAY = 2.0


def mercer_pairs(L: Any, null: Any) -> tuple[Any, Any]:
    """Mercer's eigensolver."""
    from mercer.eigen.smallest import smallest_eigenpairs

    rng = np.random.default_rng(0)
    found = smallest_eigenpairs(L, PAIRS, upper=2.0, null=null, rng=rng)
    return found.values, found.vectors


def eigsh_pairs(L: Any, null: Any) -> tuple[Any, Any]:
    """SciPy's eigsh of I - L, largest first, to the same tolerance."""
    from scipy import sparse
    from scipy.sparse.linalg import eigsh

    n = L.shape[0]
    v0 = np.random.default_rng(0).standard_normal(n)
    S = sparse.eye_array(n, format="csr") - L
    values, vectors = eigsh(S, PAIRS, which="LA", tol=1e-8, v0=v0)
    return 1.0 - values, vectors


def mercer_spectrum(G: Any, b: Any) -> Any:
    """Mercer's solver of the decaying spectrum."""
    from mercer.optim.cone import solve_decaying_spectrum

    return solve_decaying_spectrum(G, b, decay=DECAY).weights


def cvxpy_clarabel(G: Any, b: Any) -> Any:
    """Cvxpy with Clarabel."""
    return _by_cvxpy(G, b, "CLARABEL", {})


def cvxpy_osqp(G: Any, b: Any) -> Any:
    """Cvxpy with OSQP, at tolerances that reach the optimum."""
    tight = {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 100_000}
    return _by_cvxpy(G, b, "OSQP", tight)


def _by_cvxpy(G: Any, b: Any, solver: str, settings: dict[str, Any]) -> Any:
    cp: Any = import_module("cvxpy")
    mu = cp.Variable(len(b))
    square = cp.quad_form(mu, cp.psd_wrap(G / np.abs(G).max()))
    constraints = [(b / np.abs(b).max()) @ mu == 1, mu >= 0, mu[:-1] >= DECAY * mu[1:]]
    cp.Problem(cp.Minimize(square), constraints).solve(solver=solver, **settings)
    return mu.value
