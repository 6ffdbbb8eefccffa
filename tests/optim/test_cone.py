"""Decaying spectra: two generic solvers, the cone, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.optim.cone import solve_decaying_spectrum
from oracles.learners import alignment, decaying_spectrum_by_qp


def spectral_problem(seed: int, l: int, d: int):  # noqa: E741
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(3 * max(l, d), d)))[0][:l]
    y = np.where(rng.random(l) < 0.5, -1.0, 1.0)
    return V, y, np.square(V.T @ V), np.square(V.T @ y)


@pytest.mark.parametrize("solver", ["CLARABEL", "OSQP"])
@pytest.mark.parametrize("decay", [1.0, 1.1, 2.0])
@pytest.mark.parametrize("improved", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_same_optimum_as_generic_solvers(solver, decay, improved, seed) -> None:
    pytest.importorskip("cvxpy")
    d = 5 + 4 * seed
    V, y, G, b = spectral_problem(seed, 6 + 5 * seed, d)
    free = np.arange(d) == 2 if improved else None
    result = solve_decaying_spectrum(G, b, decay=decay, free=free)
    T = np.outer(y, y)
    base = [np.outer(v, v) for v in V.T]
    mu = decaying_spectrum_by_qp(base, T, decay, free, solver)
    ours = alignment((V * result.weights) @ V.T, T)
    theirs = alignment((V * mu) @ V.T, T)
    assert ours == pytest.approx(result.objective / len(y), rel=1e-12)
    # A generic solver leaves the cone by its tolerance, which can align better.
    assert ours == pytest.approx(theirs, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    l=st.integers(2, 30),
    d=st.integers(1, 40),
    decay=st.sampled_from([1.0, 1.01, 1.5, 3.0, 100.0]),
)
def test_spectrum_decays_and_is_optimal(seed, l, d, decay) -> None:  # noqa: E741
    _, _, G, b = spectral_problem(seed, l, d)
    result = solve_decaying_spectrum(G, b, decay=decay)
    mu = result.weights
    assert (mu >= 0).all()
    assert (mu[:-1] >= decay * mu[1:] * (1 - 1e-13)).all()
    assert result.kkt_residual <= 1e-10
    # No generator of the cone and no random member of it aligns better.
    rng = np.random.default_rng(seed)
    s = np.vstack([np.eye(d), rng.exponential(size=(20, d)) ** 3])
    others = decay ** -np.arange(d, dtype=float) * np.cumsum(s[:, ::-1], 1)[:, ::-1]
    norms = np.sqrt(np.einsum("ki,ij,kj->k", others, G, others))
    assert (others @ b <= result.objective * norms * (1 + 1e-9)).all()


@pytest.mark.parametrize("decay", [1.0, 1.02, 1.3])
def test_many_components_reach_rounding(decay) -> None:
    _, _, G, b = spectral_problem(5, 150, 200)
    result = solve_decaying_spectrum(G, b, decay=decay)
    assert result.kkt_residual <= 1e-11
    # The cosine of a projection: no member of the cone agrees with the rest of T.
    rest = b - G @ result.weights
    scale = decay ** -np.arange(200.0)
    assert np.cumsum(scale * rest).max() <= 1e-9 * np.cumsum(scale * b).max()
    assert abs(rest @ result.weights) <= 1e-9 * (b @ result.weights)


def test_steep_decay_leaves_the_first_direction() -> None:
    _, _, G, b = spectral_problem(3, 10, 200)
    mu = solve_decaying_spectrum(G, b, decay=1e6).weights
    assert mu[1] <= 1.0001e-6 * mu[0]
    assert np.isfinite(mu).all()


def test_free_entries_do_not_bound_the_chain() -> None:
    G, b = np.eye(3), np.array([0.0, 2.0, 1.0])
    assert solve_decaying_spectrum(G, b).weights == pytest.approx([1, 1, 1])
    free = np.array([True, False, False])
    assert solve_decaying_spectrum(G, b, free=free).weights == pytest.approx([0, 2, 1])


def test_no_agreement_with_the_target_gives_zero() -> None:
    result = solve_decaying_spectrum(np.eye(2), np.zeros(2))
    assert np.array_equal(result.weights, [0, 0])
    assert result.objective == 0.0
