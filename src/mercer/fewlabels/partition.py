r"""How well a kernel explains a division into classes, and better divisions.

A division H (n, C), 0 or 1, is explained by the kernel as far as ridge regression on
its features reproduces it: with :math:`R = K (K + n \lambda I)^{-1}`, the share

.. math:: \frac{1}{C - 1} \sum_c \frac{h_c^\top R h_c}{h_c^\top h_c}

of what C classes can vary. This is the objective of discriminative clustering (Bach and
Harchaoui, NIPS 2007), here of points some of which are labelled.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from mercer._typing import BoolArray, FloatArray, IntArray
from mercer.backends import torch_scores
from mercer.backends._torch import is_tensor
from mercer.backends.torch_features import TorchFeatures
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import class_counts, decide, mean_squares
from mercer.spectrum.features import DenseFeatures, Features


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPoints:
    """Points, their features, and the scores to start from."""

    Phi: Features  # columns centred
    base: Any  # (n, C), an array, or a tensor where the features are
    rows: IntArray  # (l,) labelled points
    codes: IntArray  # (l,) their classes

    def decide(self, scores: Any, b: FloatArray) -> Any:
        """Return the class with the largest score, if one has it; labels are kept."""
        if is_tensor(scores):
            moved = scores + torch_scores.like(b, scores)
            return torch_scores.placed(decide(moved), self.rows, self.codes)
        decided = decide(scores + b)
        decided[self.rows] = self.codes
        return decided

    def sums(self, decision: Any) -> FloatArray:
        """Return the sums of the features of each class, (r, C); ties are in none."""
        C = self.base.shape[1]
        if is_tensor(decision):
            return self.Phi.gather(torch_scores.one_hot(decision, C))
        hot = np.equal.outer(decision, np.arange(C)) * 1.0
        return self.Phi.gather(hot)

    def sums_after(
        self, sums: FloatArray, before: Any, now: Any, has_moved: Any
    ) -> FloatArray:
        """Return the sums of a new decision from those of the one before.

        On a device all of them are cheaper than those of the points that moved.
        """
        if is_tensor(now):
            return self.sums(now)
        C = self.base.shape[1]
        hot = np.vstack([np.eye(C), np.zeros(C)])  # last: undecided
        moved = np.flatnonzero(has_moved)
        change = hot[now[moved]] - hot[before[moved]]
        return sums + self.Phi.gather(change, moved)

    def spread(self, added: FloatArray, gain: float) -> tuple[Any, float]:
        """Return the scores with what is added, made as large as `gain`, and how."""
        S = self.Phi.scores(added, np.zeros(added.shape[1]))
        factor = gain / (float(np.sqrt(mean_squares(S).mean())) or 1.0)
        S *= factor
        S += self.base
        return S, factor


def together(
    Phi: FloatArray, scores: Any, rows: IntArray
) -> tuple[Features, FloatArray]:
    """Return features of the host, and scores of some points, where the scores are."""
    if is_tensor(scores):
        features = TorchFeatures(torch_scores.like(Phi, scores), np.ones(Phi.shape[1]))
        return features, torch_scores.taken(scores, rows)
    return DenseFeatures.plain(Phi), scores[rows]


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
    w, Q = eigh(moment)
    w = np.maximum(w, 0.0)
    if not w.any():
        return np.zeros_like(Q)
    least, most = np.log(1e-6 * w[-1]), np.log(w.sum() / dof)

    def excess(log_ridge: float) -> float:
        return float((w / (w + np.exp(log_ridge))).sum()) - dof

    ridge = least if excess(least) <= 0 else brentq(excess, least, most)
    B: FloatArray = (Q / (w + np.exp(ridge))) @ Q.T
    return B


def unexplained(points: ScoredPoints, B: FloatArray, decision: IntArray) -> float:
    """Return the share of a division that ridge regression does not reproduce.

    At least 1 - d / (C - 1) for a regression with d degrees of freedom.
    """
    counts = class_counts(decision, points.base.shape[1])
    explained = np.diag(_between(points, B, decision)) / np.maximum(counts, 1)
    return 1.0 - float(explained.sum()) / (len(counts) - 1)


def missed_labels(points: ScoredPoints, B: FloatArray, decision: IntArray) -> int:
    """Return how many labels the regression on all *other* points would miss."""
    L = points.Phi.rows(points.rows)
    LB = L @ B
    votes = LB @ points.sums(decision)
    votes[np.arange(len(L)), points.codes] -= np.einsum("ij,ij->i", LB, L)
    return int((votes.argmax(axis=1) != points.codes).sum())


def resplit(
    points: ScoredPoints,
    B: FloatArray,
    decision: IntArray,
    settle: Callable[[IntArray], IntArray],
    rule: Rule = DEFAULT,
) -> tuple[IntArray, int]:
    """Split pairs of classes again while that leaves less unexplained.

    Spreading a decision climbs to the nearest local optimum. With one label per class
    that may be one where two clusters are swapped between two classes. The pairs that
    the regression confuses most are therefore divided as if their boundary were
    unknown: along the principal directions of their points, then by k-means with both
    sizes and the labels kept. The result is taken if it converges with less unexplained
    and misses no more labels. Where the classes are no clear clusters, nothing is done.

    Parameters
    ----------
    points : ScoredPoints
        Features, scores and labels.
    B : ndarray of shape (r, r)
        From `ridge_smoother`.
    decision : int ndarray of shape (n,)
        What spreading converged to.
    settle : callable
        Spreads a decision until it converges.
    rule : Rule, optional
        When to try, how often, and what is worth taking.

    Returns
    -------
    decision : int ndarray of shape (n,)
    n_resplits : int
    """
    if unexplained(points, B, decision) > rule.clear:
        return decision, 0
    for n_resplits in range(rule.resplits):
        left = unexplained(points, B, decision)
        for a, b in _confused(points, B, decision, rule.split_pairs):
            new = split_pair(points, B, decision, a, b, rule)
            if unexplained(points, B, new) >= left:
                continue
            new = settle(new)
            if is_better(points, B, new, decision, rule):
                decision = new
                break
        else:
            return decision, n_resplits
    return decision, rule.resplits


def is_better(
    points: ScoredPoints,
    B: FloatArray,
    new: IntArray,
    old: IntArray,
    rule: Rule = DEFAULT,
) -> bool:
    """Tell whether a division leaves less unexplained and misses no more labels."""
    return unexplained(points, B, new) < rule.worth * unexplained(points, B, old) and (
        missed_labels(points, B, new) <= missed_labels(points, B, old)
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
    X = points.Phi.rows(inside)
    X = X - X.mean(axis=0)
    r = X.shape[1]
    _, V = eigh(X.T @ X, subset_by_index=[max(r - rule.split_directions, 0), r - 1])

    def take(lead: FloatArray) -> BoolArray:
        lead[at_a], lead[at_b] = -np.inf, np.inf
        side = np.ones(len(X), bool)
        side[np.argpartition(lead, n_a)[:n_a]] = False
        return side

    best, best_side = -np.inf, decision[inside] == b
    for lead in (X @ V).T:
        side = take(lead if lead[at_b].mean() >= lead[at_a].mean() else -lead)
        for _ in range(rule.split_rounds):
            before, side = side, take(X @ (B @ X[side].sum(axis=0)))
            if np.mean(before != side) < rule.still:
                break
        total = X[side].sum(axis=0)
        if total @ B @ total > best:
            best, best_side = float(total @ B @ total), side
    new = decision.copy()
    new[inside] = np.where(best_side, b, a)
    return new


def _between(points: ScoredPoints, B: FloatArray, decision: IntArray) -> FloatArray:
    sums = points.sums(decision)
    between: FloatArray = sums.T @ B @ sums / len(decision)
    return between


def _confused(
    points: ScoredPoints, B: FloatArray, decision: IntArray, n_pairs: int
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of classes that the regression, with an offset, confuses most."""
    counts = class_counts(decision, points.base.shape[1])
    votes = _between(points, B, decision) + np.outer(counts, counts) / len(decision)
    a, b = np.triu_indices(len(counts), 1)
    order = np.argsort(-votes[a, b])[:n_pairs]
    yield from zip(a[order].tolist(), b[order].tolist(), strict=True)
