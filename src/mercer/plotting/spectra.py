"""Values of a basis and the weights that a learner gave its directions."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base.typing import ArrayLike, FloatArray
from mercer.plotting._display import MUTED, Display


@dataclass(eq=False, repr=False)
class SpectrumDisplay(Display):
    """Weights of a spectral kernel, next to the values of its basis.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Values of the basis: of a Laplacian, ascending, or of a kernel, descending.
    weights : ndarray of shape (r,)
        Weights of the directions.

    See Also
    --------
    KernelWeightsDisplay : Weights of whole kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ParameterFreeKernel
    >>> from mercer.plotting import SpectrumDisplay
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2], [5.3]])
    >>> learner = ParameterFreeKernel().fit(X, [0, -1, -1, 1, -1, -1])
    >>> SpectrumDisplay.from_estimator(learner).ax_.get_ylabel()
    'weight'
    """

    values: FloatArray
    weights: FloatArray

    @classmethod
    def from_estimator(cls, learner: Any, *, ax: Any = None, **style: Any) -> Self:
        """Draw the spectrum of a fitted learner with `weights_` and `basis_`.

        Parameters
        ----------
        learner : learner
            Fitted, with `weights_` and `basis_`.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `plot`.
        """
        check_is_fitted(learner, "weights_")
        return cls.from_predictions(
            learner.basis_.values_, learner.weights_, ax=ax, **style
        )

    @classmethod
    def from_predictions(
        cls, values: ArrayLike, weights: ArrayLike, *, ax: Any = None, **style: Any
    ) -> Self:
        """Draw given values and weights.

        Parameters
        ----------
        values : array-like of shape (r,)
            Eigenvalues.
        weights : array-like of shape (r,)
            Weight of each direction.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `plot`.
        """
        values, weights = np.asarray(values), np.asarray(weights)
        if values.shape != weights.shape or values.ndim != 1:
            msg = (
                f"values and weights must be vectors of one length, got shapes "
                f"{values.shape} and {weights.shape}."
            )
            raise ValueError(msg)
        return cls(values, weights).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        directions = np.arange(1, len(self.weights) + 1)
        ax.plot(directions, self.weights, **{"marker": "o", "markersize": 3} | style)
        ax.set_xlabel("direction")
        ax.set_ylabel("weight")
        right = ax.twinx()
        right.plot(directions, self.values, color=MUTED, linestyle=":")
        right.set_ylabel("value of the basis", color=MUTED)
