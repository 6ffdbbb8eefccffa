"""Our kernels in scikit-learn's kernel estimators, and theirs in ours."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

from mercer.kernels.columns import OnColumns
from mercer.kernels.composite import Weighted
from mercer.kernels.normalized import Centered, Normalized, TraceNormalized
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.kernels.spec import as_kernel
from mercer.kernels.tabulated import Tabulated
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.svm import KernelSVC

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
Y = np.where(X[:, 0] > 0, 1, 0)


def learned():
    y = np.full(30, -1)
    y[:6] = Y[:6]
    return ParameterFreeKernel(random_state=0).fit(X, y).kernel_


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(2),
    "rbf": RBF(gamma=0.5),
    "sum": Linear() + RBF(gamma=0.5),
    "product": Linear() * RBF(gamma=0.5),
    "scaled": 0.5 * RBF(gamma=0.5),
    "weighted": Weighted(["linear", RBF(gamma=0.5)], [0.3, 0.7]),
    "cosine": Normalized(Linear()),
    "columns": OnColumns(RBF(gamma=0.5), [0, 2]),
    "centred": Centered(Linear()).resolve(X),
    "tabulated": Tabulated(X, X @ X.T),
    "function": as_kernel(lambda A, B: A @ B.T),
    "gaussian process": as_kernel(gp.RBF(1.5) + gp.DotProduct()),
    "learned": learned(),
}
each_kernel = pytest.mark.parametrize("name", KERNELS)


class Counted:
    """Counts calls of a kernel."""

    def __init__(self, kernel):
        self.kernel, self.n_calls = kernel, 0

    def __call__(self, A, B=None):
        self.n_calls += 1
        return self.kernel(A, B)


gp.Kernel.register(Counted)


@each_kernel
def test_one_call_for_all_pairs(name):
    counted = Counted(KERNELS[name])
    K = pairwise_kernels(X, metric=counted)
    np.testing.assert_allclose(K, KERNELS[name](X, X), atol=1e-12)
    assert counted.n_calls == 1
    assert isinstance(KERNELS[name], gp.Kernel)  # what made it one call


@each_kernel
def test_two_vectors_give_a_number(name):
    kernel = KERNELS[name]
    value = kernel(X[3], X[5])
    assert np.ndim(value) == 0
    assert float(value) == pytest.approx(kernel(X[3:4], X[5:6])[0, 0])


@each_kernel
@pytest.mark.parametrize(
    "estimator",
    [KernelRidge(), KernelPCA(2), Nystroem(n_components=5, random_state=0)],
    ids=lambda e: type(e).__name__,
)
def test_estimators_of_scikit_learn_take_the_kernel(estimator, name):
    kernel = KERNELS[name]
    ours = clone(estimator).set_params(kernel=kernel).fit(X, Y)
    if isinstance(estimator, Nystroem):
        Z = ours.transform(X[:4])
        rows = ours.component_indices_
        root = np.linalg.pinv(kernel(X[rows], X[rows]), hermitian=True)
        np.testing.assert_allclose(
            Z @ Z.T, kernel(X[:4], X[rows]) @ root @ kernel(X[rows], X[:4]), atol=1e-6
        )
        return
    theirs = clone(estimator).set_params(kernel="precomputed").fit(kernel(X, X), Y)
    call = "predict" if hasattr(ours, "predict") else "transform"
    np.testing.assert_allclose(
        np.abs(getattr(ours, call)(X[:4])),
        np.abs(getattr(theirs, call)(kernel(X[:4], X))),
        atol=1e-6,
    )


def test_spectral_clustering_takes_the_kernel():
    Z = np.vstack([X[:10], X[:10] + 20])
    found = SpectralClustering(2, affinity=RBF(gamma=0.5), random_state=0).fit(Z)
    assert len(set(found.labels_[:10])) == len(set(found.labels_[10:])) == 1
    assert found.labels_[0] != found.labels_[10]


def test_noise_of_a_gaussian_process_kernel_is_on_the_diagonal():
    kernel = as_kernel(gp.RBF() + gp.WhiteKernel(3.0))
    np.testing.assert_allclose(kernel(X), gp.RBF()(X) + 3 * np.eye(30))
    np.testing.assert_allclose(kernel.diag(X), 4.0)
    np.testing.assert_allclose(kernel(X, X), gp.RBF()(X))
    ours = KernelSVC(gp.RBF() + gp.WhiteKernel(3.0), C=5.0, tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(ours._map.gram, kernel(X))


@pytest.mark.parametrize("wrap", [Normalized, TraceNormalized, Centered])
def test_kernels_of_kernels_take_names(wrap):
    named, given = wrap("linear").resolve(X), wrap(Linear()).resolve(X)
    np.testing.assert_allclose(named(X), given(X))
    np.testing.assert_allclose(named.diag(X), given.diag(X))


def test_columns_take_names_of_kernels():
    block = OnColumns("rbf", [1, 2])
    np.testing.assert_allclose(block(X, X[:3]), RBF()(X[:, 1:], X[:3, 1:]))
    np.testing.assert_allclose(block.diag(X), 1.0)
    np.testing.assert_allclose(Normalized("linear")(X), Normalized(Linear())(X))


def test_equal_kernels_are_equal():
    assert RBF(gamma=1.0) == RBF(gamma=1.0)
    assert RBF(gamma=1.0) != RBF(gamma=2.0)
    assert Linear() != RBF()
    assert Linear() + RBF() == Linear() + RBF()
    assert Linear() + RBF() != RBF() + Linear()
    assert Weighted([Linear()], np.array([1.0])) == Weighted([Linear()], [1.0])
    assert Weighted([Linear()], [1.0]) != Weighted([Linear()], [2.0])
    assert Tabulated(X, X @ X.T) == Tabulated(X.copy(), X @ X.T)
    assert clone(Normalized("rbf")) == Normalized("rbf")
    assert len({RBF(), RBF(), Linear()}) == 2
