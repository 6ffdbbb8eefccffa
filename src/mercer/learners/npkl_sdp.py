"""NPKL: kernels from pairs by semi-definite programming, the baseline."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

from mercer._base.checks import check_choice, check_number
from mercer._base.html import Shown
from mercer._base.typing import RandomState
from mercer.learners._pair_learner import PairFamily, PairLearner
from mercer.optim.npkl_sdp import solve_npkl_sdp
from mercer.spectrum.base import Basis
from mercer.spectrum.graph import GraphBasis

_QUICK_UP_TO = 150


@dataclass(frozen=True, slots=True)
class SDPCertificate(Shown):
    """What the semi-definite solver says of its answer.

    Parameters
    ----------
    family : str
        The kernels among which this one is the best.
    objective : float
        Objective, computed from the kernel.
    reported : float
        Objective that the solver reports.
    status : str
        What the solver says; "optimal" within its own tolerance.
    """

    family: str
    objective: float
    reported: float
    status: str


class NPKL(PairLearner):
    r"""Non-parametric kernel from pairs by semi-definite programming.

    .. math:: \min_{K = U M U^\top,\, M \succeq 0} \operatorname{tr}(LK) +
        C \sum_{p = \{i,j\}} \ell(T_p K_{ij})

    Needs cvxpy (``pip install "mercer[sdp]"``). It is here as the reference that
    `PairwiseKernel` is measured against, for small problems: the hinge takes about 1 s
    of SCS for 100 points, 20 s for 200 and minutes beyond, and `fit` warns before it
    starts on more than 150 directions.

    Parameters
    ----------
    loss : {"hinge", "linear"}, default="hinge"
        Loss of a pair.
    C : float, default=1.0
        Weight of the loss, > 0.
    budget : float or None, default=None
        Bound on tr(KK), which the linear loss needs.
    basis : basis or None, default=None
        None is ``GraphBasis(n_components=None)``: all kernels over the points.
    solver : str, default="SCS"
        A conic solver of cvxpy, e.g. "CLARABEL", which is more exact and slower.
    solver_options : dict or None, default=None
        For cvxpy and the solver: ``{"verbose": True}`` shows the progress, and with
        SCS ``{"time_limit_secs": 60}`` ends it with what it has, and a warning.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
    core_ : ndarray of shape (r, r)
    basis_ : fitted basis
    pairs_ : Pairs
    certificate_ : SDPCertificate

    See Also
    --------
    PairwiseKernel : The same in a fraction of a second, with a duality gap.

    Notes
    -----
    Zhuang, Tsang and Hoi (ICML 2009), eq. (4), where the linear loss has no minimum;
    here it needs `budget`, the bound of eq. (5).

    References
    ----------
    Steven C. H. Hoi, Rong Jin and Michael R. Lyu. "Learning Nonparametric Kernel
    Matrices from Pairwise Constraints", ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.2], [0.4], [3.0], [3.1], [3.3]])
    >>> learner = NPKL(solver="CLARABEL").fit(X, pairs=([(0, 1)], [(2, 3)]))
    >>> learner.kernel_()[0, 1].round(3), learner.certificate_.status
    (np.float64(1.0), 'optimal')
    """

    def __init__(
        self,
        loss: Literal["hinge", "linear"] = "hinge",
        C: float = 1.0,
        budget: float | None = None,
        *,
        basis: Basis | None = None,
        solver: str = "SCS",
        solver_options: dict[str, Any] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.budget = budget
        self.basis = basis
        self.solver = solver
        self.solver_options = solver_options
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice(self.loss, "loss", ("hinge", "linear"))
        check_number(self.C, "C", above=0)
        if self.budget is not None:
            check_number(self.budget, "budget", above=0)

    def _learn(self, family: PairFamily) -> None:
        if family.forms.side > _QUICK_UP_TO:
            msg = (
                f"NPKL over {family.forms.side} directions may take minutes or more. "
                f"PairwiseKernel({self.loss!r}) takes seconds for the same pairs. Else "
                "take fewer directions, basis=GraphBasis(n_components=100), or watch "
                "and bound it, solver_options={'verbose': True, 'time_limit_secs': 60}."
            )
            warnings.warn(msg, UserWarning, stacklevel=3)
        solution = solve_npkl_sdp(
            family.forms,
            family.penalty,
            loss=self.loss,
            C=float(self.C),
            budget=self.budget,
            solver=self.solver,
            solver_options=self.solver_options,
        )
        self.core_ = family.core(solution.values, solution.vectors)
        self.certificate_ = SDPCertificate(
            family.name, solution.objective, solution.reported, solution.status
        )

    def _default_basis(self, n_labeled: int) -> Basis:
        return GraphBasis(n_components=None, random_state=self.random_state)
