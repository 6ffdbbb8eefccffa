"""scikit-learn's own tests of semi-supervised classifiers, called with ours."""

import numpy as np
import pytest
from sklearn.semi_supervised.tests import test_label_propagation as propagation
from sklearn.semi_supervised.tests import test_self_training as self_training

from mercer import KernelLogisticRegression, UnifiedKernelMachine
from mercer.fewlabels import LeaveOneOutRLS
from mercer.machines import KernelSVC, LapRLS, LapSVM, RLSClassifier

POINTS_OF_A_POOL = {
    "model": lambda kernel: UnifiedKernelMachine(random_state=0),
    "few labels": lambda kernel: LeaveOneOutRLS(kernel),
    "regularised least squares": lambda kernel: RLSClassifier(kernel),
    "logistic regression": lambda kernel: KernelLogisticRegression(kernel),
    "Laplacian least squares": lambda kernel: LapRLS(kernel),
    "Laplacian support vectors": lambda kernel: LapSVM(kernel),
}
LABELED_ONLY = [RLSClassifier("rbf"), KernelLogisticRegression("rbf")]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", POINTS_OF_A_POOL)
@pytest.mark.parametrize(
    "theirs",
    [
        propagation.test_fit_transduction,
        propagation.test_distribution,
        propagation.test_predict,
    ],
)
def test_label_propagation(theirs, name, dtype) -> None:
    theirs(dtype, POINTS_OF_A_POOL[name], {"kernel": "rbf"})


@pytest.mark.parametrize("machine", [RLSClassifier, KernelLogisticRegression])
def test_probabilities(machine) -> None:
    """For the others the third point, which nobody labelled, leans to one side."""
    propagation.test_predict_proba(np.float64, machine, {"kernel": "rbf"})


@pytest.mark.parametrize("kind", propagation.SPARSE_TYPES)
@pytest.mark.parametrize("name", POINTS_OF_A_POOL)
def test_sparse_input(name, kind) -> None:
    make = POINTS_OF_A_POOL[name]
    theirs = propagation.test_sparse_input_types
    theirs(kind, np.int32, np.float64, make, {"kernel": "rbf"})


@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples:UserWarning")
@pytest.mark.parametrize("criterion", ["threshold", "k_best"])
@pytest.mark.parametrize("machine", [*LABELED_ONLY, KernelSVC("rbf")])
def test_self_training(machine, criterion) -> None:
    self_training.test_classification(machine, criterion)


@pytest.mark.parametrize("machine", LABELED_ONLY)
@pytest.mark.parametrize("y", [self_training.y_train_missing_labels])
def test_self_training_without_iterations(machine, y) -> None:
    self_training.test_zero_iterations(machine, y)
