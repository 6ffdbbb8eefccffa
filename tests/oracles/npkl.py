"""Kernels from pairs as a semi-definite program, written from eqs. (4) to (10)."""

from dataclasses import dataclass

import numpy as np
import pytest

from mercer._base.typing import FloatArray

cp = pytest.importorskip("cvxpy")


@dataclass(frozen=True, eq=False)
class Reference:
    K: FloatArray
    objective: float


def npkl_sdp(L, T, *, loss, C, budget):
    """Solve with a conic interior-point method; T is dense, each pair counts once."""
    n = len(L)
    K = cp.Variable((n, n), PSD=True)
    i, j = np.nonzero(np.triu(T, 1))
    margins = cp.multiply(T[i, j], K[i, j])
    short = cp.pos(1 - margins)
    losses = {
        "linear": -cp.sum(margins),
        "hinge": cp.sum(short),
        "squared_hinge": cp.sum_squares(short) / 2,
    }
    problem = cp.Problem(
        cp.Minimize(cp.trace(L @ K) + C * losses[loss]),
        [cp.norm(K, "fro") <= np.sqrt(budget)],
    )
    problem.solve(
        solver=cp.CLARABEL,
        tol_gap_abs=1e-9,
        tol_gap_rel=1e-9,
        tol_feas=1e-9,
    )
    return Reference(K.value, float(problem.value))
