"""One step of a recurrence: in vectors and plain, against scipy."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from mercer._base.machine_code import recur_plain as _recur_plain
from mercer._base.machine_code import recur_vectors as _recur_vectors
from mercer.eigen import chebyshev


@pytest.mark.parametrize("module", [_recur_vectors, _recur_plain])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 8, 9, 16, 24, 32, 41, 72])
def test_a_step_is_that_of_scipy(module: Any, dtype: Any, k: int) -> None:
    rng = np.random.default_rng(k)
    n = 60
    A = sparse.random_array((n, n), density=0.1, format="csr", rng=rng)
    A.data[A.indptr[7] : A.indptr[8]] = 0
    A.eliminate_zeros()  # a row without entries
    assert np.diff(A.indptr).min() == 0
    X, Y = rng.standard_normal((2, n, k))
    x, y = chebyshev.aligned(X, dtype), chebyshev.aligned(Y, dtype)
    numbers = [dtype(number) for number in (0.5, -2.0, 3.0)]
    module.recur(*chebyshev.parts(sparse.csr_array(A), dtype), x, y, *numbers, 0, n)
    expected = 0.5 * (A @ X) - 2.0 * X + 3.0 * Y
    tol = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(y[:, :k], expected, rtol=0, atol=10 * tol)
    assert not y[:, k:].any()
    assert y.ctypes.data % 64 == 0


def test_a_product_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    A = sparse.random_array((50, 50), density=0.2, format="csr", rng=rng)
    X = rng.standard_normal((50, 5))
    np.testing.assert_allclose(chebyshev.times(sparse.csr_array(A), X), A @ X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("density", [0.0, 0.2])
def test_indices_of_either_size_and_none_at_all(index: Any, density: float) -> None:
    rng = np.random.default_rng(0)
    A = sparse.random_array((50, 50), density=density, format="csr", rng=rng)
    arrays = (A.data, A.indices.astype(index), A.indptr.astype(index))
    X = rng.standard_normal((50, 5))
    found = chebyshev.times(sparse.csr_array(arrays, shape=A.shape), X)
    np.testing.assert_allclose(found, A @ X)
