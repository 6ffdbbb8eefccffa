import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.learners.influence import InfluenceKernel
from mercer.learners.pairwise import PairwiseKernel
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.laplacian import LapRLS, LapRLSCV, LapSVM, LapSVMCV
from mercer.machines.rls import RLSClassifier
from mercer.machines.simple_mkl import SimpleMKL
from mercer.machines.svm import KernelSVC
from mercer.spectrum.graph import GraphBasis

MACHINES = [
    KernelLogisticRegression(),
    KernelLogisticRegression(multi_class="ovr"),
    RLSClassifier(),
    KernelSVC(tol=1e-10),
    LapRLS(),
    LapSVM(),
    LapRLSCV(gammas_A=(1e-2, 1.0), gammas_I=(1e-2, 1.0)),
    LapSVMCV(gammas_A=(1e-2, 1.0), gammas_I=(1e-2, 1.0)),
    SimpleMKL(["rbf", "linear"]),
]
WAIVERS = {
    "check_classifiers_classes": "it ends with y in {-1, 1}, and -1 means unlabelled",
}
ON_GRAPHS = "a repeated row is a further point of the graph; see test_weights.py"
INNER = "the inner machines stop at 1e-6; see test_weights.py"
REPEATED = [
    f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")
]


def waived(estimator) -> dict[str, str]:
    if isinstance(estimator, LapRLS | LapSVM | LapRLSCV | LapSVMCV):
        return {**WAIVERS, **dict.fromkeys(REPEATED, ON_GRAPHS)}
    if isinstance(estimator, SimpleMKL):
        return {**WAIVERS, **dict.fromkeys(REPEATED, INNER)}
    return WAIVERS


@parametrize_with_checks(MACHINES, expected_failed_checks=waived)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("tol", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize(
    "estimator",
    [
        GraphBasis,
        PairwiseKernel,
        InfluenceKernel,
        KernelLogisticRegression,
        KernelSVC,
        SimpleMKL,
        AnnealedKernelMachine,
    ],
)
def test_a_tolerance_is_a_number_above_zero(estimator, tol):
    X = np.arange(8.0)[:, None]
    with pytest.raises(ValueError, match="tol must be a finite number above 0"):
        estimator(tol=tol).fit(X, np.arange(8) % 2)
