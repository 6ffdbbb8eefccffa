"""What no labelled point reaches, found by a short cut."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels.parametric import Linear
from mercer.machines._maps import FeatureMap
from mercer.machines.klr import KernelLogisticRegression


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_unreached_are_the_rows_orthogonal_to_all_labelled_ones(size, seed) -> None:
    rng = np.random.default_rng(seed)
    labeled = rng.standard_normal((size, 6))
    reach = FeatureMap(None, labeled)
    R = rng.standard_normal((12, 6))
    inside = reach.span @ reach.span.T
    R[:3] -= R[:3] @ inside  # orthogonal to all
    R[3] = 0.0
    # Orthogonal to the direction that is tried first, not to the others.
    first = reach.direction
    R[4:8] -= np.outer(R[4:8] @ first, first) / (first @ first)
    if size == 1:
        R[4:8] += labeled
    expected = np.zeros(12, bool)
    expected[:4] = True
    np.testing.assert_array_equal(reach.unreached(R), expected)


def test_no_kernel_matrix_is_made_where_columns_are_fewer(monkeypatch) -> None:
    """A matrix of 1,500 x 1,500 values made this 16 times as slow as it needs to be."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    y = (X[:, 0] > 0).astype(int)

    def no_matrix(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Linear, "__call__", no_matrix)
    machine = KernelLogisticRegression("linear").fit(X, y)
    assert machine.represent(X[:3]).shape == (3, 4)
    np.testing.assert_allclose(machine.similarity(X[:3]), X[:3] @ X.T, atol=1e-12)
