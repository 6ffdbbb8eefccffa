"""Learning as plain functions: parts, points and labels in, fitted parts out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from mercer._base.proba import probabilities
from mercer._base.threads import using_threads
from mercer._base.typing import IntArray, Points
from mercer.evidence.labels import Labels
from mercer.evidence.pairs.constraints import Pairs
from mercer.fewlabels.pools.base import Pool
from mercer.machines.base import KernelMachine
from mercer.machines.prior import PriorMachine
from mercer.model.parts import Learner, Machine
from mercer.spectrum.basis import Basis
from mercer.spectrum.features import Features


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A fitted learner and machine, and the features of the points between them."""

    learner: Any
    features: Features | None  # None where the learner has no basis
    machine: Any


def learn(
    learner: Learner,
    machine: Machine,
    labels: Labels,
    *,
    basis: Basis | Pool | None,
    points: Points | None,
    pairs: Pairs | None,
    rows: IntArray | None = None,
) -> Learned:
    """Learn a kernel from labels, and train a machine on it.

    Parameters
    ----------
    learner, machine : unfitted
        Cloned.
    labels : Labels
        Of all points.
    basis : fitted basis or None
        None for a learner that has none: it is fitted to the points.
    points : array, sparse array or Graph
        Used where there is no basis.
    pairs : Pairs or None
    rows : int ndarray, optional
        Positions, ascending, of the points that the machine sees; all by default.
    """
    with using_threads():
        teacher, taught = clone(learner), clone(machine)
        evidence = {} if pairs is None else {"pairs": pairs}
        if basis is None:
            teacher.fit(points, labels.given(), **evidence)
            known = labels if isinstance(taught, KernelMachine) else labels.given()
            taught.set_params(kernel=teacher.kernel_).fit(points, known)
            return Learned(teacher, None, taught)
        teacher.learn(basis, labels, **evidence)
        if len(labels.classes) < 2:
            taught = PriorMachine()
        kernel, some = teacher.kernel_, {}
        features = kernel.at_training()
        if rows is not None:
            features, labels = features.take(rows), labels.take(rows)
            some = {"rows": rows} if isinstance(taught, KernelMachine) else {}
        trained = taught.solve(kernel, labels, features=features, **some)
        return Learned(teacher, features, trained)


def proba_of(machine: Machine) -> Callable[[Any], Any]:
    """Return what gives probabilities of rows, of any machine."""
    if hasattr(machine, "predict_proba"):
        predict_proba: Callable[[Any], Any] = machine.predict_proba
        return predict_proba
    return lambda X: probabilities(machine.decision_function(X))
