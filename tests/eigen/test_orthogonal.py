"""Blocks are made orthonormal, and nothing of them is lost."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from mercer.eigen.orthogonal import orthonormalised, remove_null, turn

N = 1300  # more than two panels of rows


def known(number: type) -> tuple[sparse.csr_array, np.ndarray]:
    """Return two sparse vectors and five others, all orthonormal."""
    null = np.zeros((N, 2))
    null[:400, 0], null[400:, 1] = 400**-0.5, (N - 400) ** -0.5
    V = np.random.default_rng(0).standard_normal((N, 5))
    V = np.linalg.qr(V - null @ (null.T @ V))[0]
    return sparse.csr_array(null.astype(number)), V.astype(number)


@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize("shortest", [1.0, 1e-3, 1e-5])
def test_a_block_is_the_sum_of_its_parts(number: type, shortest: float) -> None:
    null, V = known(number)
    P = np.random.default_rng(1).standard_normal((N, 8)) * np.geomspace(1, shortest, 8)
    P = P.astype(number)
    given = P.astype(float)
    C, T, R, slant = orthonormalised(P, null, V, np.random.default_rng(2))
    assert slant == np.finfo(number).eps
    everything = np.hstack([null.toarray(), V, T]).astype(float)
    eps = float(np.finfo(number).eps)
    products = T.astype(float).T @ everything
    assert np.abs(products - np.eye(15)[7:]).max() <= 20 * eps
    part = null @ (null.T @ given)
    lost = given - (V @ C + T @ R + part)
    assert np.abs(lost).max() <= 20 * eps * np.linalg.norm(given, 2)


def test_an_exhausted_space_goes_on_with_random_directions() -> None:
    null, V = known(np.float64)
    P = V[:, :3] @ np.ones((3, 4))  # all in the space already
    C, T, R, _ = orthonormalised(P, null, V, np.random.default_rng(0))
    everything = np.hstack([null.toarray(), V, T])
    assert T.shape == (N, 4)
    assert np.abs(everything.T @ everything - np.eye(11)).max() <= 1e-13
    np.testing.assert_allclose(C[:3], 1.0)
    assert np.abs(R).max() <= 1e-13


@pytest.mark.parametrize("most", [1e-2, 1e-4, 1e-7])
def test_blocks_are_no_farther_from_orthogonal_than_allowed(most: float) -> None:
    """A Krylov space: each block is made of the two before it, and short."""
    null, _ = known(np.float32)
    A = np.geomspace(1.0, 1e-5, N)[:, None]
    rng = np.random.default_rng(0)
    P = rng.standard_normal((N, 4)).astype(np.float32)
    V, slants = P[:, :0], [0.0, 0.0]
    for _ in range(12):
        _, T, _, slant = orthonormalised(
            P, null, V, rng, slant=max(slants[-2:]), most_slant=most
        )
        everything = np.hstack([null.toarray(), V, T]).astype(float)
        products = T.astype(float).T @ everything
        products[:, -4:] -= np.eye(4)
        eps = float(np.finfo(np.float32).eps)
        assert np.abs(products).max() <= max(most, 20 * eps)
        V = np.hstack([V, T])
        slants.append(slant)
        P = (A * T).astype(np.float32)
    assert max(slants) <= max(most, eps)
    # One projection is enough for some blocks, where that much is allowed.
    assert (sum(s > eps for s in slants) > 0) == (most > 1e-5)


@pytest.mark.parametrize("order", ["C", "F"])
def test_sparse_vectors_are_removed_in_place(order: str) -> None:
    null, _ = known(np.float64)
    P = np.array(np.random.default_rng(0).standard_normal((N, 3)), order=order)
    expected = P - null @ (null.T @ P)
    remove_null(P, null)
    np.testing.assert_allclose(P, expected, atol=1e-14)


def test_a_product_may_be_written_over_its_factor() -> None:
    V = np.asfortranarray(np.random.default_rng(0).standard_normal((N, 5)))
    Y = np.arange(10.0).reshape(5, 2)
    expected = V @ Y
    turn(V, Y, V[:, :2])
    np.testing.assert_allclose(V[:, :2], expected)


def test_many_components_take_the_memory_of_one_matrix_of_their_shares() -> None:
    n, n_components, k = 50_000, 5_000, 8
    component = np.random.default_rng(0).integers(n_components, size=n)
    ones = np.full(n, (n / n_components) ** -0.5)
    null = sparse.csr_array((ones, (np.arange(n), component)), shape=(n, n_components))
    P = np.ones((n, k), np.float32)
    remove_null(P[:10].copy(), null[:10])  # compiles
    tracemalloc.start()
    try:
        remove_null(P, null)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 8 * n_components * k
