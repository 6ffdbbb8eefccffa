r"""Kernel machines without intercept under convex losses, each with a duality gap.

For one column of targets t in [-1, 1], which are means of the labels +1 and -1,

.. math::
    \min_c \; \sum_i a_i \Bigl[\tfrac{1 + t_i}2\,\ell(f_i)
    + \tfrac{1 - t_i}2\,\ell(-f_i)\Bigr] + c^\top K c, \qquad f = Kc.
"""

from typing import Literal

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, xlogy

from mercer._base.typing import BoolArray, FloatArray, IntArray

Loss = Literal["squared", "logistic", "hinge"]
LOSSES = ("squared", "logistic", "hinge")

_ACCURACY = 1e-11  # of the objective, relative
_STEPS = 100
_NARROW = 1e-13  # of the weight: a label of so small a share counts for nothing


def solve_column(
    K: FloatArray, targets: FloatArray, scale: FloatArray, *, loss: Loss
) -> tuple[FloatArray, float, float]:
    """Return c, the objective, and how far it may be above the optimum.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semi-definite.
    targets : ndarray of shape (n,)
        Between -1 and 1.
    scale : ndarray of shape (n,)
        Weights a of the losses, positive.
    loss : {"logistic", "hinge"}

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> c, value, gap = solve_column(np.eye(2), y, np.full(2, 10.0), loss="hinge")
    >>> c.round(6), round(value, 6), gap < 1e-9
    (array([ 1., -1.]), 2.0, True)
    """
    solve = _logistic if loss == "logistic" else _hinge
    return solve(K, (1 + targets) / 2, scale)


def difference(f: FloatArray, loss: Loss) -> FloatArray:
    """Return l(f) - l(-f): what the label +1 costs more than -1.

    Examples
    --------
    >>> difference(np.array([0.5, 3.0]), "hinge")
    array([-1., -4.])
    """
    if loss == "squared":
        return -4 * f
    if loss == "logistic":
        return -f
    return np.maximum(1 - f, 0) - np.maximum(1 + f, 0)


# The slope of `difference` at 0 is minus this.
STEEPNESS = {"squared": 4.0, "logistic": 1.0, "hinge": 2.0}


def curvature(
    c: FloatArray, f: FloatArray, targets: FloatArray, scale: FloatArray, loss: Loss
) -> tuple[IntArray, FloatArray]:
    """Return the rows where c moves with f, and twice the inverse curvature there.

    With the hinge loss these are the points on a margin, where c moves freely; all
    others keep their c.
    """
    if loss == "logistic":
        q = expit(f)
        return np.arange(len(f)), 2 / np.maximum(scale * q * (1 - q), 1e-300)
    p = (1 + targets) / 2
    ends = np.stack([scale * p, scale * (2 * p - 1), -scale * (1 - p)])
    away = np.abs(2 * c - ends).min(axis=0) > 1e-8 * scale
    free = np.flatnonzero(away)
    return free, np.zeros(len(free))


def _logistic(
    K: FloatArray, p: FloatArray, scale: FloatArray
) -> tuple[FloatArray, float, float]:
    """Newton's method, with steps halved until the objective falls."""

    def objective(c: FloatArray, f: FloatArray) -> float:
        return float(scale @ (np.logaddexp(0, f) - p * f) + c @ f)

    c, f = np.zeros_like(p), np.zeros_like(p)
    value, bound = objective(c, f), -np.inf
    for _ in range(_STEPS):
        q = expit(f)
        dual = scale * (p - q) / 2  # a feasible point of the dual
        entropy = float(scale @ (xlogy(q, q) + xlogy(1 - q, 1 - q)))
        bound = max(bound, -entropy - float(dual @ K @ dual))
        if value - bound <= _ACCURACY * value:
            break
        h = np.maximum(scale * q * (1 - q), 1e-12 * scale)
        A = K.copy()
        A.flat[:: len(K) + 1] += 2 / h
        step = cho_solve(cho_factor(A, lower=True), f + 2 * dual / h) - c
        moved, size, trial = K @ step, 1.0, np.inf
        while size > 1e-12:
            trial = objective(c + size * step, f + size * moved)
            if trial < value:
                break
            size /= 2
        if trial >= value:
            break  # by rounding: the gap says how good this is
        c, value = c + size * step, trial
        f = K @ c
    return c, value, max(value - bound, 0.0)


def _hinge(
    K: FloatArray, p: FloatArray, scale: FloatArray
) -> tuple[FloatArray, float, float]:
    """Interior points of the dual, a quadratic program in a box.

    Mehrotra's predictor and corrector; the multipliers of a point for the label +1
    and for -1 share one row of the n x n system. Their difference is 2c.
    """
    box = np.stack([scale * p, scale * (1 - p)])
    wide = box > _NARROW * scale
    a = np.where(wide, box / 2, 0.5)
    room = a.copy()  # box - a, which would round to zero
    low, high = np.ones_like(a), np.ones_like(a)  # multipliers of the two ends
    for n_iter in range(_STEPS + 1):
        inside = np.where(wide, a, 0.0)
        c = (inside[0] - inside[1]) / 2
        f = K @ c
        norm = float(c @ f)
        primal = float((box * np.maximum(1 - np.stack([f, -f]), 0)).sum()) + norm
        gap = max(primal - float(inside.sum()) + norm, 0.0)
        if gap <= _ACCURACY * primal or n_iter == _STEPS:
            break
        slope = np.stack([f, -f]) - 1 - low + high
        state = _BoxStep(K, a, room, low, high, slope, wide)
        da, dlow, dhigh = state.step(-low * a, -high * room)
        size = state.longest(da, dlow, dhigh)
        now = (low * a + high * room)[wide].mean() / 2
        after = (low + size * dlow) * (a + size * da)
        after += (high + size * dhigh) * (room - size * da)
        centre = now * (after[wide].mean() / 2 / now) ** 3
        da, dlow, dhigh = state.step(
            centre - low * a - dlow * da, centre - high * room + dhigh * da
        )
        size = state.longest(da, dlow, dhigh)
        a, room = a + size * da, room - size * da
        low, high = low + size * dlow, high + size * dhigh
    return c, primal, gap


class _BoxStep:
    """The linear system of one interior point; rows are the labels +1 and -1."""

    def __init__(
        self,
        K: FloatArray,
        a: FloatArray,
        room: FloatArray,
        low: FloatArray,
        high: FloatArray,
        slope: FloatArray,
        wide: BoolArray,
    ) -> None:
        self.a, self.room, self.low, self.high = a, room, low, high
        self.slope, self.wide = slope, wide
        self.weight = np.where(wide, 1 / (low / a + high / room), 0.0)
        self.total = np.maximum(self.weight.sum(axis=0), 1e-300)
        A = K / 2
        A.flat[:: len(K) + 1] += 1 / self.total
        self.factor = cho_factor(A, lower=True, check_finite=False)

    def step(
        self, below: FloatArray, above: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the change of a and of both multipliers for these products."""
        sign, weight = np.array([[1.0], [-1.0]]), self.weight
        right = -self.slope + below / self.a - above / self.room
        pull = (sign * weight * right).sum(axis=0)
        moved = cho_solve(self.factor, pull / self.total, check_finite=False)
        # As weight * (right - sign * K moved / 2), without its cancellation.
        da = weight * (weight[::-1] * right.sum(axis=0) + sign * moved) / self.total
        dlow = (below - self.low * da) / self.a
        return da, dlow, (above + self.high * da) / self.room

    def longest(self, da: FloatArray, dlow: FloatArray, dhigh: FloatArray) -> float:
        """Return the longest step, up to 1, that keeps everything positive."""
        longest = 1.0
        for value, change in (
            (self.a, da),
            (self.room, -da),
            (self.low, dlow),
            (self.high, dhigh),
        ):
            falling = self.wide & (change < 0)
            if falling.any():
                blocked = float((value[falling] / -change[falling]).min())
                longest = min(longest, 0.995 * blocked)
        return longest
