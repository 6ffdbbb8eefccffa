import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.optim import positive_part
from mercer.optim.positive_part import positive_eigenpairs


def with_eigenvalues(values, seed=0):
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def check(A, n_positive):
    values, vectors = positive_eigenpairs(A)
    size = np.abs(A).max(initial=0.0)
    assert vectors.shape == (len(A), n_positive)
    assert (np.diff(values) <= 0).all()
    expected = np.linalg.eigvalsh(A)[::-1][:n_positive]
    np.testing.assert_allclose(values, expected, atol=1e-12 * len(A) * size)
    np.testing.assert_allclose(
        A @ vectors, vectors * values, atol=1e-12 * len(A) * size
    )
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_positive), atol=1e-11)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 90),
    share=st.sampled_from([0.0, 0.05, 0.15, 0.5, 1.0]),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
)
@settings(max_examples=60, deadline=None)
def test_pairs_of_any_matrix(seed, n, share, scale):
    rng = np.random.default_rng(seed)
    k = round(share * n)
    values = np.r_[rng.uniform(0.01, 1, k), -rng.uniform(0.01, 1, n - k)]
    check(scale * with_eigenvalues(values, seed), k)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_vectors_at_extreme_scales(scale):
    values = np.r_[np.arange(1.0, 4.0), -np.arange(1.0, 48.0)]
    check(scale * with_eigenvalues(values), 3)


@pytest.mark.parametrize("width", [0.0, 1e-14, 1e-9])
def test_crowded_eigenvalues(width):
    rng = np.random.default_rng(1)
    values = np.r_[1 + width * rng.random(12), -rng.uniform(0.01, 1, 108)]
    check(with_eigenvalues(values), 12)


@pytest.mark.parametrize("n_parts", [2, 10, 60])
def test_matrices_that_fall_apart(n_parts):
    part = with_eigenvalues(np.r_[1.0, -np.arange(1.0, 120 // n_parts)])
    check(np.kron(np.eye(n_parts), part), n_parts)


def test_diagonal_matrices():
    values = np.r_[np.arange(1.0, 6.0), -np.ones(45)]
    check(np.diag(np.random.default_rng(0).permutation(values)), 5)
    check(np.zeros((40, 40)), 0)
    check(np.eye(40), 40)
    check(-np.eye(40), 0)


def test_rounding_error_is_not_positive():
    values = np.r_[1.0, np.full(59, 1e-17)]
    assert len(positive_eigenpairs(with_eigenvalues(values))[0]) == 1


def test_few_positive_eigenvalues_need_few_vectors(monkeypatch):
    # SciPy 1.13 has no dstevd.
    monkeypatch.setattr(positive_part.lapack, "dstevd", None, raising=False)
    check(with_eigenvalues(np.r_[np.arange(1.0, 9.0), -np.arange(1.0, 93.0)]), 8)


def test_wrong_vectors_of_inverse_iteration_are_not_used(monkeypatch):
    true = positive_part.lapack.dstein

    def tilted(*args):
        vectors, failed = true(*args)
        vectors[:, 0] += 1e-6 * vectors[:, 1]
        return vectors, failed

    monkeypatch.setattr(positive_part.lapack, "dstein", tilted)
    check(with_eigenvalues(np.r_[np.arange(1.0, 9.0), -np.arange(1.0, 93.0)]), 8)
