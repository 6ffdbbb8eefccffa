"""What a unified kernel machine is made of: a learner and a machine that fit."""

from inspect import signature
from typing import Any

from sklearn.base import clone

from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.learners.pairwise import PairwiseKernel
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.rls import RLSClassifier
from mercer.machines.svm import KernelSVC

MACHINES = {
    "auto": LeaveOneOutRLS,
    "klr": KernelLogisticRegression,
    "rls": RLSClassifier,
    "svm": KernelSVC,
}


def new_learner(
    spec: Any, basis: Any, pairs: Any, seed: int, memory: float | None = None
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


def new_machine(spec: Any) -> Any:
    """Return an unfitted machine that takes a kernel.

    Parameters
    ----------
    spec : one of `MACHINES` or a machine with `kernel=` and `solve`
        Cloned.
    """
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
