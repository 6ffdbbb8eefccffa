"""Predicted probabilities against the share that was correct."""

from typing import Any, Self

import numpy as np
from scipy.stats import binomtest

from mercer._base.typing import ArrayLike, FloatArray
from mercer.plotting._display import MUTED, Display


class ReliabilityDisplay(Display):
    """Share of correct predictions among those made with probability p.

    Every point counts once, with the probability of the class it was given, so the
    picture serves any number of classes. Bars are 95 % Wilson intervals.

    Parameters
    ----------
    confidence, share : ndarray of shape (n_bins,)
        Mean probability and share correct of each bin that holds a point.
    low, high : ndarray of shape (n_bins,)
        Interval of the share.
    counts : ndarray of shape (n_bins,)
        Points per bin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plotting import ReliabilityDisplay
    >>> proba = np.array([[0.9, 0.1]] * 10)
    >>> display = ReliabilityDisplay.from_predictions([0] * 9 + [1], proba, [0, 1])
    >>> display.share, display.counts
    (array([0.9]), array([10]))
    """

    def __init__(
        self,
        confidence: FloatArray,
        share: FloatArray,
        low: FloatArray,
        high: FloatArray,
        counts: Any,
    ) -> None:
        self.confidence = confidence
        self.share = share
        self.low = low
        self.high = high
        self.counts = counts

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_bins: int = 10,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the probabilities of a fitted classifier at points with labels y."""
        return cls.from_predictions(
            y, model.predict_proba(X), model.classes_, n_bins=n_bins, ax=ax, **style
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        classes: ArrayLike,
        *,
        n_bins: int = 10,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw given probabilities, (n, n_classes), of true labels y."""
        P = np.asarray(proba, dtype=np.float64)
        if P.ndim != 2 or P.shape != (len(np.asarray(y)), len(np.asarray(classes))):
            msg = f"proba needs a row per label and a column per class, got {P.shape}."
            raise ValueError(msg)
        top = P.max(axis=1)
        right = np.asarray(classes)[P.argmax(axis=1)] == np.asarray(y)
        bins = np.minimum((top * n_bins).astype(int), n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        used = np.flatnonzero(counts)
        hits = np.bincount(bins, weights=right, minlength=n_bins)[used]
        sums = np.bincount(bins, weights=top, minlength=n_bins)[used]
        counts = counts[used]
        intervals = [
            binomtest(int(k), int(n)).proportion_ci(method="wilson")
            for k, n in zip(hits, counts, strict=True)
        ]
        low, high = np.array([[i.low, i.high] for i in intervals]).T
        return cls(sums / counts, hits / counts, low, high, counts).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        ax.plot([0, 1], [0, 1], color=MUTED, linestyle=":")
        error = np.maximum([self.share - self.low, self.high - self.share], 0)
        ax.errorbar(self.confidence, self.share, yerr=error, **{"fmt": "o"} | style)
        ax.set_xlabel("predicted probability")
        ax.set_ylabel("share correct")
        ax.set_xlim(0, 1.02)
        ax.set_ylim(0, 1.02)
