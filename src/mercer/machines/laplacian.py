"""Least squares and support vectors with a graph: manifold regularisation."""

from mercer.machines._laplacian import FixedWeights
from mercer.machines._laplacian_losses import Hinge, LeastSquares


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
