"""Regularised least squares."""

from numbers import Real

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.typing import ClassShares, FloatArray
from mercer.evidence.labels import Labels
from mercer.kernels.spec import KernelLike
from mercer.machines.base import KernelMachine, Solution
from mercer.machines.targets import targets_of
from mercer.optim.ridge import RLS, solve_rls


class RLSClassifier(KernelMachine):
    r"""Regularised least squares on the labelled points.

    .. math:: \min_w \tfrac12\|w\|^2 + \tfrac C2 \sum_i (y_i - w^\top\phi(x_i))^2,
        \qquad f(x) = \sum_i \alpha_i k(x, x_i), \quad
        \alpha = (K + I/C)^{-1} y.

    Parameters
    ----------
    kernel : Kernel, learner, str, callable or "precomputed", default="rbf"
        A learner is cloned and fitted on all points first.
    C : float, default=1.0
        Weight of the loss. ``inf`` interpolates the labels, with the pseudo-inverse
        of K where it is singular.
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
    kernel_ : kernel
        As resolved or learned on the training points; None if precomputed.
    learner_ : learner
        Fitted, where `kernel` is one.
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        :math:`\alpha`; one column for two classes, else one for each class.
    intercept_ : ndarray of shape (n_columns,)
        Zero.
    loo_residuals_ : ndarray of shape (n_labeled, n_columns)
        :math:`y_i - f_{-i}(x_i)`, exact, of the machine trained without point i,
        whatever its weight, on the same kernel.
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : RLS
        Its `residual` is that of the normal equations.

    See Also
    --------
    LeaveOneOutRLS : Chooses its ridge itself.
    LapRLS : Uses unlabelled points as well.

    Notes
    -----
    Mao and Tsang (2010), eq. 1 to 3. Two classes are coded +1 and -1 and more
    classes by 0/1 columns. With the 0/1 columns of the paper for two classes the
    decision would be the same, the difference of the columns. A point that no
    labelled point reaches has the shares of the classes in place of f, and a warning
    tells how many there are.

    References
    ----------
    Mao and Tsang, "Parameter-free spectral kernel learning", UAI 2010.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> machine = RLSClassifier().fit(X, ["low", None, "high", None])
    >>> machine.transduction_
    array(['low', 'low', 'high', 'high'], dtype='<U4')
    """

    loo_residuals_: FloatArray
    certificate_: RLS

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        C: float = 1.0,
        class_sizes: ClassShares | None = None,
        unreached: ClassShares = "prior",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_sizes = class_sizes
        self.unreached = unreached

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.C, "C", Real, min_val=0, include_boundaries="neither")

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        root = np.sqrt(weights)[:, None]
        fit = solve_rls(root * self._map.labeled, root * targets_of(labels), C=self.C)
        self.certificate_ = fit
        self.loo_residuals_ = fit.loo_residuals / root
        return Solution(fit.coef, root * fit.dual_coef, np.zeros(fit.coef.shape[1]))
