import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from mercer.machines.klr import KernelLogisticRegression
from mercer.spectrum.filters import diffusion
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel


def problem(n_classes, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    order = np.argsort(np.argsort(X[:, 0] + 0.5 * rng.standard_normal(n)))
    return X, order * n_classes // n


def spectral_kernel(X):
    basis = GraphBasis(20, n_neighbors=8, random_state=0).fit(X)
    return SpectralKernel(basis, diffusion(basis.values_))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_scikit_learn_on_the_labelled_features(n_classes, fit_intercept):
    X, truth = problem(n_classes)
    y = np.where(np.arange(len(X)) % 2, truth, -1)
    kernel = spectral_kernel(X)
    Phi = kernel.features()
    model = KernelLogisticRegression(kernel, C=5.0, fit_intercept=fit_intercept)
    P = model.fit(X, y).predict_proba(X)
    theirs = LogisticRegression(
        C=5.0, fit_intercept=fit_intercept, tol=1e-12, solver="newton-cholesky"
    ).fit(Phi[y >= 0], y[y >= 0])
    np.testing.assert_allclose(P, theirs.predict_proba(Phi), atol=1e-6)


def test_one_versus_rest_is_one_binary_machine_per_class():
    X, y = problem(3)
    model = KernelLogisticRegression(multi_class="ovr", C=2.0).fit(X, y)
    machines = [
        KernelLogisticRegression(C=2.0).fit(X, np.int_(y == c)) for c in range(3)
    ]
    single = np.column_stack([machine.decision_function(X) for machine in machines])
    np.testing.assert_allclose(model.decision_function(X), single, atol=1e-8)
    P = expit(single)
    np.testing.assert_allclose(
        model.predict_proba(X), P / P.sum(axis=1, keepdims=True), atol=1e-8
    )


def test_gram_matrix_gives_the_optimum_of_the_paper():
    """Eq. 17 with lambda = 1/(l C): zero gradient in alpha, written out."""
    X, y = problem(2, n=30)
    C = 3.0
    model = KernelLogisticRegression("rbf", C=C, fit_intercept=False).fit(X, y)
    K = rbf_kernel(X, gamma=1 / 3)
    alpha, sign = model.dual_coef_[:, 0], 2 * y - 1
    np.testing.assert_allclose(K @ alpha, model.decision_function(X), atol=1e-10)
    gradient = K @ (alpha / (C * len(y)) - sign * expit(-sign * (K @ alpha)) / len(y))
    assert np.abs(gradient).max() < 1e-9


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_weights_of_points_and_classes(multi_class):
    X, y = problem(3)
    model = KernelLogisticRegression(multi_class=multi_class)
    twice = model.fit(np.r_[X, X[:10]], np.r_[y, y[:10]]).predict_proba(X)
    weights = np.ones(len(y))
    weights[:10] = 2.0
    np.testing.assert_allclose(
        model.fit(X, y, sample_weight=weights).predict_proba(X), twice, atol=1e-6
    )
    by_class = KernelLogisticRegression(
        multi_class=multi_class, class_weight={0: 3.0, 1: 1.0, 2: 0.5}
    )
    by_point = np.array([3.0, 1.0, 0.5])[y]
    np.testing.assert_allclose(
        by_class.fit(X, y).predict_proba(X),
        model.fit(X, y, sample_weight=by_point).predict_proba(X),
        atol=1e-8,
    )
    np.testing.assert_allclose(
        by_class.fit(X, y, sample_weight=weights).predict_proba(X),
        model.fit(X, y, sample_weight=weights * by_point).predict_proba(X),
        atol=1e-8,
    )


def test_balanced_classes_count_labelled_points_only():
    X, truth = problem(2)
    y = np.where(np.arange(len(X)) < 10, truth, -1)
    y[:10] = [0] * 8 + [1] * 2
    balanced = KernelLogisticRegression(class_weight="balanced").fit(X, y)
    weights = np.where(y == 1, 10 / 4, 10 / 16)
    given = KernelLogisticRegression().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(
        balanced.predict_proba(X), given.predict_proba(X), atol=1e-8
    )
    np.testing.assert_allclose(balanced.class_prior_, [0.5, 0.5])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0, -1.0, 1.0], ">= 0"),
        ([1.0, 1.0, 0.0, 0.0], "no class may have weight zero"),
        ([1.0, np.nan, 1.0, 1.0], "NaN"),
        ([1.0, 1.0], "sample_weight has 2 rows and y has 4"),
        ([[1.0]] * 4, "one number per point"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelLogisticRegression().fit(
            [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], sample_weight=weights
        )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C == 0.0"),
        ({"C": np.inf}, "C must be finite"),
        ({"multi_class": "ovo"}, "'multinomial' or 'ovr', got 'ovo'"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        KernelLogisticRegression(**params).fit([[0.0], [1.0]], [0, 1])


def test_certificate_holds_the_residual():
    X, y = problem(3)
    assert KernelLogisticRegression(C=50.0).fit(X, y).certificate_.residual <= 1e-10
    by_class = KernelLogisticRegression(multi_class="ovr").fit(X, y).certificate_
    assert [fit.residual <= 1e-10 for fit in by_class] == [True] * 3


@pytest.mark.parametrize(("n_columns", "width"), [(3, 3), (11, 11), (12, 12), (40, 12)])
def test_a_linear_kernel_is_solved_in_the_smaller_of_rows_and_columns(
    n_columns: int, width: int
) -> None:
    """Hundreds of rows of few columns took the eigenvectors of a matrix of the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, n_columns))
    y = np.where(np.arange(20) < 12, (X[:, 0] > X[:, 1]).astype(int), -1)
    machine = KernelLogisticRegression("linear").fit(X, y)
    labeled = machine._map.labeled
    assert labeled.shape == (12, width)
    np.testing.assert_allclose(labeled @ labeled.T, X[:12] @ X[:12].T, atol=1e-10)
    moment = labeled.T @ labeled  # what needs orthogonal features may rely on them
    np.testing.assert_allclose(moment, np.diag(np.diag(moment)), atol=1e-10)
    same = KernelLogisticRegression("precomputed").fit(X @ X.T, y)
    wanted = same.predict_proba(X @ X.T)
    np.testing.assert_allclose(machine.predict_proba(X), wanted, atol=1e-8)
