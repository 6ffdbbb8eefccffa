"""scikit-learn's support vector machine on any kernel of this library."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.svm import SVC
from sklearn.utils import check_scalar

from mercer._base.checks import check_number
from mercer._base.proba import probabilities
from mercer._base.typing import ClassShares, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.kernels.spec import KernelLike
from mercer.machines.base import KernelMachine, Solution
from mercer.machines.targets import summed


class KernelSVC(KernelMachine):
    r"""Support vector machine on the labelled points.

    .. math:: \min_{f, b} \tfrac12\|f\|^2 + C\sum_i \max(0, 1 - y_i (f(x_i) + b)),

    solved by scikit-learn's `SVC`; here are the kernels, learners and partly labelled
    targets. More than two classes vote pair by pair, as in LIBSVM.

    Parameters
    ----------
    kernel : Kernel, learner, str, callable or "precomputed", default="rbf"
        A learner is cloned and fitted on all points first. "rbf" is the Gaussian
        kernel with one over the number of features for gamma, as in LIBSVM.
    C : float, default=1.0
        Weight of the loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn.
    tol : float, default=1e-3
        Bound on the violation of the optimality conditions, as in LIBSVM.
    class_sizes : dict or array-like, optional
        As in `RLSClassifier`.
    unreached : {"prior", "intercept"}, dict or array-like, default="prior"
        What decides about points that no labelled point reaches: the shares of the
        classes, the intercept alone, as in LIBSVM, or shares of your own.

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
        :math:`y_i \alpha_i`; one column for two classes, else one for each pair of
        classes (0, 1), (0, 2), ..., (1, 2), ..., positive for the first of the pair.
    intercept_ : ndarray of shape (n_columns,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : float
        Largest violation of the optimality conditions of any of the machines.

    See Also
    --------
    LapSVM : Uses unlabelled points as well.
    SimpleMKL : Learns the kernel with the machine.

    Notes
    -----
    For three or more classes `decision_function` counts the votes of the pairs, and
    the sum of their decisions breaks ties, as in scikit-learn; `predict` is its
    argmax. A warning tells how many points no labelled point reaches.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.1]]
    >>> KernelSVC(C=10.0).fit(X, [0, -1, 1, -1]).transduction_
    array([0, 0, 1, 1])
    """

    certificate_: float
    _unreached_words = ("prior", "intercept")

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        C: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        class_sizes: ClassShares | None = None,
        unreached: ClassShares = "prior",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.class_sizes = class_sizes
        self.unreached = unreached

    def _check_parameters(self) -> None:
        check_scalar(self.C, "C", Real, min_val=0, include_boundaries="neither")
        check_number(self.tol, "tol", above=0)
        super()._check_parameters()

    @property
    def _is_intercept(self) -> bool:
        return isinstance(self.unreached, str) and self.unreached == "intercept"

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        at, codes, shares = labels.votes()
        K = self._map.gram[at][:, at]
        votes = shares * weights[at]
        machine = SVC(
            C=self.C,
            kernel="precomputed",
            class_weight=self.class_weight,
            tol=self.tol,
        ).fit(K, labels.classes[codes], votes)
        dual = _pairwise_coefficients(machine, len(codes))
        self.certificate_ = self._violation(K, dual, machine, codes, votes)
        dual = summed(dual, at, len(weights))
        return Solution(self._map.labeled.T @ dual, dual, machine.intercept_)

    def _violation(
        self,
        K: FloatArray,
        dual: FloatArray,
        machine: SVC,
        codes: IntArray,
        votes: FloatArray,
    ) -> float:
        """Return by how much a point is on the wrong side of its margin."""
        scores = K @ dual + machine.intercept_
        worst = 0.0
        for column, (first, second) in enumerate(_pairs(len(machine.classes_))):
            inside = np.flatnonzero((codes == first) | (codes == second))
            sign = np.where(codes[inside] == first, 1.0, -1.0)
            alpha = sign * dual[inside, column]
            slack = 1 - sign * scores[inside, column]
            bound = self.C * machine.class_weight_[codes[inside]] * votes[inside]
            below, above = alpha < bound * (1 - 1e-9), alpha > bound * 1e-9
            worst = max(
                worst, slack[below].max(initial=0.0), -slack[above].min(initial=0.0)
            )
        return float(worst)

    def _combine(self, scores: FloatArray) -> FloatArray:
        """Count the votes of the pairs; sums of decisions break ties."""
        n_classes = len(self.classes_)
        if n_classes == 2:
            return scores
        votes = np.zeros((len(scores), n_classes))
        sums = np.zeros_like(votes)
        for column, (first, second) in enumerate(_pairs(n_classes)):
            decision = scores[:, column]
            votes[:, first] += decision > 0
            votes[:, second] += decision <= 0
            sums[:, first] += decision
            sums[:, second] -= decision
        # Less than a third in size, so that it never outweighs a vote.
        combined: FloatArray = votes + sums / (3 * (np.abs(sums) + 1))
        return combined

    def _codes_of(self, scores: FloatArray) -> IntArray:
        """Return positions in `classes_`; LIBSVM gives 0 to the second of two."""
        if scores.shape[1] == 1:
            return (scores[:, 0] >= 0).astype(np.intp)
        return super()._codes_of(scores)

    def _prior_scores(self) -> FloatArray:
        if not self._is_intercept:
            return super()._prior_scores()
        scores: FloatArray = self._combine(self.intercept_[None, :])[0]
        return scores

    def _prior_proba(self) -> FloatArray:
        if not self._is_intercept:
            return super()._prior_proba()
        shares: FloatArray = probabilities(self._prior_scores()[None, :])[0]
        return shares


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order and with the sign of LIBSVM."""
    if n_classes == 2:
        return [(1, 0)]
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def _pairwise_coefficients(machine: SVC, n_points: int) -> FloatArray:
    """Spread LIBSVM's compact coefficients over one column per pair."""
    n_classes = len(machine.classes_)
    if n_classes == 2:
        dual = np.zeros((n_points, 1))
        dual[machine.support_, 0] = machine.dual_coef_[0]
        return dual
    owner = np.repeat(np.arange(n_classes), machine.n_support_)
    pairs = _pairs(n_classes)
    dual = np.zeros((n_points, len(pairs)))
    for column, (first, second) in enumerate(pairs):
        of_first, of_second = owner == first, owner == second
        # Row j of dual_coef_ holds the coefficients against the j-th other class.
        dual[machine.support_[of_first], column] = machine.dual_coef_[
            second - 1, of_first
        ]
        dual[machine.support_[of_second], column] = machine.dual_coef_[first, of_second]
    return dual
