"""Explanations by example: which labelled points pull a point to which class."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._base.html import Shown
from mercer._base.typing import FloatArray


class Pull(NamedTuple):
    """What one labelled point adds to the decision for its own class.

    See Also
    --------
    Explanation : Made of these; docs/guides/few_labels.md has an example.
    """

    id: Any  # of the labelled point
    label: Any  # its class
    amount: float  # by which it raises the decision value of that class


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
        The offsets :math:`b_c`.
    unlabeled : ndarray of shape (m, q)
        :math:`s_c(x)`: what unlabelled points pass on where a machine spreads its
        decision over them (`LeaveOneOutRLS`), else zero to rounding.
    ids, labels : ndarray of shape (n_labeled,)
        Ids and labels of the labelled points.
    classes : ndarray of shape (n_classes,)
        Names of the classes.

    See Also
    --------
    UnifiedKernelMachine.explain : docs/guides/few_labels.md has an example.
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
        title = "Explanation" if n == 1 else f"Explanation of the first of {n:,} rows"
        first, second = self._leading(0)
        return f"{title}: {first} rather than {second}"

    def _facts(self) -> dict[str, Any]:
        pulls = self.top(n=len(self.ids))
        return {
            "labelled row": np.array([str(pull.id) for pull in pulls], dtype=object),
            "supports": np.array([pull.label for pull in pulls], dtype=object),
            "amount": np.array([pull.amount for pull in pulls]),
        }

    def decision(self) -> FloatArray:
        """Return the decision values, (m, q)."""
        labeled = self.contributions.sum(axis=1)
        values: FloatArray = labeled + self.intercept + self.unlabeled
        return values

    def top(
        self, point: int = 0, n: int = 6, *, between: tuple[Any, Any] | None = None
    ) -> list[Pull]:
        """Return the labelled points that pull a point to their class, strongest first.

        Half of them are of one class and half of another, if there are as many: what
        supports the prediction, and what contradicts it. Amounts are differences of the
        two decision values. Points of other classes, and those that push the point away
        from their own class, are in `contributions` only.

        Parameters
        ----------
        point : int, default=0
            Which of the explained points.
        n : int, default=6
            Labelled points at most.
        between : tuple of two classes, optional
            By default the most likely class and the second.
        """
        first, second = self._leading(point) if between is None else between
        column = self.classes.tolist().index
        pulls = _per_class(self.contributions[point])
        lead = pulls[:, column(first)] - pulls[:, column(second)]
        sides = []
        for label, amounts in ((first, lead), (second, -lead)):
            own = np.flatnonzero((self.labels == label) & (amounts > 0))
            strongest = own[np.argsort(-amounts[own], kind="stable")]
            sides.append(
                [Pull(self.ids[i], label, float(amounts[i])) for i in strongest]
            )
        found = [pull for pair in zip_longest(*sides) for pull in pair if pull][:n]
        return sorted(found, key=lambda pull: -pull.amount)

    def _leading(self, point: int) -> tuple[Any, Any]:
        """Return the most likely class of a point and the second."""
        labeled = self.contributions[point].sum(axis=0)
        values = _per_class(labeled + self.intercept + self.unlabeled[point])
        first, second = np.argsort(-values, kind="stable")[:2]
        return self.classes[first], self.classes[second]


def _per_class(values: FloatArray) -> FloatArray:
    """Return one column per class; a single one is the second against the first."""
    if values.shape[-1] > 1:
        return values
    return np.concatenate([-values / 2, values / 2], axis=-1)
