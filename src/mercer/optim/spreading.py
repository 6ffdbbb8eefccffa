"""Class sizes: a decision spread over all points until it rests."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from mercer._typing import BoolArray, FloatArray, IntArray
from mercer.optim.class_sizes import match_sizes

MAX_ROUNDS = 10
_ENOUGH = 5000  # points to compare class sizes on


def spread_decision(
    Phi: FloatArray,
    coef: FloatArray,
    offset: FloatArray,
    rows: IntArray,
    codes: IntArray,
    sizes: FloatArray | None,
    n_errors: int,
    counted: BoolArray,
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """Spread the decision by the kernel under class sizes, until it rests.

    Parameters
    ----------
    Phi : ndarray of shape (n, r)
        Features of all points, columns centred, total variance 1.
    coef, offset : ndarray of shape (r, C) and (C,)
        Scores to start from.
    rows, codes : int ndarray of shape (l,)
        Labelled points and their classes.
    sizes : ndarray of shape (C,) or None
        Shares of the classes; None to estimate them.
    n_errors : int
        Held-out labels missed.
    counted : bool ndarray of shape (l,)
        Labels that could be left out.

    Returns
    -------
    coef, offset : ndarray of shape (r, C) and (C,)
        Scores of the last round, as confident on average as those of the first.
    sizes : ndarray of shape (C,)
    n_rounds : int
    """
    m = int(counted.sum())
    base = Phi @ coef + offset
    scale = float(np.sqrt(np.mean(base**2))) or 1.0
    base /= scale
    gain = spreading_gain(len(Phi), len(rows), len(offset), n_errors, m)
    if sizes is None:
        sizes = compact_sizes(Phi, base, rows, codes, gain)
    rest = _settle(Phi, base, rows, codes, sizes, gain)
    slope = matching_slope(scale * rest.scores, scale * base)
    return (
        slope * (coef + scale * rest.added),
        slope * (offset + scale * rest.offset),
        sizes,
        rest.n_rounds,
    )


def spreading_gain(
    n: int, n_labeled: int, n_classes: int, n_errors: int, n_held_out: int
) -> float:
    r"""Return how much of a decision to spread, in units of the scores' own size.

    .. math:: g = (1 + \rho) \max\Big(0, 1 - \frac{e}{(m + 2)(1 - 1/C)}\Big)
              \frac{n}{n + 30 (l + 10)}, \qquad \rho = \frac{e + 1}{m + 1}:

    2 among many points without evidence, less when held-out labels are right, which
    makes the scores trusted, 0 when they might as well be guessed, and less among few
    points, whose groups are as much chance as structure, or with many labels, which
    need no help.

    Parameters
    ----------
    n, n_labeled, n_classes : int
        Points, labels l and classes C.
    n_errors, n_held_out : int
        Labels missed, e, among those that could be left out, m.

    Examples
    --------
    >>> round(spreading_gain(10**6, 10, 10, 0, 0), 2)
    2.0
    >>> round(spreading_gain(200, 20, 2, 4, 20), 2)
    0.14
    """
    skill = 1.0 - n_errors / ((n_held_out + 2) * (1 - 1 / n_classes))
    doubt = (n_errors + 1) / (n_held_out + 1)
    return (1.0 + doubt) * max(skill, 0.0) * n / (n + 30 * (n_labeled + 10))


def compact_sizes(
    Phi: FloatArray, base: FloatArray, rows: IntArray, codes: IntArray, gain: float
) -> FloatArray:
    r"""Return the class sizes under which the classes are most compact.

    Candidates lie between the predicted shares and those of the labels: geometric
    means in which the latter weigh 0, u/2 and u, :math:`u = \min(1, 2C/l)`. The
    decision is spread under each, and the one whose classes explain most of the
    kernel's variance, :math:`\sum_c \|\sum_{i \in c} \phi_i\|^2 / n_c`, is taken.
    Among many points, some 5000 evenly spaced ones stand for all.

    Parameters
    ----------
    Phi : ndarray of shape (n, r)
        Features of all points.
    base : ndarray of shape (n, C)
        Scores to start from.
    rows, codes : int ndarray of shape (l,)
        Labelled points and their classes.
    gain : float
        How much of the decision is spread.
    """
    n, C = base.shape
    predicted = base.argmax(axis=1)
    if n > _ENOUGH:
        some = np.union1d(rows, np.arange(0, n, -(-n // _ENOUGH)))
        Phi, base, rows = Phi[some], base[some], np.searchsorted(some, rows)
    most = min(1.0, 2 * C / len(rows))
    candidates = [
        estimated_sizes(predicted, codes, C, trust) for trust in (0.0, most / 2, most)
    ]

    def explained(sizes: FloatArray) -> float:
        decision = _settle(Phi, base, rows, codes, sizes, gain).decision
        hot = np.equal.outer(np.arange(C), decision) * 1.0
        counts = np.maximum(hot.sum(axis=1), 1.0)
        return float((((hot @ Phi) ** 2).sum(axis=1) / counts).sum())

    return max(candidates, key=explained)


@dataclass(frozen=True, slots=True, eq=False)
class _Rest:
    """Where a decision came to rest."""

    decision: IntArray
    scores: FloatArray  # (n, C) with offsets
    added: FloatArray  # (r, C) coefficients of what was spread
    offset: FloatArray  # (C,)
    n_rounds: int


def _settle(
    Phi: FloatArray,
    base: FloatArray,
    rows: IntArray,
    codes: IntArray,
    sizes: FloatArray,
    gain: float,
) -> _Rest:
    """Spread the decision under class sizes until it rests."""
    C = base.shape[1]
    b = match_sizes(base, sizes)
    added, S = np.zeros((Phi.shape[1], C)), base
    hot = np.eye(C) - 1 / C  # centred: what one point adds to the sums of the classes
    now = _decide(base + b, rows, codes)
    M = np.ascontiguousarray((hot[now].T @ Phi).T)  # (r, C)
    n_rounds = 0
    while gain > 0 and n_rounds < MAX_ROUNDS:
        n_rounds += 1
        S = Phi @ M
        spread = float(np.sqrt(np.mean(S**2))) or 1.0
        S *= gain / spread
        S += base
        b = match_sizes(S, sizes, start=b, max_iter=5)
        added = gain * M / spread
        before, now = now, _decide(S + b, rows, codes)
        moved = np.flatnonzero(now != before)
        if len(moved) < 1e-3 * len(now):
            break
        M += Phi[moved].T @ (hot[now[moved]] - hot[before[moved]])
    return _Rest(now, S + b, added, b, n_rounds)


def matching_slope(scores: FloatArray, calibrated: FloatArray) -> float:
    """Return the slope that gives scores the mean confidence of calibrated ones.

    Spreading makes scores larger, not better known: the confidence that held-out
    labels justified before it is what remains justified.

    Parameters
    ----------
    scores, calibrated : ndarray of shape (n, C)
        Log-probabilities but for a constant.

    Examples
    --------
    >>> scores = np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> round(matching_slope(10 * scores, scores), 6)
    0.1
    """

    def confidence(z: FloatArray) -> float:
        return float(np.mean(softmax(z, axis=1).max(axis=1)))

    wanted = confidence(calibrated)

    def excess(log_slope: float) -> float:
        return confidence(np.exp(log_slope) * scores) - wanted

    low, high = -6.0, 3.0
    if excess(low) >= 0 or excess(high) <= 0:
        return 1.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-8)))


def estimated_sizes(
    predicted: IntArray, known: IntArray, n_classes: int, trust: float
) -> FloatArray:
    """Return a geometric mean of predicted and label shares, both smoothed.

    One point is added to every predicted class, C / 2 labels to every labelled one:
    the more classes share the labels, the less their numbers say.

    Parameters
    ----------
    predicted, known : int ndarray
        Classes of all points, and of the labelled ones.
    n_classes : int
        Number of classes.
    trust : float
        Weight of the label shares, in [0, 1].

    Examples
    --------
    >>> estimated_sizes(np.array([0, 0, 0, 1]), np.array([0, 1]), 2, 1.0)
    array([0.5, 0.5])
    """
    seen = np.bincount(predicted, minlength=n_classes) + 1.0
    told = np.bincount(known, minlength=n_classes) + n_classes / 2
    mixed = (seen / seen.sum()) ** (1 - trust) * (told / told.sum()) ** trust
    shares: FloatArray = mixed / mixed.sum()
    return shares


def _decide(scores: FloatArray, rows: IntArray, codes: IntArray) -> IntArray:
    decided: IntArray = scores.argmax(axis=1)
    decided[rows] = codes
    return decided
