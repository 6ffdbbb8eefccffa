"""Soft labels of least free energy whose class shares are given."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from mercer._base.typing import FloatArray

_NEWTON_STEPS, _TOL = 100, 1e-10  # largest error of a share


@dataclass(frozen=True, slots=True, eq=False)
class SoftLabels:
    """Optimum of `solve_soft_labels`."""

    P: FloatArray  # (u, C) rows on the simplex
    offsets: FloatArray  # (C,) multipliers nu of the shares
    residual: float  # largest error of a share


def solve_soft_labels(
    g: FloatArray,
    *,
    temperature: float,
    ratio: FloatArray,
    offsets: FloatArray | None = None,
) -> SoftLabels:
    r"""Minimise expected loss minus entropy at given class shares.

    .. math::
        \min_P \; \sum_{ic} P_{ic}\, g_{ic} + T \sum_{ic} P_{ic}\log P_{ic}
        \quad\text{subject to}\quad P 1 = 1,\; \tfrac1u P^\top 1 = r,

    solved by :math:`P_{ic} \propto \exp((\nu_c - g_{ic})/T)`.

    Parameters
    ----------
    g : ndarray of shape (u, C)
        Loss of giving point i to class c.
    temperature : float
        T > 0.
    ratio : ndarray of shape (C,)
        Shares r, positive, summing to one.
    offsets : ndarray of shape (C,), optional
        Start for nu, e.g. that of a nearby temperature.

    Notes
    -----
    Dai and Yeung (2007), Eq. 9-10. Two classes: one monotone equation, solved by
    bracketing. More: Newton's method on the concave dual
    :math:`r^\top\nu - (T/u)\sum_i\log\sum_c\exp((\nu_c-g_{ic})/T)`, damped where the
    labels have hardened and the curvature is lost.

    Examples
    --------
    >>> g = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    >>> soft = solve_soft_labels(g, temperature=0.01, ratio=np.array([2 / 3, 1 / 3]))
    >>> soft.P.argmax(axis=1)
    array([1, 0, 0])
    """
    if g.shape[1] == 2:
        return _two_classes(g, temperature, ratio)
    return _many_classes(g, temperature, ratio, offsets)


def _two_classes(g: FloatArray, T: float, ratio: FloatArray) -> SoftLabels:
    difference = (g[:, 1] - g[:, 0]) / T

    def excess(nu: float) -> float:
        return float(expit(nu - difference).mean() - ratio[1])

    margin = 40.0 - np.log(min(ratio))
    low, high = difference.min() - margin, difference.max() + margin
    nu = brentq(excess, low, high, xtol=1e-14 * (1 + abs(low) + abs(high)), rtol=1e-15)
    p = expit(nu - difference)
    return SoftLabels(
        np.column_stack([expit(difference - nu), p]),
        np.array([0.0, T * nu]),
        abs(excess(nu)),
    )


def _many_classes(
    g: FloatArray,
    T: float,
    ratio: FloatArray,
    offsets: FloatArray | None,
) -> SoftLabels:
    C = g.shape[1]
    scaled = g / T
    nu = np.log(ratio) if offsets is None else offsets / T
    damping = 1e-8
    dual, P = _dual(scaled, nu, ratio)
    for _ in range(_NEWTON_STEPS):
        gradient = ratio - P.mean(axis=0)
        if np.abs(gradient).max() <= _TOL:
            break
        curvature = np.diag(P.mean(axis=0)) - P.T @ P / len(P)
        # Adding one to all offsets changes nothing.
        system = curvature + damping * np.eye(C) + np.ones((C, C)) / C
        trial = nu + np.linalg.solve(system, gradient)
        trial_dual, trial_P = _dual(scaled, trial, ratio)
        if trial_dual >= dual - 1e-15 * abs(dual):
            nu, dual, P = trial, trial_dual, trial_P
            damping = max(damping / 10, 1e-15)
        else:
            damping *= 10
    residual = float(np.abs(ratio - P.mean(axis=0)).max())
    return SoftLabels(P, T * (nu - nu.mean()), residual)


def _dual(
    scaled: FloatArray, nu: FloatArray, ratio: FloatArray
) -> tuple[float, FloatArray]:
    logits = nu - scaled
    normal = logsumexp(logits, axis=1)
    return float(ratio @ nu - normal.mean()), np.exp(logits - normal[:, None])
