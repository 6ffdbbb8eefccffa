"""Semi-supervised machines that choose their kernel while labels anneal."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_choice, check_number, checked_points
from mercer._base.mixins import TakesSparse
from mercer._base.proba import codes_of, lead, probabilities
from mercer._base.ranges import all_equal
from mercer._base.typing import (
    ArrayLike,
    BoolArray,
    ClassShares,
    FloatArray,
    IntArray,
    SparseArray,
)
from mercer.evidence.labels import Labels
from mercer.evidence.reading import UNLABELED
from mercer.evidence.row_names import warn_if_reordered
from mercer.evidence.score import LabeledScoreMixin
from mercer.graphs.points import refuse_graph
from mercer.kernels.composite import Scaled, Weighted
from mercer.kernels.sets import gaussian_set
from mercer.kernels.spec import KernelOrMatrix
from mercer.kernels.stack import gram_stack, resolve_kernels
from mercer.machines._annealed_parts import (
    AnnealedCertificate,
    FeatureView,
    MatrixView,
    class_shares,
    middle_threshold,
    warn_of_unreached,
)
from mercer.machines._sizes import known_shares
from mercer.optim.annealing import START, Annealed, soft_targets, solve_annealed
from mercer.optim.convex_losses import LOSSES, STEEPNESS, Loss, difference
from mercer.optim.kernel_weights import solve_kernel_weights


class AnnealedKernelMachine(TakesSparse, LabeledScoreMixin, BaseEstimator):
    r"""Kernel machine on labelled and unlabelled points that selects its kernel.

    .. math::
        \min_{\lambda \in \Delta} \min_{f, \hat y_u}
        \sum_{i \in L} (y_i - f(x_i))^2
        + \beta \sum_{i \in U} (\hat y_i - f(x_i))^2
        + \gamma \|f\|^2, \qquad k = \sum_j \lambda_j k_j,

    with given shares of the classes among the unknown labels, by deterministic
    annealing.

    Parameters
    ----------
    kernels : sequence, default=None
        Kernels to combine: each a Kernel, a name, a function of two sets of points, a
        pair ``(kernel, columns)``, or a matrix over the rows of X. None stands for
        the 20 Gaussians of `mercer.kernels.sets.gaussian_set`.
    gamma : float, default=0.1
        Weight of the norm.
    beta : float, default=0.1
        Weight of the unlabelled loss. With 0 the unlabelled points are left out:
        kernel selection for supervised learning (KS-SL).
    loss : {"squared", "logistic", "hinge"}, default="squared"
        What takes the place of the squares. The other two solve many small problems
        in place of one linear system and are slower.
    class_ratio : float or array-like of shape (n_classes,), default=None
        Share of ``classes_[1]``, or of each class, among the unlabelled points. By
        default that among the labelled ones, which is worth a thought: 0.4 in place
        of 0.5 may cost several percent.
    trace_normalized : bool, default=False
        Divide every kernel by its mean diagonal first. Without it kernels of a larger
        scale are preferred (see `scales_`).
    final_temperature : float, default=1e-7
        Where annealing ends; it starts at 10, and each temperature is that before
        divided by 1.4.
    tol : float, default=1e-7
        Ends the rounds at a temperature, and bounds the gap of the weights.
    unreached : "prior", dict or array-like, default="prior"
        What points get that no labelled point reaches: the class ratio, or shares of
        your own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_kernels,)
        On the simplex; most are zero.
    kernel_ : Weighted
        The selected combination of `kernels_`.
    scales_ : ndarray of shape (n_kernels,)
        Mean diagonals of the kernels before any normalisation.
    class_ratio_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n,)
        Given labels, and those found for the unlabelled points.
    threshold_ : ndarray of shape (1,) or (n_classes,)
        Decision value that parts the classes; zero without annealing.
    annealing_ : Annealed or None
        Soft labels, objectives at every temperature; None if there was nothing to
        anneal.
    certificate_ : AnnealedCertificate

    See Also
    --------
    GraphAnnealedKernelMachine : With a graph of all points.
    SimpleMKL : Weights kernels for an SVM.
    mercer.machines.candidate_kernels : Kernels to choose from.

    Notes
    -----
    Dai and Yeung (2007): KS-SSKM on Gaussians, GLKS-SSKM on graph Laplacian kernels
    (`GraphAnnealedKernelMachine`); the baselines KS-SL and GLKS-SSL have ``beta=0``,
    which with squares is multiple-kernel regularised least squares (Mao and Tsang
    2010, eq. 4). Squared loss in their experiments, any convex one in their theory; no
    bias. Readings of the print: the saddle function needs 1/(4 gamma); line 13 of
    Algorithm 1 is a maximum of minima (see `solve_kernel_weights`). A new point is
    compared with the threshold that gives the unlabelled points their shares, not with
    zero. More than two classes: one output for each class on one kernel. Points that
    no labelled point reaches get the class ratio, and a warning.

    References
    ----------
    Dai and Yeung, "Kernel selection for semi-supervised kernel machines", ICML 2007.

    Examples
    --------
    >>> X = np.array([[0.0], [0.4], [0.9], [5.0], [5.5], [6.1]])
    >>> machine = AnnealedKernelMachine().fit(X, [0, -1, -1, -1, -1, 1])
    >>> machine.transduction_
    array([0, 0, 0, 1, 1, 1])
    >>> machine.predict([[1.0], [4.8]])
    array([0, 1])
    """

    def __init__(
        self,
        kernels: Sequence[KernelOrMatrix] | None = None,
        *,
        gamma: float = 0.1,
        beta: float = 0.1,
        loss: Loss = "squared",
        class_ratio: float | ArrayLike | None = None,
        trace_normalized: bool = False,
        final_temperature: float = 1e-7,
        tol: float = 1e-7,
        unreached: ClassShares = "prior",
    ) -> None:
        self.kernels = kernels
        self.gamma = gamma
        self.beta = beta
        self.loss: Loss = loss
        self.class_ratio = class_ratio
        self.trace_normalized = trace_normalized
        self.final_temperature = final_temperature
        self.tol = tol
        self.unreached = unreached

    def fit(
        self,
        X: ArrayLike | SparseArray,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose kernel, function and the unknown labels.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            All points, labelled or not.
        y : array-like of shape (n,) or (n, n_classes)
            Labels; -1, None and NaN mark unlabelled points. With two columns or more,
            the shares of the classes in each row; zeros where there is no label.
        sample_weight : array-like of shape (n,), optional
            Weight of each label. 2 is equivalent to repeating the label; 0 removes it.
        """
        self._check_parameters()
        warn_if_reordered(X, y)
        refuse_graph(X, type(self).__name__, "RLSClassifier(FilterKernel())")
        X = checked_points(X, self)
        labels = Labels.read(y, n=X.shape[0], weights=sample_weight, min_classes=2)
        self.classes_ = labels.classes
        self.class_ratio_ = class_shares(self.class_ratio, labels)
        self._reach_shares = self.class_ratio_
        if not isinstance(self.unreached, str):
            self._reach_shares = known_shares(
                self.unreached, self.classes_, "unreached", allow_zero=True
            )
        view = self._view(X)
        self._indistinct = all_equal(X) or view.is_constant()
        self.kernels_ = view.kernels
        unlabeled = np.flatnonzero(labels.codes == UNLABELED)
        if self.beta == 0 or len(unlabeled) == 0:
            coef = self._supervised(view, labels)
        else:
            coef = self._annealed(view, labels)
        self.kernel_ = Weighted(self.kernels_, self.weights_)
        self._function = view.function(self.weights_, coef, labels.labeled)
        f, reached = view.in_training(self.weights_, coef, labels.labeled)
        self._transduce(labels, unlabeled, f, reached)
        return self

    def decision_function(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the decision values of points, (m,) or (m, n_classes).

        For two classes above 0 for ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike | SparseArray) -> NDArray[Any]:
        """Return the class of points, (m,).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        codes = codes_of(self._scores(X))
        return self.classes_[codes]

    def predict_proba(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the logistic function of the decision values, (m, n_classes).

        Points that no labelled point reaches have the shares of the classes.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        f, reached = self._values(X)
        proba = probabilities(self._shifted(f, reached))
        proba[~reached | self._indistinct] = self._reach_shares
        return proba

    def _view(self, X: Any) -> MatrixView | FeatureView:
        given = gaussian_set() if self.kernels is None else self.kernels
        names = getattr(self, "feature_names_in_", None)
        kernels = resolve_kernels(given, X, names=names)
        K = gram_stack(kernels, X)
        self.scales_ = np.array([k.trace() / len(k) for k in K])
        if self.trace_normalized:
            kernels = [
                Scaled(kernel, float(1 / scale))
                for kernel, scale in zip(kernels, self.scales_, strict=True)
            ]
            K /= self.scales_[:, None, None]
        return MatrixView(kernels, X, K)

    def _start(self, view: MatrixView | FeatureView) -> FloatArray:
        weights = np.zeros(len(view.kernels))
        weights[0] = 1.0
        return weights

    def _supervised(self, view: MatrixView | FeatureView, labels: Labels) -> FloatArray:
        noise = self.gamma / labels.weight()
        fit = solve_kernel_weights(
            view.stack(noise, labels.labeled, self.loss),
            soft_targets(labels.one_hot()),
            weights=self._start(view),
            tol=self.tol,
        )
        coef = np.zeros((len(labels.codes), fit.point.coef().shape[1]))
        coef[labels.labeled] = fit.point.coef()
        self.weights_ = fit.weights
        self.annealing_: Annealed | None = None
        self.threshold_ = np.zeros(coef.shape[1])
        self.certificate_ = AnnealedCertificate(fit.gap, 0.0, 0.0, 0, 0)
        return coef

    def _annealed(self, view: MatrixView | FeatureView, labels: Labels) -> FloatArray:
        codes = labels.codes
        noise = np.full(len(codes), self.gamma / self.beta)
        noise[labels.labeled] = self.gamma / labels.weight()
        end = solve_annealed(
            view.stack(noise, slice(None), self.loss),
            codes,
            n_classes=len(self.classes_),
            gamma=self.gamma,
            beta=self.beta,
            ratio=self.class_ratio_,
            weights=self._start(view),
            shares=labels.one_hot(),
            loss=self.loss,
            final_temperature=self.final_temperature,
            tol=self.tol,
        )
        self.weights_, self.annealing_ = end.weights, end
        self.threshold_ = -lead(end.offsets) / STEEPNESS[self.loss] / self.beta
        self.certificate_ = AnnealedCertificate(
            end.gap,
            end.ratio_residual,
            end.change,
            len(end.temperatures),
            sum(len(path) for path in end.objectives),
        )
        return end.coef

    def _transduce(
        self, labels: Labels, unlabeled: IntArray, f: FloatArray, reached: BoolArray
    ) -> None:
        codes = labels.codes.copy()
        if self.annealing_ is not None and len(self.classes_) == 2:
            hidden = unlabeled[reached[unlabeled]]
            positive = self.annealing_.P[reached[unlabeled], 1] > 0.5
            linked = _linked(f[hidden, 0], self.loss)
            self.threshold_ = middle_threshold(linked, positive, self.threshold_)
        scores = self._shifted(f[unlabeled], reached[unlabeled])
        codes[unlabeled] = codes_of(scores)
        self.transduction_ = self.classes_[codes]

    def _scores(self, X: Any) -> FloatArray:
        return self._shifted(*self._values(X))

    def _values(self, X: Any) -> tuple[FloatArray, BoolArray]:
        check_is_fitted(self, "weights_")
        X = checked_points(X, self, reset=False)
        f, reached = self._function(X)
        return f, reached

    def _shifted(self, f: FloatArray, reached: BoolArray) -> FloatArray:
        """Return decision values; the class ratio where no labelled point reaches."""
        scores = _linked(f, self.loss) - self.threshold_
        if self._indistinct:
            reached = np.zeros_like(reached)
        if not reached.all():
            scores[~reached] = lead(self._reach_shares)
            warn_of_unreached(~reached, indistinct=self._indistinct)
        return scores

    def _check_parameters(self) -> None:
        check_number(self.gamma, "gamma", above=0)
        check_number(self.beta, "beta", at_least=0)
        check_number(
            self.final_temperature, "final_temperature", above=0, at_most=START
        )
        check_number(self.tol, "tol", above=0)
        if isinstance(self.unreached, str) and self.unreached != "prior":
            msg = (
                "unreached must be 'prior' or the shares of the classes; got "
                f"{self.unreached!r}."
            )
            raise ValueError(msg)
        check_choice(self.loss, "loss", LOSSES)


def _linked(f: FloatArray, loss: Loss) -> FloatArray:
    """Return what the label +1 gains over -1, in units of f near 0."""
    return f if loss == "squared" else -difference(f, loss) / STEEPNESS[loss]
