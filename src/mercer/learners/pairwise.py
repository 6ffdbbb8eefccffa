"""Kernels from must-link and cannot-link pairs (SimpleNPKL), inside a basis."""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.checks import check_number
from mercer._base.html import Shown
from mercer._base.typing import FloatArray, RandomState
from mercer.learners._pair_learner import (
    PairFamily,
    PairLearner,
    default_budget,
    default_weight,
)
from mercer.optim.budgeted_psd import solve_budgeted_psd
from mercer.optim.npkl import NPKLSolution, PairProblem
from mercer.optim.npkl_newton import solve_npkl
from mercer.optim.npkl_paper import solve_npkl_paper
from mercer.spectrum.base import Basis
from mercer.spectrum.graph import GraphBasis


@dataclass(frozen=True, slots=True)
class PairCertificate(Shown):
    """How a kernel from pairs knows that it is right.

    Parameters
    ----------
    family : str
        The kernels among which this one is the best.
    objective : float
        Objective of the learned kernel.
    bound : float
        No kernel of the family has a lower objective.
    relative_gap : float
        Distance of the two, relative to the objective; 0 is optimal.
    n_eigh : int
        Eigen-decompositions computed.
    n_pairs : int
        Pairs learned from.
    agreement : float
        Share of the pairs that the kernel puts on the right side of zero.
    largest_margin : float
        Largest T_p K_ij; the hinges act from 1 on.
    """

    family: str
    objective: float
    bound: float
    relative_gap: float
    n_eigh: int
    n_pairs: int
    agreement: float
    largest_margin: float


class PairwiseKernel(PairLearner):
    r"""Kernel that agrees with pairs and is smooth over all points.

    .. math::

        \min_{K = U M U^\top} \operatorname{tr}(LK) + C \sum_{p = \{i,j\}}
        \ell(T_p K_{ij}) : \quad M \succeq 0,\ \operatorname{tr}(KK) \le B

    where :math:`T_p` is +1 for a must-link and -1 for a cannot-link, and the sum runs
    over unordered pairs.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "linear"}, default="squared_hinge"
        :math:`\max(0, 1-s)^2/2`, :math:`\max(0, 1-s)` or :math:`-s`. The linear loss
        has a closed form.
    C : float or None, default=None
        Weight of the loss, > 0. None takes 1, or 4n over the number of pairs where
        that is less (so that all pairs together weigh no more than four per point),
        doubled as long as the zero kernel is optimal or, with ``budget=None``, the
        hinges would not act.
    budget : float or None, default=None
        The bound B > 0. None takes :math:`n^2` times the share of must-links among
        the pairs (with one more pair of each kind): for pairs drawn at random that is
        what the ideal kernel, 1 within classes and 0 between, needs, about
        :math:`n^2` / classes. The linear loss only scales with it; far below this
        value the hinges never act, and `fit` warns.
    basis : basis or None, default=None
        The directions U. None is ``GraphBasis(n_components=100)``. Take
        ``GraphBasis(n_components=None)`` for the problem of the paper, in which every
        kernel matrix over the points competes.
    solver : {"newton", "paper"}, default="newton"
        "paper" is Algorithm 1 with steps C/t, which stops after `max_eigh` steps.
    ordered : bool, default=False
        Count every pair twice, as (i, j) and (j, i), as the paper does. It doubles C.
    tol : float, default=1e-6
        Bound on the relative duality gap.
    max_eigh : int, default=200
        Bound on the number of eigen-decompositions.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
    core_ : ndarray of shape (r, r)
        The matrix M.
    basis_ : fitted basis
    pairs_ : Pairs
        All evidence, from `y` and `pairs`.
    C_, budget_ : float
        As used.
    dual_ : ndarray of shape (n_pairs,)
        Dual variables; 0 for a pair that could be left out.
    certificate_ : PairCertificate

    See Also
    --------
    NPKL : The same kernel by semi-definite programming.

    Notes
    -----
    Zhuang, Tsang and Hoi, "SimpleNPKL" (ICML 2009), eqs. (6) to (14). As directions are
    orthonormal, :math:`\operatorname{tr}(KK) = \operatorname{tr}(MM)` and the closed
    form (8) and the dual (12) hold as they are with :math:`U^\top A U` for A. With as
    many directions as points the family is that of the paper; with fewer it is
    smaller, everything costs O(n r), and new points follow. `certificate_` says for
    which family the gap was measured.

    L is the Laplacian of the graph; with a basis of a kernel matrix G it is
    :math:`I - G / \lambda_1`. Departures from the paper: K = 0 where it has 0/0, the
    duality gap instead of a fixed number of steps, and no bound on the rank
    (Proposition 2 does not hold with a bound on tr(KK)).

    Pairs that contradict each other raise a `ContradictionWarning`; each then counts
    with its own loss.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.metrics import rand_score
    >>> from mercer.learners.clustering import cluster
    >>> from mercer.evidence.pairs import Pairs
    >>> X, y = make_moons(120, noise=0.1, random_state=0)
    >>> pairs = Pairs.from_labels(y, n_pairs=60, random_state=0)
    >>> learner = PairwiseKernel(random_state=0).fit(X, pairs=pairs)
    >>> learner.certificate_.relative_gap < 1e-6
    True
    >>> rand_score(y, cluster(learner.kernel_, 2, random_state=0)) > 0.95
    True
    """

    def __init__(
        self,
        loss: Literal["squared_hinge", "hinge", "linear"] = "squared_hinge",
        C: float | None = None,
        budget: float | None = None,
        *,
        basis: Basis | None = None,
        solver: Literal["newton", "paper"] = "newton",
        ordered: bool = False,
        tol: float = 1e-6,
        max_eigh: int = 200,
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.budget = budget
        self.basis = basis
        self.solver = solver
        self.ordered = ordered
        self.tol = tol
        self.max_eigh = max_eigh
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name, options in _OPTIONS.items():
            if getattr(self, name) not in options:
                wanted = ", ".join(map(repr, options))
                msg = f"{name} must be one of {wanted}; got {getattr(self, name)!r}."
                raise ValueError(msg)
        positive = {"min_val": 0, "include_boundaries": "neither"}
        for name in ("C", "budget"):
            if getattr(self, name) is not None:
                check_scalar(getattr(self, name), name, Real, **positive)
        check_number(self.tol, "tol", above=0)
        check_scalar(self.max_eigh, "max_eigh", Integral, min_val=1)

    def _default_basis(self, n_labeled: int) -> Basis:
        return GraphBasis(n_components=100, random_state=self.random_state)

    def _learn(self, family: PairFamily) -> None:
        self.budget_ = float(self.budget or default_budget(self.pairs_))
        self.C_ = float(self.C or default_weight(self.pairs_))
        solution = self._solve(family)
        margins = _margins(family, solution)
        while self.C is None and not self._acts(margins) and self.C_ < _LARGEST_C:
            self.C_ *= 2
            solution = self._solve(family)
            margins = _margins(family, solution)
        if len(solution.values) == 0:
            raise ValueError(_CANCELLED if self.C is None else _zero_kernel(self.C_))
        self._keep(family, solution, margins)

    def _solve(self, family: PairFamily) -> NPKLSolution:
        factor = 2.0 if self.ordered else 1.0
        C, m = self.C_ * factor, family.forms.n_pairs
        if self.loss == "linear":
            A = family.forms.less(np.full(m, C), family.penalty)
            best = solve_budgeted_psd(A, budget=self.budget_)
            return NPKLSolution(
                best.values,
                best.vectors,
                dual=np.full(m, C),
                objective=-best.objective,
                bound=-best.bound,
                n_eigh=1,
            )
        problem = PairProblem(family.forms, family.penalty, self.loss, C, self.budget_)
        if self.solver == "newton":
            return solve_npkl(problem, tol=self.tol, max_eigh=self.max_eigh)
        start = np.full(m, factor)
        return solve_npkl_paper(
            problem, start=start, tol=self.tol, max_eigh=self.max_eigh
        )

    def _acts(self, margins: FloatArray) -> bool:
        """Tell whether there is a kernel, and a pair where the loss bends.

        Below 0.1 the slope of the squared hinge is constant within a tenth; 0.99 is
        1 within the solver's tolerance.
        """
        if self.loss == "linear" or self.budget is not None:
            return bool(margins.any())
        return float(margins.max()) >= _ACTS_FROM[self.loss]

    def _keep(
        self, family: PairFamily, solution: NPKLSolution, margins: FloatArray
    ) -> None:
        self.core_ = family.core(solution.values, solution.vectors)
        self.dual_ = solution.dual
        self.certificate_ = PairCertificate(
            family=family.name,
            objective=solution.objective,
            bound=solution.bound,
            relative_gap=solution.relative_gap,
            n_eigh=solution.n_eigh,
            n_pairs=len(margins),
            agreement=float(np.mean(margins > 0)),
            largest_margin=float(margins.max()),
        )
        if self.loss != "linear" and margins.max() < _ACTS_FROM[self.loss]:
            msg = (
                f"the largest margin is {margins.max():.2g} with C={self.C_:g} and "
                f"budget={self.budget_:g}, so the {self.loss} loss acts as the linear "
                "one; raise them, or leave them None."
            )
            warnings.warn(msg, UserWarning, stacklevel=4)


def _margins(family: PairFamily, solution: NPKLSolution) -> FloatArray:
    vectors = solution.vectors
    return family.forms.margins(vectors * solution.values, vectors)


def _zero_kernel(C: float) -> str:
    return (
        f"C={C:g} is too small: the zero kernel is optimal, no direction gains more "
        "from the pairs than its roughness costs. Raise C, or leave C=None."
    )


_CANCELLED = (
    "must-links and cannot-links cancel each other, and no kernel is left. Resolve the "
    "contradictions: `Pairs.contradictions` names them."
)
_LARGEST_C = 1e12
_ACTS_FROM = {"squared_hinge": 0.1, "hinge": 0.99}
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "loss": ("squared_hinge", "hinge", "linear"),
    "solver": ("newton", "paper"),
    "ordered": (False, True),
}
