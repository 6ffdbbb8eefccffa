"""How much of a decision to spread, and how sure the result may be."""

import numpy as np
from scipy.optimize import brentq

from mercer._base.typing import FloatArray
from mercer.fewlabels.rule import DEFAULT, Rule


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

    .. math:: g = 4 s^4 \frac{n}{n + 100 l}:

    4 among many points of clear clusters, where the skill s (`skill`) is 1. Where
    classes overlap, spreading moves their borders to wherever the points are few. There
    is less of it among few points, whose groups are as much chance as structure, or
    with many labels, which need no help.

    Parameters
    ----------
    n : int
        Points.
    given, n_errors, n_held_out, left, rule
        As in `skill`.

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
    known = skill(given, n_errors, n_held_out, left, rule=rule)
    fading = n / (n + rule.points_per_label * float(given.sum()))
    return float(rule.gain * known**rule.skill_power * fading)


def skill(
    given: FloatArray,
    n_errors: float,
    n_held_out: float,
    left: float,
    *,
    rule: Rule = DEFAULT,
) -> float:
    r"""Return how far held-out labels are known better than by guessing, 0 to 1.

    .. math:: s = \max\Big(0, 1 - \frac{e / (1 - p) + 2 u}{m + 2}\Big):

    0 when they might as well be guessed; with no label to hold out it is the share of
    the decision that the kernel explains.

    Parameters
    ----------
    given : ndarray of shape (C,)
        Labels of each class; p is the share of the largest.
    n_errors, n_held_out : float
        Labels missed, e, among those that could be left out, m.
    left : float
        Share u of the decision that the kernel does not explain (`unexplained`).
    rule : Rule, optional
        The constants.

    Examples
    --------
    >>> even = np.ones(2)
    >>> skill(even, 0, 0, 0.5), skill(10 * even, 4, 18, 0.5), skill(even, 2, 2, 0.5)
    (0.5, 0.55, 0.0)
    """
    guessed = 1.0 - float(given.max() / given.sum())
    missed = n_errors / guessed + rule.doubted_labels * max(left, 0.0)
    return max(1.0 - missed / (n_held_out + rule.doubted_labels), 0.0)


def sureness(known: float, rule: Rule = DEFAULT) -> float:
    r"""Return by what scores are multiplied, 0.7 + 0.3 s for the skill s (`skill`).

    The labels that a softmax is fitted to have chosen the kernels as well, and seem
    better known than they are, most of all where little is known.

    Examples
    --------
    >>> [round(sureness(s), 2) for s in (0.0, 0.5, 1.0)]
    [0.7, 0.85, 1.0]
    """
    return rule.sureness + (1 - rule.sureness) * known


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
