"""Predicted probabilities against the share that was correct."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.typing import ArrayLike
from mercer.judging.reliability import Reliability, reliability
from mercer.plotting._display import MUTED, Display


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Share of correct predictions among those made with probability p.

    Every point counts once, with the probability of the class it was given, so the
    picture serves any number of classes. Bins hold equal numbers of points; bars are
    95% Wilson intervals.

    Parameters
    ----------
    table : Reliability
        Mean probability, share correct, its interval and number of points of each bin.

    See Also
    --------
    IntervalDisplay : Intervals and the truth.
    mercer.model_selection.expected_calibration_error : One number for it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plotting import ReliabilityDisplay
    >>> proba = np.array([[0.9, 0.1]] * 10)
    >>> display = ReliabilityDisplay.from_predictions([0] * 9 + [1], proba, [0, 1])
    >>> display.table.share, display.table.counts
    (array([0.9]), array([10]))
    """

    table: Reliability

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
        """Draw the probabilities of a fitted classifier at points with labels y.

        Parameters
        ----------
        model : classifier
            Fitted, with `predict_proba`.
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            True classes; unlabelled rows are left out.
        n_bins : int, default=10
            Number of groups of equal width.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `errorbar`.
        """
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
        """Draw given probabilities, (n, n_classes), of true labels y.

        Parameters
        ----------
        y : array-like of shape (n,)
            True classes.
        proba : array-like of shape (n, n_classes)
            Probabilities.
        classes : array-like of shape (n_classes,)
            Class of each column.
        n_bins : int, default=10
            Number of groups of equal width.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `errorbar`.
        """
        P = np.asarray(proba, dtype=np.float64)
        if P.ndim != 2 or P.shape != (len(np.asarray(y)), len(np.asarray(classes))):
            msg = f"proba needs a row per label and a column per class, got {P.shape}."
            raise ValueError(msg)
        right = np.asarray(classes)[P.argmax(axis=1)] == np.asarray(y)
        return cls(reliability(P.max(axis=1), right, n_bins=n_bins)).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        ax.plot([0, 1], [0, 1], color=MUTED, linestyle=":")
        found = self.table
        error = np.maximum([found.share - found.low, found.high - found.share], 0)
        ax.errorbar(found.confidence, found.share, yerr=error, **{"fmt": "o"} | style)
        ax.set_xlabel("predicted probability")
        ax.set_ylabel("share correct")
        ax.set_xlim(0, 1.02)
        ax.set_ylim(0, 1.02)
