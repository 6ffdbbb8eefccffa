"""Logistic regression on explicit features by a truncated Newton method."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.special import expit, log_expit, logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

from mercer._base.html import Shown
from mercer._base.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class KLR(Shown):
    """Optimum of `solve_klr`.

    Parameters
    ----------
    coef : ndarray of shape (r, q)
        Weights W of the features.
    intercept : ndarray of shape (q,)
        Offsets of the classes.
    dual_coef : ndarray of shape (l, q)
        Weights alpha of the labelled points; W = features' alpha.
    objective : float
        Loss and penalty at the optimum.
    residual : float
        Largest entry of the gradient over the largest possible; 0 is optimal.
    n_iter : int
        Newton steps.
    """

    coef: FloatArray
    intercept: FloatArray
    dual_coef: FloatArray
    objective: float
    residual: float
    n_iter: int


def solve_klr(
    features: FloatArray,
    targets: FloatArray,
    *,
    C: float,
    weights: FloatArray | None = None,
    fit_intercept: bool = True,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> KLR:
    r"""Minimise :math:`\frac12\|W\|^2 + C\sum_i s_i\,\ell(y_i, W^\top\phi_i + b)`.

    Parameters
    ----------
    features : ndarray of shape (l, r)
        Rows :math:`\phi_i`.
    targets : ndarray of shape (l, q)
        0/1, or shares in between. One column: the logistic loss of two classes. Three
        or more columns, one per class: the multinomial loss.
    C : float
        Weight of the loss, > 0; :math:`C = 1/(l\lambda)` in the letters of the paper.
    weights : ndarray of shape (l,), optional
        :math:`s_i \ge 0`; one each by default.
    fit_intercept : bool, default=True
        Whether b is free (and not penalised) or zero.
    tol : float, default=1e-10
        Bound on the residual.
    max_iter : int, default=100
        Bound on the Newton steps.

    Notes
    -----
    Hoi, Lyu and Chang (2006), eq. 17. At the optimum :math:`W = \Phi^\top\alpha` with
    :math:`\alpha = C s (y - p)`, which is eq. 18. W lies in the span of the rows, so
    for r > l the problem is solved in l coordinates of that span.

    Examples
    --------
    >>> import numpy as np
    >>> Phi = np.array([[-1.0], [0.0], [1.0]])
    >>> fit = solve_klr(Phi, np.array([[0.0], [0.0], [1.0]]), C=1.0)
    >>> fit.coef.round(4), fit.residual < 1e-10
    (array([[0.7016]]), True)
    """
    n, r = features.shape
    s = np.ones(n) if weights is None else weights
    span: FloatArray | None = None
    reduced = features
    if r > n:
        span, R = qr(features.T, mode="economic")
        reduced = R.T
    A = np.hstack([reduced, np.ones((n, 1))]) if fit_intercept else reduced
    penalty = np.full(A.shape[1], 1 / C)
    if fit_intercept:
        penalty[-1] = 0.0
    # No gradient of the loss can be larger than this.
    scale = float((s @ np.abs(A)).max(initial=0.0)) or 1.0

    # Classes are rows from here on: the products are faster that way.
    Y = np.ascontiguousarray(targets.T)
    theta = np.zeros((len(Y), A.shape[1]))
    scores = np.zeros_like(Y)
    value = _loss(scores, Y, s)
    for n_iter in range(max_iter + 1):
        P = _probabilities(scores)
        gradient = (s * (P - Y)) @ A + penalty * theta
        residual = float(np.abs(gradient).max(initial=0.0)) / scale
        if residual <= tol or n_iter == max_iter:
            break
        accuracy = max(min(0.25, residual**0.5), 0.1 * tol / residual)
        step = _newton_step(A, s, P, penalty, gradient, accuracy)
        moved = step @ A.T
        slope = float((gradient * step).sum())
        size, smaller = 1.0, False
        while size > 1e-10 and not smaller:
            trial = theta - size * step
            trial_value = _loss(scores - size * moved, Y, s)
            trial_value += 0.5 * float((penalty * trial**2).sum())
            # Near the optimum the decrease drowns in rounding: allow for it.
            slack = 1e-14 * (1 + abs(value))
            smaller = trial_value <= value - 1e-4 * size * slope + slack
            size /= 2
        if not smaller:
            break
        theta, scores, value = trial, trial @ A.T, trial_value
    if residual > tol:
        msg = (
            f"solve_klr: residual {residual:.1e} > tol={tol:.1e} after {n_iter} "
            f"steps; lower C={C:g} or rescale the features."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    coef = (theta[:, :-1] if fit_intercept else theta).T
    return KLR(
        coef.copy() if span is None else span @ coef,
        theta[:, -1].copy() if fit_intercept else np.zeros(len(theta)),
        (C * s * (Y - _probabilities(scores))).T,
        C * value,
        residual,
        n_iter,
    )


def _probabilities(scores: FloatArray) -> FloatArray:
    P: FloatArray = expit(scores) if len(scores) == 1 else softmax(scores, axis=0)
    return P


def _loss(scores: FloatArray, Y: FloatArray, s: FloatArray) -> float:
    if len(scores) == 1:
        losses = -(Y * log_expit(scores) + (1 - Y) * log_expit(-scores))[0]
    else:
        losses = logsumexp(scores, axis=0) - (Y * scores).sum(axis=0)
    return float(s @ losses)


def _newton_step(
    A: FloatArray,
    s: FloatArray,
    P: FloatArray,
    penalty: FloatArray,
    gradient: FloatArray,
    accuracy: float,
) -> FloatArray:
    """Solve Hessian x step = gradient by scaled conjugate gradients."""
    binary = len(gradient) == 1

    def hessian_times(V: FloatArray) -> FloatArray:
        T = P * (V @ A.T)
        T -= P * (T if binary else T.sum(axis=0))
        T *= s
        return T @ A + penalty * V

    # One scaling for all classes: the steps then stay in the space of the gradient,
    # where the classes sum to zero and the Hessian is well conditioned.
    bend = s * (P * (1 - P)).mean(axis=0)
    curvature = bend @ A**2 + penalty
    scaling = 1 / np.maximum(curvature, 1e-12 * curvature.max())
    step = np.zeros_like(gradient)
    rest = gradient.copy()
    direction = scaling * rest
    old = float((rest * direction).sum())
    goal = accuracy**2 * old
    for _ in range(10 * gradient.size):
        image = hessian_times(direction)
        length = old / float((direction * image).sum())
        step += length * direction
        rest -= length * image
        scaled = scaling * rest
        new = float((rest * scaled).sum())
        if new <= goal:
            break
        direction = scaled + (new / old) * direction
        old = new
    return step
