"""SpectralKernel: U M U^T without the matrix, and scikit-learn takes it."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

from mercer import persist
from mercer.exceptions import NotPSDError
from mercer.spectrum.filters import diffusion
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel

RNG = np.random.default_rng(0)
X = np.vstack([RNG.standard_normal((30, 3)), RNG.standard_normal((30, 3)) + 2.5])
Y = np.repeat([0, 1], 30)
NEW = X[:8] + 0.1
BASIS = GraphBasis(9, random_state=0).fit(X)
WEIGHTS = diffusion(BASIS.values_, t=2.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), rank=st.integers(1, 9), diagonal=st.booleans())
def test_features_and_gram_matrix(seed: int, rank: int, diagonal: bool) -> None:
    A = np.random.default_rng(seed).standard_normal((9, rank))
    core = (A**2).sum(axis=1) if diagonal else A @ A.T
    kernel = SpectralKernel(BASIS, core)
    M = np.diag(core) if diagonal else core
    U, V = BASIS.vectors_, BASIS.extend(NEW)
    tol = 1e-12 * np.abs(core).max()
    assert np.abs(kernel() - U @ M @ U.T).max() <= tol
    assert np.abs(kernel(NEW) - V @ M @ V.T).max() <= tol
    assert np.abs(kernel(NEW, X) - V @ M @ U.T).max() <= tol
    assert np.abs(kernel(None, NEW) - U @ M @ V.T).max() <= tol
    assert np.abs(kernel.diag(NEW) - (V @ M @ V.T).diagonal()).max() <= tol
    assert np.abs(kernel.diag() - (U @ M @ U.T).diagonal()).max() <= tol
    assert kernel.features().shape == (60, 9)
    some = np.array([5, 0, 59])
    assert np.abs(kernel.features(rows=some) - kernel.features()[some]).max() <= tol
    assert np.abs(kernel(X[3], NEW[1]) - kernel(X, NEW)[3, 1]) <= tol


def test_in_scikit_learn() -> None:
    kernel = SpectralKernel(BASIS, WEIGHTS)
    machine = SVC(kernel=kernel).fit(X, Y)
    plain = SVC(kernel="precomputed").fit(kernel(), Y)
    assert np.allclose(
        machine.decision_function(NEW), plain.decision_function(kernel(NEW, X))
    )
    slow = KernelPCA(2, kernel=kernel).fit_transform(X)
    fast = KernelPCA(2, kernel="precomputed").fit_transform(kernel())
    assert np.allclose(np.abs(slow), np.abs(fast), atol=1e-8)


def test_clone_pickle_and_save(tmp_path) -> None:
    kernel = SpectralKernel(BASIS, WEIGHTS)
    assert clone(kernel) is kernel
    persist.save(kernel, tmp_path / "kernel.skops")
    for again in (
        pickle.loads(pickle.dumps(kernel)),
        copy.deepcopy(kernel),
        persist.load(tmp_path / "kernel.skops"),
    ):
        assert np.array_equal(again(NEW, X), kernel(NEW, X))


def test_it_is_frozen_and_keeps_its_own_core() -> None:
    core = WEIGHTS.copy()
    kernel = SpectralKernel(BASIS, core)
    core[:] = 0.0
    assert np.array_equal(kernel.core, WEIGHTS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.core = core
    with pytest.raises(ValueError, match="read-only"):
        kernel.core[0] = 3.0


@pytest.mark.parametrize(
    ("core", "error", "message"),
    [
        (np.ones(4), ValueError, "the basis has 9 directions"),
        (np.ones((9, 4)), ValueError, "a 9 x 9 matrix"),
        (-np.ones(9), NotPSDError, r"core\[0\] = -1 is negative"),
        (np.full(9, np.nan), ValueError, "NaN"),
        (np.triu(np.ones((9, 9))), ValueError, "must be symmetric"),
        (-np.eye(9), NotPSDError, "eigenvalue -1 < 0"),
    ],
)
def test_bad_core(core: np.ndarray, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SpectralKernel(BASIS, core)
