from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.laplacian import LapRLS, LapSVM
from mercer.machines.laplacian_cv import LapRLSCV, LapSVMCV
from mercer.machines.rls import RLSClassifier
from mercer.machines.simple_mkl import SimpleMKL
from mercer.machines.svm import KernelSVC

MACHINES = [
    KernelLogisticRegression(),
    KernelLogisticRegression(multi_class="ovr"),
    RLSClassifier(),
    KernelSVC(),
    LapRLS(),
    LapSVM(),
    LapRLSCV(gammas_A=(1e-2, 1.0), gammas_I=(1e-2, 1.0)),
    LapSVMCV(gammas_A=(1e-2, 1.0), gammas_I=(1e-2, 1.0)),
    SimpleMKL(["rbf", "linear"]),
]
WAIVERS = {
    "check_classifiers_classes": "it ends with y in {-1, 1}, and -1 means unlabelled",
}


@parametrize_with_checks(MACHINES, expected_failed_checks=lambda _: WAIVERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
