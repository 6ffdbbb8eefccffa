r"""How well a kernel explains a division into classes, and better divisions.

A division H (n, C), 0 or 1, is explained by the kernel as far as ridge regression on
its features reproduces it: with :math:`R = K (K + n \lambda I)^{-1}`, the share

.. math:: \frac{1}{C - 1} \sum_c \frac{h_c^\top R h_c}{h_c^\top h_c}

of what C classes can vary. This is the objective of discriminative clustering (Bach and
Harchaoui, NIPS 2007), here of points some of which are labelled.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, eigvalsh
from scipy.optimize import brentq

from mercer._base.typing import FloatArray, IntArray
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.spectrum.features import Features, class_counts
from mercer.spectrum.scores import UNDECIDED, Scores

# Limit of work: if more than this share has changed, sums of features start afresh.
_MOST_CHANGED = 0.3
# Limit of work: rounds of k-means for a new division.
_SPLIT_ROUNDS = 20
# Limit of precision: a round that changes less than this share of the decisions is the
# last one.
STILL = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPoints:
    """Points, their features, and the scores to start from."""

    Phi: Features  # columns centred
    base: Scores  # (n, C)
    rows: IntArray  # (l,) labelled points
    codes: IntArray  # (l,) their classes

    def decide(self, scores: Scores, b: FloatArray | None = None) -> IntArray:
        """Return the class with the largest score, if one has it; labels are kept."""
        decided = scores.decide(b)
        decided[self.rows] = self.codes
        return decided

    def sums(self, decision: IntArray) -> FloatArray:
        """Return the sums of the features of each class, (r, C); ties are in none."""
        return self.Phi.class_sums(decision, self.base.shape[1])

    def sums_after(
        self, sums: FloatArray, before: IntArray | None, now: IntArray
    ) -> FloatArray:
        """Return the sums of a decision, from those of one before it."""
        if before is None:
            return self.sums(now)
        has_changed = now != before
        if has_changed.mean() > _MOST_CHANGED:
            return self.sums(now)
        come, gone = (np.where(has_changed, at, UNDECIDED) for at in (now, before))
        return sums + self.sums(come) - self.sums(gone)

    def divided(self, decision: IntArray) -> "Division":
        """Return a division of the points."""
        counts = class_counts(decision, self.base.shape[1])
        return Division(decision, counts, self.sums(decision))

    def spread(self, added: FloatArray, gain: float) -> tuple[Scores, float]:
        """Return the scores with what is added, made as large as `gain`, and how."""
        S = self.Phi.scores(added, np.zeros(added.shape[1]))
        factor = gain / (float(np.sqrt(S.mean_squares().mean())) or 1.0)
        return S.combined(factor, self.base), factor


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """Points divided into classes, and what a regression has to know of it."""

    decision: IntArray  # (n,)
    counts: IntArray  # (C,) ties are in none
    sums: FloatArray  # (r, C) of the features of each class

    def between(self, B: FloatArray) -> FloatArray:
        """Return what the regression says of classes at classes, summed, (C, C)."""
        between: FloatArray = self.sums.T @ B @ self.sums / len(self.decision)
        return between


def ridge_smoother(moment: FloatArray, dof: float) -> FloatArray:
    r"""Return B, (r, r), for which :math:`R = \Phi B \Phi^\top / n` has trace `dof`.

    :math:`B = (\Phi^\top \Phi / n + \lambda I)^{-1}`; where there are no more than
    `dof` directions, lambda is a millionth of the largest variance.

    Parameters
    ----------
    moment : ndarray of shape (r, r)
        :math:`\Phi^\top \Phi / n`, columns centred.
    dof : float
        Degrees of freedom of the regression, > 0.

    Examples
    --------
    >>> Phi = np.random.default_rng(0).normal(size=(100, 5))
    >>> B = ridge_smoother(Phi.T @ Phi / 100, 2.0)
    >>> round(float(np.trace(Phi @ B @ Phi.T)) / 100, 6)
    2.0
    """
    if moment.size == 0:  # SciPy 1.13 refuses it
        return moment.copy()
    w = eigvalsh(moment)
    # Features in single precision can have a moment that is slightly indefinite.
    lift = max(-w[0], 0.0)
    w = w + lift
    if not w.any():
        return np.zeros_like(moment)
    least, most = np.log(1e-6 * w[-1]), np.log(w.sum() / dof)

    def excess(log_ridge: float) -> float:
        return float((w / (w + np.exp(log_ridge))).sum()) - dof

    ridge = least if excess(least) <= 0 else brentq(excess, least, most)
    one = np.eye(len(w))
    B: FloatArray = cho_solve(cho_factor(moment + (lift + np.exp(ridge)) * one), one)
    return B


def unexplained(division: Division, B: FloatArray) -> float:
    """Return the share of a division that ridge regression does not reproduce.

    At least 1 - d / (C - 1) for a regression with d degrees of freedom.
    """
    explained = np.diag(division.between(B)) / np.maximum(division.counts, 1)
    return 1.0 - float(explained.sum()) / (len(division.counts) - 1)


def missed_labels(points: ScoredPoints, division: Division, B: FloatArray) -> int:
    """Return how many labels the regression on all *other* points would miss."""
    L = points.Phi.rows(points.rows)
    LB = L @ B
    votes = LB @ division.sums
    votes[np.arange(len(L)), points.codes] -= np.einsum("ij,ij->i", LB, L)
    return int((votes.argmax(axis=1) != points.codes).sum())


def resplit(
    points: ScoredPoints,
    B: FloatArray,
    division: Division,
    settle: Callable[[Division], Division],
    rule: Rule = DEFAULT,
) -> tuple[Division, int]:
    """Split pairs of classes again while that leaves less unexplained.

    Spreading a decision climbs to the nearest local optimum. With one label per class
    that may be one where two clusters are swapped between two classes. The pairs that
    the regression confuses most are therefore divided as if their boundary were
    unknown: along the principal directions of their points, then by k-means with both
    sizes and the labels kept. The result is taken if it converges with less unexplained
    and misses no more labels. Where classes are not clear clusters, nothing is done.

    Parameters
    ----------
    points : ScoredPoints
        Features, scores and labels.
    B : ndarray of shape (r, r)
        From `ridge_smoother`.
    division : Division
        What spreading converged to.
    settle : callable
        Spreads a division until it converges.
    rule : Rule, optional
        When to try, how often, and what is worth taking.

    Returns
    -------
    division : Division
    n_resplits : int
    """
    if unexplained(division, B) > rule.clear:
        return division, 0
    for n_resplits in range(rule.resplits):
        left = unexplained(division, B)
        for a, b in _confused(division, B, rule.split_pairs):
            new = points.divided(split_pair(points, B, division.decision, a, b, rule))
            if unexplained(new, B) >= left:
                continue
            new = settle(new)
            if is_better(points, B, new, division, rule):
                division = new
                break
        else:
            return division, n_resplits
    return division, rule.resplits


def is_better(
    points: ScoredPoints,
    B: FloatArray,
    new: Division,
    old: Division,
    rule: Rule = DEFAULT,
) -> bool:
    """Tell whether a division leaves less unexplained and misses no more labels."""
    return unexplained(new, B) < rule.worth * unexplained(old, B) and (
        missed_labels(points, new, B) <= missed_labels(points, old, B)
    )


def split_pair(
    points: ScoredPoints,
    B: FloatArray,
    decision: IntArray,
    a: int,
    b: int,
    rule: Rule = DEFAULT,
) -> IntArray:
    """Divide the points of two classes again, with the sizes that they have."""
    inside = np.flatnonzero((decision == a) | (decision == b))
    at_a, at_b = (
        np.searchsorted(inside, points.rows[points.codes == c]) for c in (a, b)
    )
    n_a = int((decision == a).sum())
    Phi, moment = points.Phi.sample(inside)

    def take(lead: FloatArray) -> IntArray:
        lead[at_a], lead[at_b] = -np.inf, np.inf
        side = np.zeros(len(lead), np.intp)
        side[np.argpartition(lead, n_a)[:n_a]] = -1
        return side

    best, best_side = -np.inf, np.where(decision[inside] == b, 0, -1)
    for lead in _leading(Phi, moment, rule.split_directions).T:
        side = take(lead if lead[at_b].mean() >= lead[at_a].mean() else -lead)
        total = Phi.class_sums(side, 1)  # of the points of b
        for _ in range(_SPLIT_ROUNDS):
            before, side = side, take(Phi.times(B @ total)[:, 0])
            total = Phi.class_sums(side, 1)
            if np.mean(before != side) < STILL:
                break
        explained = float(np.sum(total * (B @ total)))
        if explained > best:
            best, best_side = explained, side
    new = decision.copy()
    new[inside] = np.where(best_side == 0, b, a)
    return new


def _leading(Phi: Features, moment: FloatArray, q: int) -> FloatArray:
    """Return q principal components of points, whichever matrix is the smaller."""
    n, r = Phi.shape
    few = min(n, r)
    top = [max(few - q, 0), few - 1]
    if n < r:
        rows = Phi.rows(np.arange(n))
        components: FloatArray = eigh(rows @ rows.T, subset_by_index=top)[1]
        return components
    return Phi.times(eigh(moment, subset_by_index=top)[1])


def _confused(
    division: Division, B: FloatArray, n_pairs: int
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of classes that the regression, with an offset, confuses most."""
    counts, n = division.counts, len(division.decision)
    votes = division.between(B) + np.outer(counts, counts) / n
    a, b = np.triu_indices(len(counts), 1)
    order = np.argsort(-votes[a, b])[:n_pairs]
    yield from zip(a[order].tolist(), b[order].tolist(), strict=True)
