from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from mercer._base.checks import (
    check_finite,
    check_number,
    check_psd,
    check_same_length,
    check_square,
    check_symmetric,
)
from mercer.exceptions import NotPSDError


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_good_matrices_pass(wrap: Any) -> None:
    K = wrap(np.array([[2.0, 1.0], [1.0, 2.0]]))
    check_finite(K)
    check_square(K)
    check_symmetric(K)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 2), ()])
def test_not_square(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="W must be square, got shape"):
        check_square(np.ones(shape), "W")


def test_empty() -> None:
    with pytest.raises(ValueError, match="K is empty"):
        check_square(np.ones((0, 0)))


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_asymmetry_is_located(wrap: Any) -> None:
    K = np.eye(4)
    K[3, 1] = 0.25
    with pytest.raises(ValueError, match=r"K\[1, 3\] = 0 but K\[3, 1\] = 0.25"):
        check_symmetric(wrap(K))


def test_rounding_is_not_asymmetry() -> None:
    K = np.array([[1e6, 1.0], [1.0 + 1e-6, 1e6]])
    check_symmetric(K)
    with pytest.raises(ValueError, match="symmetric"):
        check_symmetric(K / 1e6 + np.array([[0, 1e-9], [0, 0]]))


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
def test_nan_is_counted(wrap: Any) -> None:
    K = wrap(np.array([[np.nan, 1.0], [np.inf, 2.0]]))
    with pytest.raises(ValueError, match=r"NaN or infinite entries \(2\)"):
        check_finite(K)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rank=st.integers(0, 5))
def test_gram_matrices_of_any_rank_are_psd(seed: int, rank: int) -> None:
    factor = np.random.default_rng(seed).normal(size=(5, rank))
    check_psd(factor @ factor.T)


@pytest.mark.parametrize("negative", [-1e-3, -0.5, -7.0])
def test_not_psd_says_by_how_much(negative: float) -> None:
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    K = (rotation * [4.0, 1.0, negative]) @ rotation.T
    K = (K + K.T) / 2
    with pytest.raises(NotPSDError, match=f"smallest eigenvalue is {negative:.3g}"):
        check_psd(K)
    check_psd(K - negative * np.eye(3))  # the way out that the message names


def test_lengths() -> None:
    check_same_length([1, 2], np.ones((2, 5)), "y", "X")
    with pytest.raises(ValueError, match="X has 3 rows and y has 2"):
        check_same_length(np.ones((3, 1)), [0, 1], "X", "y")


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), np.int64(1)])
def test_good_numbers_pass(value: Any) -> None:
    check_number(value, "C", above=0, at_most=1)


@pytest.mark.parametrize("value", [0, -1.0, 1.5, float("nan"), float("inf")])
def test_number_out_of_bounds(value: Any) -> None:
    with pytest.raises(ValueError, match="finite number above 0 and at most 1; got"):
        check_number(value, "C", above=0, at_most=1)


@pytest.mark.parametrize("value", ["1", None, True, [1.0], 1j])
def test_not_a_number(value: Any) -> None:
    with pytest.raises(TypeError, match="C must be a finite number; got"):
        check_number(value, "C")
