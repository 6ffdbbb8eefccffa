"""Laplacian machines: two losses, and weights as given or by cross-validation."""

from dataclasses import replace

import numpy as np
from scipy.linalg import solve

from mercer._base.typing import FloatArray
from mercer.evidence.labels import Labels
from mercer.machines._laplacian import FixedWeights, LaplacianMachine, WeightsByGrid
from mercer.machines.base import Solution
from mercer.machines.targets import signed_votes, summed, targets_of
from mercer.optim.ridge import RLS, solve_rls
from mercer.optim.svm import SVM, solve_svm


class LeastSquares(LaplacianMachine):
    """The squared loss."""

    certificate_: RLS

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        root = np.sqrt(weights)[:, None]
        C = 1 / (self._ambient * weights.sum())
        fit = solve_rls(root * self._map.labeled, root * targets_of(labels), C=C)
        self.certificate_ = fit
        return Solution(fit.coef, root * fit.dual_coef, np.zeros(fit.coef.shape[1]))

    def _decide(
        self,
        K_held: FloatArray,
        K: FloatArray,
        labels: Labels,
        gamma_A: float,
    ) -> FloatArray:
        weights = labels.weight()
        ridge = np.diag(gamma_A * weights.sum() / weights)
        alpha: FloatArray = solve(K + ridge, targets_of(labels), assume_a="pos")
        return K_held @ alpha


class Hinge(LaplacianMachine):
    """The hinge loss, with an intercept."""

    certificate_: SVM

    def _solve(self, labels: Labels, weights: FloatArray) -> Solution:
        fit = self._machine(self._map.gram, labels, self._ambient)
        self.certificate_ = fit
        coef = self._map.labeled.T @ fit.dual_coef
        return Solution(coef, fit.dual_coef, fit.intercept)

    def _decide(
        self,
        K_held: FloatArray,
        K: FloatArray,
        labels: Labels,
        gamma_A: float,
    ) -> FloatArray:
        fit = self._machine(K, labels, gamma_A)
        return K_held @ fit.dual_coef + fit.intercept

    @staticmethod
    def _machine(K: FloatArray, labels: Labels, gamma_A: float) -> SVM:
        at, signs, weights = signed_votes(labels)
        C = weights / (2 * gamma_A * weights.sum())
        fit = solve_svm(K[at][:, at], signs, C=C)
        return replace(fit, dual_coef=summed(fit.dual_coef, at, len(K)))


class LapRLS(LeastSquares, FixedWeights):
    r"""Laplacian regularised least squares.

    .. math:: \min_f \frac1l \sum_i (y_i - f(x_i))^2 + \gamma_A \|f\|_K^2
        + \gamma_I\, f^\top L^p f,

    with f on labelled and unlabelled points in the last term.
    Multi-class problems are handled one-vs-rest.

    Parameters
    ----------
    kernel : Kernel, str, callable or "precomputed", default=None
        The ambient kernel; None is the paper's, a Gaussian with sigma the mean norm
        of x.
    gamma_A : float, default=1e-2
        Weight of the ambient norm, > 0.
    gamma_I : float, default=1e-2
        Weight of the intrinsic norm; 0 ignores the graph.
    degree : int, default=2
        The power p of the normalised Laplacian.
    n_neighbors : int, default=10
        Neighbours per point in the graph, whose edges have Gaussian weights; fewer if
        there are fewer points.
    graph : Graph or sparse array of shape (n, n), optional
        Ready-made graph over the rows of X, in place of neighbours.
    n_components : int, optional
        Look for f in the span of this many leading directions of the ambient kernel;
        by default in all of them, or 1000 Nyström directions beyond 3000 points.
    class_sizes, unreached
        As in `RLSClassifier`.
    random_state : int, Generator, RandomState or None, default=None
        For the approximate search and the landmarks of large data.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes among the labelled points.
    labeled_ : ndarray of shape (n_labeled,)
        Rows of the labelled points.
    kernel_ : DeformedKernel
        :math:`(K^{-1} + \frac{\gamma_I}{\gamma_A} L^p)^{-1}`, with its extension to
        new points.
    graph_ : Graph
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        Coefficients of the labelled points in `kernel_`; one column for two classes,
        else one for each class.
    intercept_ : ndarray of shape (n_columns,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : RLS

    See Also
    --------
    LapRLSCV : Chooses its parameters by cross-validation.
    LapSVM : The hinge loss.
    RLSClassifier : Labelled points alone.

    Notes
    -----
    Belkin, Niyogi and Sindhwani (2006), eq. 8, as Mao and Tsang (2010) use it in
    section 5.2, without the factor :math:`1/(l+u)^2` of gamma_I: with it their grid
    would hardly feel the graph. New points get
    :math:`f(x) = \sum_i \alpha_i k(x, x_i)` over all n training points.

    References
    ----------
    Belkin, Niyogi and Sindhwani, "Manifold regularization", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [1.1], [1.2], [3.0], [3.1], [3.2]])
    >>> LapRLS(n_neighbors=2).fit(X, [0, -1, -1, 1, -1, -1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """


class LapSVM(Hinge, FixedWeights):
    r"""Laplacian support vector machine.

    .. math:: \min_{f, b} \frac1l \sum_i \max(0, 1 - y_i (f(x_i) + b))
        + \gamma_A \|f\|_K^2 + \gamma_I\, f^\top L^p f.

    Multi-class problems are handled one-vs-rest.

    Parameters
    ----------
    kernel, gamma_A, gamma_I, degree, n_neighbors : as in `LapRLS`
    graph, n_components, class_sizes, unreached, random_state : as in `LapRLS`

    Attributes
    ----------
    classes_, class_prior_, labeled_, kernel_, graph_
        As in `LapRLS`.
    dual_coef_, intercept_, transduction_
        As in `LapRLS`.
    certificate_ : SVM
        With the duality gap.

    See Also
    --------
    LapSVMCV : Chooses its parameters by cross-validation.
    LapRLS : Least squares.
    KernelSVC : Labelled points alone.

    Notes
    -----
    Belkin, Niyogi and Sindhwani (2006), section 4.3, as Mao and Tsang (2010) use it
    in section 5.2; see `LapRLS`. Solved as a supervised machine on `kernel_` with
    :math:`C = 1/(2 \gamma_A l)`.

    References
    ----------
    Belkin, Niyogi and Sindhwani, "Manifold regularization", JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [1.1], [1.2], [3.0], [3.1], [3.2]])
    >>> LapSVM(n_neighbors=2).fit(X, [0, -1, -1, 1, -1, -1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """


class LapRLSCV(LeastSquares, WeightsByGrid):
    r"""Laplacian regularised least squares, weights chosen by cross-validation.

    .. math:: \min_f \frac1l \sum_i (y_i - f(x_i))^2 + \gamma_A \|f\|_K^2
        + \gamma_I\, f^\top L^p f,

    with f on labelled and unlabelled points in the last term.
    Multi-class problems are handled one-vs-rest.

    Parameters
    ----------
    kernel, degree, n_neighbors, graph, n_components : as in `LapRLS`
    class_sizes, unreached, random_state : as in `LapRLS`
    gammas_A, gammas_I : sequence of float
        Weights to try; by default 1e-6, 1e-4, 1e-2, 0.1, 1, 10 and 100 for both.
    cv : int, default=5
        Train on one fold, validate on the others.

    Attributes
    ----------
    gamma_A_, gamma_I_ : float
        The chosen weights.
    cv_scores_ : ndarray of shape (n_gammas_A, n_gammas_I)
        Mean accuracy on the validation points.
    classes_, class_prior_, labeled_, kernel_, graph_
        As in `LapRLS`.
    dual_coef_, intercept_, transduction_, certificate_
        As in `LapRLS`.

    Notes
    -----
    Mao and Tsang (2010), section 5.2: every fold holds every class (if a class has
    fewer labels than folds, its labels are reused in several folds), one fold is for
    training and the rest for validation. With few labels many pairs tie, of
    which the paper says nothing: ties go to the smallest gamma_A, then to the largest
    gamma_I, that is, to the labels and the graph. Points are dealt to the folds in
    their order. With one label for each class nothing can be validated, and the rule of
    ties decides.

    See Also
    --------
    LapRLS : the machine with given weights.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [1.1], [1.2], [3.0], [3.1], [3.2]])
    >>> machine = LapRLSCV(n_neighbors=2).fit(X, [0, 0, -1, 1, 1, -1])
    >>> machine.transduction_
    array([0, 0, 0, 1, 1, 1])
    """


class LapSVMCV(Hinge, WeightsByGrid):
    r"""Laplacian support vector machine, weights chosen by cross-validation.

    .. math:: \min_{f, b} \frac1l \sum_i \max(0, 1 - y_i (f(x_i) + b))
        + \gamma_A \|f\|_K^2 + \gamma_I\, f^\top L^p f.

    Multi-class problems are handled one-vs-rest.

    Parameters
    ----------
    kernel, degree, n_neighbors, graph, n_components : as in `LapRLS`
    class_sizes, unreached, random_state : as in `LapRLS`
    gammas_A, gammas_I, cv : as in `LapRLSCV`

    Attributes
    ----------
    gamma_A_, gamma_I_, cv_scores_
        As in `LapRLSCV`, whose notes on the folds hold here too.
    classes_, class_prior_, labeled_, kernel_, graph_
        As in `LapSVM`.
    dual_coef_, intercept_, transduction_, certificate_
        As in `LapSVM`.

    See Also
    --------
    LapSVM : the machine with given weights.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [1.1], [1.2], [3.0], [3.1], [3.2]])
    >>> machine = LapSVMCV(n_neighbors=2).fit(X, [0, 0, -1, 1, 1, -1])
    >>> machine.transduction_
    array([0, 0, 0, 1, 1, 1])
    """
