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
    return float(rule.gain * skill**rule.skill_power * fading(n, n_labels, rule))


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


def fading(n: int, n_labeled: float, rule: Rule) -> float:
    """Return how little there is of spreading among few points or with many labels."""
    return n / (n + rule.points_per_label * (n_labeled + rule.assumed_labels))


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
