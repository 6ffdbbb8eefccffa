"""A map of the points as the learned kernel sees them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.judging.layout import place_points
from mercer.plotting._display import MUTED, Display, group_rows


@dataclass(eq=False, repr=False)
class MapDisplay(Display):
    """Points of similar features close together, as in the report and in the studio.

    Parameters
    ----------
    position : ndarray of shape (n, 2)
        Places of the points on the map.
    codes : ndarray of shape (n,)
        Class of each point; -1 is drawn in grey.
    names : list of str
        Names of the classes.
    marked : ndarray of int
        Rows drawn with a ring, such as the labelled ones.

    See Also
    --------
    SpectrumDisplay : The values along the directions.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.plotting import MapDisplay
    >>> features = np.array([[0.0, 1.0], [0.0, 2.0], [9.0, 1.0]])
    >>> display = MapDisplay.from_predictions(features, [0, 0, 1])
    >>> display.position.shape
    (3, 2)
    """

    position: FloatArray
    codes: IntArray
    names: list[str]
    marked: IntArray

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the features that a fitted model or learner gives the points.

        Without y a model's predictions colour the points. Rings mark the labelled
        rows where the model knows them and X has as many rows as it was fitted on.

        Parameters
        ----------
        model : learner or model
            Fitted.
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,), optional
            Colours of the points.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `scatter`.
        """
        features = np.asarray(model.transform(X))
        colour = model.predict(X) if y is None else y
        marked = np.asarray(getattr(model, "labeled_", []), dtype=np.intp)
        fitted = getattr(model, "transduction_", None)
        if fitted is None or len(fitted) != len(features):
            marked = marked[:0]
        return cls.from_predictions(features, colour, marked=marked, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls,
        features: ArrayLike,
        y: ArrayLike,
        *,
        marked: ArrayLike = (),
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw given features, coloured by y.

        Parameters
        ----------
        features : array-like of shape (n, r)
            Of the points; r is at least 2.
        y : array-like of shape (n,)
            Classes, which colour the points.
        marked : array-like of shape (m,)
            Rows with a ring.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `scatter`.
        """
        Phi = np.asarray(features, dtype=np.float64)
        codes, classes = group_rows(y, len(Phi))
        rng = np.random.default_rng(0)  # the same points, the same map
        position = place_points(Phi.__getitem__, len(Phi), rng)
        rows = np.asarray(marked, dtype=np.intp)
        return cls(position, codes, list(map(str, classes)), rows).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        style = {"s": 12} | style
        unknown = self.codes < 0
        if unknown.any():
            ax.scatter(*self.position[unknown].T, color=MUTED, alpha=0.4, **style)
        for code, name in enumerate(self.names):
            ax.scatter(*self.position[self.codes == code].T, label=name, **style)
        if self.marked.size:
            ring = {"facecolors": "none", "edgecolors": "black", "label": "labelled"}
            ax.scatter(*self.position[self.marked].T, s=60, **ring)
        ax.set(xticks=[], yticks=[])  # what counts is which points are close
        ax.legend()
