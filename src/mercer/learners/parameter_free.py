"""The kernel with nothing to tune of Mao and Tsang (SKL_KTA)."""

from dataclasses import dataclass

import numpy as np

from mercer._base.checks import check_number
from mercer._base.html import Shown
from mercer._base.typing import FloatArray, IntArray, RandomState
from mercer.evidence.labels import Labels
from mercer.learners.base import (
    LabelLearner,
    check_laplacian_values,
    unit_mean_diagonal,
)
from mercer.optim.spectral import eigenspaces, label_energy, solve_parameter_free
from mercer.spectrum.base import Basis


@dataclass(frozen=True, slots=True)
class ParameterFreeCertificate(Shown):
    """What the paper computes on the way; no prediction depends on it.

    Parameters
    ----------
    alignment : float
        Agreement of kernel and labels, tr(Lambda A) / (|Lambda| |YY'|), below
        eq. (8).
    mu : float
        The smoothness weight mu* of eq. (10) for C = 1.
    mu_is_maximizer : bool
        Whether the root that eq. (10) squares is positive, so that mu* is a
        maximum.
    C : float
        The weight of the loss that mu* was computed for.
    n_eigenspaces : int
        Different eigenvalues; fewer than directions where eigenvalues repeat.
    """

    alignment: float
    mu: float
    mu_is_maximizer: bool
    C: float
    n_eigenspaces: int


class ParameterFreeKernel(LabelLearner):
    r"""Spectral kernel in closed form from labels and a graph, nothing to tune.

    .. math::

        K = U \operatorname{diag}(\lambda) U^\top, \qquad
        \lambda_i \propto \sqrt{\frac{A_{ii}}{\gamma_i^p + \epsilon}}, \qquad
        A_{ii} = \sum_c (u_i^\top y_c)^2,

    with the eigenpairs :math:`(\gamma_i, u_i)` of a graph Laplacian and targets
    :math:`y_c` that are 1 on the labelled points of class c and 0 elsewhere.

    Parameters
    ----------
    basis : GraphBasis, AnchorBasis or None, default=None
        None is the normalised Laplacian of the 10 nearest neighbours with ten
        directions per label (100 to 500; a fifth of the labels beyond 250 labels).
        ``GraphBasis(n_components=None)`` has all of them, as in the paper.
    power : float, default=2
        p: the penalty is :math:`L^p`. 2 for manifolds, 5 for text and blobs in the
        paper.
    eps : float, default=1e-6
        Keeps the weight of the null vectors finite. It matters below some 20 labels.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
        Scaled so that k(x, x) is 1 on average over the training points.
    weights_ : ndarray of shape (r,)
    basis_ : fitted basis
    certificate_ : ParameterFreeCertificate

    See Also
    --------
    ClosedFormKernel : With a trade-off to choose.
    AutoKernel : The default for few labels.
    OrderedKernel : Weights in the order of the spectrum.

    Notes
    -----
    Mao and Tsang (2010), Propositions 2 to 4 and Algorithm 1. Departures:

    - In the decision :math:`(\bar K - I)_{ul} \bar K_{ll}^{-1} y_l` the identity has
      no entry in row u and column l, and the scale of :math:`\bar K` cancels.
      ``RLSClassifier(kernel=ParameterFreeKernel(), C=inf)`` is that decision; mu and
      C, which change no prediction, are in `certificate_`.
    - As printed, the weights of a repeated eigenvalue, such as 0 on a graph in
      several parts, depend on the arbitrary basis of its eigenspace. Here
      :math:`A_{ii}` is averaged over each eigenspace. This is the optimum of the
      paper's Problem (7) over the kernels that are functions of L, and it gives the
      printed accuracies on the disconnected COIL graphs. The last eigenspace must not
      be cut (`basis_.certificate_.cuts_repeated_value`) for this to hold.
    - With about as many directions as labels :math:`\bar K_{ll}` is nearly singular
      and the interpolating decision unstable. A finite C of 10 to 100 removes this.

    References
    ----------
    Qi Mao and Ivor W. Tsang. "Parameter-Free Spectral Kernel Learning", UAI 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> known = np.arange(0, 150, 15)  # ten labels
    >>> few = np.full(150, -1)
    >>> few[known] = y[known]
    >>> Phi = ParameterFreeKernel().fit_transform(X, few)
    >>> LinearSVC().fit(Phi[known], y[known]).score(Phi, y) > 0.9
    True
    """

    def __init__(
        self,
        basis: Basis | None = None,
        *,
        power: float = 2.0,
        eps: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.basis = basis
        self.power = power
        self.eps = eps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_penalty(self.power, self.eps)

    def _learn(self, labels: Labels) -> None:
        name = type(self).__name__
        A, B, spaces = energy_and_penalty(
            self.basis_, labels, self.power, self.eps, name
        )
        check_energy(A, name)
        spectrum = solve_parameter_free(A, B)
        self.weights_ = unit_mean_diagonal(spectrum.weights, self.basis_.vectors_)
        self.certificate_ = ParameterFreeCertificate(
            alignment=spectral_alignment(spectrum.weights, A, labels),
            mu=spectrum.root_mu**2,
            mu_is_maximizer=spectrum.root_mu > 0,
            C=1.0,
            n_eigenspaces=int(spaces[-1]) + 1,
        )


def check_penalty(power: float, eps: float) -> None:
    """Raise unless power and eps are positive numbers."""
    check_number(power, "power", above=0)
    check_number(eps, "eps", above=0)


def energy_and_penalty(
    basis: Basis, labels: Labels, power: float, eps: float, who: str
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return A and B of Proposition 2, and the eigenspaces, for a fitted basis."""
    check_laplacian_values(basis.values_, who)
    spaces = eigenspaces(basis.values_)
    A = label_energy(basis.vectors_[labels.labeled], labels.one_hot(), spaces)
    B = np.maximum(basis.values_, 0.0) ** power + eps
    return A, B, spaces


def check_energy(A: FloatArray, who: str) -> None:
    """Raise if the basis vanishes on all labelled points."""
    if not A.any():
        msg = (
            f"{who}: every direction of the basis is zero at the labelled points "
            "(their parts of the graph are not among them); take more directions "
            "(n_components) or label other points."
        )
        raise ValueError(msg)


def spectral_alignment(weights: FloatArray, A: FloatArray, labels: Labels) -> float:
    """Return the alignment of K with YY', both over all points, Y = 0 if unknown."""
    Y = labels.one_hot()
    norms = np.linalg.norm(weights) * np.linalg.norm(Y.T @ Y)
    return float(weights @ A / norms)
