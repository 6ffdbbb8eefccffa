"""Chebyshev filters and eigenvalue counts against dense algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.chebyshev import chebval
from scipy import sparse

from mercer.eigen.chebyshev import aligned, chebyshev_filter
from mercer.eigen.counting import value_below_which


@settings(max_examples=25, deadline=None)
@given(degree=st.integers(1, 9), columns=st.integers(1, 9), seed=st.integers(0, 99))
def test_filter_is_the_polynomial(degree: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((12, 12))
    A += A.T
    X = rng.standard_normal((12, columns))
    low, high = -1.0, 4.0
    values, Q = np.linalg.eigh(A)
    heights = chebval((2 * values - high - low) / (high - low), np.eye(degree + 1)[-1])
    expected = Q @ (heights[:, None] * (Q.T @ X))
    before = X.copy()
    found = chebyshev_filter(sparse.csr_array(A), X, degree, low, high)
    assert np.abs(found - expected).max() <= 1e-10 * (1 + np.abs(heights).max())
    assert np.array_equal(X, before)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_count_of_small_eigenvalues(power: int) -> None:
    """Dense and thin lower ends: the 40th of 4000 values, within a few places."""
    spectrum = np.linspace(0.0, 1.0, 4000) ** power
    A = sparse.diags_array(spectrum).tocsr()
    Z = np.random.default_rng(0).standard_normal((4000, 8))
    cut = value_below_which(A, 40, Z, upper=1.0)
    # One draw of 8 vectors counts 40 values with a standard error of about 3.
    assert 28 <= np.count_nonzero(spectrum < cut) <= 60


def test_more_than_there_are_is_everything() -> None:
    A = sparse.diags_array(np.linspace(0.0, 1.0, 50)).tocsr()
    Z = np.random.default_rng(0).standard_normal((50, 8))
    assert value_below_which(A, 500, Z, upper=1.0) == 1.0


def test_many_values_beyond_do_not_lower_the_estimate() -> None:
    """Ten values below 0.2 and 20,000 beyond: a coarse step would count these too."""
    spectrum = np.r_[np.linspace(0.01, 0.19, 10), 0.2 + np.linspace(0, 1, 20_000)]
    A = sparse.diags_array(spectrum).tocsr()
    Z = np.random.default_rng(0).standard_normal((len(spectrum), 8))
    cut = value_below_which(A, 60, Z, upper=2.0)
    assert abs(cut - spectrum[59]) < 0.05 * spectrum[59]


def test_the_memory_of_aligned_vectors_may_be_used() -> None:
    A = sparse.csr_array(sparse.diags_array(np.linspace(0.0, 1.0, 40)))
    X = aligned(np.random.default_rng(0).standard_normal((40, 8)), np.float64)
    expected = chebyshev_filter(A, X, 4, 0.5, 1.0)
    found = chebyshev_filter(A, X, 4, 0.5, 1.0, overwrite=True)
    assert np.array_equal(found, expected)
    assert np.shares_memory(found, X)
