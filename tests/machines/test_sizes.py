"""Known class sizes, and what points get that no label reaches, in every machine."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.kernels.parametric import RBF
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines._sizes import known_shares, size_offsets
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.klr import KernelLogisticRegression
from mercer.machines.laplacian import LapRLS, LapRLSCV, LapSVM
from mercer.machines.rls import RLSClassifier
from mercer.machines.simple_mkl import SimpleMKL
from mercer.machines.svm import KernelSVC
from mercer.spectrum.graph import GraphBasis

WIDE = RBF(gamma=0.3)
WITH_SIZES = [
    RLSClassifier(WIDE, C=10.0),
    RLSClassifier(ParameterFreeKernel(GraphBasis(10, random_state=0))),
    KernelLogisticRegression(WIDE, C=10.0),
    KernelLogisticRegression(WIDE, C=10.0, multi_class="ovr"),
    KernelSVC(WIDE, C=10.0),
    LapRLS(WIDE, n_neighbors=4),
    LapSVM(WIDE, n_neighbors=4),
    LapRLSCV(WIDE, n_neighbors=4, gammas_A=(1e-2,), gammas_I=(1e-2, 0.1)),
    SimpleMKL([WIDE, RBF(gamma=0.1)], C=10.0),
]


def overlapping(n_classes: int, n: int = 60):
    rng = np.random.default_rng(n_classes)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    return X, np.where(np.arange(n) < 4 * n_classes, truth, -1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("machine", WITH_SIZES, ids=repr)
def test_the_decision_has_the_sizes_that_are_known(machine, n_classes: int) -> None:
    X, y = overlapping(n_classes)
    sizes = np.array([0.6, 0.4] if n_classes == 2 else [0.5, 0.3, 0.2])
    given = dict(enumerate(sizes.tolist()))
    fitted = clone(machine).set_params(class_sizes=given).fit(X, y)
    counts = np.bincount(fitted.predict(X), minlength=n_classes)
    np.testing.assert_allclose(counts, 60 * sizes, atol=1.01)
    plain = np.bincount(clone(machine).fit(X, y).predict(X), minlength=n_classes)
    assert np.abs(plain - 60 * sizes).max() > 2
    np.testing.assert_array_equal(
        fitted.predict_proba(X).argmax(axis=1), fitted.predict(X)
    )


NARROW = RBF(gamma=1e4)
WITH_UNREACHED = [
    RLSClassifier(NARROW),
    KernelLogisticRegression(NARROW),
    KernelLogisticRegression(NARROW, multi_class="ovr"),
    KernelSVC(NARROW),
    LeaveOneOutRLS(NARROW),
    LapRLS(NARROW, n_neighbors=4),
    SimpleMKL([NARROW]),
    AnnealedKernelMachine([NARROW], beta=0.0),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("machine", WITH_UNREACHED, ids=repr)
def test_points_out_of_reach_get_what_the_person_says(machine, n_classes: int) -> None:
    X, y = overlapping(n_classes)
    shares = np.array([0.1, 0.9] if n_classes == 2 else [0.1, 0.9, 0.0])
    far = np.full((2, 2), 50.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(machine).set_params(unreached=shares).fit(X, y)
        np.testing.assert_allclose(fitted.predict_proba(far)[0], shares, atol=1e-12)
        assert (fitted.predict(far) == 1).all()


def test_unusable_sizes_are_named() -> None:
    X, y = overlapping(2)
    for wrong in ({0: 1.0}, [0.5, 0.5, 0.1], [0.0, 1.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="class_sizes"):
            RLSClassifier(WIDE, class_sizes=wrong).fit(X, y)
    with pytest.raises(ValueError, match="unreached must be 'prior'"):
        RLSClassifier(WIDE, unreached="intercept").fit(X, y)
    with pytest.raises(ValueError, match="'prior' or 'intercept'"):
        KernelSVC(WIDE, unreached="nothing").fit(X, y)
    assert known_shares([0, 2], np.array([0, 1]), "unreached", allow_zero=True)[1] == 1


def test_offsets_match_sizes_of_many_classes() -> None:
    rng = np.random.default_rng(0)
    scores, sizes = rng.normal(size=(500, 6)), rng.dirichlet(np.full(6, 3.0))
    found = (scores + size_offsets(scores, sizes)).argmax(axis=1)
    np.testing.assert_allclose(np.bincount(found, minlength=6) / 500, sizes, atol=0.005)
