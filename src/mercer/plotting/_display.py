"""What the displays share: axes to draw on."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer._base.extras import require
from mercer._base.typing import ArrayLike, IntArray
from mercer.evidence.labels import Labels

MUTED = "0.5"


class Display:
    """Holds what is drawn; subclasses write `_draw`."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        **style
            Given to the matplotlib call that draws the data.
        """
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="A picture")
        if ax is None:
            _, ax = pyplot.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax, style)
        return self

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        raise NotImplementedError


def group_rows(y: ArrayLike, n: int) -> tuple[IntArray, NDArray[Any]]:
    """Return the code of each row, -1 where unlabelled, and the classes' names."""
    labels = Labels.read(y, min_classes=1)
    if len(labels.codes) != n:
        msg = f"y has {len(labels.codes)} entries for {n} points; give one per point."
        raise ValueError(msg)
    return labels.codes, np.asarray(labels.classes)
