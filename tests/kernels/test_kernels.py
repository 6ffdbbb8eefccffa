"""The battery that every kernel passes, and each formula against the obvious one."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from mercer._base.typing import FloatArray
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Product, Scaled, Sum, Weighted
from mercer.kernels.normalized import Centered, CenteredOn, Normalized, TraceNormalized
from mercer.kernels.parametric import (
    RBF,
    Linear,
    PairwiseKernelFunction,
    Polynomial,
)
from mercer.kernels.precomputed import Precomputed
from oracles import kernels as oracle


def squared_product(X: Any, Z: Any) -> Any:
    product = X @ Z.T
    return (product.toarray() if hasattr(product, "toarray") else product) ** 2


POLYNOMIAL = Polynomial(3, gamma=0.5, coef0=2.0)
KERNELS: list[Kernel] = [
    Linear(),
    POLYNOMIAL,
    RBF(),
    RBF(gamma=0.3),
    RBF(gamma="mean_distance"),
    PairwiseKernelFunction("laplacian", {"gamma": 0.2}),
    PairwiseKernelFunction(squared_product),
    RBF(0.3) + Linear(),
    RBF(0.3) * POLYNOMIAL,
    3 * RBF(0.3),
    Weighted([Linear(), RBF(gamma="median"), POLYNOMIAL], [0.5, 2.0, 0.0]),
    Normalized(POLYNOMIAL),
    Normalized(Linear()),
    TraceNormalized(Linear() + RBF(0.3)),
    Centered(RBF(0.3)),
    Normalized(Centered(Linear())),
    Centered(Normalized(POLYNOMIAL)),
]
# Addresses of functions differ between workers, names do not.
every_kernel = pytest.mark.parametrize(
    "kernel", KERNELS, ids=[str(kernel).split(" at 0x")[0] for kernel in KERNELS]
)


def points(rows: int = 6) -> st.SearchStrategy[FloatArray]:
    """Distinct rows of three eighths, so that bandwidth rules find a width."""
    return st.integers(2, rows).flatmap(
        lambda n: arrays(
            np.int64, (n, 3), elements=st.integers(-24, 24), unique=True
        ).map(lambda X: X / 8)
    )


def scale(K: FloatArray) -> float:
    return 1 + float(np.abs(K).max())


@every_kernel
@settings(max_examples=15, deadline=None)
@given(X=points())
def test_gram_matrix_is_symmetric_psd_with_the_right_diagonal(
    kernel: Kernel, X: FloatArray
) -> None:
    kernel = kernel.resolve(X)
    K = kernel(X)
    # Centring subtracts numbers of the size of the kernel underneath.
    tol = 1e-12 * scale(POLYNOMIAL(X))
    assert K.shape == (len(X), len(X))
    assert K.dtype == np.float64
    assert np.abs(K - K.T).max() <= tol
    assert np.abs(K.diagonal() - kernel.diag(X)).max() <= tol
    # The cosine of a point at the mean is one of rounding errors.
    if not (isinstance(kernel, Normalized) and isinstance(kernel.kernel, CenteredOn)):
        assert np.linalg.eigvalsh(K).min() >= -len(X) * tol


@every_kernel
@settings(max_examples=10, deadline=None)
@given(X=points(), Z=points())
def test_two_sets_agree_with_one_and_with_their_exchange(
    kernel: Kernel, X: FloatArray, Z: FloatArray
) -> None:
    kernel = kernel.resolve(X)
    tol = 1e-9 * scale(POLYNOMIAL(np.vstack([X, Z])))
    assert np.abs(kernel(X, Z) - kernel(Z, X).T).max() <= tol
    both = np.vstack([X, Z])
    assert np.abs(kernel(both)[: len(X), len(X) :] - kernel(X, Z)).max() <= tol


@every_kernel
@pytest.mark.parametrize("sparse", [csr_array, csc_array])
def test_sparse_equals_dense(kernel: Kernel, sparse: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4)) * (rng.random((9, 4)) < 0.5) + np.eye(9, 4)
    Z = rng.normal(size=(5, 4))
    dense, thin = kernel.resolve(X), kernel.resolve(sparse(X))
    assert np.allclose(thin(sparse(X), sparse(Z)), dense(X, Z), rtol=1e-10, atol=1e-12)
    assert np.allclose(thin(sparse(X)), dense(X), rtol=1e-10, atol=1e-12)
    assert np.allclose(thin.diag(sparse(X)), dense.diag(X), rtol=1e-10, atol=1e-12)


@every_kernel
def test_clone_and_pickle_give_the_same_kernel(kernel: Kernel) -> None:
    X, _ = make_moons(12, noise=0.05, random_state=0)
    new = X[:5] + 0.1
    resolved = kernel.resolve(X)
    K = resolved(new)
    assert np.array_equal(clone(kernel).resolve(X)(new), K)
    assert np.array_equal(clone(resolved)(new), K)
    assert np.array_equal(pickle.loads(pickle.dumps(resolved))(new), K)


@every_kernel
def test_svc_takes_the_kernel_as_it_is(kernel: Kernel) -> None:
    X, y = make_moons(40, noise=0.05, random_state=0)
    kernel = kernel.resolve(X)
    new = X[::3] + 0.1
    direct = SVC(kernel=kernel, tol=1e-9).fit(X, y).decision_function(new)
    precomputed = SVC(kernel="precomputed", tol=1e-9).fit(kernel(X), y)
    assert np.allclose(direct, precomputed.decision_function(kernel(new, X)), atol=1e-6)


def test_svc_takes_sparse_points_too() -> None:
    X, y = make_moons(40, noise=0.05, random_state=0)
    dense = SVC(kernel=RBF(0.5)).fit(X, y).decision_function(X)
    thin = SVC(kernel=RBF(0.5)).fit(csr_array(X), y).decision_function(csr_array(X))
    assert np.allclose(thin, dense)


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (Linear(), oracle.linear),
        (POLYNOMIAL, oracle.polynomial),
        (RBF(gamma=0.3), oracle.rbf),
        (PairwiseKernelFunction("laplacian", {"gamma": 0.2}), oracle.laplacian),
        (PairwiseKernelFunction(squared_product), oracle.squared_product),
    ],
)
@settings(max_examples=20, deadline=None)
@given(X=points(), Z=points())
def test_formula(
    kernel: Kernel, formula: Callable[..., float], X: FloatArray, Z: FloatArray
) -> None:
    K = oracle.gram(formula, X, Z)
    assert np.allclose(kernel(X, Z), K, rtol=1e-10, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(X=points(), Z=points(), a=st.floats(0, 10), b=st.floats(0, 10))
def test_algebra(X: FloatArray, Z: FloatArray, a: float, b: float) -> None:
    k, m = RBF(0.3), POLYNOMIAL
    K, M = k(X, Z), m(X, Z)
    for composed, expected in [
        (k + m, K + M),
        (k * m, K * M),
        (a * k, a * K),
        (k * a, a * K),
        (Weighted([k, m], [a, b]), a * K + b * M),
        ((k + m) * m, K * M + M * M),
    ]:
        assert np.allclose(composed(X, Z), expected, rtol=1e-12, atol=0)


def test_composites_resolve_their_parts() -> None:
    X = np.random.default_rng(0).normal(size=(7, 3))
    rule, other = RBF(gamma="median"), RBF(gamma="mean_norm")
    K, M = rule.resolve(X)(X), other.resolve(X)(X)
    for composed, expected in [
        (rule + other, K + M),
        (rule * other, K * M),
        (3 * rule, 3 * K),
        (Weighted([rule, other], [0.5, 2.0]), 0.5 * K + 2 * M),
    ]:
        assert np.allclose(composed.resolve(X)(X), expected)


def test_operators_build_the_named_kernels() -> None:
    k, m = RBF(0.3), Linear()
    assert isinstance(k + m, Sum)
    assert isinstance(k * m, Product)
    assert isinstance(2 * k, Scaled)
    with pytest.raises(TypeError, match="unsupported operand"):
        k + 1  # type: ignore[operator]
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
        k * "2"


def test_square_of_linear_is_homogeneous_quadratic() -> None:
    X = np.random.default_rng(0).normal(size=(7, 3))
    quadratic = Polynomial(2, gamma=1.0, coef0=0.0)
    assert np.allclose((Linear() * Linear())(X), quadratic(X))


@settings(max_examples=20, deadline=None)
@given(X=points())
def test_normalized_has_unit_diagonal_and_ignores_scale(X: FloatArray) -> None:
    cosine = Normalized(POLYNOMIAL)
    assert np.array_equal(cosine(X).diagonal(), np.ones(len(X)))
    assert np.array_equal(cosine.diag(X), np.ones(len(X)))
    assert np.allclose(Normalized(7 * POLYNOMIAL)(X), cosine(X))
    assert np.abs(cosine(X)).max() <= 1 + 1e-12
    assert np.allclose(Normalized(RBF(0.3))(X), RBF(0.3)(X))
    assert np.allclose(Normalized(Linear())(X), cosine_similarity(X))


def test_normalized_leaves_the_zero_point_at_zero() -> None:
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert np.array_equal(Normalized(Linear())(X), [[0.0, 0.0], [0.0, 1.0]])
    assert Normalized(Linear()).diag(X).tolist() == [0.0, 1.0]


@settings(max_examples=20, deadline=None)
@given(X=points(), Z=points())
def test_centering_linear_is_subtracting_the_mean(X: FloatArray, Z: FloatArray) -> None:
    centered = Centered(Linear()).resolve(X)
    mean = X.mean(axis=0)
    assert np.allclose(centered(Z, X), Linear()(Z - mean, X - mean), atol=1e-10)
    assert np.allclose(centered.diag(Z), Linear().diag(Z - mean), atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(X=points(), Z=points())
def test_centering_is_idempotent_and_of_mean_zero(X: FloatArray, Z: FloatArray) -> None:
    once = Centered(RBF(0.3)).resolve(X)
    twice = Centered(once).resolve(X)
    H = oracle.centering(len(X))
    assert np.allclose(once(X), H @ RBF(0.3)(X) @ H, atol=1e-12)
    assert np.allclose(once(X, Z).mean(axis=0), 0, atol=1e-12)
    assert np.allclose(twice(X, Z), once(X, Z), atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(X=points(), factor=st.floats(0.01, 100))
def test_trace_normalized_has_trace_n(X: FloatArray, factor: float) -> None:
    kernel = TraceNormalized(factor * POLYNOMIAL).resolve(X)
    assert np.trace(kernel(X)) == pytest.approx(len(X))
    assert np.allclose(kernel(X), TraceNormalized(POLYNOMIAL).resolve(X)(X))


def test_precomputed_picks_rows() -> None:
    X, y = make_moons(30, noise=0.05, random_state=0)
    K = RBF(1.0)(X)
    kernel = Precomputed(K)
    assert np.array_equal(kernel([3, 1], [0, 2]), K[np.ix_([3, 1], [0, 2])])
    assert np.array_equal(kernel.diag([2, 2]), [1.0, 1.0])
    assert clone(kernel).K is K
    rows = np.arange(30)[:, None]
    by_rows = SVC(kernel=kernel).fit(rows, y).decision_function(rows)
    assert np.allclose(by_rows, SVC(kernel=RBF(1.0)).fit(X, y).decision_function(X))


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (RBF(), "kernel__gamma"),
        (RBF() + Linear(), "kernel__left__gamma"),
        (Normalized(Linear() * RBF()), "kernel__kernel__right__gamma"),
        (2 * RBF(), "kernel__kernel__gamma"),
    ],
)
def test_grid_search_reaches_the_parameters(kernel: Kernel, name: str) -> None:
    X, y = make_moons(60, noise=0.1, random_state=0)
    search = GridSearchCV(SVC(kernel=kernel), {name: [1e-6, 5.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {name: 5.0}
    assert search.best_estimator_.get_params()[name] == 5.0
