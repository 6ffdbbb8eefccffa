"""Multiple kernel learning around a support vector machine."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.checks import check_number
from mercer._base.typing import ClassShares, FloatArray
from mercer.evidence.labels import Labels
from mercer.graphs.points import refuse_graph
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Weighted
from mercer.kernels.parametric import RBF, Polynomial
from mercer.kernels.spec import KernelOrMatrix
from mercer.kernels.stack import resolve_kernels
from mercer.machines._maps import GramMap, gram_map
from mercer.machines.base import KernelMachine, Solution
from mercer.machines.targets import signed_votes, summed
from mercer.optim.mkl import MKL, solve_mkl

BANDWIDTHS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)
DEGREES = (1, 2, 3)


def candidate_kernels() -> list[Kernel]:
    r"""Return ten Gaussian and three polynomial kernels.

    :math:`\exp(-\|x-z\|^2 / (2\sigma^2))` for the ten sigma and
    :math:`(x^\top z)^p` for p = 1, 2, 3 of Mao and Tsang (2010), section 5.3, who take
    them from Rakotomamonjy et al. (2008). With :math:`(x^\top z + 1)^p` their figures
    on texts do not come out.

    See Also
    --------
    SimpleMKL : Weighs them.
    AnnealedKernelMachine : Chooses one of them.

    Examples
    --------
    >>> len(candidate_kernels())
    13
    >>> candidate_kernels()[0]
    RBF(gamma=2.0)
    """
    gaussians: list[Kernel] = [RBF(gamma=1 / (2 * s**2)) for s in BANDWIDTHS]
    return gaussians + [Polynomial(degree=p, gamma=1.0, coef0=0.0) for p in DEGREES]


class SimpleMKL(KernelMachine):
    r"""A support vector machine and the weights of its kernels, learned together.

    .. math:: \min_{d \ge 0, \sum_m d_m = 1} \; \min_{f, b} \tfrac12\|f\|_{K(d)}^2
        + C\sum_i \max(0, 1 - y_i (f(x_i) + b)), \quad
        K(d) = \sum_m d_m K_m / s_m, \quad
        s_m = \operatorname{tr} K_m / l.

    Parameters
    ----------
    kernels : sequence, default=None
        What to combine, each a Kernel, a name, a function, a pair ``(kernel, columns)``
        or a matrix over the rows of X; None for `candidate_kernels()`.
    C : float, default=1.0
        Weight of the loss, for kernels with the mean diagonal 1.
    tol : float, default=1e-3
        Bound on the duality gap of the joint problem, relative to the objective.
    max_iter : int, default=500
        Bound on the descent directions.
    class_sizes : dict, array-like or str, optional
        Shares of the classes among all points, if known: ``{class: share}``, or in the
        order of `classes_`; or what is known of them (`LeaveOneOutRLS`). Offsets
        (`size_offset_`) are added to the decision so that it has these shares.
    unreached : "prior", dict or array-like, default="prior"
        What points get that no labelled point reaches: the shares of the classes among
        the labels, or shares of your own, of which some may be 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes among the labelled points.
    labeled_ : ndarray of shape (n_labeled,)
        Rows of the labelled points.
    weights_ : ndarray of shape (n_kernels,)
        d, on the simplex.
    kernel_ : Weighted
        The combination, with the mean diagonals divided out.
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        :math:`y_i \alpha_i`; one column for two classes, else one for each class.
    intercept_ : ndarray of shape (n_columns,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : MKL
        With the duality gap.
    n_iter_ : int
        Descent directions followed.

    See Also
    --------
    AnnealedKernelMachine : Chooses one kernel while it is trained.
    CenteredAlignmentKernel : Weights kernels before training.

    Notes
    -----
    Rakotomamonjy, Bach, Canu and Grandvalet (2008), Algorithm 1. Three or more
    classes are handled one-vs-rest, with one set of weights for the sum of the
    objectives (their section 4.5). The diagonals are those over the l labelled points,
    as the machine is a supervised one: unlabelled points are only predicted. The paper
    has kernels of unit trace, where a C l times as large does the same: C = 100 there,
    with a hundred labels, is 1 here, and C = 1 there would be a constant.

    References
    ----------
    Rakotomamonjy, Bach, Canu and Grandvalet, "SimpleMKL", JMLR 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.4], [2.0], [2.4], [0.1]])
    >>> machine = SimpleMKL(["linear", "rbf"]).fit(X, [0, 0, 1, 1, -1])
    >>> machine.transduction_
    array([0, 0, 1, 1, 0])
    """

    kernel = None
    weights_: FloatArray
    certificate_: MKL
    n_iter_: int

    def __init__(
        self,
        kernels: Sequence[KernelOrMatrix] | None = None,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 500,
        class_sizes: ClassShares | None = None,
        unreached: ClassShares = "prior",
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.class_sizes = class_sizes
        self.unreached = unreached

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("C", "tol"):
            check_number(getattr(self, name), name, above=0)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        if self.kernels is not None and len(self.kernels) == 0:
            msg = "kernels is empty; give at least one, or None for the paper's 13."
            raise ValueError(msg)

    def _make_map(self, X: Any, labels: Labels) -> tuple[GramMap, FloatArray | None]:
        refuse_graph(X, "SimpleMKL", "RLSClassifier(FilterKernel())")
        specs = candidate_kernels() if self.kernels is None else self.kernels
        names = getattr(self, "feature_names_in_", None)
        kernels = resolve_kernels(specs, X, names=names)
        points = X[labels.labeled]
        grams = np.stack([kernel(points) for kernel in kernels])
        weights = labels.weight()
        diagonals = np.einsum("mii->mi", grams)
        scales = diagonals @ weights / weights.sum()
        if (scales <= 0).any():
            worst = int(scales.argmin())
            msg = (
                f"kernels[{worst}] = {kernels[worst]!r} has the mean diagonal "
                f"{scales[worst]:.3g} over the labelled points; it must be above 0. "
                "Leave it out, or scale X."
            )
            raise ValueError(msg)
        at, signs, votes = signed_votes(labels)
        fit = solve_mkl(
            grams[:, at][:, :, at] / scales[:, None, None],
            signs,
            C=self.C * votes,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        fit = replace(fit, dual_coef=summed(fit.dual_coef, at, len(weights)))
        self.certificate_ = fit
        self.weights_ = fit.weights
        self.n_iter_ = fit.n_iter
        used = np.flatnonzero(fit.weights)
        kernel = Weighted([kernels[m] for m in used], fit.weights[used] / scales[used])
        return gram_map(kernel, X, labels.labeled), None

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        fit = self.certificate_
        coef = self._map.labeled.T @ fit.dual_coef
        return Solution(coef, fit.dual_coef, fit.intercept)
