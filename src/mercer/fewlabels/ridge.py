"""Ridge regression with a free offset, judged by leaving out one label at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import log_softmax, softmax

from mercer._base.typing import FloatArray
from mercer.fewlabels.rule import DEFAULT, Rule

# Limit of work: the kernel of at most this many labels is factored. With more labels
# than this and than features, the cost is made linear in the labels.
KERNEL_UP_TO = 50


@dataclass(frozen=True, slots=True, eq=False)
class LooRidge:
    """Ridge regression on one-hot targets, and what it says without each label."""

    alpha: FloatArray  # (l, C) coefficients of the labelled points; columns sum to 0
    offset: FloatArray  # (C,)
    held_out: FloatArray  # (l, C) value at each labelled point when it is left out
    held_out_offset: FloatArray  # (l, C) offset when the point is left out


def solve_loo_ridge(
    K: FloatArray, Y: FloatArray, *, ridge: float | FloatArray
) -> LooRidge:
    r"""Fit :math:`f = K\alpha + b` and all its leave-one-out versions at once.

    Parameters
    ----------
    K : ndarray of shape (l, l)
        Kernel of the labelled points, positive semi-definite.
    Y : ndarray of shape (l, C)
        Targets, one column per class.
    ridge : float or ndarray of shape (l,)
        Weight > 0 of the norm, in the units of K. The offset is free. One entry per
        point weighs its squared error by the inverse.

    Returns
    -------
    LooRidge

    Notes
    -----
    With :math:`\tilde K = K + \mathrm{diag}(\lambda)`,
    :math:`a = 1^\top \tilde K^{-1} 1` and
    :math:`P = \tilde K^{-1} - \tilde K^{-1} 1 1^\top \tilde K^{-1} / a`,
    :math:`\alpha = P Y`, :math:`b = 1^\top \tilde K^{-1} Y / a`. Without point i the
    residual there is :math:`r_i = \alpha_i / P_{ii}` and the offset
    :math:`b - (\tilde K^{-1} 1)_i\, r_i / a`: one factorisation gives all l refits
    (Allen's PRESS for a kernel with a free offset). With one label there is nothing
    to leave out: the held-out value is the label's own.

    Examples
    --------
    >>> import numpy as np
    >>> fit = solve_loo_ridge(np.eye(3), np.eye(3), ridge=1.0)
    >>> fit.held_out[0]  # without it, the mean of the two others
    array([0. , 0.5, 0.5])
    """
    n = len(K)
    factor, failed = dpotrf(K + ridge * np.eye(n), clean=False)
    if failed:
        msg = "K + ridge is not positive definite; K must be a kernel, ridge > 0."
        raise np.linalg.LinAlgError(msg)
    inverse = dpotrs(factor, np.eye(n))[0]
    ones = inverse.sum(axis=1)
    total = float(ones.sum())
    P = inverse - np.outer(ones, ones) / total
    return _leave_out(Y, P @ Y, np.diag(P), ones / total, ones @ Y / total)


def solve_loo_features(
    Z: FloatArray, Y: FloatArray, *, ridge: float | FloatArray
) -> LooRidge:
    r"""Return what `solve_loo_ridge` returns for :math:`K = Z Z^\top`.

    For many labels: the cost is :math:`l r^2` in place of :math:`l^3`.

    Parameters
    ----------
    Z : ndarray of shape (l, r)
        Features of the labelled points.
    Y : ndarray of shape (l, C)
        Targets, one column per class.
    ridge : float or ndarray of shape (l,)
        As in `solve_loo_ridge`.

    Notes
    -----
    :math:`(Z Z^\top + \Lambda)^{-1} = \Lambda^{-1} - \Lambda^{-1} Z
    (I + Z^\top \Lambda^{-1} Z)^{-1} Z^\top \Lambda^{-1}`.
    """
    diagonal = np.broadcast_to(np.asarray(ridge, dtype=np.float64), len(Z))[:, None]
    scaled = Z / diagonal
    factor = np.linalg.cholesky(np.eye(Z.shape[1]) + Z.T @ scaled)
    B = solve_triangular(factor, scaled.T, lower=True).T  # (l, r)
    right = np.column_stack([Y, np.ones(len(Z))])
    solved = right / diagonal - B @ (B.T @ right)
    ones = solved[:, -1]
    total = float(ones.sum())
    offset = ones @ Y / total
    leverage = 1 / diagonal[:, 0] - np.einsum("ij,ij->i", B, B) - ones**2 / total
    alpha = solved[:, :-1] - np.outer(ones, offset)
    return _leave_out(Y, alpha, leverage, ones / total, offset)


def _leave_out(
    Y: FloatArray,
    alpha: FloatArray,  # P Y
    leverage: FloatArray,  # diagonal of P
    share: FloatArray,  # of each point in the offset
    offset: FloatArray,
) -> LooRidge:
    residual = np.zeros_like(alpha)
    np.divide(alpha, leverage[:, None], out=residual, where=leverage[:, None] > 0)
    return LooRidge(alpha, offset, Y - residual, offset - share[:, None] * residual)


def loo_ridges(
    U: FloatArray,
    core: float | FloatArray,
    Y: FloatArray,
    ridges: Sequence[FloatArray],
    *,
    kernel_up_to: int = KERNEL_UP_TO,
) -> list[LooRidge]:
    r"""Solve for :math:`K = U \mathrm{diag}(c) U^\top` at several ridges.

    Parameters
    ----------
    U : ndarray of shape (l, r)
        Features of the labelled points.
    core : float or ndarray of shape (r,)
        Weights c >= 0 of the features.
    Y : ndarray of shape (l, C)
        Targets.
    ridges : sequence of ndarray of shape (l,)
    kernel_up_to : int, default=50
        With more labels than this and than features, the features are solved for.
    """
    if len(U) > max(kernel_up_to, U.shape[1]):
        Z = U * np.sqrt(core)
        return [solve_loo_features(Z, Y, ridge=ridge) for ridge in ridges]
    K = (U * core) @ U.T
    return [solve_loo_ridge(K, Y, ridge=ridge) for ridge in ridges]


def held_out_votes(Y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weights of labels whose class has a label at another point, (l, C).

    Without one, leaving out does not test anything.

    Parameters
    ----------
    Y : ndarray of shape (l, C)
        Label distributions.
    weights : ndarray of shape (l,)
        How many labels each counts for.

    Examples
    --------
    >>> held_out_votes(np.array([[1.0, 0.0], [0.7, 0.3]]), np.ones(2))
    array([[1. , 0. ],
           [0.7, 0. ]])
    """
    votes = weights[:, None] * Y
    others = (votes > 0).sum(axis=0) - (votes > 0)
    kept: FloatArray = np.where(others > 0, votes, 0.0)
    return kept


def held_out_loss(
    scores: FloatArray,
    votes: FloatArray,
    shift: FloatArray,
    *,
    rule: Rule = DEFAULT,
) -> tuple[float, float]:
    r"""Return the summed log-loss of held-out scores, and the slope it is taken at.

    :math:`\min_a \sum_i v_i^\top (-\log \mathrm{softmax}(a s_i + t))
    + \tfrac{36}{12 + m} \log^2(a / a_0)` over a grid of slopes a, m the sum of the
    votes, and at most what guessing costs. The usual slope :math:`a_0 = 0.45 \log C`:
    scores that tell many classes apart say more than those that tell two.

    Parameters
    ----------
    scores : ndarray of shape (l, C)
        Of unit deviation over all points.
    votes : ndarray of shape (l, C)
        Weights v of the labels (`held_out_votes`): 1 at the class of a point that
        counts, else 0.
    shift : ndarray of shape (C,)
        Logarithms t of the class shares.
    rule : Rule, optional
        The usual slope, its weight, and slopes as multiples of it.

    Examples
    --------
    >>> scores = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(held_out_loss(scores, np.eye(2), np.zeros(2))[1], 1)  # two are few
    0.3
    >>> many = np.tile(scores, (50, 1)), np.tile(np.eye(2), (50, 1))
    >>> round(held_out_loss(*many, np.zeros(2))[1], 1)
    2.5
    """
    usual = rule.usual_slope * np.log(max(scores.shape[1], 2))
    ratios = np.array(rule.slopes)
    slopes = usual * ratios
    fading = rule.doubt_fades / (rule.doubt_fades + float(votes.sum()))
    doubt = rule.slope_doubt * fading * np.log(ratios) ** 2
    at = votes.any(axis=1)
    # Classes first: sums over few numbers are slow where these are next to each other.
    chosen, held = (np.ascontiguousarray(v[at].T) for v in (votes, scores))
    z = slopes[:, None] * held[:, None] + shift[:, None, None]
    z -= z.max(axis=0)
    total = np.log(np.exp(z).sum(axis=0)) @ chosen.sum(axis=0)
    fit = total - np.einsum("cm,csm->s", chosen, z)
    best = int(np.argmin(fit + doubt))
    guessing = float(votes.sum()) * float(np.log(scores.shape[1]))
    return min(float((fit + doubt)[best]), guessing), float(slopes[best])


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Slope and offsets that turn scores into log-probabilities."""

    slope: float
    offset: FloatArray  # (C,)
    residual: float  # largest entry of the gradient


def calibrate(
    scores: FloatArray, votes: FloatArray, start: FloatArray, *, rule: Rule = DEFAULT
) -> Calibration:
    r"""Fit slope and offsets of a softmax to held-out scores.

    .. math:: \min_{a, c} \sum_i v_i^\top (-\log \mathrm{softmax}(a s_i + c))
              + 2 (a - 1)^2 + \frac{\|c - c_0\|^2}{2 \sigma^2}

    Parameters
    ----------
    scores : ndarray of shape (m, C)
        Held-out scores; none at all leaves slope 1 and the offsets `start`.
    votes : ndarray of shape (m, C)
        Weights v of the labels: 1 at the class of a point, else 0.
    start : ndarray of shape (C,)
        Offsets :math:`c_0` to stay close to.
    rule : Rule, optional
        How stiff the slope is, and how far offsets may go, :math:`\sigma`.

    Notes
    -----
    Strongly convex; Newton's method with step halving.

    Examples
    --------
    >>> calibrate(np.empty((0, 2)), np.empty((0, 2)), np.array([0.5, -0.5])).offset
    array([ 0.5, -0.5])
    """
    C = len(start)
    total = votes.sum(axis=1)
    stiffness = np.r_[rule.slope_stiffness, np.full(C, 1 / rule.offset_spread**2)]
    rest = np.r_[1.0, start]

    def objective(x: FloatArray) -> float:
        fit = -float((log_softmax(x[0] * scores + x[1:], axis=1) * votes).sum())
        return fit + 0.5 * float(stiffness @ (x - rest) ** 2)

    x = rest.copy()
    for _ in range(100):
        p = softmax(x[0] * scores + x[1:], axis=1)
        error = total[:, None] * p - votes
        gradient = np.r_[(error * scores).sum(), error.sum(axis=0)]
        gradient += stiffness * (x - rest)
        residual = float(np.abs(gradient).max())
        if residual <= 1e-9 * (1 + total.sum()):
            break
        # J = [s, I] for each point: sums of J' (diag(p) - p p') J, scores less their
        # mean under p, so that large ones do not cancel the stiffness.
        weight = total[:, None] * p
        spread = scores - (p * scores).sum(axis=1, keepdims=True)
        hessian = np.diag(np.r_[(weight * spread**2).sum(), weight.sum(axis=0)])
        hessian[0, 1:] = hessian[1:, 0] = (weight * spread).sum(axis=0)
        hessian[1:, 1:] -= weight.T @ p
        hessian += np.diag(stiffness)
        step, now = np.linalg.solve(hessian, gradient), objective(x)
        now += 1e-13 * (1 + abs(now))  # rounding must not hold the last steps back
        size = 1.0
        while objective(x - size * step) > now and size > 1e-10:
            size /= 2
        x = x - size * step
    return Calibration(float(x[0]), x[1:], residual)
