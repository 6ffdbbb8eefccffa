"""Class shares that the points themselves tell, where the labels do not."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from mercer._base.typing import FloatArray
from mercer.evidence.labels import LabelsDrawn
from mercer.fewlabels.centred import CentredFit
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import (
    drawn_points,
    label_shares,
    unevenness,
)


@dataclass(frozen=True, slots=True, eq=False)
class LikeliestShares:
    """Shares of the classes, and how nearly they are the maximum."""

    shares: FloatArray  # (C,) > 0, summing to 1
    residual: float  # largest pi_c |slope_c - 1|, which is 0 at the maximum


def likeliest_shares(
    probabilities: FloatArray, given: FloatArray, trust: float
) -> LikeliestShares:
    r"""Return the class shares under which the points are likeliest.

    A model trained with shares q of the classes says :math:`p_{ic}` of point i. Where
    only the shares differ among all points (label shift), these are the maximum of

    .. math:: \frac{t}{n} \sum_i \log \sum_c \frac{\pi_c}{q_c} p_{ic}
              + (1 - t) \sum_c q_c \log \pi_c.

    Parameters
    ----------
    probabilities : ndarray of shape (n, C)
        Of points against classes.
    given : ndarray of shape (C,)
        Shares q > 0 that the model was trained with.
    trust : float
        Weight t of the points against q, in [0, 1).

    Notes
    -----
    With t = 1 this is maximum likelihood (Saerens, Latinne and Decaestecker, Neural
    Computation 2002). The objective is concave; Newton's method on the simplex. The
    slopes times the shares sum to 1, so at the maximum every slope is 1.

    Examples
    --------
    >>> p = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    >>> even = np.array([0.5, 0.5])
    >>> likeliest_shares(p, even, 0.0).shares
    array([0.5, 0.5])
    >>> likeliest_shares(p, even, 0.5).shares.round(3)
    array([0.62, 0.38])
    """
    ratios, shares = probabilities / given, given / given.sum()

    def objective(x: FloatArray) -> float:
        points = float(np.log(ratios @ x).mean())
        return trust * points + (1 - trust) * float(given @ np.log(x))

    for _ in range(100):
        R = ratios / (ratios @ shares)[:, None]
        slope = trust * R.mean(axis=0) + (1 - trust) * given / shares
        residual = float(np.abs(shares * (slope - 1)).max())
        if residual <= 1e-12:
            break
        curvature = trust / len(R) * (R.T @ R)
        curvature += np.diag((1 - trust) * given / shares**2)
        up, level = np.linalg.solve(
            curvature, np.stack([slope, np.ones_like(slope)], axis=1)
        ).T
        step = up - up.sum() / level.sum() * level
        down = step < 0
        size = min(1.0, 0.9 * float((-shares[down] / step[down]).min(initial=np.inf)))
        now = objective(shares)
        now -= 1e-13 * (1 + abs(now))  # rounding must not hold the last steps back
        while objective(shares + size * step) < now and size > 1e-10:
            size /= 2
        shares = shares + size * step
    return LikeliestShares(shares, residual)


def trust_in_points(
    counts: FloatArray,
    n_held_out: float,
    labels_drawn: LabelsDrawn | None = None,
    rule: Rule = DEFAULT,
) -> float:
    r"""Return how far the points, rather than the labels, tell the class shares.

    .. math:: t = \frac{k^2}{k^2 + 15^2} \exp\Big(\frac{-g}{C - 1}\Big)

    for k held-out labels per class: probabilities that few labels made say little. The
    unevenness g of the numbers of labels (`unevenness`) is 0 for labels drawn per
    class, which tell no shares; labels drawn at random do, and then t is small.

    Parameters
    ----------
    counts : ndarray of shape (C,)
        Labels of each class, > 0.
    n_held_out : float
        Labels that could be held out.
    labels_drawn : {"at random", "per class"}, optional
        How rows were chosen for labels, if that is known: 0, or g = 0.
    rule : Rule, optional
        The constant.

    Examples
    --------
    >>> round(trust_in_points(np.array([15.0, 15.0]), 30), 2)
    0.5
    >>> round(trust_in_points(np.array([25.0, 5.0]), 30), 2)
    0.0
    """
    C = len(counts)
    if C == 1 or labels_drawn == "at random":
        return 0.0
    squared = (n_held_out / C) ** 2
    trust = squared / (squared + rule.labels_for_sizes**2)
    if labels_drawn is None:
        trust *= float(np.exp(-unevenness(counts) / (C - 1)))
    return trust


def shift_of_classes(
    fit: CentredFit,
    counts: FloatArray,
    n_held_out: float,
    labels_drawn: LabelsDrawn | None = None,
    rule: Rule = DEFAULT,
) -> FloatArray:
    r"""Return what to add to the scores of the classes, :math:`\log(\pi / q)`, (C,).

    q are the shares of the labels, and :math:`\pi` those that some 10,000 points make
    likeliest (`likeliest_shares`), by the probabilities that held-out labels
    calibrated.

    Parameters
    ----------
    fit : CentredFit
        Scores of all points.
    counts, n_held_out, labels_drawn, rule
        As in `trust_in_points`.
    """
    trust = trust_in_points(counts, n_held_out, labels_drawn, rule)
    if trust == 0:
        return np.zeros(len(counts))
    drawn = drawn_points(fit.points.shape[0], rule.sampled_points)
    probabilities = softmax(fit.points.rows(drawn) + fit.offset, axis=1)
    given = label_shares(counts, rule)
    shift = np.log(likeliest_shares(probabilities, given, trust).shares / given)
    centred: FloatArray = shift - shift.mean()
    return centred
