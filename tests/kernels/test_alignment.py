from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._base.typing import FloatArray
from mercer.kernels.aligning import (
    alignment,
    center,
    centered_alignment,
    ideal_target,
)
from oracles.kernels import centering

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(3, 9)


def random_kernel(n: int, seed: int) -> FloatArray:
    factor = np.random.default_rng(seed).normal(size=(n, 3)) + 1.0
    return factor @ factor.T


@settings(max_examples=30, deadline=None)
@given(n=sizes, seed=seeds)
def test_alignment_is_the_cosine_of_traces(n: int, seed: int) -> None:
    K, T = random_kernel(n, seed), random_kernel(n, seed + 1)
    expected = np.trace(K @ T) / np.sqrt(np.trace(K @ K) * np.trace(T @ T))
    assert alignment(K, T) == pytest.approx(expected)
    assert 0 <= alignment(K, T) <= 1
    assert alignment(K, K) == pytest.approx(1)
    assert alignment(7 * K, T) == pytest.approx(alignment(T, K))


@settings(max_examples=30, deadline=None)
@given(n=sizes, seed=seeds, constant=st.floats(0, 100))
def test_centered_alignment_is_that_of_centered_matrices(
    n: int, seed: int, constant: float
) -> None:
    K, T = random_kernel(n, seed), random_kernel(n, seed + 1)
    H = centering(n)
    expected = alignment(H @ K @ H, H @ T @ H)
    assert centered_alignment(K, T) == pytest.approx(expected)
    assert centered_alignment(K + constant, T) == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(n=sizes, seed=seeds)
def test_centering_is_a_projection(n: int, seed: int) -> None:
    K = random_kernel(n, seed)
    H = centering(n)
    assert np.allclose(center(K), H @ K @ H)
    assert np.allclose(center(center(K)), center(K))
    assert np.allclose(center(K).sum(axis=0), 0)


def test_centering_does_not_write_to_its_argument() -> None:
    K = random_kernel(4, 0)
    before = K.copy()
    center(K)
    assert np.array_equal(K, before)


def test_target_of_two_classes_is_the_outer_product() -> None:
    y = np.array([0, 1, 1, 0, 1])
    signs = 2.0 * y - 1
    assert np.array_equal(ideal_target(y), np.outer(signs, signs))


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 7])
def test_target_is_psd_and_tells_classes_apart(n_classes: int) -> None:
    y = np.arange(3 * n_classes) % n_classes
    T = ideal_target(y)
    same = y[:, None] == y
    assert np.allclose(T[same], 1)
    assert np.allclose(T[~same], 1 - 4 / n_classes)
    assert np.linalg.eigvalsh(T).min() > -1e-12
    # After centring only "same or not" is left, so every coding agrees.
    assert centered_alignment(T, same.astype(float)) == pytest.approx(1)


def test_target_covers_the_labelled_points() -> None:
    assert ideal_target([1, -1, 0, -1, 1]).tolist() == [
        [1, -1, 1],
        [-1, 1, -1],
        [1, -1, 1],
    ]


@pytest.mark.parametrize(
    ("K", "T", "message"),
    [
        (np.eye(3), np.eye(2), r"K has shape \(3, 3\) and T \(2, 2\)"),
        (np.ones((2, 3)), np.eye(2), "K must be square"),
        (np.eye(2), np.array([[1.0, 2.0], [0.0, 1.0]]), "T must be symmetric"),
        (np.full((2, 2), np.nan), np.eye(2), "K holds NaN"),
        (np.zeros((2, 2)), np.eye(2), "no alignment"),
        (np.empty((0, 0)), np.empty((0, 0)), "K is empty"),
    ],
)
@pytest.mark.parametrize("measure", [alignment, centered_alignment])
def test_bad_matrices(measure: Any, K: Any, T: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(K, T)


def test_constant_kernel_has_no_centered_alignment() -> None:
    with pytest.raises(ValueError, match="no alignment"):
        centered_alignment(np.ones((4, 4)), np.eye(4))
