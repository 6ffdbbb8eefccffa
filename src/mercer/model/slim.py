"""A model that predicts new points and forgets its own where it can."""

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mercer.model.estimator import UnifiedKernelMachine


def without_rows(model: "UnifiedKernelMachine") -> "UnifiedKernelMachine":
    """Return a copy of a fitted UnifiedKernelMachine without its training rows."""
    slim = copy(model)
    slim.machine_, slim.learner_ = copy(model.machine_), copy(model.learner_)
    vars(slim.machine_).pop("training_proba_", None)
    if model.basis_ is not None:
        basis = model.basis_.without_rows()
        kernel = replace(model.kernel_, basis=basis)
        slim.basis_ = slim.learner_.basis_ = basis
        slim.kernel_ = slim.learner_.kernel_ = slim.machine_.kernel_ = kernel
        slim.machine_._map = model.machine_._map.with_kernel(kernel)
    slim.features_ = slim.sources_ = slim.believed_ = None
    slim.ids_ = model.ids_[:0]
    slim.labels_ = model.labels_.take(np.arange(0))
    slim.machine_.transduction_ = model.classes_[:0]
    return slim
