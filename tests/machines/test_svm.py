import numpy as np
import pytest
from sklearn.svm import SVC

from data_folder import needs_data
from mercer.exceptions import DisconnectedGraphWarning
from mercer.kernels.parametric import RBF
from mercer.machines.svm import KernelSVC
from mercer_studies.data import load


def problem(n_classes, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.argsort(np.argsort(X[:, 0] * X[:, 1])) * n_classes // n


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_equals_scikit_learn(n_classes, C):
    X, y = problem(n_classes)
    known = np.where(np.arange(len(X)) % 3, y, -1)
    seen = known >= 0
    ours = KernelSVC(C=C, tol=1e-8).fit(X, known)
    theirs = SVC(C=C, gamma=1 / 3, tol=1e-8, break_ties=True).fit(X[seen], y[seen])
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-5
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_class_weights_reach_the_machine():
    X, y = problem(3)
    weights = {0: 5.0, 1: 1.0, 2: 0.2}
    ours = KernelSVC(class_weight=weights, tol=1e-8).fit(X, y)
    theirs = SVC(gamma=1 / 3, class_weight=weights, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_certificate_is_the_violation_of_optimality(n_classes):
    X, y = problem(n_classes)
    rough = KernelSVC(C=10.0, tol=0.5).fit(X, y).certificate_
    fine = KernelSVC(C=10.0, tol=1e-6).fit(X, y).certificate_
    assert fine <= 1e-5
    assert fine < rough <= 1.0


PRINTED = {  # Mao and Tsang (2010), Table 2
    ("ssl_digit1", 10): (77.05, 5.24),
    ("ssl_usps", 10): (80.02, 0.05),
    ("ssl_coil2", 10): (51.57, 3.12),
    ("ssl_coil", 10): (17.86, 3.02),
    ("ssl_text", 10): (53.90, 6.00),
    ("ssl_digit1", 100): (92.23, 1.44),
    ("ssl_usps", 100): (89.86, 1.03),
    ("ssl_coil2", 100): (49.68, 0.17),
    ("ssl_coil", 100): (16.30, 0.23),
    ("ssl_text", 100): (51.12, 4.94),
}


# With gamma = 1/d the raw pixels of COIL are too far apart for any kernel value.
@pytest.mark.filterwarnings("ignore::mercer.exceptions.DisconnectedGraphWarning")
@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(("name", "n_labeled"), PRINTED)
def test_equals_print(name, n_labeled):
    """The paper's protocol: the C that is best on the test points."""
    data = load(name)
    found = []
    for C in 10.0 ** np.arange(-3, 4):
        accuracies = []
        for labeled, rest in data.splits[n_labeled]:
            model = KernelSVC(C=C, unreached="intercept")
            model.fit(data.X[labeled], data.y[labeled])
            right = model.predict(data.X[rest]) == data.y[rest]
            accuracies.append(100 * right.mean())
        found.append((np.mean(accuracies), np.std(accuracies, ddof=1)))
    np.testing.assert_allclose(max(found), PRINTED[name, n_labeled], atol=0.005)


def test_unreached_points_can_get_the_decision_of_libsvm():
    X = np.array([[0.0], [0.1], [1.0], [1e6]])
    y = np.array([0, 0, 1, -1])
    for unreached in ("prior", "intercept"):
        with pytest.warns(DisconnectedGraphWarning, match="1 of 4 points"):
            model = KernelSVC(RBF(gamma=1.0), unreached=unreached).fit(X, y)
        if unreached == "prior":
            assert model.transduction_[3] == 0
        else:
            with pytest.warns(DisconnectedGraphWarning):
                decision = model.decision_function(X[3:])
            reference = SVC(kernel="rbf", gamma=1.0).fit(X[:3], y[:3])
            assert decision == pytest.approx(reference.decision_function(X[3:]))
    with pytest.raises(ValueError, match="unreached must be"):
        KernelSVC(unreached="first").fit(X, y)
