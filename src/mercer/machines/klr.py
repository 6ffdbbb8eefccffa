"""Kernel logistic regression."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.utils import check_scalar
from sklearn.utils.class_weight import compute_sample_weight

from mercer._base.checks import check_choice, check_number
from mercer._base.proba import probabilities
from mercer._base.typing import ClassShares, FloatArray
from mercer.evidence.labels import Labels
from mercer.kernels.spec import KernelLike
from mercer.machines.base import KernelMachine, Solution
from mercer.optim.newton import KLR, solve_klr


class KernelLogisticRegression(KernelMachine):
    r"""Logistic regression in the space of a kernel, on the labelled points.

    .. math:: \min_{f, b} \tfrac12\|f\|^2 + C \sum_i s_i \ln(1 + e^{-y_i (f(x_i) + b)}),
        \qquad f(x) = \sum_i \alpha_i k(x, x_i),

    and the multinomial loss for three or more classes.

    Parameters
    ----------
    kernel : Kernel, learner, str, callable or "precomputed", default="rbf"
        A learner is cloned and fitted on all points first.
    C : float, default=1.0
        Weight of the loss; :math:`1/(l\lambda)` in the letters of the paper, with l
        labelled points.
    fit_intercept : bool, default=True
        Whether b is free; it is not penalised.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        One model of all classes, or each class against the rest with the
        probabilities scaled to sum 1, as in the paper.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    tol : float, default=1e-10
        Bound on the gradient, relative to the largest one possible.
    max_iter : int, default=100
        Bound on the Newton steps.
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
        Shares of the classes in the weights of the labelled points.
    labeled_ : ndarray of shape (n_labeled,)
        Rows of the labelled points.
    kernel_ : kernel
        As resolved or learned on the training points; None if precomputed.
    learner_ : learner
        Fitted, where `kernel` is one.
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        :math:`\alpha`; one column for two classes, else one for each class.
    intercept_ : ndarray of shape (n_columns,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : KLR or tuple of KLR
        The optimum with its residual; one per class for ``multi_class="ovr"``.
    n_iter_ : int
        Newton steps taken, the largest number for ``multi_class="ovr"``.

    See Also
    --------
    RLSClassifier : Least squares in place of the logistic loss.
    KernelSVC : The hinge loss.
    LeaveOneOutRLS : Chooses its ridge itself.

    Notes
    -----
    Hoi, Lyu and Chang (2006), eq. 17 and 18; they leave b out. A point that no
    labelled point reaches has the shares of the classes as probabilities, and a
    warning tells how many there are.

    References
    ----------
    Hoi, Lyu and Chang, "Learning the unified kernel machines for classification",
    KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0], [0.3]])
    >>> machine = KernelLogisticRegression(C=10.0).fit(X, [0, 0, 1, 1, -1])
    >>> machine.predict_proba([[0.0], [0.5]]).round(2)
    array([[0.86, 0.14],
           [0.5 , 0.5 ]])
    """

    certificate_: KLR | tuple[KLR, ...]
    n_iter_: int

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        multi_class: str = "multinomial",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-10,
        max_iter: int = 100,
        class_sizes: ClassShares | None = None,
        unreached: ClassShares = "prior",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.class_sizes = class_sizes
        self.unreached = unreached

    def _proba_of(self, scores: FloatArray) -> FloatArray:
        if scores.shape[1] > 1 and self.multi_class == "ovr":
            shares: FloatArray = expit(scores)
            shares /= shares.sum(axis=1, keepdims=True)
            return shares
        return probabilities(scores)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.C, "C", Real, min_val=0, include_boundaries="neither")
        check_number(self.tol, "tol", above=0)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        if not np.isfinite(self.C):
            msg = "C must be finite: separable labels have no optimum at C=inf."
            raise ValueError(msg)
        check_choice(self.multi_class, "multi_class", ("multinomial", "ovr"))

    def _weights(self, labels: Labels) -> FloatArray:
        y = labels.classes[labels.codes[labels.labeled]]
        return np.asarray(compute_sample_weight(self.class_weight, y) * labels.weight())

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        targets = labels.one_hot()
        if targets.shape[1] == 2:
            targets = targets[:, 1:]
        if targets.shape[1] > 1 and self.multi_class == "ovr":
            fits = tuple(self._optimum(t[:, None], weights) for t in targets.T)
            self.certificate_ = fits
            self.n_iter_ = max(fit.n_iter for fit in fits)
            return Solution(
                np.hstack([fit.coef for fit in fits]),
                np.hstack([fit.dual_coef for fit in fits]),
                np.concatenate([fit.intercept for fit in fits]),
            )
        fit = self.certificate_ = self._optimum(targets, weights)
        self.n_iter_ = fit.n_iter
        return Solution(fit.coef, fit.dual_coef, fit.intercept)

    def _optimum(self, targets: FloatArray, weights: FloatArray) -> KLR:
        return solve_klr(
            self._map.labeled,
            targets,
            C=self.C,
            weights=weights,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _prior_scores(self) -> FloatArray:
        shares = np.clip(self._reach_shares, 1e-12, 1 - 1e-12)
        if len(shares) == 2:
            return np.asarray(logit(shares[1:]))
        if self.multi_class == "ovr":
            return np.asarray(logit(shares))
        return np.log(shares)
