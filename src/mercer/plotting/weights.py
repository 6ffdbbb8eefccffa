"""Weights of kernels in a combination, and the error of each kernel alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base.typing import ArrayLike, FloatArray
from mercer.plotting._display import MUTED, Display

_LETTERS = 50  # that fit below the bars of a usual figure side by side


@dataclass(eq=False, repr=False)
class KernelWeightsDisplay(Display):
    """Weights of kernels in a combination, next to the error of each kernel alone.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Weights of the kernels.
    errors : ndarray of shape (m,) or None
        Error of each kernel alone, as a share.
    names : list of str
        Names of the kernels.

    See Also
    --------
    AnnealedKernelMachine : A machine with such weights.
    InfluenceKernel : A learner with such weights.

    Examples
    --------
    >>> from mercer.plotting import KernelWeightsDisplay
    >>> display = KernelWeightsDisplay.from_predictions([0.7, 0.3], [0.1, 0.4])
    >>> display.names
    ['1', '2']
    """

    weights: FloatArray
    errors: FloatArray | None
    names: list[str]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        errors: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw `weights_` of a fitted combination of kernels.

        Parameters
        ----------
        model : estimator
            Fitted, with `weights_`.
        errors : array-like of shape (q,), optional
            Error of each kernel alone.
        names : sequence of str, optional
            Of the kernels; their numbers if left out.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `bar`.
        """
        check_is_fitted(model, "weights_")
        return cls.from_predictions(model.weights_, errors, names=names, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls,
        weights: ArrayLike,
        errors: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw given weights, and errors where they are known.

        Parameters
        ----------
        weights : array-like of shape (q,)
            Weight of each kernel.
        errors : array-like of shape (q,), optional
            Error of each kernel alone.
        names : sequence of str, optional
            Of the kernels; their numbers if left out.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `bar`.
        """
        weights = np.asarray(weights, dtype=np.float64)
        words = [str(i + 1) for i in range(len(weights))] if names is None else names
        alone = None if errors is None else np.asarray(errors, dtype=np.float64)
        if len(words) != len(weights) or (
            alone is not None and alone.shape != weights.shape
        ):
            msg = f"give one error and one name for each of {len(weights)} weights."
            raise ValueError(msg)
        return cls(weights, alone, list(words)).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        place = np.arange(len(self.weights))
        ax.bar(place, self.weights, **style)
        crowded = sum(len(name) + 2 for name in self.names) > _LETTERS
        ax.set_xticks(place, self.names, rotation=90 if crowded else 0)
        ax.set_xlabel("kernel")
        ax.set_ylabel("weight")
        if self.errors is not None:
            right = ax.twinx()
            right.plot(place, 100 * self.errors, color=MUTED, marker="o", linestyle="")
            right.set_ylabel("error of the kernel alone, %", color=MUTED)
