import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.machines.simple_mkl import SimpleMKL, candidate_kernels
from mercer.machines.svm import KernelSVC
from oracles.machines import mkl_by_qcqp

KERNELS = [RBF(gamma=0.05), RBF(gamma=1.0), Polynomial(2, gamma=1.0), Linear()]


def problem(n_classes, n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.argsort(np.argsort(X[:, 0] * X[:, 1] + 0.2 * X[:, 2])) * n_classes // n


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_within_the_gap_of_the_qcqp(n_classes):
    pytest.importorskip("cvxpy")
    X, y = problem(n_classes)
    model = SimpleMKL(KERNELS, C=10.0).fit(X, y)
    grams = np.stack([k(X) / np.diag(k(X)).mean() for k in KERNELS])
    signs = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    best, _ = mkl_by_qcqp(grams, signs[:, 1:] if n_classes == 2 else signs, 10.0)
    assert model.certificate_.relative_gap <= 1e-3
    assert best * (1 - 1e-6) <= model.certificate_.objective <= best * (1 + 2e-3)


def test_the_machine_is_a_support_vector_machine_on_its_kernel():
    X, y = problem(2)
    model = SimpleMKL(KERNELS, C=10.0).fit(X, y)
    new = X + 0.3
    theirs = SVC(C=10.0, kernel=model.kernel_, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(new), theirs.decision_function(new), atol=1e-4
    )
    np.testing.assert_allclose(np.diag(model.kernel_(X)).mean(), 1.0)


def test_unlabelled_points_change_nothing():
    X, truth = problem(3, n=40)
    y = np.where(np.arange(40) % 2, truth, -1)
    partly = SimpleMKL(KERNELS).fit(X, y)
    alone = SimpleMKL(KERNELS).fit(X[y >= 0], y[y >= 0])
    np.testing.assert_array_equal(partly.weights_, alone.weights_)
    np.testing.assert_array_equal(
        partly.decision_function(X), alone.decision_function(X)
    )


def test_kernels_of_the_paper():
    kernels = candidate_kernels()
    x, z = np.array([[1.0, 2.0]]), np.array([[0.0, 3.0]])
    values = [float(k(x, z)[0, 0]) for k in kernels]
    sigmas = [0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20]
    expected = [np.exp(-2.0 / (2 * s**2)) for s in sigmas] + [6.0, 36.0, 216.0]
    np.testing.assert_allclose(values, expected)
    X, y = problem(2)
    model = SimpleMKL().fit(X, y)
    assert model.weights_.shape == (13,)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)


def test_a_useless_kernel_gets_no_weight():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = np.int_(X[:, 0] > 0)
    noise = rng.standard_normal((40, 40))

    def unrelated(A, B):
        rows = [np.flatnonzero((a == X).all(axis=1))[0] for a in A]
        columns = [np.flatnonzero((b == X).all(axis=1))[0] for b in B]
        return (noise @ noise.T)[np.ix_(rows, columns)]

    model = SimpleMKL([unrelated, "linear"], C=0.25).fit(X, y)
    np.testing.assert_allclose(model.weights_, [0.0, 1.0], atol=0.01)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SimpleMKL([]), "kernels is empty"),
        (
            SimpleMKL([Linear(), 0.0 * Linear()]),
            r"kernels\[1\] .* mean diagonal 0",
        ),
        (SimpleMKL(C=0.0), "C must be a finite number above 0; got 0"),
        (SimpleMKL(["nonsense"]), "No kernel is named"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*problem(2))


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_defaults_are_no_constant(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train = np.arange(len(X)) % 3 == 0
    mkl, svm = SimpleMKL().fit(X[train], y[train]), KernelSVC().fit(X[train], y[train])
    assert mkl.score(X[~train], y[~train]) > svm.score(X[~train], y[~train]) - 0.03


def test_one_kernel_of_mean_diagonal_one_is_the_support_vector_machine():
    X, y = problem(2)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    ours = SimpleMKL(["linear"], C=10.0).fit(X, y)
    theirs = KernelSVC("linear", C=10.0, tol=1e-8).fit(X, y)
    new = X[::-1] + 0.1
    np.testing.assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), atol=1e-3
    )


def test_the_weight_of_the_loss_does_not_depend_on_the_number_of_labels():
    X, y = problem(2)
    once = SimpleMKL(KERNELS, C=2.0).fit(X, y)
    twice = SimpleMKL(KERNELS, C=1.0).fit(np.r_[X, X], np.r_[y, y])
    np.testing.assert_allclose(once.weights_, twice.weights_, atol=0.02)
    np.testing.assert_allclose(
        once.decision_function(X), twice.decision_function(X), atol=0.02
    )
