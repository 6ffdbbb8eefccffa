"""How far predicted probabilities can be trusted, with intervals."""

from typing import NamedTuple

import numpy as np

from mercer._base.typing import ArrayLike, BoolArray, FloatArray, IntArray
from mercer.judging.intervals import wilson_interval
from mercer.model_selection.reliability import reliability_table

# Fewer points say little about a share.
_POINTS_PER_BIN = 10


class Reliability(NamedTuple):
    """Share correct of points of about the same confidence, bin by bin."""

    confidence: FloatArray  # (n_bins,) mean probability of the predicted class
    share: FloatArray  # (n_bins,) of correct predictions
    low: FloatArray  # (n_bins,) 95% Wilson interval of the share
    high: FloatArray
    counts: IntArray  # (n_bins,) points


def reliability(
    confidence: FloatArray,
    right: BoolArray,
    *,
    weights: ArrayLike | None = None,
    n_bins: int = 10,
) -> Reliability:
    """Return bins of equal numbers of points, of at least ten points if there are ten.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Probability of the class that was predicted for each point.
    right : ndarray of shape (n,)
        Whether it was correct.
    weights : array-like of shape (n,), optional
        How much each point counts; all alike by default.
    n_bins : int, default=10
        Bins at most.

    Examples
    --------
    >>> right = np.repeat([True, False], [15, 5])
    >>> found = reliability(np.linspace(0.6, 0.9, 20), right)
    >>> found.share, found.counts
    (array([1. , 0.5]), array([10, 10]))
    """
    n = len(confidence)
    bins = np.empty(n, dtype=np.intp)
    parts = np.array_split(
        np.argsort(confidence, kind="stable"),
        int(np.clip(n // _POINTS_PER_BIN, 1, n_bins)),
    )
    for k, part in enumerate(parts):
        bins[part] = k
    table = reliability_table(confidence, right, bins, weights=weights)
    pairs = zip(table.share, table.effective, strict=True)
    low, high = np.array([wilson_interval(share, m) for share, m in pairs]).T
    return Reliability(table.confidence, table.share, low, high, table.counts)
