"""Explanations by example: which labelled points pull a point to which class."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._base.html import Shown
from mercer._base.typing import FloatArray


class Pull(NamedTuple):
    """What one labelled point adds to the decision."""

    id: Any
    label: Any
    towards: Any  # the class whose decision value it raises most
    amount: float


@dataclass(frozen=True, eq=False)
class Explanation(Shown):
    r"""The decision of a kernel machine, labelled point by labelled point.

    .. math:: f_c(x) = b_c + \sum_i \alpha_{ic}\, k(x, x_i) + s_c(x)

    The sum is exact: contributions, intercept and what unlabelled points pass on
    add up to the decision values.

    Parameters
    ----------
    contributions : ndarray of shape (m, n_labeled, q)
        :math:`\alpha_{ic} k(x, x_i)`; one column for two classes, positive towards
        the second, else one column per class.
    intercept : ndarray of shape (q,)
    unlabeled : ndarray of shape (m, q)
        :math:`s_c(x)`: what unlabelled points pass on where a machine spreads its
        decision over them (`LeaveOneOutRLS`), else zero to rounding.
    ids, labels : ndarray of shape (n_labeled,)
        Ids and labels of the labelled points.
    classes : ndarray of shape (n_classes,)
    """

    contributions: FloatArray
    intercept: FloatArray
    unlabeled: FloatArray
    ids: NDArray[Any]
    labels: NDArray[Any]
    classes: NDArray[Any]

    @classmethod
    def of(
        cls, machine: Any, R: FloatArray, ids: NDArray[Any], labels: NDArray[Any]
    ) -> "Explanation":
        """Explain the decisions of a fitted machine at some points.

        Parameters
        ----------
        machine : KernelMachine
            ``similarity(X) @ dual_coef_ + intercept_`` is its decision, or the part
            of it that labelled points make.
        R : ndarray of shape (m, k)
            The points as ``machine.represent(X)`` gives them.
        ids, labels : ndarray of shape (n_labeled,)
            Ids and labels of the labelled points, in the machine's order.
        """
        q = machine.dual_coef_.shape[1]
        if q not in (1, len(machine.classes_)):
            msg = (
                f"{type(machine).__name__} decides by votes of pairs of classes, which "
                "no sum over examples explains; use machine='klr' or 'rls'."
            )
            raise TypeError(msg)
        similarity, decision = machine.similarity_and_decision(R)  # (m, l), (m, q)
        contributions = similarity[:, :, None] * machine.dual_coef_
        rest = decision - contributions.sum(axis=1) - machine.intercept_
        return cls(
            contributions, machine.intercept_, rest, ids, labels, machine.classes_
        )

    def _title(self) -> str:
        n = len(self.contributions)
        return "Explanation" if n == 1 else f"Explanation of the first of {n:,} rows"

    def _facts(self) -> dict[str, Any]:
        pulls = self.top(n=len(self.ids))
        return {
            "labelled row": np.array([str(pull.id) for pull in pulls], dtype=object),
            "its label": np.array([pull.label for pull in pulls], dtype=object),
            "speaks for": np.array([pull.towards for pull in pulls], dtype=object),
            "amount": np.array([pull.amount for pull in pulls]),
        }

    def decision(self) -> FloatArray:
        """Return the decision values, (m, q)."""
        labeled = self.contributions.sum(axis=1)
        values: FloatArray = labeled + self.intercept + self.unlabeled
        return values

    def top(self, point: int = 0, n: int = 5) -> list[Pull]:
        """Return the labelled points that weigh most for one point, strongest first."""
        pulls = self.contributions[point]
        if pulls.shape[1] == 1:
            pulls = np.hstack([-pulls, pulls])
        # What counts is the difference a point makes between classes.
        pulls = pulls - pulls.mean(axis=1, keepdims=True)
        towards = pulls.argmax(axis=1)
        amounts = pulls.max(axis=1)
        strongest = np.argsort(-amounts, kind="stable")[:n]
        return [
            Pull(
                self.ids[i], self.labels[i], self.classes[towards[i]], float(amounts[i])
            )
            for i in strongest
        ]
