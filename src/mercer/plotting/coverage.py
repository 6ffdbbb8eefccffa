"""Whether intervals hold the truth as often as they say."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.typing import ArrayLike, FloatArray
from mercer.judging.intervals import wilson_interval
from mercer.plotting._display import MUTED, Display


@dataclass(eq=False, repr=False)
class IntervalDisplay(Display):
    """Estimates with their intervals, and the truth they were meant to hold.

    Parameters
    ----------
    truth, low, high : ndarray of shape (m,)
        True values and the ends of the intervals, ordered by the truth.
    level : float
        Share of intervals that should hold the truth.

    Attributes
    ----------
    coverage_ : float
        The share that the interval held.
    coverage_interval_ : tuple of float
        Its 95% Wilson interval.

    See Also
    --------
    held_out_interval : An interval to draw.

    Examples
    --------
    >>> from mercer.plotting import IntervalDisplay
    >>> display = IntervalDisplay.from_predictions(
    ...     [0.8, 0.9], low=[0.7, 0.91], high=[0.85, 0.99]
    ... )
    >>> display.coverage_
    0.5
    """

    truth: FloatArray
    low: FloatArray
    high: FloatArray
    level: float

    def __post_init__(self) -> None:
        held = (self.low <= self.truth) & (self.truth <= self.high)
        self.coverage_ = float(held.mean())
        self.coverage_interval_ = wilson_interval(self.coverage_, len(held))

    @classmethod
    def from_predictions(
        cls,
        truth: ArrayLike,
        *,
        low: ArrayLike,
        high: ArrayLike,
        level: float = 0.95,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw given intervals.

        Parameters
        ----------
        truth : array-like of shape (m,)
            True values.
        low, high : array-like of shape (m,)
            Ends of the intervals.
        level : float, default=0.95
            Share of intervals that should hold the truth.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `vlines`.
        """
        values = [np.asarray(v, dtype=np.float64) for v in (truth, low, high)]
        if len({v.shape for v in values}) > 1 or values[0].ndim != 1:
            msg = f"truth, low and high must be vectors of one length: {values}."
            raise ValueError(msg)
        order = np.argsort(values[0], kind="stable")
        truths, lows, highs = (v[order] for v in values)
        return cls(truths, lows, highs, level).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        place = np.arange(len(self.truth))
        held = (self.low <= self.truth) & (self.truth <= self.high)
        for mask, colour in ((held, "C0"), (~held, "C3")):
            ends = self.low[mask], self.high[mask]
            ax.vlines(place[mask], *ends, **{"color": colour} | style)
        ax.plot(place, self.truth, ".", color="black", label="truth")
        ax.set_title(f"{self.coverage_:.0%} of the intervals hold the truth")
        line = {"color": MUTED, "linestyle": ":", "linewidth": 1}
        ax.axhline(self.truth.mean(), label="mean of the truth", **line)
        ax.set_xlabel(f"case, ordered by the truth (level {self.level:.0%})")
        ax.set_ylabel("value")
        ax.legend()
