"""Laplacian machines with weights by the cross-validation of Mao and Tsang."""

from mercer.machines._laplacian import WeightsByGrid
from mercer.machines._laplacian_losses import Hinge, LeastSquares


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
