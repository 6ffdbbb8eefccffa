"""Laplacian machines with weights by the cross-validation of Mao and Tsang."""

from mercer.machines._laplacian import WeightsByGrid
from mercer.machines._laplacian_losses import Hinge, LeastSquares


class LapRLSCV(LeastSquares, WeightsByGrid):
    r"""Laplacian regularised least squares, weights chosen by cross-validation.

    .. math:: \min_f \frac1l \sum_i (y_i - f(x_i))^2 + \gamma_A \|f\|_K^2
        + \gamma_I\, f^\top L^p f,

    with f on labelled and unlabelled points in the last term. More than two classes
    are told one from the rest.

    Parameters
    ----------
    kernel : Kernel, str, callable or "precomputed", default=None
        The ambient kernel; None is the paper's, a Gaussian with sigma the mean norm
        of x.
    gammas_A, gammas_I : sequence of float
        Weights to try; by default 1e-6, 1e-4, 1e-2, 0.1, 1, 10 and 100 for both.
    n_folds : int, default=5
        Train on one fold, validate on the others.
    degree : int, default=2
        The power p of the normalised Laplacian.
    n_neighbors : int, default=10
        Of the graph, whose edges have Gaussian weights; fewer if there are fewer
        points.
    graph : Graph or sparse array of shape (n, n), optional
        Ready-made graph over the rows of X, in place of neighbours.
    n_components : int, optional
        Look for f in the span of this many leading directions of the ambient kernel;
        by default in all of them, or 1000 Nyström directions beyond 3000 points.
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
    gamma_A_, gamma_I_ : float
        The chosen weights.
    cv_scores_ : ndarray of shape (n_gammas_A, n_gammas_I)
        Mean accuracy on the validation points.
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        Coefficients of the labelled points in `kernel_`; one column for two classes,
        else one for each class.
    intercept_ : ndarray of shape (n_columns,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : RLS

    Notes
    -----
    Mao and Tsang (2010), section 5.2: every fold holds every class (a class with
    fewer labels than folds lends them to several), one fold is for training and the
    rest for validation. With few labels many pairs tie, of which the paper says
    nothing: ties go to the smallest gamma_A, then to the largest gamma_I, that is, to
    the labels and the graph. Points are dealt to the folds in their order. With one
    label for each class nothing can be validated, and the rule of ties decides.

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

    More than two classes are told one from the rest.

    Parameters
    ----------
    kernel : Kernel, str, callable or "precomputed", default=None
        The ambient kernel; None is the paper's, a Gaussian with sigma the mean norm
        of x.
    gammas_A, gammas_I : sequence of float
        Weights to try; by default 1e-6, 1e-4, 1e-2, 0.1, 1, 10 and 100 for both.
    n_folds : int, default=5
        Train on one fold, validate on the others.
    degree : int, default=2
        The power p of the normalised Laplacian.
    n_neighbors : int, default=10
        Of the graph, whose edges have Gaussian weights; fewer if there are fewer
        points.
    graph : Graph or sparse array of shape (n, n), optional
        Ready-made graph over the rows of X, in place of neighbours.
    n_components : int, optional
        Look for f in the span of this many leading directions of the ambient kernel;
        by default in all of them, or 1000 Nyström directions beyond 3000 points.
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
    gamma_A_, gamma_I_ : float
        The chosen weights.
    cv_scores_ : ndarray of shape (n_gammas_A, n_gammas_I)
        Mean accuracy on the validation points.
    dual_coef_ : ndarray of shape (n_labeled, n_columns)
        Coefficients of the labelled points in `kernel_`; one column for two classes,
        else one for each class.
    intercept_ : ndarray of shape (n_columns,)
    transduction_ : ndarray of shape (n,)
        Given labels, and predictions for the unlabelled points.
    certificate_ : SVM
        With the duality gap.

    Notes
    -----
    Mao and Tsang (2010), section 5.2: every fold holds every class (a class with
    fewer labels than folds lends them to several), one fold is for training and the
    rest for validation. With few labels many pairs tie, of which the paper says
    nothing: ties go to the smallest gamma_A, then to the largest gamma_I, that is, to
    the labels and the graph. Points are dealt to the folds in their order. With one
    label for each class nothing can be validated, and the rule of ties decides.

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
