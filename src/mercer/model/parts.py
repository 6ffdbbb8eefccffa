"""What a unified kernel machine is made of: a learner and a machine, then fitted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np
from sklearn.base import clone

from mercer._base.proba import probabilities
from mercer._base.threads import using_threads
from mercer._base.typing import ArrayLike, FloatArray, IntArray, Points
from mercer.evidence.labels import Labels, LabelsDrawn
from mercer.evidence.pairs.constraints import Pairs
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.pools.base import Pool
from mercer.fewlabels.pools.view import Views
from mercer.fewlabels.rule import Rule
from mercer.kernels.base import Kernel
from mercer.learners.pairwise import PairwiseKernel
from mercer.machines.base import KernelMachine
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.prior import PriorMachine
from mercer.machines.rls import RLSClassifier
from mercer.machines.svm import KernelSVC
from mercer.spectrum.base import Basis
from mercer.spectrum.features import Features

if TYPE_CHECKING:
    from mercer.model.estimator import UnifiedKernelMachine

MACHINES = {
    "auto": LeaveOneOutRLS,
    "klr": KernelLogisticRegression,
    "rls": RLSClassifier,
    "svm": KernelSVC,
}


class Learner(Protocol):
    """An estimator that learns a kernel."""

    @property
    def kernel_(self) -> Kernel:
        """The learned kernel, after `fit`."""

    def fit(self, X: Points, y: ArrayLike | None = None) -> Self:
        """Learn the kernel; some learners take `pairs=` as well."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""

    def set_params(self, **params: object) -> Self:
        """Set parameters."""


class Machine(Protocol):
    """A classifier on a kernel, which it takes as its parameter `kernel`."""

    def solve(
        self, kernel: Kernel, labels: Labels, *, features: Features | None = None
    ) -> Self:
        """Train on points that are known by the features of a kernel alone."""

    def decision_function(self, X: Points) -> FloatArray:
        """Return decision values, after `fit` or `solve`."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""

    def set_params(self, **params: object) -> Self:
        """Set parameters."""


# Which unlabelled rows of a model are most worth a label: (model, n, rng).
Query: TypeAlias = (
    str | Callable[["UnifiedKernelMachine", int, np.random.Generator], ArrayLike]
)
ClassSizes: TypeAlias = Mapping[Any, Any] | ArrayLike | str


def new_learner(
    spec: Learner | str,
    basis: Basis | Pool | str,
    pairs: Pairs | None,
    seed: int,
    memory: float | None = None,
    rule: Rule | None = None,
    views: Views | None = None,
) -> Any:
    """Return an unfitted learner, or say why the parts do not fit.

    Parameters
    ----------
    spec : "auto" or learner
        Cloned.
    basis : "auto" or basis
        For a learner that takes one and has none.
    pairs : Pairs or None
        Evidence that the learner has to take.
    seed : int
        Seed of the default learner.
    memory : float or None
        Bytes that the default learner may use.
    rule : Rule or None
        For a learner that takes one and has none.
    views : mapping, sequence or None
        The same.
    """
    if isinstance(spec, str):
        if spec != "auto":
            msg = f"learner must be 'auto' or a learner, got {spec!r}."
            raise ValueError(msg)
        if pairs is None:
            learner = AutoKernel(memory=memory, random_state=seed)
        else:
            learner = PairwiseKernel(random_state=seed)
    elif not hasattr(spec, "fit") or isinstance(spec, type):
        msg = f"learner must be 'auto' or a learner like AutoKernel(); got {spec!r}."
        raise TypeError(msg)
    else:
        learner = clone(spec)
    if rule is not None and learner.get_params().get("rule", rule) is None:
        learner.set_params(rule=rule)
    if views is not None:
        if learner.get_params().get("views", views) is not None:
            msg = f"{learner!r} has views of its own or takes none; leave out views=."
            raise TypeError(msg)
        learner.set_params(views=views)
    if pairs is not None and "pairs" not in signature(learner.fit).parameters:
        msg = f"{learner!r} learns from labels only; for pairs use PairwiseKernel."
        raise TypeError(msg)
    if isinstance(basis, str):
        if basis != "auto":
            msg = f"basis must be 'auto' or a basis, got {basis!r}."
            raise ValueError(msg)
        return learner
    if learner.get_params().get("basis", spec) is not None:
        msg = f"{learner!r} has a basis of its own or takes none; leave out basis=."
        raise ValueError(msg)
    return learner.set_params(basis=basis)


def new_machine(
    spec: Machine | str,
    class_sizes: ClassSizes | None = None,
    labels_drawn: LabelsDrawn | None = None,
    rule: Rule | None = None,
) -> Machine:
    """Return an unfitted machine that takes a kernel.

    Parameters
    ----------
    spec : one of `MACHINES` or a machine with `kernel=` and `solve`
        Cloned.
    class_sizes, labels_drawn : optional
        Where they are given the machine has to take them.
    rule : Rule, optional
        For a machine that takes one and has none.
    """
    machine = _unfitted(spec)
    params = machine.get_params(deep=False)
    if rule is not None and params.get("rule", rule) is None:
        machine.set_params(rule=rule)
    for name, given in (("class_sizes", class_sizes), ("labels_drawn", labels_drawn)):
        if given is None:
            continue
        if name not in params:
            msg = f"{machine!r} takes no {name}; leave it out, or take machine='auto'."
            raise TypeError(msg)
        machine.set_params(**{name: given})
    made: Machine = machine
    return made


def _unfitted(spec: Machine | str) -> Any:
    if not isinstance(spec, str):
        is_estimator = hasattr(spec, "get_params") and not isinstance(spec, type)
        if (
            not is_estimator
            or "kernel" not in spec.get_params()
            or not hasattr(spec, "solve")
        ):
            msg = (
                "machine must be a kernel machine with `kernel=` and `solve`, such as "
                f"KernelLogisticRegression(); got {spec!r}."
            )
            raise TypeError(msg)
        return clone(spec)
    if spec not in MACHINES:
        names = ", ".join(MACHINES)
        msg = f"machine must be one of {names} or a machine with `kernel=` and `solve`."
        raise ValueError(msg)
    return MACHINES[spec]()


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
