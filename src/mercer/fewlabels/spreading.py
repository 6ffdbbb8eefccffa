"""Class sizes: a decision spread over all points until it converges."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from mercer._base.tensors import is_tensor
from mercer._base.typing import FloatArray, IntArray
from mercer.fewlabels.partition import (
    Division,
    ScoredPoints,
    is_better,
    resplit,
    ridge_smoother,
    unexplained,
)
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import (
    LabelsDrawn,
    candidate_sizes,
    drawn_points,
    match_sizes,
    mean_squares,
    on_host,
    rows_of,
    taken,
    with_offset,
)
from mercer.spectrum.features import Features


@dataclass(frozen=True, slots=True, eq=False)
class SpreadDecision:
    """Scores that give every class its share."""

    coef: FloatArray  # (r, C) as confident on average as before
    offset: FloatArray  # (C,)
    scores: Any  # (n, C) of all points, where the features are
    sizes: FloatArray  # (C,)
    slope: float  # what the scores were multiplied by
    unexplained: float  # share of the division that was found, before the last rounds
    n_resplits: int


def spread_decision(
    Phi: Features,
    coef: FloatArray,
    offset: FloatArray,
    rows: IntArray,
    codes: IntArray,
    *,
    scores: Any = None,
    sizes: FloatArray | None = None,
    labels_drawn: LabelsDrawn | None = None,
    weights: FloatArray | None = None,
    n_errors: float = 0,
    n_held_out: float = 0,
    rule: Rule = DEFAULT,
) -> SpreadDecision:
    r"""Spread the decision by the kernel under class sizes, until it converges.

    The present decision V, with given labels kept, is smoothed by ridge regression on
    the features, :math:`R = K (K + n \lambda I)^{-1}` with 10 C degrees of freedom
    (n / 10 if that is less). The result is added to the scores, which decide again. The
    first rounds use the kernel itself, which sees the large structure only. Pairs of
    classes may then be split again (`resplit`). All of this happens on at most some
    10,000 points, always the same ones; a last few rounds use all of them.

    Sizes that are not given are the predicted ones. Those of the labels, or even ones
    (`candidate_sizes`), take their place where the classes are clear clusters that they
    explain better: elsewhere a difference says nothing.

    Parameters
    ----------
    Phi : Features
        Of all points, columns centred, total variance 1.
    coef, offset : ndarray of shape (r, C) and (C,)
        Scores to start from.
    rows, codes : int ndarray of shape (l,)
        Labelled points and their classes.
    scores : ndarray or tensor of shape (n, C), optional
        The scores to start from, where they hold more than these, or are known; where
        the features are. What they hold more stays in the result.
    sizes : ndarray of shape (C,), optional
        Shares of the classes.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels, if that is known.
    weights : ndarray of shape (l,), optional
        How many labels each one counts for.
    n_errors, n_held_out : float
        Labels missed among those that could be left out.
    rule : Rule, optional
        Every constant of the above.
    """
    base = Phi.scores(coef, offset) if scores is None else scores
    scale = float(np.sqrt(mean_squares(base).mean())) or 1.0
    # Sizes are matched, and points decided, class by class.
    base = (base if is_tensor(base) else np.asfortranarray(base)) / scale
    n, C = base.shape
    given = np.ones(len(rows)) if weights is None else weights
    every = ScoredPoints(Phi, base, rows, codes)
    drawn = drawn_points(n, rule.sampled_points)
    some, moment = _sampled(every, drawn)
    dof = min(rule.directions_per_class * C, rule.share_of_points * len(some.base))
    B = ridge_smoother(moment, dof)
    per_class = np.bincount(codes, given, minlength=C).astype(np.float64)

    def gain_with(left: float) -> float:
        return spreading_gain(n, per_class, n_errors, n_held_out, left, rule=rule)

    if sizes is None:
        candidates = list(
            candidate_sizes(
                base, codes, weights=given, labels_drawn=labels_drawn, rule=rule
            ).values()
        )
    else:
        candidates = [sizes]
    first = some.divided(on_host(some.decide(some.base, np.zeros(C))))
    gain = gain_with(unexplained(first, B))
    coarse = gain * _fading(n, float(given.sum()), rule) ** rule.gentle_power
    shares, found = _first(some, B, candidates, (coarse, gain), rule)

    def settle(division: Division) -> Division:
        # A division that the kernel explains better than the first one is spread more.
        more = gain_with(unexplained(division, B))
        rested = _settle(some, B, shares, more, division.sums, found.offset, rule)
        return some.divided(rested.decision)

    division, n_resplits = resplit(some, B, some.divided(found.decision), settle, rule)
    left = unexplained(division, B)
    final = _settle(
        every,
        B,
        shares,
        gain_with(left),
        division.sums,
        found.offset,
        rule,
        max_rounds=rule.last_rounds,
    )
    spread = rows_of(final.scores, drawn) + final.offset
    surer = scale * sureness(left, n_held_out, rule)
    slope = matching_slope(scale * spread, surer * rows_of(base, drawn))
    found_scores = with_offset(final.scores, final.offset)
    found_scores *= slope * scale
    return SpreadDecision(
        slope * (coef + scale * final.added),
        slope * (offset + scale * final.offset),
        found_scores,
        shares,
        slope,
        left,
        n_resplits,
    )


def spreading_gain(
    n: int,
    given: FloatArray,
    n_errors: float,
    n_held_out: float,
    left: float,
    *,
    rule: Rule = DEFAULT,
) -> float:
    r"""Return how much of a decision to spread, in units of the scores' own size.

    .. math:: g = 4 s^4 \frac{n}{n + 100 (l + 10)}, \qquad
              s = \max\Big(0, 1 - \frac{e / (1 - p) + 2 u}{m + 2}\Big):

    4 among many points of clear clusters. The skill s is 0 when held-out labels might
    as well be guessed; with no label to hold out it is the share of the decision that
    the kernel explains. Where classes overlap, spreading moves their borders to
    wherever the points are few. There is less of it among few points, whose groups are
    as much chance as structure, or with many labels, which need no help.

    Parameters
    ----------
    n : int
        Points.
    given : ndarray of shape (C,)
        Labels of each class; l is their sum, p the share of the largest.
    n_errors, n_held_out : float
        Labels missed, e, among those that could be left out, m.
    left : float
        Share u of the decision that the kernel does not explain (`unexplained`).
    rule : Rule, optional
        The constants.

    Examples
    --------
    >>> even = np.ones(10)
    >>> round(spreading_gain(10**6, even, 0, 0, 0.1), 2)
    2.62
    >>> round(spreading_gain(10**6, even, 0, 0, 0.5), 2)
    0.25
    >>> round(spreading_gain(10**6, 10 * even, 40, 100, 0.5), 2)
    0.37
    """
    n_labels, guessed = float(given.sum()), 1.0 - float(given.max() / given.sum())
    missed = n_errors / guessed + rule.doubted_labels * max(left, 0.0)
    skill = max(1.0 - missed / (n_held_out + rule.doubted_labels), 0.0)
    return float(rule.gain * skill**rule.skill_power * _fading(n, n_labels, rule))


def sureness(left: float, n_held_out: float, rule: Rule = DEFAULT) -> float:
    r"""Return how much larger the scores of clear clusters are than labels justify.

    .. math:: \exp\Big(1.2 \max(0, 1 - u / 0.2) \frac{2}{m + 2}\Big):

    with few labels to hold out, m, nothing else tells clear clusters from classes that
    overlap. u is the share of the division that the kernel does not explain.

    Examples
    --------
    >>> [round(sureness(left, 0), 2) for left in (0.0, 0.1, 0.2, 0.5)]
    [3.32, 1.82, 1.0, 1.0]
    >>> round(sureness(0.0, 20), 2)
    1.12
    """
    if left >= rule.clear:
        return 1.0
    doubt = rule.doubted_labels / (n_held_out + rule.doubted_labels)
    return float(np.exp(rule.sureness * (1 - left / rule.clear) * doubt))


def _fading(n: int, n_labeled: float, rule: Rule) -> float:
    return n / (n + rule.points_per_label * (n_labeled + rule.assumed_labels))


def _sampled(points: ScoredPoints, drawn: IntArray) -> tuple[ScoredPoints, FloatArray]:
    """Return the drawn and the labelled points, centred, and their second moment."""
    is_taken = np.zeros(len(points.base), dtype=bool)
    is_taken[points.rows] = is_taken[drawn] = True
    some = np.flatnonzero(is_taken)
    Phi, moment = points.Phi.sample(some)
    rows = np.searchsorted(some, points.rows)
    return ScoredPoints(Phi, taken(points.base, some), rows, points.codes), moment


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """A decision that spreading no longer changes."""

    decision: IntArray  # (n,)
    scores: Any  # (n, C) without offsets
    added: FloatArray  # (r, C) coefficients of what was spread
    offset: FloatArray  # (C,)


def _first(
    points: ScoredPoints,
    B: FloatArray,
    candidates: list[FloatArray],
    gains: tuple[float, float],
    rule: Rule,
) -> tuple[FloatArray, _Settled]:
    """Return class sizes, the first ones unless others are clearly better.

    Others are taken among clear clusters only, and if they leave less unexplained and
    miss no more labels.
    """
    sizes = candidates[0]
    found = _spread_own(points, B, sizes, gains, rule)
    for other in candidates[1:]:
        new = _spread_own(points, B, other, gains, rule)
        old, division = points.divided(found.decision), points.divided(new.decision)
        is_clear = unexplained(division, B) <= rule.clear
        if is_clear and is_better(points, B, division, old, rule):
            sizes, found = other, new
    return sizes, found


def _spread_own(
    points: ScoredPoints,
    B: FloatArray,
    sizes: FloatArray,
    gains: tuple[float, float],
    rule: Rule,
) -> _Settled:
    """Spread the scores' own decision: by the kernel, then by the regression."""
    b = match_sizes(points.base, sizes)
    sums = points.sums(points.decide(points.base, b))
    kernel = np.eye(len(B))
    first = _settle(points, kernel, sizes, gains[0], sums, b, rule)
    sums = points.sums(first.decision)
    return _settle(points, B, sizes, gains[1], sums, first.offset, rule)


def _settle(
    points: ScoredPoints,
    B: FloatArray,
    sizes: FloatArray,
    gain: float,
    sums: FloatArray,
    b: FloatArray,
    rule: Rule,
    *,
    max_rounds: int | None = None,
) -> _Settled:
    """Spread a decision, given by its sums of features, until it converges.

    The decision may be one on other points; `b` are offsets to begin with.
    """
    if gain == 0:
        b = match_sizes(points.base, sizes, start=b)
        decision = on_host(points.decide(points.base, b))
        return _Settled(decision, points.base, 0.0 * sums, b)
    before: Any = None
    now: Any = None
    for _ in range(rule.rounds if max_rounds is None else max_rounds):
        if before is not None:
            sums = points.sums_after(sums, before, now)
        elif now is not None:
            sums = points.sums(now)
        added = B @ sums
        S, factor = points.spread(added, gain)
        b = match_sizes(S, sizes, start=b, max_iter=rule.sweeps)
        before, now = now, points.decide(S, b)
        if before is not None and int((now != before).sum()) < rule.still * len(now):
            break
    return _Settled(on_host(now), S, factor * added, b)


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

    def behind(z: FloatArray) -> FloatArray:
        columns = np.ascontiguousarray(z.T)  # long axes are compared faster
        gaps: FloatArray = columns - columns.max(axis=0)
        return gaps  # (C, n)

    def confidence(z: FloatArray) -> float:
        return float(np.mean(1 / np.exp(z).sum(axis=0)))

    wanted, gaps = confidence(behind(calibrated)), behind(scores)

    def excess(log_slope: float) -> float:
        return confidence(np.exp(log_slope) * gaps) - wanted

    low, high = -6.0, 3.0
    if excess(low) >= 0 or excess(high) <= 0:
        return 1.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-8)))
