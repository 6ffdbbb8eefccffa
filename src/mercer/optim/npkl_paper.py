"""Algorithm 1 of the SimpleNPKL paper, for comparison."""

from dataclasses import replace

import numpy as np

from mercer._base.typing import FloatArray
from mercer.optim.npkl import NPKLSolution, PairProblem, better
from mercer.optim.psd_ball import project_psd_ball


def solve_npkl_paper(
    problem: PairProblem,
    *,
    start: FloatArray | None = None,
    step: float | None = None,
    tol: float = 1e-6,
    max_eigh: int = 50,
) -> NPKLSolution:
    r"""Learn a kernel from pairs by projected gradient steps of length eta/t.

    .. math:: a^t = \left(a^{t-1} + \tfrac{\eta}{t}\,
        \partial\mathcal J/\partial a\right)_+, \qquad a^0 = 1

    Parameters
    ----------
    problem : PairProblem
    start : ndarray of shape (n_pairs,), default=None
        Dual variables to start from; None takes 1 (at most C for the hinge).
    step : float, default=None
        The length eta of the first step; None takes C.
    tol : float, default=1e-6
        Bound on the relative duality gap.
    max_eigh : int, default=50
        Number of steps at most; each costs one eigen-decomposition.

    Notes
    -----
    Zhuang, Tsang, Hoi (ICML 2009), Algorithm 1. The paper says O(1/t) for the step and
    "until convergence"; here the step is C/t, a natural unit as a is of the order of C
    (steps 1/t hardly move for C = 10), and the gap is measured. Reaching `max_eigh` is
    a usual end and gives no warning; `solve_npkl` is the solver to use.
    """
    a = np.ones(problem.forms.n_pairs) if start is None else start
    a = np.minimum(a, problem.upper)
    best: NPKLSolution | None = None
    n_eigh = 0
    while n_eigh < max_eigh and (best is None or best.relative_gap > tol):
        projection = project_psd_ball(problem.matrix(a), budget=problem.budget)
        n_eigh += 1
        norm = projection.norm
        Q = projection.range
        # Proposition 1 scales up to the ball as well as down.
        scale = np.sqrt(problem.budget) / norm if norm > 0 else 0.0
        values = projection.eigenvalues[: projection.rank] * scale
        margins = problem.forms.margins(Q * values, Q)
        new = NPKLSolution(
            values=values,
            vectors=Q,
            dual=a,
            objective=problem.primal(values, Q, margins),
            bound=problem.dual(a, norm),
            n_eigh=n_eigh,
        )
        best = new if best is None else better(best, new)
        gradient = 1 - problem.curvature * a - margins
        length = (problem.C if step is None else step) / n_eigh
        a = np.clip(a + length * gradient, 0, problem.upper)
    assert best is not None
    return replace(best, n_eigh=n_eigh)
