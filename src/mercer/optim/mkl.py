"""Weights of kernels on the simplex around a support vector machine."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._base.html import Shown
from mercer._base.typing import FloatArray, IntArray
from mercer.optim.svm import SVM, solve_svm

# A line search ends when the slope has fallen to this share of the first one.
_SLOPE_SHARE = 0.1
_MAX_LINE_STEPS = 20


@dataclass(frozen=True, slots=True, eq=False)
class MKL(Shown):
    """Optimum of `solve_mkl`.

    Parameters
    ----------
    weights : ndarray of shape (n_kernels,)
        Weights of the kernels; at least 0, and they sum to 1.
    dual_coef : ndarray of shape (l, q)
        Multipliers times labels, alpha_i y_i.
    intercept : ndarray of shape (q,)
        Offsets of the machines.
    objective : float
        Primal value.
    gap : float
        Primal minus dual value; 0 is optimal.
    n_iter : int
        Steps of the solver.
    """

    weights: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray
    objective: float
    gap: float
    n_iter: int

    @property
    def relative_gap(self) -> float:
        """The gap over the objective."""
        return self.gap / self.objective if self.objective > 0 else self.gap


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """The machines at one weighting of the kernels."""

    d: FloatArray
    machine: SVM
    forms: FloatArray  # (n_kernels,), sum over machines of beta' K_m beta
    value: float  # J(d), from the dual of the machines
    dual: float  # of the joint problem


def solve_mkl(
    grams: FloatArray,
    signs: FloatArray,
    *,
    C: float | FloatArray,
    tol: float = 1e-3,
    max_iter: int = 500,
) -> MKL:
    r"""Minimise :math:`J(d) = \sum_u J_u(d)` over weights of kernels on the simplex.

    .. math:: J_u(d) = \max_\alpha \sum_i \alpha_i - \frac12 \sum_m d_m
        \sum_{ij} \alpha_i \alpha_j y_{iu} y_{ju} K_m(x_i, x_j), \quad
        0 \le \alpha \le C, \; \alpha^\top y_u = 0.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, l, l)
        Gram matrices of the labelled points.
    signs : ndarray of shape (l, q)
        +1 / -1, one column for each machine; the weights are shared.
    C : float or ndarray of shape (l,)
        Weight of the hinge loss, > 0, of each point if there are several.
    tol : float, default=1e-3
        Bound on the duality gap over the objective.
    max_iter : int, default=500
        Bound on the descent directions.

    Notes
    -----
    Rakotomamonjy, Bach, Canu and Grandvalet (2008), Algorithm 1: reduced gradient,
    with the direction kept while the boundary step lowers J. The last step along a
    direction is found from the slope of J, which each machine gives for nothing,
    in place of golden section. The gap is that of the joint problem,

    .. math:: \tfrac12\sum_m d_m q_m + C \sum_{iu} \xi_{iu}
        - \Big(\sum_{iu} \alpha_{iu} - \tfrac12 \max_m q_m\Big), \quad
        q_m = \sum_u \beta_u^\top K_m \beta_u,

    with the slacks of the current function, so that it also holds what the inner
    machines leave unsolved.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> solve_mkl(np.stack([y @ y.T, np.eye(4)]), y, C=1.0).weights
    array([1., 0.])
    """
    evaluate = partial(_evaluate, grams, signs, C)
    point = evaluate(np.full(len(grams), 1 / len(grams)))
    for n_iter in range(max_iter + 1):
        objective = point.machine.objective
        gap = objective - point.dual
        if gap <= tol * objective or n_iter == max_iter:
            break
        moved = _descend(evaluate, point)
        if moved is None:
            break
        point = moved
    if gap > tol * objective:
        msg = (
            f"solve_mkl: duality gap {gap:.1e} > {tol:.1e} of the objective "
            f"{objective:.3g} after {n_iter} steps; lower C={np.max(C):g} or scale the "
            "kernels to unit trace."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    machine = point.machine
    return MKL(point.d, machine.dual_coef, machine.intercept, objective, gap, n_iter)


def _evaluate(
    grams: FloatArray, signs: FloatArray, C: float | FloatArray, d: FloatArray
) -> _Point:
    machine = solve_svm(np.tensordot(d, grams, axes=1), signs, C=C)
    beta = machine.dual_coef
    forms = np.einsum("iu,miu->m", beta, grams @ beta)
    value = machine.objective - machine.gap
    # The joint dual pays for the kernel of the largest form, not for the mixture.
    dual = value - float(forms.max() - d @ forms) / 2
    return _Point(d, machine, forms, value, dual)


def _descend(evaluate: Callable[[FloatArray], _Point], point: _Point) -> _Point | None:
    """Follow one reduced-gradient direction; None when nothing gets lower."""
    direction = _reduced_gradient(point)
    if not direction.any():
        return None
    largest = int(np.argmax(point.d))
    best = point
    while (direction < 0).any():
        step, hit = _boundary(best.d, direction)
        trial = evaluate(_on_simplex(best.d + step * direction, hit))
        if trial.value >= best.value:
            found = _line_search(evaluate, best, trial, direction, step)
            return found if found.value < point.value else None
        best = trial
        if largest in hit:
            break
        # Keep the direction feasible: what the vanished kernels would have lost
        # is taken from the gain of the largest one.
        direction[[largest, *hit]] = 0.0
        direction[largest] = -direction.sum()
        if best.forms @ direction <= 0:
            break
    return best


def _reduced_gradient(point: _Point) -> FloatArray:
    gradient = -point.forms / 2
    largest = int(np.argmax(point.d))
    direction: FloatArray = gradient[largest] - gradient
    direction[(point.d <= 0) & (direction < 0)] = 0.0
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def _boundary(d: FloatArray, direction: FloatArray) -> tuple[float, IntArray]:
    """Longest feasible step, and the weights that it takes to zero."""
    falling = np.flatnonzero(direction < 0)
    steps = d[falling] / -direction[falling]
    step = float(steps.min())
    return step, falling[steps <= step * (1 + 1e-12)]


def _on_simplex(d: FloatArray, zero: IntArray) -> FloatArray:
    inside: FloatArray = np.maximum(d, 0.0)
    inside[zero] = 0.0
    inside /= inside.sum()
    return inside


def _line_search(
    evaluate: Callable[[FloatArray], _Point],
    low: _Point,
    high: _Point,
    direction: FloatArray,
    length: float,
) -> _Point:
    """Return the point of least J found between two, by the slope of J."""
    nothing = np.empty(0, dtype=np.intp)
    left, right = 0.0, length
    slope_left = -float(low.forms @ direction) / 2
    slope_right = -float(high.forms @ direction) / 2
    first, best, origin = abs(slope_left), low, low.d
    for _ in range(_MAX_LINE_STEPS):
        # Regula falsi, kept away from the ends so that both are moved in turn.
        share = slope_left / (slope_left - slope_right) if slope_right > 0 else 0.5
        middle = left + float(np.clip(share, 0.1, 0.9)) * (right - left)
        trial = evaluate(_on_simplex(origin + middle * direction, nothing))
        if trial.value < best.value:
            best = trial
        slope = -float(trial.forms @ direction) / 2
        if abs(slope) <= _SLOPE_SHARE * first and best is trial:
            break
        if slope < 0:
            left, slope_left = middle, slope
        else:
            right, slope_right = middle, slope
    return best
