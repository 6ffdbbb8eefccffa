"""Accuracy as labels come in."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.typing import ArrayLike, FloatArray, IntArray
from mercer.plotting._display import Display


@dataclass(eq=False, repr=False)
class LabelCurveDisplay(Display):
    """Accuracy over the number of labels, with the spread over runs.

    Parameters
    ----------
    n_labels : ndarray of shape (m,)
        Numbers of labels.
    accuracy : ndarray of shape (n_runs, m)
        Accuracy of each run at each number.
    name : str or None
        Goes into the legend.

    See Also
    --------
    learn_actively : The loop whose accuracy is drawn.

    Examples
    --------
    >>> from mercer.plotting import LabelCurveDisplay
    >>> curve = LabelCurveDisplay.from_predictions([5, 10], [[0.7, 0.9], [0.8, 0.9]])
    >>> curve.accuracy.mean(axis=0)
    array([0.75, 0.9 ])
    """

    n_labels: IntArray
    accuracy: FloatArray
    name: str | None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        truth: ArrayLike,
        *,
        n_rounds: int = 10,
        batch_size: int = 1,
        name: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Ask a fitted model's own questions, answer from the truth, and draw.

        Parameters
        ----------
        model : UnifiedKernelMachine
            Fitted; it has the answers afterwards.
        truth : array-like of shape (n,)
            Class of every training row, in their order.
        n_rounds, batch_size : int
            Rounds, and questions per round.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional
        **style
            Given to `plot`.
        """
        truth = np.asarray(truth)
        n_labels, accuracy = [], []
        for i in range(n_rounds + 1):
            if i:
                asked = model.ask(batch_size)
                places = np.flatnonzero(np.isin(model.ids_, asked))
                answers = dict(zip(model.ids_[places], truth[places], strict=True))
                model.tell(asked, [answers[row] for row in asked])
            hidden = np.ones(len(truth), dtype=bool)
            hidden[model.labeled_] = False
            n_labels.append(len(model.labeled_))
            right = model.transduction_[hidden] == truth[hidden]
            accuracy.append(float(np.mean(right)))
        return cls.from_predictions(n_labels, accuracy, name=name, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls,
        n_labels: ArrayLike,
        accuracy: ArrayLike,
        *,
        name: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw given accuracies, (m,) or (n_runs, m).

        Parameters
        ----------
        n_labels : array-like of shape (m,)
            Numbers of labels.
        accuracy : array-like of shape (m,) or (n_runs, m)
            Accuracy with each; several runs are drawn with their mean.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `plot`.
        """
        counts = np.asarray(n_labels)
        runs = np.atleast_2d(np.asarray(accuracy, dtype=np.float64))
        if runs.shape[1:] != counts.shape:
            msg = f"{len(counts)} numbers of labels, but accuracies of {runs.shape}."
            raise ValueError(msg)
        return cls(counts, runs, name).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        mean = 100 * self.accuracy.mean(axis=0)
        (line,) = ax.plot(
            self.n_labels, mean, **{"marker": "o", "label": self.name} | style
        )
        if len(self.accuracy) > 1:
            spread = 100 * self.accuracy.std(axis=0, ddof=1)
            ax.fill_between(
                self.n_labels,
                mean - spread,
                mean + spread,
                color=line.get_color(),
                alpha=0.2,
                linewidth=0,
            )
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("labels")
        ax.set_ylabel("accuracy on the unlabelled points, %")
        if self.name is not None:
            ax.legend()
