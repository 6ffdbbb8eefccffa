"""A parameter that cannot be used is named, with what it was."""

import numpy as np
import pandas as pd
import pytest

from mercer import UnifiedKernelMachine
from mercer.fewlabels import AnchorPool, AutoKernel, KernelPool, LeaveOneOutRLS
from mercer.kernels import RBF
from mercer.learners import (
    NPKL,
    AverageKernel,
    ClosedFormKernel,
    ClosedFormKernelCV,
    DecayingKernel,
    ParameterFreeKernel,
)
from mercer.machines import (
    AnnealedKernelMachine,
    GraphAnnealedKernelMachine,
    LapRLS,
    LapSVMCV,
    RLSClassifier,
    SimpleMKL,
)
from mercer.spectrum import GramBasis, GraphBasis

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 3)), np.arange(20) % 2


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (KernelPool(n_neighbors=5), "n_neighbors must be a list"),
        (KernelPool(n_neighbors=(0,)), r"n_neighbors\[0\] must be a finite number ab"),
        (KernelPool(n_neighbors=[0.5]), r"n_neighbors\[0\] must be a whole number"),
        (AnchorPool(n_nearest=[0.5]), r"n_nearest\[0\] must be a whole number"),
        (AnchorPool(n_nearest=5), "n_nearest must be a list"),
        (AnchorPool(n_nearest=()), "n_nearest must be a list"),
        (AnchorPool(most_summed=0), "most_summed == 0, must be >= 1"),
        (AnchorPool(most_summed=1e6), "most_summed must be an instance of int"),
        (GraphAnnealedKernelMachine(n_neighbors=5), "n_neighbors must be a list"),
        (GraphAnnealedKernelMachine(metrics="cosine"), "metrics must be a list"),
        (AnnealedKernelMachine(kernels=3), "kernels must be a list"),
        (AverageKernel(RBF()), "kernels must be a list"),
        (AnnealedKernelMachine(class_ratio={0: 1}), "class_ratio must be one share"),
        (RLSClassifier(class_sizes="even"), "class_sizes as text is an order of"),
        (LapSVMCV(gammas_A=0.1), "gammas_A must be a list"),
        (LapSVMCV(gammas_I=()), "gammas_I must be a list"),
        (LapRLS(gamma_A=np.nan), "gamma_A must be a finite number above 0; got nan"),
        (LapRLS(gamma_I=np.inf), "gamma_I must be a finite number at least 0; got i"),
        (ClosedFormKernelCV(Cs=1.0), "Cs must be a list"),
        (ClosedFormKernelCV(mus=(1.0, "2")), r"mus\[1\] must be a finite number"),
        (ClosedFormKernel(C=np.nan), "C must be a finite number above 0; got nan"),
        (DecayingKernel(decay=np.nan), "decay must be a finite number at least 1"),
        (ParameterFreeKernel(eps=np.inf), "eps must be a finite number above 0"),
        (SimpleMKL(["rbf"], C=np.nan), "C must be a finite number above 0; got nan"),
        (SimpleMKL(["rbf"], C=np.inf), "C must be a finite number above 0; got inf"),
        (DecayingKernel(decay=np.inf), "decay must be a finite number at least 1"),
        (NPKL(C=np.nan), "C must be a finite number above 0; got nan"),
        (GraphBasis(n_neighbors=0), "n_neighbors == 0, must be >= 1"),
        (GraphBasis(n_neighbors=1.5), "n_neighbors must be an instance of int"),
        (AutoKernel(memory="4 GB"), "memory must be a finite number above 0"),
        (UnifiedKernelMachine(memory=0), "memory must be a finite number above 0"),
        (UnifiedKernelMachine(random_state="a"), "random_state must be None, a whole"),
        (AnchorPool(random_state=-1), "random_state must be None, a whole number"),
        (UnifiedKernelMachine(machine=None), "machine must be a kernel machine"),
        (UnifiedKernelMachine(machine=LeaveOneOutRLS), "machine must be a kernel mach"),
        (UnifiedKernelMachine(learner=None), "learner must be 'auto' or a learner"),
        (UnifiedKernelMachine(learner=AutoKernel), "learner must be 'auto' or a lear"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(estimator, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        estimator.fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "same"),
    [
        (AverageKernel({"a": "rbf"}.values()), AverageKernel(["rbf"])),
        (KernelPool(n_neighbors={3, 5}), KernelPool(n_neighbors=(3, 5))),
        (LapSVMCV(gammas_A=pd.Series([0.1], index=[7])), LapSVMCV(gammas_A=[0.1])),
        (ClosedFormKernelCV(Cs={1.0}), ClosedFormKernelCV(Cs=[1.0])),
    ],
    ids=str,
)
def test_what_holds_several_values_is_taken_for_a_list(estimator, same) -> None:
    assert vars(estimator.fit(X, Y)).keys() == vars(same.fit(X, Y)).keys()


def test_more_neighbours_than_points_from_numpy() -> None:
    many, all_others = (GraphBasis(n_neighbors=k).fit(X) for k in (np.int64(50), 19))
    assert (many.graph_.adjacency != all_others.graph_.adjacency).nnz == 0


@pytest.mark.parametrize(
    ("estimator", "name", "said"),
    [
        (RLSClassifier("rbf"), "kernel__gamma", r"kernel='rbf' has .*kernel=RBF\(\)"),
        (LapRLS(), "kernel__gamma", r"kernel=None has no .*kernel=RBF\(\)"),
        (GramBasis(), "kernel__gamma", r"kernel='rbf' has no .*kernel=RBF\(\)"),
        (UnifiedKernelMachine(), "machine__C", r"machine='auto' has .*KernelLogistic"),
        (UnifiedKernelMachine(), "learner__power", r"learner='auto' has no .*learner="),
        (ParameterFreeKernel(), "basis__tol", r"basis=None has no .*GraphBasis\(\)"),
        (RLSClassifier(RBF()), "kernel__gama", "Invalid parameter 'gama'"),
        (RLSClassifier(), "basis__tol", "Invalid parameter 'basis'"),
    ],
)
def test_parameters_of_a_name_are_told_where_to_go(estimator, name, said) -> None:
    """They ended with "'str' object has no attribute 'set_params'"."""
    with pytest.raises(ValueError, match=said):
        estimator.set_params(**{name: 1.0})


def test_a_part_and_its_parameters_are_set_together() -> None:
    machine = RLSClassifier("rbf")
    assert machine.set_params(kernel=RBF(), kernel__gamma=2.0) is machine
    assert machine.kernel.gamma == 2.0
