"""Filters against the matrix functions they stand for."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import expm

from mercer.spectrum.filters import (
    cluster,
    diffusion,
    gaussian_field,
    polynomial,
    truncated,
)
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel
from oracles.spectrum import dense_laplacian

X = np.random.default_rng(0).standard_normal((40, 2))
FULL = GraphBasis(None).fit(X)
L = dense_laplacian(FULL.graph_.adjacency, "normalized")


def walk(L: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(np.eye(40) - L)
    return (vectors * np.maximum(values, 0) ** 3) @ vectors.T


@pytest.mark.parametrize(
    ("weights", "matrix"),
    [
        (lambda g: diffusion(g, t=0.7), lambda L: expm(-0.7 * L)),
        (
            lambda g: gaussian_field(g, eps=0.2),
            lambda L: np.linalg.inv(L + 0.2 * np.eye(40)),
        ),
        (lambda g: polynomial(g, degree=3), walk),
    ],
    ids=["diffusion", "gaussian field", "polynomial"],
)
def test_filter_is_a_function_of_the_laplacian(
    weights: Callable[[np.ndarray], np.ndarray],
    matrix: Callable[[np.ndarray], np.ndarray],
) -> None:
    kernel = SpectralKernel(FULL, weights(FULL.values_))
    assert np.abs(kernel() - matrix(L)).max() <= 1e-9
    assert (np.diff(weights(FULL.values_)) <= 1e-12).all()  # smooth before rough


def test_truncated_is_kernel_pca_and_cluster_a_projector() -> None:
    basis = GramBasis(None, kernel="poly").fit(X)
    K = (X @ X.T / 2 + 1) ** 3
    values, vectors = np.linalg.eigh(K)
    best = (vectors[:, -4:] * values[-4:]) @ vectors[:, -4:].T
    kernel = SpectralKernel(basis, truncated(basis.values_, n_kept=4))
    assert np.abs(kernel() - best).max() <= 1e-8 * values[-1]
    kernel = SpectralKernel(basis, cluster(basis.values_, n_kept=4))
    assert np.abs(kernel() - vectors[:, -4:] @ vectors[:, -4:].T).max() <= 1e-8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: diffusion([0.0], t=-1.0), "t == -1"),
        (lambda: gaussian_field([0.0], eps=0.0), "eps == 0"),
        (lambda: polynomial([0.0], degree=0), "degree == 0"),
        (lambda: cluster([0.0, 1.0], n_kept=3), "n_kept == 3"),
        (lambda: truncated([0.0, 1.0], n_kept=0), "n_kept == 0"),
        (lambda: diffusion([-0.5]), "numbers >= 0"),
        (lambda: diffusion([np.nan]), "finite"),
        (lambda: diffusion([[0.1]]), r"shape \(1, 1\)"),
    ],
)
def test_bad_input(call: Callable[[], np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
