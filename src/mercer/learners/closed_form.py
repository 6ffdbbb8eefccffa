"""The closed-form spectral kernel of Mao and Tsang (SKL), with given C and mu."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.checks import check_number, check_several
from mercer._base.html import Shown
from mercer._base.typing import FloatArray, RandomState
from mercer.evidence.labels import Labels
from mercer.learners.base import LabelLearner
from mercer.learners.parameter_free import (
    check_energy,
    check_penalty,
    energy_and_penalty,
    spectral_alignment,
)
from mercer.optim.manifold import inverted_folds
from mercer.optim.ridge import solve_rls
from mercer.optim.spectral import label_energy, solve_closed_form
from mercer.spectrum.base import Basis

# Section 5.3 for C, section 5.2 for mu.
C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
MU_GRID = (1e-6, 1e-4, 1e-2, 1e-1, 1.0, 1e1, 1e2)


@dataclass(frozen=True, slots=True)
class ClosedFormCertificate(Shown):
    """How the closed form knows that it is right.

    Parameters
    ----------
    objective : float
        Value of Problem (7), but for what lies outside the basis.
    kkt_residual : float
        How far the optimality conditions of (8) are from holding; 0 is optimal.
    alignment : float
        Agreement of kernel and labels, tr(Lambda A) / (|Lambda| |YY'|).
    n_clipped : int
        Directions whose weight is cut at zero.
    """

    objective: float
    kkt_residual: float
    alignment: float
    n_clipped: int


class ClosedFormKernel(LabelLearner):
    r"""Spectral kernel that balances the loss of RLS and smoothness on a graph.

    .. math::

        \min_{\lambda \ge 0} \frac12 \operatorname{tr} Y^\top
        \Bigl(K + \frac1C I\Bigr)^{-1} Y + \mu \operatorname{tr}(K L^p),
        \qquad K = U \operatorname{diag}(\lambda) U^\top,

    has the solution
    :math:`\lambda_i = [\sqrt{A_{ii} / (2\mu(\gamma_i^p + \epsilon))} - 1/C]_+`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, > 0. Give ``RLSClassifier`` the same.
    mu : float, default=1.0
        Weight of the smoothness, > 0.
    basis : GraphBasis, AnchorBasis or None, default=None
        As in `ParameterFreeKernel`.
    power, eps : float, default=2 and 1e-6
        As in `ParameterFreeKernel`.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
        Not rescaled: its size belongs to C.
    weights_ : ndarray of shape (r,)
    basis_ : fitted basis
    certificate_ : ClosedFormCertificate

    See Also
    --------
    ClosedFormKernelCV : Chooses its parameters by cross-validation.
    ParameterFreeKernel : The same without parameters.
    DecayingKernel : Weights that fall along the spectrum.

    Notes
    -----
    Mao and Tsang (2010), Proposition 2 and Algorithm 2. One-hot targets, for two
    classes too, and :math:`A_{ii}` averaged over repeated eigenvalues, as in
    `ParameterFreeKernel`, whose decision is the limit mu -> 0.

    References
    ----------
    Qi Mao and Ivor W. Tsang. "Parameter-Free Spectral Kernel Learning", UAI 2010.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.3], [0.4], [2.0], [2.1], [2.2], [2.4]])
    >>> y = np.array([0, -1, -1, -1, 1, -1, -1, -1])
    >>> learner = ClosedFormKernel(C=100.0, mu=0.01).fit(X, y)
    >>> learner.certificate_.kkt_residual < 1e-12
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        mu: float = 1.0,
        *,
        basis: Basis | None = None,
        power: float = 2.0,
        eps: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.C = C
        self.mu = mu
        self.basis = basis
        self.power = power
        self.eps = eps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_penalty(self.power, self.eps)
        for name in ("C", "mu"):
            check_number(getattr(self, name), name, above=0)

    def _learn(self, labels: Labels) -> None:
        self._solve(labels, float(self.C), float(self.mu))

    def _solve(self, labels: Labels, C: float, mu: float) -> None:
        name = type(self).__name__
        A, B, _ = energy_and_penalty(self.basis_, labels, self.power, self.eps, name)
        check_energy(A, name)
        spectrum = solve_closed_form(A, B, C=C, mu=mu)
        if not spectrum.weights.any():
            msg = (
                f"C={C:g} and mu={mu:g} cut every weight at zero and leave no kernel; "
                "raise C or lower mu."
            )
            raise ValueError(msg)
        self.weights_ = spectrum.weights
        self.certificate_ = ClosedFormCertificate(
            objective=spectrum.objective,
            kkt_residual=spectrum.kkt_residual,
            alignment=spectral_alignment(spectrum.weights, A, labels),
            n_clipped=int(np.sum(spectrum.weights == 0)),
        )


class ClosedFormKernelCV(ClosedFormKernel):
    """`ClosedFormKernel` with C and mu chosen by inverted cross-validation.

    Each fold in turn is all that is labelled; the kernel and the regularised least
    squares classifier learned from it are scored on the other folds. The pair with
    the best mean accuracy is refitted on all labels.

    Parameters
    ----------
    Cs, mus : sequence of float
        The grids of the paper, 7 x 7, by default.
    cv : int, default=5
        Every fold holds every class; if one has fewer labels than folds, its labels
        are in several.
    basis, power, eps, random_state
        As in `ClosedFormKernel`.

    Attributes
    ----------
    C_, mu_ : float
        The chosen pair.
    scores_ : ndarray of shape (n_Cs, n_mus)
        Mean accuracy; NaN where every weight is cut at zero in some fold.
    kernel_, weights_, basis_, certificate_
        As in `ClosedFormKernel`.

    See Also
    --------
    ClosedFormKernel : The same with given parameters.
    LapRLSCV : Cross-validation of a machine.

    Notes
    -----
    Mao and Tsang (2010), sections 5.2 to 5.4. All folds and cells share one basis.
    The paper does not say how it breaks ties, which are common with few labels: here
    the smallest C wins, and among its cells the largest mu, the smoothest kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(150) % 10 == 0, y, -1)
    >>> learner = ClosedFormKernelCV(random_state=0).fit(X, few)
    >>> learner.scores_.shape
    (7, 7)
    """

    def __init__(
        self,
        Cs: Sequence[float] = C_GRID,
        mus: Sequence[float] = MU_GRID,
        *,
        cv: int = 5,
        basis: Basis | None = None,
        power: float = 2.0,
        eps: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.Cs = Cs
        self.mus = mus
        self.cv = cv
        self.basis = basis
        self.power = power
        self.eps = eps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_penalty(self.power, self.eps)
        check_scalar(self.cv, "cv", Integral, min_val=2)
        for name in ("Cs", "mus"):
            check_several(getattr(self, name), name, above=0)

    def _learn(self, labels: Labels) -> None:
        given_Cs, given_mus = list(self.Cs), list(self.mus)
        Cs, mus = np.sort(given_Cs), np.sort(given_mus)[::-1]
        scores = self._scores(labels, Cs, mus)
        if np.isnan(scores).all():
            msg = "no pair of C and mu leaves a kernel; add larger Cs or smaller mus."
            raise ValueError(msg)
        # The first of equals: Cs ascend, mus descend.
        best = np.unravel_index(int(np.nanargmax(scores)), scores.shape)
        self.C_, self.mu_ = float(Cs[best[0]]), float(mus[best[1]])
        rows = np.searchsorted(Cs, given_Cs)
        columns = len(mus) - 1 - np.searchsorted(mus[::-1], given_mus)
        self.scores_ = scores[np.ix_(rows, columns)]
        self._solve(labels, self.C_, self.mu_)

    def _scores(self, labels: Labels, Cs: FloatArray, mus: FloatArray) -> FloatArray:
        U, Y = self.basis_.vectors_[labels.labeled], labels.one_hot()
        codes = labels.codes[labels.labeled]
        _, B, spaces = energy_and_penalty(
            self.basis_, labels, self.power, self.eps, type(self).__name__
        )
        folds = [f for f in inverted_folds(codes, self.cv) if len(f[1])]
        if not folds:
            msg = (
                "every class has one label, which leaves nothing to validate on; "
                "label more points or use ParameterFreeKernel."
            )
            raise ValueError(msg)
        scores = np.empty((len(folds), len(Cs), len(mus)))
        for k, (train, test) in enumerate(folds):
            A = label_energy(U[train], Y[train], spaces)
            for i, C in enumerate(Cs):
                for j, mu in enumerate(mus):
                    weights = solve_closed_form(A, B, C=C, mu=mu).weights
                    kept = weights > 0
                    Phi = U[:, kept] * np.sqrt(weights[kept])
                    scores[k, i, j] = _accuracy(Phi, Y, train, test, C)
        mean: FloatArray = scores.mean(axis=0)
        return mean


def _accuracy(Phi: FloatArray, Y: FloatArray, train: Any, test: Any, C: float) -> float:
    """Accuracy of regularised least squares, NaN where there is no feature."""
    if Phi.shape[1] == 0:
        return np.nan
    F = Phi[test] @ solve_rls(Phi[train], Y[train], C=C).coef
    return float(np.mean(F.argmax(axis=1) == Y[test].argmax(axis=1)))
