"""Class sizes: a decision spread over all points until it converges."""

from dataclasses import dataclass

import numpy as np

from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.labels import LabelsDrawn
from mercer.fewlabels.gain import matching_slope, skill, spreading_gain, sureness
from mercer.fewlabels.partition import (
    STILL,
    Division,
    ScoredPoints,
    is_better,
    resplit,
    ridge_smoother,
    unexplained,
)
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import (
    candidate_sizes,
    drawn_points,
    match_sizes,
)
from mercer.machines._sizes import ToldSizes, predicted_shares
from mercer.spectrum.features import Features, class_counts
from mercer.spectrum.scores import Scores

# Limits of work: rounds of spreading, and those with all points at the end.
_ROUNDS, _LAST_ROUNDS = 10, 3


@dataclass(frozen=True, slots=True, eq=False)
class SpreadDecision:
    """Scores that give every class its share."""

    coef: FloatArray  # (r, C) as confident on average as `sureness` says
    offset: FloatArray  # (C,)
    scores: Scores  # (n, C) of all points
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
    scores: Scores | None = None,
    sizes: ToldSizes | None = None,
    labels_drawn: LabelsDrawn | None = None,
    n_points: int | None = None,
    weights: FloatArray | None = None,
    n_errors: float = 0,
    n_held_out: float = 0,
    rule: Rule = DEFAULT,
) -> SpreadDecision:
    r"""Spread the decision by the kernel under class sizes, until it converges.

    The present decision V, with given labels kept, is smoothed by ridge regression on
    the features, :math:`R = K (K + n \lambda I)^{-1}` with 10 C degrees of freedom
    (n / 10 if that is less). The result is added to the scores, which decide again.
    Pairs of classes may then be split again (`resplit`). All of this happens on at most
    some 10,000 points, always the same ones; a last few rounds use all of them.

    Sizes that are not given are the predicted ones. Others, a little nearer to those of
    the labels or to even ones (`candidate_sizes`), take their place where the classes
    are clear clusters that they explain better: elsewhere that says nothing.

    Parameters
    ----------
    Phi : Features
        Features of all points, columns centred, total variance 1.
    coef, offset : ndarray of shape (r, C) and (C,)
        Scores to start from.
    rows, codes : int ndarray of shape (l,)
        Labelled points and their classes.
    scores : Scores, optional
        The scores to start from, where they hold more than these, or are known. What
        they hold more stays in the result.
    sizes : ToldSizes, optional
        What is known of the shares of the classes.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels, if that is known.
    n_points : int, optional
        How many points these stand for; by default there are no others.
    weights : ndarray of shape (l,), optional
        How many labels each one counts for.
    n_errors, n_held_out : float
        Labels missed among those that could be left out.
    rule : Rule, optional
        Every constant of the above.
    """
    base = Phi.scores(coef, offset) if scores is None else scores
    scale = float(np.sqrt(base.mean_squares().mean())) or 1.0
    base = base.combined(1 / scale)
    n_seen, C = base.shape
    n = n_seen if n_points is None else n_points
    given = np.ones(len(rows)) if weights is None else weights
    every = ScoredPoints(Phi, base, rows, codes)
    drawn = drawn_points(n_seen, rule.sampled_points)
    some, moment = _sampled(every, drawn)
    dof = min(rule.directions_per_class * C, rule.share_of_points * some.base.shape[0])
    B = ridge_smoother(moment, dof)
    per_class = np.bincount(codes, given, minlength=C).astype(np.float64)

    held_out = per_class, n_errors, n_held_out

    def gain_with(left: float) -> float:
        return spreading_gain(n, *held_out, left, rule=rule)

    if sizes is None:
        candidates = list(
            candidate_sizes(
                base, codes, weights=given, labels_drawn=labels_drawn, rule=rule
            ).values()
        )
    else:
        exact = sizes.exact
        if exact is None:
            exact = sizes.nearest(predicted_shares(class_counts(base.decide(), C)))
        candidates = [exact]
    first = some.divided(some.decide(some.base))
    gain = gain_with(unexplained(first, B))
    shares, found = _first(some, B, candidates, gain, rule)

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
        max_rounds=_LAST_ROUNDS,
    )
    spread = final.scores.rows(drawn) + final.offset
    sure = scale * sureness(skill(*held_out, left, rule=rule), rule)
    slope = matching_slope(scale * spread, sure * base.rows(drawn))
    return SpreadDecision(
        slope * (coef + scale * final.added),
        slope * (offset + scale * final.offset),
        final.scores.moved(final.offset).combined(slope * scale),
        shares,
        slope,
        left,
        n_resplits,
    )


def _sampled(points: ScoredPoints, drawn: IntArray) -> tuple[ScoredPoints, FloatArray]:
    """Return the drawn and the labelled points, centred, and their second moment."""
    is_taken = np.zeros(points.base.shape[0], dtype=bool)
    is_taken[points.rows] = is_taken[drawn] = True
    some = np.flatnonzero(is_taken)
    Phi, moment = points.Phi.sample(some)
    rows = np.searchsorted(some, points.rows)
    return ScoredPoints(Phi, points.base.take(some), rows, points.codes), moment


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """A decision that spreading no longer changes."""

    decision: IntArray  # (n,)
    scores: Scores  # (n, C) without offsets
    added: FloatArray  # (r, C) coefficients of what was spread
    offset: FloatArray  # (C,)


def _first(
    points: ScoredPoints,
    B: FloatArray,
    candidates: list[FloatArray],
    gain: float,
    rule: Rule,
) -> tuple[FloatArray, _Settled]:
    """Return class sizes, the first ones unless others are clearly better.

    Others are taken among clear clusters only, and if they leave less unexplained
    and miss no more labels.
    """
    sizes = candidates[0]
    found = _spread_own(points, B, sizes, gain, rule)
    for other in candidates[1:]:
        new = _spread_own(points, B, other, gain, rule)
        old, division = points.divided(found.decision), points.divided(new.decision)
        is_clear = unexplained(division, B) <= rule.clear
        if is_clear and is_better(points, B, division, old, rule):
            sizes, found = other, new
    return sizes, found


def _spread_own(
    points: ScoredPoints,
    B: FloatArray,
    sizes: FloatArray,
    gain: float,
    rule: Rule,
) -> _Settled:
    """Spread the scores' own decision."""
    b = match_sizes(points.base, sizes)
    sums = points.sums(points.decide(points.base, b))
    return _settle(points, B, sizes, gain, sums, b, rule)


def _settle(
    points: ScoredPoints,
    B: FloatArray,
    sizes: FloatArray,
    gain: float,
    sums: FloatArray,
    b: FloatArray,
    rule: Rule,
    *,
    max_rounds: int = _ROUNDS,
) -> _Settled:
    """Spread a decision, given by its sums of features, until it converges.

    The decision may be one on other points; `b` are offsets to begin with.
    """
    if gain == 0:
        b = match_sizes(points.base, sizes, start=b)
        decision = points.decide(points.base, b)
        return _Settled(decision, points.base, 0.0 * sums, b)
    before: IntArray | None = None
    now = np.empty(0, np.intp)
    for i in range(max_rounds):
        if i > 0:
            sums = points.sums_after(sums, before, now)
        added = B @ sums
        S, factor = points.spread(added, gain)
        b = match_sizes(S, sizes, start=b)
        before, now = now if i > 0 else None, points.decide(S, b)
        if before is not None and int((now != before).sum()) < STILL * len(now):
            break
    return _Settled(now, S, factor * added, b)
