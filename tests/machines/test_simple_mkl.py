import numpy as np
import pytest
from sklearn.svm import SVC

from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.machines.simple_mkl import SimpleMKL, candidate_kernels
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
    grams = np.stack([k(X) / np.trace(k(X)) for k in KERNELS])
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
    np.testing.assert_allclose(np.trace(model.kernel_(X)), 1.0)


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

    model = SimpleMKL([unrelated, "linear"], C=10.0).fit(X, y)
    np.testing.assert_allclose(model.weights_, [0.0, 1.0], atol=0.01)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SimpleMKL([]), "kernels is empty"),
        (SimpleMKL([Linear(), 0.0 * Linear()]), r"kernels\[1\] = .* has the trace 0"),
        (SimpleMKL(C=0.0), "C == 0"),
        (SimpleMKL(["nonsense"]), "No kernel is named"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*problem(2))
