"""Class sizes: a decision spread over all points until it rests."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from mercer._typing import FloatArray, IntArray
from mercer.fewlabels.partition import (
    CLEAR,
    ScoredPoints,
    is_better,
    resplit,
    ridge_smoother,
    unexplained,
)
from mercer.fewlabels.sizes import class_counts, decide, match_sizes

MAX_ROUNDS = 10
_ENOUGH = 10_000  # points to look for a division on
_LAST_ROUNDS = 3  # with all points
_LARGE = 0.7  # fading above which the gentle gain is nearly the full one


@dataclass(frozen=True, slots=True, eq=False)
class SpreadDecision:
    """Scores that give every class its share."""

    coef: FloatArray  # (r, C) as confident on average as before
    offset: FloatArray  # (C,)
    sizes: FloatArray  # (C,)
    unexplained: float  # share of the division that was found, before the last rounds
    n_resplits: int


def spread_decision(
    Phi: FloatArray,
    coef: FloatArray,
    offset: FloatArray,
    rows: IntArray,
    codes: IntArray,
    *,
    sizes: FloatArray | None = None,
    n_errors: int = 0,
    n_held_out: int = 0,
) -> SpreadDecision:
    r"""Spread the decision by the kernel under class sizes, until it rests.

    The present decision V, with given labels kept, is smoothed by ridge regression on
    the features, :math:`R = K (K + n \lambda I)^{-1}` with 10 C degrees of freedom
    (n / 10 if that is less), and what comes out is added to the scores, which decide
    anew. The first rounds use the kernel itself, which sees the large structure only.
    Pairs of classes may then be divided anew (`resplit`). All of this happens on at
    most some 10,000 points, always the same ones; a last few rounds on all of them.

    Sizes that are not given are those, out of `candidate_sizes`, whose resting decision
    leaves least unexplained.

    Parameters
    ----------
    Phi : ndarray of shape (n, r)
        Features of all points, columns centred, total variance 1.
    coef, offset : ndarray of shape (r, C) and (C,)
        Scores to start from.
    rows, codes : int ndarray of shape (l,)
        Labelled points and their classes.
    sizes : ndarray of shape (C,), optional
        Shares of the classes.
    n_errors, n_held_out : int
        Labels missed among those that could be left out.
    """
    base = Phi @ coef + offset
    scale = float(np.sqrt(np.mean(base**2))) or 1.0
    base /= scale
    n, C = base.shape
    fading = _fading(n, len(rows))
    gain = spreading_gain(n, len(rows), C, n_errors, n_held_out)
    every = ScoredPoints(Phi, base, rows, codes)
    some = _enough(every)
    B = ridge_smoother(some.Phi, min(10.0 * C, len(some.Phi) / 10))
    candidates = candidate_sizes(base, codes) if sizes is None else [sizes]
    if len(candidates) == 4 and some is not every:
        del candidates[1]  # among many points three do
    few = some is every and fading <= _LARGE
    shares, found = _first_rest(some, B, candidates, gain, gain * fading**2, few)

    def settle(decision: IntArray) -> IntArray:
        sums = some.sums(decision)
        return _settle(some, B, shares, gain, sums, found.offset).decision

    decision, n_resplits = resplit(some, B, found.decision, settle)
    rest = _settle(
        every, B, shares, gain, some.sums(decision), found.offset, _LAST_ROUNDS
    )
    drawn = _drawn(n)
    slope = matching_slope(scale * rest.scores[drawn], scale * base[drawn])
    return SpreadDecision(
        slope * (coef + scale * rest.added),
        slope * (offset + scale * rest.offset),
        shares,
        unexplained(some, B, decision),
        n_resplits,
    )


def spreading_gain(
    n: int, n_labeled: int, n_classes: int, n_errors: int, n_held_out: int
) -> float:
    r"""Return how much of a decision to spread, in units of the scores' own size.

    .. math:: g = 4 \max\Big(0, 1 - \frac{e}{(m + 2)(1 - 1/C)}\Big)
              \frac{n}{n + 100 (l + 10)}:

    4 among many points, 0 when held-out labels might as well be guessed, and less among
    few points, whose groups are as much chance as structure, or with many labels, which
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
    3.99
    >>> round(spreading_gain(200, 20, 2, 4, 20), 2)
    0.16
    """
    skill = 1.0 - n_errors / ((n_held_out + 2) * (1 - 1 / n_classes))
    return 4.0 * max(skill, 0.0) * _fading(n, n_labeled)


def candidate_sizes(base: FloatArray, codes: IntArray) -> list[FloatArray]:
    r"""Return class sizes between the predicted shares and those of the labels.

    Geometric means in which the latter weigh 0, u/2 and u, :math:`u = \min(1, 2C/l)`.
    Labels drawn at random from classes of one size are not even: if those given are no
    more uneven than that, :math:`2 \sum_c l_c \log(C l_c / l) \le C - 1`, even shares
    with the weight u are a fourth.

    Parameters
    ----------
    base : ndarray of shape (n, C)
        Scores of all points.
    codes : int ndarray of shape (l,)
        Classes of the labelled ones; every class has one.
    """
    C = base.shape[1]
    most = min(1.0, 2 * C / len(codes))
    predicted, counts = decide(base), np.bincount(codes, minlength=C)
    sizes = [
        estimated_sizes(predicted, codes, C, trust) for trust in (0.0, most / 2, most)
    ]
    surprise = 2 * float((counts * np.log(C * counts / len(codes))).sum())
    if counts.max() > counts.min() and surprise <= C - 1:
        sizes.append(estimated_sizes(predicted, np.arange(C), C, most))
    return sizes


def _fading(n: int, n_labeled: int) -> float:
    return n / (n + 100 * (n_labeled + 10))


def _drawn(n: int) -> IntArray:
    """Return rows that stand for all, always the same ones."""
    if n <= _ENOUGH:
        return np.arange(n)
    return np.random.default_rng(0).choice(n, _ENOUGH, replace=False)


def _enough(points: ScoredPoints) -> ScoredPoints:
    if len(points.base) <= _ENOUGH:
        return points
    some = np.union1d(points.rows, _drawn(len(points.base)))
    Phi = points.Phi[some]
    Phi -= Phi.mean(axis=0)
    rows = np.searchsorted(some, points.rows)
    return ScoredPoints(Phi, points.base[some], rows, points.codes)


@dataclass(frozen=True, slots=True, eq=False)
class _Rest:
    """Where a decision came to rest."""

    decision: IntArray
    scores: FloatArray  # (n, C) with offsets
    added: FloatArray  # (r, C) coefficients of what was spread
    offset: FloatArray  # (C,)


def _first_rest(
    points: ScoredPoints,
    B: FloatArray,
    candidates: list[FloatArray],
    gain: float,
    gentle: float,
    few: bool,
) -> tuple[FloatArray, _Rest]:
    """Return the sizes under which the scores' own decision rests best, and where.

    It is spread by the kernel first, with a gentle gain; among few points, if the
    classes turn out to be clear clusters, also with the full gain, which makes clusters
    without a label whole.
    """

    def rest_best(coarse: float) -> tuple[float, FloatArray, _Rest]:
        rests = [_spread_own(points, B, sizes, gain, coarse) for sizes in candidates]
        left = [unexplained(points, B, rest.decision) for rest in rests]
        best = int(np.argmin(left))
        return left[best], candidates[best], rests[best]

    left, sizes, rest = rest_best(gentle)
    if few and left <= CLEAR:
        _, other, fully = rest_best(gain)
        if is_better(points, B, fully.decision, rest.decision):
            return other, fully
    return sizes, rest


def _spread_own(
    points: ScoredPoints, B: FloatArray, sizes: FloatArray, gain: float, coarse: float
) -> _Rest:
    """Spread the scores' own decision: by the kernel, then by the regression."""
    b = match_sizes(points.base, sizes)
    sums = points.sums(points.decide(points.base + b))
    rest = _settle(points, np.eye(len(B)), sizes, coarse, sums, b)
    return _settle(points, B, sizes, gain, points.sums(rest.decision), rest.offset)


def _settle(
    points: ScoredPoints,
    B: FloatArray,
    sizes: FloatArray,
    gain: float,
    sums: FloatArray,
    b: FloatArray,
    max_rounds: int = MAX_ROUNDS,
) -> _Rest:
    """Spread a decision, given by its sums of features, until it rests.

    It may be one on other points; `b` are offsets to begin with.
    """
    if gain == 0:
        b = match_sizes(points.base, sizes, start=b)
        scores = points.base + b
        return _Rest(points.decide(scores), scores, np.zeros_like(sums), b)
    hot = np.vstack([np.eye(len(sizes)), np.zeros(len(sizes))])  # last: undecided
    now = np.full(len(points.base), len(sizes))  # neither a class nor undecided
    for n_rounds in range(max_rounds):
        added = B @ sums
        S = points.Phi @ added
        factor = gain / (float(np.sqrt(np.mean(S**2))) or 1.0)
        S *= factor
        S += points.base
        b = match_sizes(S, sizes, start=b, max_iter=10)
        before, now = now, points.decide(S + b)
        moved = np.flatnonzero(now != before)
        if len(moved) < 1e-3 * len(now):
            break
        if n_rounds == 0:
            sums = points.sums(now)
        else:
            sums = sums + points.Phi[moved].T @ (hot[now[moved]] - hot[before[moved]])
    return _Rest(now, S + b, factor * added, b)


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
        Classes of all points (those in a tie are not counted), and of the labelled
        ones.
    n_classes : int
        Number of classes.
    trust : float
        Weight of the label shares, in [0, 1].

    Examples
    --------
    >>> estimated_sizes(np.array([0, 0, 0, 1]), np.array([0, 1]), 2, 1.0)
    array([0.5, 0.5])
    """
    seen = class_counts(predicted, n_classes) + 1.0
    told = np.bincount(known, minlength=n_classes) + n_classes / 2
    mixed = (seen / seen.sum()) ** (1 - trust) * (told / told.sum()) ** trust
    shares: FloatArray = mixed / mixed.sum()
    return shares
