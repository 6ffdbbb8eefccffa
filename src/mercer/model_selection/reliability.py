"""How often predictions of about the same confidence are correct."""

from typing import NamedTuple

import numpy as np

from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray


class ReliabilityTable(NamedTuple):
    """Points of about the same confidence, bin by bin."""

    confidence: FloatArray  # (n_bins,) mean probability of the predicted class
    share: FloatArray  # (n_bins,) of correct predictions
    counts: IntArray  # (n_bins,) points
    weight: FloatArray  # (n_bins,) of the points together
    effective: FloatArray  # (n_bins,) points of equal weight that would be as precise


def reliability_table(
    confidence: FloatArray,
    right: BoolArray,
    bins: IntArray,
    *,
    weights: ArrayLike | None = None,
) -> ReliabilityTable:
    """Return confidence and share correct of every bin that holds weight.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Probability of the class that was predicted for each point.
    right : ndarray of shape (n,)
        Whether it was correct.
    bins : ndarray of shape (n,)
        Bin of each point.
    weights : array-like of shape (n,), optional
        How much each point counts; all alike by default.

    Examples
    --------
    >>> confidence, right = np.array([0.9, 0.7]), np.array([True, False])
    >>> table = reliability_table(confidence, right, np.array([0, 0]))
    >>> table.confidence.round(2), table.share, table.counts
    (array([0.8]), array([0.5]), array([2]))
    """
    w = np.ones(len(bins)) if weights is None else np.asarray(weights, dtype=float)
    total = np.bincount(bins, weights=w)
    used = total > 0
    sums = [np.bincount(bins, weights=w * v)[used] for v in (confidence, right, w)]
    weight = np.asarray(total[used], dtype=float)
    return ReliabilityTable(
        confidence=sums[0] / weight,
        share=sums[1] / weight,
        counts=np.bincount(bins)[used],
        weight=weight,
        effective=weight**2 / sums[2],
    )


def expected_calibration_error(
    y: ArrayLike,
    proba: FloatArray,
    classes: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean gap between confidence and accuracy over equal-width bins.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    proba : ndarray of shape (n, n_classes)
        Predicted probabilities.
    classes : array-like of shape (n_classes,)
        What the columns stand for.
    n_bins : int, default=15
        Bins of the largest probability over [0, 1].
    sample_weight : array-like of shape (n,), optional
        How much each point counts; all alike by default.

    See Also
    --------
    fit_temperature : Makes it smaller.

    Examples
    --------
    >>> import numpy as np
    >>> sure = np.array([[0.9, 0.1], [0.9, 0.1]])
    >>> round(expected_calibration_error([0, 1], sure, [0, 1]), 3)
    0.4
    """
    P = np.asarray(proba)
    confidence = P.max(axis=1)
    right = np.asarray(classes)[P.argmax(axis=1)] == np.asarray(y)
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    table = reliability_table(confidence, right, bins, weights=sample_weight)
    gaps = np.abs(table.share - table.confidence)
    return float(np.average(gaps, weights=table.weight))
