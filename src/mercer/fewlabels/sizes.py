"""How large the classes may be, and offsets that make them so."""

import numpy as np
from scipy.special import xlogy

from mercer._base.random import draw_rows
from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.labels import LabelsDrawn
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.spectrum.features import class_counts
from mercer.spectrum.scores import Scores

_SEEN_PER_LABEL = 10


def match_sizes(
    scores: Scores,
    sizes: FloatArray,
    *,
    start: FloatArray | None = None,
    max_iter: int = 15,
) -> FloatArray:
    r"""Return offsets b so that :math:`\arg\max_c (s_c + b_c)` has the given shares.

    Parameters
    ----------
    scores : Scores
        Of n points against C classes.
    sizes : ndarray of shape (C,)
        Shares of the classes, > 0, summing to 1.
    start : ndarray of shape (C,), optional
        Offsets to begin with.
    max_iter : int, default=15
        Sweeps over the classes.

    Returns
    -------
    ndarray of shape (C,)
        Summing to 0.

    Notes
    -----
    Every class has an offset at which exactly its share of the points prefers it to
    the others; all classes move towards theirs at once, half of the way where there
    are two. A share that is not a whole number of points ends on a point, which then
    prefers neither class, so that the order of classes and points decides nothing.

    Examples
    --------
    >>> from mercer.spectrum.scores import ArrayScores
    >>> scores = ArrayScores(np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.5, 0.0]]))
    >>> scores.decide(match_sizes(scores, np.array([0.5, 0.5])))
    array([0, 0, 1, 1])
    """
    n, C = scores.shape
    b = np.zeros(C) if start is None else start - start.mean()
    if C == 1:
        return b
    leads = scores.leads()
    # Half way from the last point let in to the first left out, by their leads.
    place = np.clip((1 - sizes) * n - 0.5, 0, n - 1)
    below = np.floor(place + 1e-9).astype(np.intp)
    part = np.maximum(place - below, 0.0)
    ends = np.stack([below, np.minimum(below + 1, n - 1)], axis=1)
    return leads.matched(b, ends, part, max_iter)


def candidate_sizes(
    base: Scores,
    codes: IntArray,
    *,
    weights: FloatArray | None = None,
    labels_drawn: LabelsDrawn | None = None,
    rule: Rule = DEFAULT,
) -> dict[str, FloatArray]:
    r"""Return class sizes to choose from, the predicted ones first.

    The other candidate is a geometric mean of the predicted shares and those of the
    labels, which weigh :math:`u = \min(1, 2C/l)`. Labels drawn at random from classes
    of one size are not even: if those given are no more uneven than that (`unevenness`
    up to C - 1), even shares take their place. Neither moves more than 8% of the
    points to other classes (`moved_towards`).

    Parameters
    ----------
    base : Scores
        Of all points.
    codes : int ndarray of shape (l,)
        Classes of the labelled ones; every class has one.
    weights : ndarray of shape (l,), optional
        How many labels each one counts for.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels. At random, their shares are those of the
        classes but for chance, and the only candidate; per class, they say nothing,
        and the predicted shares are.
    rule : Rule, optional
        How far label shares are trusted.

    Returns
    -------
    dict of str to ndarray of shape (C,)
    """
    C = base.shape[1]
    predicted = class_counts(base.decide(), C)
    counts = np.bincount(codes, weights, minlength=C).astype(np.float64)
    total = float(counts.sum())
    most = min(1.0, rule.label_trust * C / total)
    sizes = {
        name: estimated_sizes(predicted, counts, trust, rule=rule)
        for name, trust in (("predicted", 0.0), ("labels", most))
    }
    if labels_drawn is not None:
        name = "labels" if labels_drawn == "at random" else "predicted"
        return {name: sizes[name]}
    if counts.max() > counts.min() and unevenness(counts) <= C - 1:
        del sizes["labels"]
        sizes["even"] = estimated_sizes(predicted, np.ones(C), most, rule=rule)
    near = sizes["predicted"]
    return {name: moved_towards(near, s, rule.most_moved) for name, s in sizes.items()}


def moved_towards(sizes: FloatArray, others: FloatArray, most: float) -> FloatArray:
    """Return class sizes moved towards others, by at most this share of the points.

    Examples
    --------
    >>> moved_towards(np.array([0.9, 0.1]), np.array([0.5, 0.5]), 0.08)
    array([0.82, 0.18])
    """
    step = others - sizes
    far = float(np.abs(step).sum()) / 2
    return sizes + min(1.0, most / far) * step if far > 0 else sizes


def unevenness(counts: FloatArray) -> float:
    r"""Return :math:`2 \sum_c l_c \log(C l_c / l)`, 0 for equal numbers of labels.

    For labels drawn at random from classes of one size it is C - 1 on average, if the
    labels are many.

    Examples
    --------
    >>> unevenness(np.array([5.0, 5.0])), round(unevenness(np.array([8.0, 2.0])), 2)
    (0.0, 3.85)
    """
    return 2 * float(xlogy(counts, len(counts) * counts / counts.sum()).sum())


def label_shares(counts: FloatArray, rule: Rule = DEFAULT) -> FloatArray:
    """Return the shares of the labels, smoothed, (C,)."""
    more = counts + rule.added_label
    shares: FloatArray = more / more.sum()
    return shares


def seen_points(n: int, labeled: IntArray, rule: Rule = DEFAULT) -> IntArray:
    """Return the rows on which the decision is made, ascending: all where they are few.

    If there are more, some are drawn, and the labelled ones are added. At least ten
    times as many as labels are drawn: labels must not change how large classes are.

    Parameters
    ----------
    n : int
        Points.
    labeled : int ndarray of shape (l,)
        Those that have a label.
    rule : Rule, optional
        How many are seen.

    Examples
    --------
    >>> len(seen_points(25_000, np.arange(5))), len(seen_points(10**6, np.array([7])))
    (25000, 25001)
    """
    most = max(rule.seen_points, _SEEN_PER_LABEL * len(labeled))
    drawn = drawn_points(n, most)
    return drawn if n <= most else np.union1d(drawn, labeled)


def drawn_points(n: int, most: int) -> IntArray:
    """Return rows that stand for all, always the same ones."""
    return draw_rows(n, most, np.random.default_rng(0))


def estimated_sizes(
    predicted: IntArray,
    counts: FloatArray,
    trust: float,
    *,
    rule: Rule = DEFAULT,
) -> FloatArray:
    """Return a geometric mean of predicted and label shares, both smoothed.

    One point is added to every predicted class, one label to every labelled one.

    Parameters
    ----------
    predicted : int ndarray of shape (C,)
        Points of each class; those in a tie are not counted.
    counts : ndarray of shape (C,)
        Labels of each class.
    trust : float
        Weight of the label shares, in [0, 1].
    rule : Rule, optional
        How label shares are smoothed.

    Examples
    --------
    >>> estimated_sizes(np.array([3, 1]), np.array([1, 1]), 1.0)
    array([0.5, 0.5])
    """
    seen = predicted + 1.0
    told = label_shares(counts, rule)
    mixed = (seen / seen.sum()) ** (1 - trust) * told**trust
    shares: FloatArray = mixed / mixed.sum()
    return shares
