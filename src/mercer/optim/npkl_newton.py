"""Semismooth Newton method for kernels from pairs, inside a proximal point method."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from mercer._base.typing import BoolArray, FloatArray
from mercer.optim.npkl import NPKLSolution, PairProblem, better
from mercer.optim.psd_ball import (
    PSDBallProjection,
    project_eigenpairs,
    project_psd_ball,
)

_ROUGH = 0.05  # share of the first residual up to which a Newton step is solved
_ROUNDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Centre:
    """Where the proximal terms pull: |K - K_c|^2 / 2 sigma and |a - a_c|^2 / 2 tau."""

    K: FloatArray | None  # None is zero: then g(a) comes with the projection
    a: FloatArray
    sigma: float
    tau: float


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Everything one eigen-decomposition tells about a dual point."""

    a: FloatArray
    projection: PSDBallProjection
    value: float  # h(a)
    gradient: FloatArray
    objective: float  # of the kernel in the problem itself
    inner_gap: float  # of the proximal problem


def solve_npkl(
    problem: PairProblem,
    *,
    tol: float = 1e-6,
    max_eigh: int = 200,
) -> NPKLSolution:
    r"""Learn a kernel from pairs with a (squared) hinge loss.

    Parameters
    ----------
    problem : PairProblem
    tol : float, default=1e-6
        Bound on the relative duality gap.
    max_eigh : int, default=200
        Bound on the number of eigen-decompositions.

    Returns
    -------
    NPKLSolution
        `bound` is a true lower bound of the optimum, whatever the method did.

    Notes
    -----
    Algorithm 1 of the paper takes gradient steps of length O(1/t). Here the smooth
    function

    .. math:: h(a) = -\sum_p a_p + \tfrac q2\|a\|^2 + \tfrac{1}{2\tau}\|a-a_c\|^2 +
        \max_{K} \langle A(a), K\rangle - \tfrac{1}{2\sigma}\|K - K_c\|^2

    is minimised over the box by projected Newton steps. The maximiser is the
    projection of :math:`K_c + \sigma A(a)` on the cone and the ball, its derivative is
    known from the same eigen-decomposition, and the linear systems are solved by
    conjugate gradients, so a Newton step costs one eigen-decomposition and some matrix
    products. With :math:`K_c = 0` and the ball active, K is the paper's eq. (8) and one
    such minimisation solves the problem. Where the ball is inactive at the optimum
    eq. (8) is 0/0; then the centre moves to the last K and the minimisation is
    repeated (proximal method of multipliers).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.optim.pair_forms import EntryForms
    >>> forms = EntryForms(np.array([0]), np.array([1]), np.array([1.0]), 3)
    >>> L = np.diag([1.0, 1.0, 1.0])
    >>> best = solve_npkl(PairProblem(forms, L, "squared_hinge", C=10.0, budget=9.0))
    >>> best.relative_gap < 1e-6, len(best.values)
    (True, 1)
    """
    a = np.full(problem.forms.n_pairs, problem.C)  # which is the linear loss
    centre, point = _first_point(problem, a)
    n_eigh = 1
    best = _certify(problem, centre, point)
    loose = 0.1 * best.gap
    while best.relative_gap > tol and n_eigh < max_eigh:
        # With a zero centre, an active ball and no pull on a, h is -g plus a constant.
        same = centre.K is None and point.projection.scale < 1 and np.isinf(centre.tau)
        goal = max(0.3 * tol * abs(best.objective), 0 if same else loose)
        used = 0
        if point.inner_gap > goal:
            point, used = _newton_step(problem, centre, point, max_eigh - n_eigh)
        if used > 0:
            n_eigh += used
            if centre.K is None:
                best = better(best, _certify(problem, centre, point))
            continue
        if centre.K is not None:
            best = better(best, _certify(problem, centre, point))
            n_eigh += 1
        loose = 0.1 * best.gap
        K = _dense(point.projection)
        centre = _Centre(K, point.a, 3 * centre.sigma, 3 * centre.tau)
        point = _evaluate(problem, centre, point.a)
        n_eigh += 1
    if best.relative_gap > tol:
        msg = (
            f"solve_npkl: relative gap {best.relative_gap:.1e} > tol={tol:.1e} after "
            f"{n_eigh} eigen-decompositions; raise max_eigh, or lower C or budget."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return replace(best, n_eigh=n_eigh)


def _first_point(problem: PairProblem, a: FloatArray) -> tuple[_Centre, _Point]:
    """Centre at zero and evaluate `a`, with one eigen-decomposition.

    sigma is ten times what makes the ball active at `a`, or what brings the margins
    of sigma A_+ to 1 in the mean, whichever is less: with a budget far too large to
    matter the first would make the problem stiff.
    """
    plain = project_psd_ball(problem.matrix(a), budget=np.inf)
    margins = problem.forms.margins(plain.range * plain.values, plain.range)
    sigma = 1.0
    if plain.norm > 0 and margins.sum() > 0:
        reach = float(margins.sum() / (margins @ margins))
        sigma = 10 * min(float(np.sqrt(problem.budget)) / plain.norm, reach)
    tau = np.inf if problem.curvature else 10 * problem.C
    centre = _Centre(None, a, sigma, tau)
    scaled = project_eigenpairs(
        sigma * plain.eigenvalues, plain.vectors, budget=problem.budget
    )
    return centre, _complete(problem, centre, a, scaled)


def _evaluate(problem: PairProblem, centre: _Centre, a: FloatArray) -> _Point:
    W = centre.sigma * problem.matrix(a)
    if centre.K is not None:
        W += centre.K
    projection = project_psd_ball(W, budget=problem.budget)
    return _complete(problem, centre, a, projection)


def _complete(
    problem: PairProblem,
    centre: _Centre,
    a: FloatArray,
    projection: PSDBallProjection,
) -> _Point:
    Q, values = projection.range, projection.values
    margins = problem.forms.margins(Q * values, Q)
    smooth = float(np.sum((problem.penalty @ Q) * Q * values))
    moved = float(values @ values)
    if centre.K is not None:
        inner = float(np.sum((centre.K @ Q) * Q * values))
        moved += float(np.sum(centre.K**2)) - 2 * inner
    q, tau, a_c = problem.curvature, centre.tau, centre.a

    def lagrangian(b: FloatArray) -> float:
        step = b - a_c
        pull = (step @ step) / (2 * tau)
        return float(b @ (1 - margins) - q / 2 * (b @ b) - pull)

    answer = np.clip((1 - margins + a_c / tau) / (q + 1 / tau), 0, problem.upper)
    return _Point(
        a=a,
        projection=projection,
        value=-lagrangian(a) - smooth - moved / (2 * centre.sigma),
        gradient=margins - 1 + q * a + (a - a_c) / tau,
        objective=smooth + problem.loss_at(margins),
        inner_gap=lagrangian(answer) - lagrangian(a),
    )


def _newton_step(
    problem: PairProblem, centre: _Centre, point: _Point, max_eigh: int
) -> tuple[_Point, int]:
    """Take one projected Newton step; also return the eigen-decompositions used."""
    a, gradient = point.a, point.gradient
    direction = _box_newton(
        _hessian(problem, centre, point), gradient, a, problem.upper
    )
    length, used = 1.0, 0
    while used < max_eigh and length > 1e-10:
        trial = _evaluate(
            problem, centre, np.clip(a + length * direction, 0, problem.upper)
        )
        used += 1
        step = trial.a - a
        slope, end_slope = float(gradient @ step), float(trial.gradient @ step)
        rounding = 1e-14 * abs(point.value)
        if trial.value <= point.value + 1e-4 * slope + rounding:
            return trial, used
        # The secant root of the slope, from the gradient this trial paid for.
        length *= float(np.clip(slope / (slope - end_slope), 0.05, 0.5))
    return point, 0


def _hessian(
    problem: PairProblem, centre: _Centre, point: _Point
) -> Callable[[FloatArray], FloatArray]:
    diagonal = problem.curvature + 1 / centre.tau
    slope = centre.sigma * point.projection.scale

    def multiply(d: FloatArray) -> FloatArray:
        image = problem.forms.apply(d, point.projection.range)
        Z, Q = point.projection.derivative(image, slope)
        curved: FloatArray = 2 * problem.forms.margins(Z, Q)
        return diagonal * d + curved

    return multiply


def _box_newton(
    multiply: Callable[[FloatArray], FloatArray],
    gradient: FloatArray,
    a: FloatArray,
    upper: float,
) -> FloatArray:
    """Minimise the quadratic model over the box; products are cheap beside `eigh`.

    Each round runs conjugate gradients on the variables that are free to move and
    projects the outcome, shortened until the model decreases.
    """
    direction = np.zeros_like(a)
    slope, model = gradient, 0.0
    goal = _ROUGH * float(np.linalg.norm(np.clip(a - gradient, 0, upper) - a))
    for _ in range(_ROUNDS):
        x = a + direction
        free = ~(((x <= 0) & (slope > 0)) | ((x >= upper) & (slope < 0)))
        if np.linalg.norm(np.clip(x - slope, 0, upper) - x) <= goal:
            break
        step = _conjugate_gradients(multiply, -slope, free)
        length = 1.0
        while length > 1e-6:
            trial = np.clip(x + length * step, 0, upper) - a
            image = multiply(trial)
            value = float(gradient @ trial + trial @ image / 2)
            if value < model:
                break
            length /= 4
        else:
            break
        direction, model, slope = trial, value, gradient + image
    return direction


def _conjugate_gradients(
    multiply: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    free: BoolArray,
) -> FloatArray:
    """Solve on the free variables; the others stay zero."""
    A = LinearOperator((len(b), len(b)), lambda d: multiply(d) * free, dtype=b.dtype)
    x: FloatArray = cg(A, b * free, rtol=_ROUGH, maxiter=100)[0]
    return x


def _certify(problem: PairProblem, centre: _Centre, point: _Point) -> NPKLSolution:
    """Bound the optimum from `point`; away from a zero centre that costs `eigvalsh`."""
    projection = point.projection
    norm = projection.norm / centre.sigma if centre.K is None else None
    return NPKLSolution(
        values=projection.values,
        vectors=projection.range,
        dual=point.a,
        objective=point.objective,
        bound=problem.dual(point.a, norm),
        n_eigh=0,
    )


def _dense(projection: PSDBallProjection) -> FloatArray:
    Q = projection.range
    K: FloatArray = (Q * projection.values) @ Q.T
    return K
