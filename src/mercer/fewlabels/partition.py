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
from scipy.linalg import eigh
from scipy.optimize import brentq

from mercer._typing import BoolArray, FloatArray, IntArray
from mercer.fewlabels.sizes import class_counts, decide

CLEAR = 0.2  # classes that leave more than this unexplained are no clusters
_WORTH = 0.97  # a new division leaves at most so much of what the old one left
_DIRECTIONS = _PAIRS = 3
_MAX_RESPLITS, _MAX_ROUNDS = 6, 20


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPoints:
    """Points, their features, and the scores to start from."""

    Phi: FloatArray  # (n, r) columns centred
    base: FloatArray  # (n, C)
    rows: IntArray  # (l,) labelled points
    codes: IntArray  # (l,) their classes

    def decide(self, scores: FloatArray) -> IntArray:
        """Return the class with the largest score, if one has it; labels are kept."""
        decided = decide(scores)
        decided[self.rows] = self.codes
        return decided

    def sums(self, decision: IntArray) -> FloatArray:
        """Return the sums of the features of each class, (r, C); ties are in none."""
        hot = np.equal.outer(np.arange(self.base.shape[1]), decision) * 1.0
        return np.ascontiguousarray((hot @ self.Phi).T)


def ridge_smoother(Phi: FloatArray, dof: float) -> FloatArray:
    r"""Return B, (r, r), for which :math:`R = \Phi B \Phi^\top / n` has trace `dof`.

    :math:`B = (\Phi^\top \Phi / n + \lambda I)^{-1}`; where there are no more than
    `dof` directions, lambda is a millionth of the largest variance.

    Parameters
    ----------
    Phi : ndarray of shape (n, r)
        Features, columns centred.
    dof : float
        Degrees of freedom of the regression, > 0.

    Examples
    --------
    >>> Phi = np.random.default_rng(0).normal(size=(100, 5))
    >>> B = ridge_smoother(Phi, 2.0)
    >>> round(float(np.trace(Phi @ B @ Phi.T)) / 100, 6)
    2.0
    """
    w, Q = eigh(Phi.T @ Phi / len(Phi))
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
    L = points.Phi[points.rows]
    LB = L @ B
    votes = LB @ points.sums(decision)
    votes[np.arange(len(L)), points.codes] -= np.einsum("ij,ij->i", LB, L)
    return int((votes.argmax(axis=1) != points.codes).sum())


def resplit(
    points: ScoredPoints,
    B: FloatArray,
    decision: IntArray,
    settle: Callable[[IntArray], IntArray],
) -> tuple[IntArray, int]:
    """Divide pairs of classes anew while that leaves less unexplained.

    Spreading a decision climbs to the nearest summit, and with one label a class that
    may be one where two classes share two clusters crosswise. The pairs that the
    regression confuses most are therefore divided as if their boundary were unknown:
    along the principal directions of their points, then by k-means with both sizes and
    the labels kept. The result is taken if it settles with less unexplained and misses
    no more labels. Where the classes are no clear clusters, nothing is done.

    Parameters
    ----------
    points : ScoredPoints
        Features, scores and labels.
    B : ndarray of shape (r, r)
        From `ridge_smoother`.
    decision : int ndarray of shape (n,)
        Where spreading came to rest.
    settle : callable
        Takes a decision to where it rests.

    Returns
    -------
    decision : int ndarray of shape (n,)
    n_resplits : int
    """
    if unexplained(points, B, decision) > CLEAR:
        return decision, 0
    for n_resplits in range(_MAX_RESPLITS):
        left = unexplained(points, B, decision)
        for a, b in _confused(points, B, decision):
            new = split_pair(points, B, decision, a, b)
            if unexplained(points, B, new) >= left:
                continue
            new = settle(new)
            if is_better(points, B, new, decision):
                decision = new
                break
        else:
            return decision, n_resplits
    return decision, _MAX_RESPLITS


def is_better(
    points: ScoredPoints, B: FloatArray, new: IntArray, old: IntArray
) -> bool:
    """Tell whether a division leaves less unexplained and misses no more labels."""
    return unexplained(points, B, new) < _WORTH * unexplained(points, B, old) and (
        missed_labels(points, B, new) <= missed_labels(points, B, old)
    )


def split_pair(
    points: ScoredPoints, B: FloatArray, decision: IntArray, a: int, b: int
) -> IntArray:
    """Divide the points of two classes anew, with the sizes that they have."""
    inside = np.flatnonzero((decision == a) | (decision == b))
    at_a, at_b = (
        np.searchsorted(inside, points.rows[points.codes == c]) for c in (a, b)
    )
    n_a = int((decision == a).sum())
    X = points.Phi[inside]
    X = X - X.mean(axis=0)
    r = X.shape[1]
    _, V = eigh(X.T @ X, subset_by_index=[max(r - _DIRECTIONS, 0), r - 1])

    def take(lead: FloatArray) -> BoolArray:
        lead[at_a], lead[at_b] = -np.inf, np.inf
        side = np.ones(len(X), bool)
        side[np.argpartition(lead, n_a)[:n_a]] = False
        return side

    best, best_side = -np.inf, decision[inside] == b
    for lead in (X @ V).T:
        side = take(lead if lead[at_b].mean() >= lead[at_a].mean() else -lead)
        for _ in range(_MAX_ROUNDS):
            before, side = side, take(X @ (B @ X[side].sum(axis=0)))
            if np.mean(before != side) < 1e-3:
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
    points: ScoredPoints, B: FloatArray, decision: IntArray
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of classes that the regression, with an offset, confuses most."""
    counts = class_counts(decision, points.base.shape[1])
    votes = _between(points, B, decision) + np.outer(counts, counts) / len(decision)
    a, b = np.triu_indices(len(counts), 1)
    order = np.argsort(-votes[a, b])[:_PAIRS]
    yield from zip(a[order].tolist(), b[order].tolist(), strict=True)
