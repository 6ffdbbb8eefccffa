"""Kernels from pairs by a general semi-definite solver."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._base.extras import require
from mercer._base.typing import FloatArray
from mercer.optim.pair_forms import PairForms
from mercer.optim.positive_part import positive_eigenpairs


@dataclass(frozen=True, slots=True, eq=False)
class SDPSolution:
    """What the solver found, made positive semi-definite."""

    values: FloatArray  # (r,) positive eigenvalues of K, largest first
    vectors: FloatArray  # (side, r)
    objective: float  # of this K, computed here
    reported: float  # what the solver says
    status: str


def solve_npkl_sdp(
    forms: PairForms,
    penalty: FloatArray,
    *,
    loss: Literal["hinge", "linear"],
    C: float,
    budget: float | None = None,
    solver: str = "SCS",
    solver_options: dict[str, Any] | None = None,
) -> SDPSolution:
    r"""Learn a kernel from pairs as a semi-definite program.

    .. math:: \min_{K \succeq 0} \operatorname{tr}(LK) + C \sum_p
        \ell(\langle S_p, K\rangle) \quad [: \operatorname{tr}(KK) \le B]

    Parameters
    ----------
    forms : PairForms
    penalty : ndarray of shape (side, side)
        L.
    loss : {"hinge", "linear"}
    C : float
    budget : float or None, default=None
        B; None leaves the constraint out, which the linear loss does not allow.
    solver : str, default="SCS"
        Any conic solver that cvxpy has.
    solver_options : dict, default=None
        Handed to it.

    Notes
    -----
    Zhuang, Tsang, Hoi (ICML 2009), eq. (4), after Hoi, Jin, Lyu (ICML 2007). With the
    linear loss eq. (4) is unbounded as printed: a kernel that gains gains more when
    scaled up. The bound of eq. (5) repairs that.
    """
    problem, K = npkl_program(forms, penalty, loss=loss, C=C, budget=budget)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        problem.solve(solver=solver, **(solver_options or {}))
    if K.value is None:
        msg = f"{solver} found no kernel: {problem.status}."
        raise RuntimeError(msg)
    if problem.status != "optimal":
        msg = f"{solver} stopped at status {problem.status!r}; see solver_options."
        warnings.warn(msg, ConvergenceWarning, stacklevel=4)
    reported = float(problem.value)
    values, vectors = positive_eigenpairs(K.value)
    K.value = (vectors * values) @ vectors.T
    objective = float(problem.objective.value)
    return SDPSolution(values, vectors, objective, reported, problem.status)


def npkl_program(
    forms: PairForms,
    penalty: FloatArray,
    *,
    loss: Literal["hinge", "linear"],
    C: float,
    budget: float | None = None,
) -> tuple[Any, Any]:
    """Return the program of `solve_npkl_sdp` and its variable K, as cvxpy's objects."""
    if loss == "linear" and budget is None:
        msg = "the linear loss has no minimum without a budget; give one, or use hinge."
        raise ValueError(msg)
    cp = require("cvxpy", extra="sdp", purpose="NPKL by semi-definite programming")
    K = cp.Variable((forms.side, forms.side), PSD=True)
    margins = forms.stacked() @ cp.vec(K, order="C")
    losses = cp.sum(cp.pos(1 - margins)) if loss == "hinge" else -cp.sum(margins)
    objective = cp.sum(cp.multiply(penalty, K)) + C * losses
    constraints = [] if budget is None else [cp.norm(K, "fro") <= np.sqrt(budget)]
    return cp.Problem(cp.Minimize(objective), constraints), K
