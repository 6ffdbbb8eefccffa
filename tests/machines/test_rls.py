import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from oracles.learner import DiffusionLearner


def problem(n_classes=3, n=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.argsort(np.argsort(X[:, 0])) * n_classes // n


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.5, 1e4, np.inf])
def test_leave_one_out_equals_refits(n_classes, C):
    X, truth = problem(n_classes)
    y = np.where(np.arange(len(X)) % 2, truth, -1)
    model = RLSClassifier("laplacian", C=C).fit(X, y)
    for place, row in enumerate(model.labeled_):
        rest = y.copy()
        rest[row] = -1
        refit = RLSClassifier("laplacian", C=C).fit(X, rest)
        without = refit.decision_function(X[[row]])
        target = (
            np.array([2.0 * y[row] - 1])
            if n_classes == 2
            else (np.arange(n_classes) == y[row]).astype(float)
        )
        np.testing.assert_allclose(
            model.loo_residuals_[place], target - without.ravel(), atol=1e-6
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_closed_form_of_the_paper(n_classes):
    X, y = problem(n_classes)
    new = X + 0.1
    model = RLSClassifier("rbf", C=2.0).fit(X, y)
    Y = (y[:, None] == np.arange(n_classes)).astype(float)
    alpha = np.linalg.solve(rbf_kernel(X) + np.eye(len(X)) / 2.0, Y)  # eq. 3
    f = rbf_kernel(new, X) @ alpha
    expected = f[:, 1] - f[:, 0] if n_classes == 2 else f
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-9)


def test_interpolation_returns_the_labels():
    X, y = problem(3)
    f = RLSClassifier("laplacian", C=np.inf).fit(X, y).decision_function(X)
    np.testing.assert_allclose(f, y[:, None] == np.arange(3), atol=1e-8)


def test_parameter_free_kernel_gives_the_decision_function_of_the_paper():
    """Algorithm 1, step 5, with its dense matrices: f_u = K_ul K_ll^-1 y."""
    X, truth = problem(3, n=40)
    y = np.where(np.arange(len(X)) % 3 == 0, truth, -1)
    model = RLSClassifier(ParameterFreeKernel(), C=np.inf).fit(X, y)
    K = model.kernel_()
    labeled = y >= 0
    Y = (y[labeled][:, None] == np.arange(3)).astype(float)
    f = K[~labeled][:, labeled] @ np.linalg.solve(K[labeled][:, labeled], Y)
    np.testing.assert_allclose(model.decision_function(X[~labeled]), f, atol=1e-6)


def test_fewer_features_than_labels():
    """An interpolation that cannot be exact is the least-squares fit."""
    X, y = problem(2)
    model = RLSClassifier(DiffusionLearner(5, n_components=3), C=np.inf).fit(X, y)
    Phi = model.kernel_.features()
    w, *_ = np.linalg.lstsq(Phi, 2.0 * y - 1, rcond=None)
    np.testing.assert_allclose(model.decision_function(X), Phi @ w, atol=1e-8)


@pytest.mark.parametrize("C", [0.0, -1.0])
def test_weight_of_the_loss_must_be_positive(C):
    with pytest.raises(ValueError, match="C == "):
        RLSClassifier(C=C).fit([[0.0], [1.0]], [0, 1])
