r"""Kernels from pairs under a hinge: the dual, its certificate and a Newton method.

.. math:: \min_K \operatorname{tr}(LK) + C \sum_p \ell(\langle S_p, K\rangle) :
    K \succeq 0,\ \operatorname{tr}(KK) \le B

with :math:`\ell(s) = \max(0, 1-s)` or :math:`\max(0, 1-s)^2/2`, has the dual

.. math:: g(a) = \sum_p a_p - \tfrac{q}{2}\|a\|^2 - \sqrt B \|A(a)_+\|_F, \quad
    A(a) = \sum_p a_p S_p - L,\quad 0 \le a \le u

with q = 1/C, u = infinity for the squared hinge and q = 0, u = C for the hinge (Zhuang,
Tsang, Hoi, ICML 2009, eq. 12, with K eliminated by Proposition 1). Any K in the ball
and any a in the box bound the optimum from both sides; their distance is the gap.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.linalg import eigvalsh

from mercer._base.typing import FloatArray, SparseArray
from mercer.optim.pair_forms import PairForms


@dataclass(frozen=True, slots=True, eq=False)
class PairProblem:
    """The data of the problem above.

    Parameters
    ----------
    forms : PairForms
        The pairs, as forms on K or on the core of K in a basis.
    penalty : ndarray or sparse array of shape (side, side)
        L, symmetric.
    loss : {"squared_hinge", "hinge"}
    C, budget : float
        Both positive.
    """

    forms: PairForms
    penalty: FloatArray | SparseArray
    loss: Literal["squared_hinge", "hinge"]
    C: float
    budget: float

    def __post_init__(self) -> None:
        for name, value in (("C", self.C), ("budget", self.budget)):
            if not 0 < value < np.inf:
                msg = f"{name} must be positive and finite, got {value}."
                raise ValueError(msg)

    @property
    def curvature(self) -> float:
        """Curvature q of the dual's quadratic term."""
        return 1 / self.C if self.loss == "squared_hinge" else 0.0

    @property
    def upper(self) -> float:
        """Upper bound u of the dual variables."""
        return self.C if self.loss == "hinge" else np.inf

    def matrix(self, a: FloatArray) -> FloatArray:
        """Return A(a), dense."""
        return self.forms.less(a, self.penalty)

    def loss_at(self, margins: FloatArray) -> float:
        """Return C times the sum of losses."""
        short = np.maximum(0.0, 1.0 - margins)
        if self.loss == "hinge":
            return float(self.C * short.sum())
        return float(self.C / 2 * (short @ short))

    def primal(
        self, values: FloatArray, vectors: FloatArray, margins: FloatArray
    ) -> float:
        """Return the objective of K = vectors diag(values) vectors^T."""
        smooth = np.sum((self.penalty @ vectors) * vectors * values)
        return float(smooth) + self.loss_at(margins)

    def dual(self, a: FloatArray, norm: float | None = None) -> float:
        """Return g(a); `norm` is the Frobenius norm of A(a)_+ where it is known."""
        if norm is None:
            eigenvalues = eigvalsh(self.matrix(a), overwrite_a=True, check_finite=False)
            norm = float(np.linalg.norm(np.maximum(eigenvalues, 0.0)))
        linear = float(a.sum() - self.curvature / 2 * (a @ a))
        return linear - float(np.sqrt(self.budget)) * norm


@dataclass(frozen=True, slots=True, eq=False)
class NPKLSolution:
    """A kernel, the dual point that bounds it, and how they were found."""

    values: FloatArray  # (r,) positive eigenvalues of K, largest first
    vectors: FloatArray  # (side, r) orthonormal columns
    dual: FloatArray  # (n_pairs,)
    objective: float  # of K
    bound: float  # g(dual) <= optimum <= objective
    n_eigh: int  # eigen-decompositions, full or values only

    @property
    def gap(self) -> float:
        """Duality gap."""
        return self.objective - self.bound

    @property
    def relative_gap(self) -> float:
        """Gap over the larger magnitude of objective and bound; 0 at an optimum."""
        size = max(abs(self.objective), abs(self.bound))
        return self.gap / size if size > 0 else 0.0


def better(old: NPKLSolution, new: NPKLSolution) -> NPKLSolution:
    """Keep the better kernel and the better bound, which need not come together."""
    kernel = new if new.objective <= old.objective else old
    bound = new if new.bound >= old.bound else old
    return replace(kernel, dual=bound.dual, bound=bound.bound)
