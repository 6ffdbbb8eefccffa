"""Learned kernels take part in the algebra like any other."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from mercer.kernels.normalized import Centered, Normalized, TraceNormalized
from mercer.kernels.parametric import RBF
from mercer.kernels.spec import as_kernel
from mercer.spectrum.filters import diffusion
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.kernel import SpectralKernel

X, Y = make_moons(40, noise=0.05, random_state=0)
NEW = X[:7] + 0.05
BASIS = GramBasis(n_components=6, kernel=RBF(0.5)).fit(X)
LEARNED = SpectralKernel(BASIS, diffusion(BASIS.values_))


def test_sums_products_and_scales() -> None:
    K, M = LEARNED(NEW, X), RBF(0.5)(NEW, X)
    assert np.allclose((LEARNED + RBF(0.5))(NEW, X), K + M)
    assert np.allclose((RBF(0.5) * LEARNED)(NEW, X), K * M)
    assert np.allclose((0.5 * LEARNED)(NEW, X), 0.5 * K)


def test_normalizations() -> None:
    assert np.array_equal(Normalized(LEARNED)(NEW).diagonal(), np.ones(7))
    assert np.isclose(TraceNormalized(LEARNED).resolve(X).diag(X).mean(), 1)
    centered = Centered(LEARNED).resolve(X)
    assert np.allclose(centered(NEW, X).mean(axis=1), 0)


def test_clone_and_resolve_keep_the_very_object() -> None:
    assert clone(LEARNED) is LEARNED
    assert LEARNED.resolve(NEW) is LEARNED
    assert as_kernel(LEARNED) is LEARNED
    assert clone(LEARNED + RBF(0.5)).left is LEARNED


def test_svc_takes_a_learned_kernel_in_a_sum() -> None:
    kernel = LEARNED + RBF(0.5)
    direct = SVC(kernel=kernel).fit(X, Y).decision_function(NEW)
    given = SVC(kernel="precomputed").fit(kernel(X), Y)
    assert np.allclose(direct, given.decision_function(kernel(NEW, X)), atol=1e-6)
