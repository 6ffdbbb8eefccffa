"""The convex combination of kernels that fits a target best."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._base.typing import FloatArray
from mercer.optim.kernel_stack import KernelStack, RidgePoint, Solve

_SLOPE_LEFT = 1e-2  # share of the slope that a line search may leave
_LINE_STEPS = 30


@dataclass(frozen=True, slots=True, eq=False)
class KernelWeights:
    """Optimum of `solve_kernel_weights`."""

    weights: FloatArray  # (N,) on the simplex
    value: float  # tr(tᵀ (K + D)⁻¹ t)
    gap: float  # value - optimum is at most gap * value
    n_iter: int
    system: Solve
    point: RidgePoint


def solve_kernel_weights(
    stack: KernelStack,
    targets: FloatArray,
    *,
    weights: FloatArray,
    system: Solve | None = None,
    tol: float = 1e-7,
    max_iter: int = 50,
) -> KernelWeights:
    r"""Minimise regularised squared loss over convex combinations of kernels.

    .. math::
        \min_{\lambda \in \Delta} \; \operatorname{tr}
        t^\top \Bigl(\sum_j \lambda_j K_j + D\Bigr)^{-1} t.

    Parameters
    ----------
    stack : KernelStack
    targets : ndarray of shape (n, m)
        One column per output; all share the weights.
    weights : ndarray of shape (N,)
        Where to start, on the simplex.
    system : callable, optional
        ``stack.factor(weights)``, if it is known already.
    tol : float, default=1e-7
        Largest relative duality gap.
    max_iter : int, default=50
        Greedy steps.

    Notes
    -----
    Dai and Yeung (2007), Algorithm 1, lines 6-15. The greedy choice is the kernel of
    largest :math:`c^\top K_j c` (line 9); :math:`\max_j c^\top K_j c - c^\top K c`
    bounds the distance to the optimum, so the loop stops on a proof. Line 13 must be
    read as a maximum over the step of the minimum over alpha; with alpha fixed it
    always returns one. The print moves straight towards the greedy kernel, which
    converges like 1/steps; here the step goes along the Newton direction in the
    weights of the kernels in use and the greedy one, and falls back to an exchange
    between the greedy and the worst kernel where that direction is blocked.

    Examples
    --------
    >>> from mercer.optim.kernel_stack import DenseStack
    >>> y = np.array([[1.0], [-1.0]])
    >>> stack = DenseStack(np.stack([np.eye(2), y @ y.T]), np.ones(2))
    >>> solve_kernel_weights(stack, y, weights=np.array([1.0, 0.0])).weights
    array([0., 1.])
    """
    system = stack.factor(weights) if system is None else system
    point = system(targets)
    for n_iter in range(max_iter + 1):
        gap = float(point.scores.max() - weights @ point.scores) + point.gap
        if gap <= tol * point.value or n_iter == max_iter:
            break
        direction, furthest = _direction(point, weights)
        step, system, point = _line_search(
            stack, targets, weights, direction, furthest, (system, point)
        )
        weights = _moved(weights, direction, step)
    relative = max(gap, 0.0) / point.value if point.value > 0 else 0.0
    if relative > tol:
        msg = (
            f"solve_kernel_weights: gap {relative:.1e} > tol={tol:.1e} after {n_iter} "
            "steps; raise max_iter or tol."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return KernelWeights(weights, point.value, relative, n_iter, system, point)


def _direction(point: RidgePoint, weights: FloatArray) -> tuple[FloatArray, float]:
    """Descent direction that sums to zero, and how far it stays feasible."""
    best = int(np.argmax(point.scores))
    used = np.union1d(np.flatnonzero(weights), [best])
    direction = np.zeros_like(weights)
    direction[used] = _newton(point.curvature(used), point.scores[used])
    furthest = _furthest(weights, direction)
    if furthest > 0 and direction @ point.scores > 0:
        return direction, furthest
    support = np.flatnonzero(weights)
    worst = support[np.argmin(point.scores[support])]
    exchange = np.zeros_like(weights)
    exchange[best], exchange[worst] = 1.0, -1.0
    return exchange, float(weights[worst])


def _newton(hessian: FloatArray, ascent: FloatArray) -> FloatArray:
    a = len(ascent)
    ridge = 1e-12 * np.trace(hessian) / a
    system = np.ones((a + 1, a + 1))
    system[:a, :a] = hessian + ridge * np.eye(a)
    system[a, a] = 0.0
    rhs = np.append(ascent, 0.0)
    step: FloatArray = np.linalg.lstsq(system, rhs, rcond=None)[0][:a]
    centered: FloatArray = step - step.mean()
    return centered


def _furthest(weights: FloatArray, direction: FloatArray) -> float:
    falling = direction < 0
    if not falling.any():
        return 0.0
    return float((weights[falling] / -direction[falling]).min())


def _moved(weights: FloatArray, direction: FloatArray, step: float) -> FloatArray:
    moved = weights + step * direction
    # A weight that a full step drives to zero must be zero, not rounding error.
    moved[moved <= 1e-14] = 0.0
    moved /= moved.sum()
    return moved


def _line_search(
    stack: KernelStack,
    targets: FloatArray,
    weights: FloatArray,
    direction: FloatArray,
    furthest: float,
    start: tuple[Solve, RidgePoint],
) -> tuple[float, Solve, RidgePoint]:
    """Zero of the slope on [0, furthest] by Newton's method within a bracket."""
    system, point = start
    initial = -float(direction @ point.scores)
    moving = np.flatnonzero(direction)
    low, high = 0.0, furthest
    step = min(1.0, furthest)
    below = (0.0, system, point)  # furthest point known to lie before the minimum
    for _ in range(_LINE_STEPS):
        system = stack.factor(_moved(weights, direction, step))
        point = system(targets)
        slope = -float(direction @ point.scores)
        if abs(slope) <= _SLOPE_LEFT * abs(initial) or (slope < 0 and step == furthest):
            return step, system, point
        if slope < 0:
            low, below = step, (step, system, point)
        else:
            high = step
        d = direction[moving]
        bend = float(d @ point.curvature(moving) @ d)
        step = step - slope / bend if bend > 0 else np.inf  # straight: halve
        if step >= high == furthest:
            step = furthest
        elif not low < step < high:
            step = (low + high) / 2
    return below
