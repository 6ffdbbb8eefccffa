"""Combining kernels without labels, by the influence of the points."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.checks import check_number, checked_points
from mercer._base.html import Shown
from mercer._base.mixins import TakesSparse
from mercer._base.typing import ArrayLike, FloatArray, SparseArray
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.graphs.points import refuse_equal_points, refuse_graph
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Weighted
from mercer.kernels.normalized import Normalized
from mercer.kernels.parametric import RBF, Polynomial
from mercer.kernels.spec import KernelOrMatrix
from mercer.kernels.stack import gram_stack, resolve_kernels
from mercer.learners._influence import Similarity, influence_of_points
from mercer.learners.base import KernelFeatures
from mercer.optim.affine_psd import AffineCombination, solve_affine_psd
from mercer.optim.influence import (
    InfluenceCosts,
    influence_costs,
    solve_fractional_affine,
)
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.kernel import SpectralKernel

_CONSTANT = 0.05  # mean of 1 - cosine over pairs of points


@dataclass(frozen=True, slots=True)
class InfluenceCertificate(Shown):
    """How the combination knows that it is right, and what it was up against.

    Parameters
    ----------
    objective : float
        Cost of the chosen weights.
    lower_bound : float
        No allowed combination costs less.
    gap : float
        Distance of the two, relative to the objective; 0 is optimal.
    smallest_eigenvalue : float
        Of the combined matrix over the training points; negative only by
        rounding.
    average_objective : float
        Cost of the plain average of the kernels.
    spread : float
        Mean of 1 - cosine over pairs of points; near 0 the kernel is nearly
        constant.
    influence_effect : float
        Largest relative change of a kernel's cost that influence makes.
    """

    objective: float
    lower_bound: float
    gap: float
    smallest_eigenvalue: float
    average_objective: float
    spread: float
    influence_effect: float


class InfluenceKernel(TakesSparse, KernelFeatures):
    r"""A combination of kernels, chosen without labels.

    .. math::
        \min_\alpha s^\top\alpha, \quad 1^\top\alpha = 1, \qquad
        s_\ell = \sum_{ij} (1 - u_j)\, \|\phi_\ell(x_i) - \phi_\ell(x_j)\|^2

    with :math:`\alpha \ge 0` (convex) or :math:`\sum_\ell\alpha_\ell K_\ell \succeq 0`
    (affine). The weight :math:`1 - u_j` is the influence of a point: u is the
    stationary distribution of the walk whose transition weights are distances. With a
    similarity of your own the influence is u itself.

    Parameters
    ----------
    kernels : sequence, default=None
        Each a Kernel, a name, a function of two sets of points, a pair
        ``(kernel, columns)`` for a block of columns, or a matrix over the rows of X
        (which has no value at new points). None stands for polynomials of degree 1
        and 2, whose constant keeps points at the origin from vanishing, and a
        Gaussian whose :math:`2\sigma^2` is the mean squared distance. All are brought
        to unit diagonal (Eq. 19).
    combination : {"convex", "affine"}, default="convex"
        Convex: Eq. 32. Affine: Eq. 31, weights of any sign.
    objective : {"linear", "fractional"}, default="linear"
        "linear" is the printed one. "fractional" is Eq. 26 itself,
        :math:`s^\top\alpha / t^\top\alpha` with t the unweighted sums; the step from
        (26) to (29) drops t, although it depends on the weights.
    similarity : Kernel, str, callable, array, sparse array or Graph, optional
        What joins the points in place of Euclidean distances: a kernel, or a symmetric
        matrix or graph over the rows of X; at least 0 everywhere, and it need not be
        positive semi-definite. A point has the more influence the more it is joined.
    diffusion_time : int, optional
        Measure distances by walks of this many steps on the similarity (Eq. 7), and
        influence by :math:`1 - u` from these. Without a similarity the walk is on the
        Gaussian kernel.
    tol : float, default=1e-6
        Largest gap of the affine combination, relative to its objective.

    Attributes
    ----------
    kernel_ : SpectralKernel
        The combined kernel in the space of the training points: equal to the
        combination between training points, and positive semi-definite everywhere,
        also for weights of both signs. Between a new point and a training point it is
        the combination for weights of one sign; for weights of both signs only what
        the combined matrix of the training points spans of it, which is all of it
        where that matrix is regular.
    weights_ : ndarray of shape (n_kernels,)
        Of sum 1.
    kernels_ : list of Kernel
        The normalised base kernels.
    average_kernel_ : Weighted
        Their plain average: the bar to beat.
    influence_ : ndarray of shape (n,)
        :math:`1 - u`; u with a similarity alone.
    costs_ : ndarray of shape (n_kernels,)
        s.
    certificate_ : InfluenceCertificate

    See Also
    --------
    AverageKernel : Equal weights, a strong baseline.
    CenteredAlignmentKernel : Weights from labels.

    Notes
    -----
    Abbasnejad, Ramachandram and Mandava (2010). Distances are plain in the input space
    and squared in the feature spaces, as (28) has it. Eq. 32 needs no linear program:
    its optimum is the kernel of smallest s, or the mean of those that tie. Since s
    measures how far apart points lie, the linear objective favours kernels that put
    all points together; a warning tells when the chosen combination is nearly
    constant. In practice the influence changes s very little
    (`certificate_.influence_effect`), so that s mostly compares the mean cosines of
    the kernels.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.2, 0.1], [0.0, 1.0], [0.1, 1.3]])
    >>> learner = InfluenceKernel(["linear", "rbf"], combination="affine").fit(X)
    >>> learner.weights_.round(3)
    array([-1.086,  2.086])
    >>> learner.transform(X).shape
    (4, 3)
    """

    def __init__(
        self,
        kernels: Sequence[KernelOrMatrix] | None = None,
        *,
        combination: Literal["convex", "affine"] = "convex",
        objective: Literal["linear", "fractional"] = "linear",
        similarity: Similarity | None = None,
        diffusion_time: int | None = None,
        tol: float = 1e-6,
    ) -> None:
        self.kernels = kernels
        self.combination = combination
        self.objective = objective
        self.similarity = similarity
        self.diffusion_time = diffusion_time
        self.tol = tol

    def fit(self, X: ArrayLike | SparseArray, y: object = None) -> Self:
        """Measure influence and choose the weights.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
        y : ignored
        """
        self._check_parameters()
        refuse_graph(X, "InfluenceKernel", "learn from the graph by FilterKernel")
        original = X
        X = checked_points(X, self, at_least=2)
        refuse_equal_points(X, "InfluenceKernel")
        given = self.kernels
        if given is None:
            given = [Polynomial(degree=1), Polynomial(2), RBF(gamma="mean_distance")]
        names = getattr(self, "feature_names_in_", None)
        base = resolve_kernels(given, X, names=names)
        for j, kernel in enumerate(base):
            _check_diagonal(kernel, X, j)
        self.kernels_ = [Normalized(kernel) for kernel in base]
        K = gram_stack(self.kernels_, X)
        self.influence_ = influence_of_points(
            X, self.similarity, self.diffusion_time, names=names
        )
        costs = influence_costs(K, self.influence_)
        self.costs_ = costs.weighted
        solution = self._solve(K, costs)
        self.weights_ = solution.weights
        self.certificate_ = self._certificate(solution, costs, K)
        even = np.full(len(base), 1 / len(base))
        self.average_kernel_ = Weighted(self.kernels_, even)
        combined = Weighted(self.kernels_, self.weights_)
        self.basis_ = GramBasis(n_components=None, kernel=combined).fit(original)
        self.kernel_ = SpectralKernel(self.basis_, self.basis_.values_)
        return self

    def _solve(self, K: FloatArray, costs: InfluenceCosts) -> AffineCombination:
        s, t = costs.weighted, costs.total
        if self.combination == "affine" and len(K) > 1:
            if self.objective == "linear":
                return solve_affine_psd(K, s, tol=self.tol)
            return solve_fractional_affine(K, s, t, tol=self.tol)
        if self.objective == "fractional":
            s = np.divide(s, t, out=np.full_like(s, np.inf), where=t > 0)
        best = s <= s.min() + 1e-12 * np.abs(s[np.isfinite(s)]).max(initial=0.0)
        weights = best / best.sum()
        lowest = np.linalg.eigvalsh(np.tensordot(weights, K, axes=1))[0]
        value = float(s.min())
        return AffineCombination(weights, value, value, 0.0, float(lowest), 0, 0, 0)

    def _certificate(
        self, solution: AffineCombination, costs: InfluenceCosts, K: FloatArray
    ) -> InfluenceCertificate:
        n = K.shape[1]
        average = float(costs.weighted.mean())
        if self.objective == "fractional":
            average /= float(costs.total.mean())
        spread = float(costs.total @ solution.weights) / (2 * n * (n - 1))
        if spread < _CONSTANT:
            msg = (
                f"the chosen combination is nearly constant: the mean cosine between "
                f"points is {1 - spread:.3f}. The objective favours kernels that put "
                "all points together; leave such kernels out, or compare with "
                "average_kernel_."
            )
            warnings.warn(msg, NearlyConstantKernelWarning, stacklevel=3)
        return InfluenceCertificate(
            solution.objective,
            solution.lower_bound,
            solution.gap,
            solution.smallest_eigenvalue,
            average,
            spread,
            costs.effect,
        )

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("combination", ("convex", "affine")),
            ("objective", ("linear", "fractional")),
        ):
            if getattr(self, name) not in allowed:
                msg = f"{name} must be one of {allowed}, got {getattr(self, name)!r}."
                raise ValueError(msg)
        check_number(self.tol, "tol", above=0)
        if self.diffusion_time is not None:
            check_scalar(self.diffusion_time, "diffusion_time", Integral, min_val=1)


def _check_diagonal(kernel: Kernel, X: Any, j: int) -> None:
    diagonal = kernel.diag(X)
    zero = np.flatnonzero(diagonal == 0)
    if len(zero):
        msg = (
            f"kernels[{j}] = {kernel!r} has k(x, x) = 0 at {len(zero)} points, first "
            f"at row {zero[0]}, and cannot be normalised there. Leave out these "
            "points, or take a kernel that is positive there."
        )
        raise ValueError(msg)
