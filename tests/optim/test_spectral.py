"""Closed-form spectra against a conic solver, dense algebra and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from mercer.optim.spectral import (
    eigenspaces,
    label_energy,
    solve_closed_form,
    solve_parameter_free,
)
from oracles.learners import closed_form_by_solver, problem_seven


def energies(seed: int, r: int):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=r) ** 2, np.sort(rng.uniform(0, 2, size=r)) + 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_closed_form_is_the_optimum(seed) -> None:
    pytest.importorskip("cvxpy")
    A, B = energies(seed, 6)
    C, mu = 10.0 ** (seed - 2), 10.0 ** (-seed / 2)
    result = solve_closed_form(A, B, C=C, mu=mu)
    theirs = closed_form_by_solver(A, B, C, mu)
    assert result.weights == pytest.approx(theirs, abs=1e-4 * (1 + theirs.max()))
    assert result.objective == pytest.approx(
        solve_objective(A, B, C, mu, theirs), rel=1e-8
    )


def solve_objective(A, B, C, mu, weights) -> float:
    return float((A / (weights + 1 / C)).sum() / 2 + mu * B @ weights)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), log_C=st.floats(-3, 3), log_mu=st.floats(-6, 2))
def test_closed_form_satisfies_kkt(seed, log_C, log_mu) -> None:
    A, B = energies(seed, 20)
    A[::5] = 0.0
    result = solve_closed_form(A, B, C=10**log_C, mu=10**log_mu)
    assert (result.weights >= 0).all()
    assert result.kkt_residual <= 1e-9
    # Moving one weight never helps.
    for step in (1e-3, -1e-3):
        moved = np.maximum(result.weights + step * (1 + result.weights), 0.0)
        for i in range(len(A)):
            other = result.weights.copy()
            other[i] = moved[i]
            value = solve_objective(A, B, 10**log_C, 10**log_mu, other)
            assert value >= result.objective * (1 - 1e-12)


def test_objective_is_problem_seven_at_its_best_function_of_the_laplacian() -> None:
    rng = np.random.default_rng(0)
    n, C, mu = 9, 3.0, 0.2
    gamma = np.array([0.0, 0.0, 0.0, 0.4, 0.4, 0.9, 1.1, 1.1, 1.6]) + 1e-2
    U = ortho_group.rvs(n, random_state=1)
    Y = np.zeros((n, 2))
    Y[[0, 1, 4], [0, 0, 1]] = 1.0
    spaces = eigenspaces(gamma)
    A = label_energy(U[[0, 1, 4]], Y[[0, 1, 4]], spaces)
    result = solve_closed_form(A, gamma, C=C, mu=mu)
    L = (U * gamma) @ U.T
    dense = problem_seven((U * result.weights) @ U.T, L, Y, C, mu)
    assert result.objective == pytest.approx(dense, rel=1e-12)
    for _ in range(50):
        other = rng.exponential(size=spaces[-1] + 1)[spaces] * result.weights.mean()
        assert problem_seven((U * other) @ U.T, L, Y, C, mu) >= dense * (1 - 1e-12)


def test_energy_does_not_depend_on_the_basis_of_an_eigenspace() -> None:
    rng = np.random.default_rng(2)
    values = np.array([0.0, 0.0, 0.0, 0.5, 0.7, 0.7])
    U = rng.normal(size=(5, 6))
    Y = np.eye(3)[rng.integers(3, size=5)]
    rotation = np.eye(6)
    rotation[:3, :3] = ortho_group.rvs(3, random_state=3)
    rotation[4:, 4:] = ortho_group.rvs(2, random_state=4)
    spaces = eigenspaces(values)
    before, after = (label_energy(V, Y, spaces) for V in (U, U @ rotation))
    assert after == pytest.approx(before, rel=1e-13)
    assert before.sum() == pytest.approx(np.square(U.T @ Y).sum())


def test_eigenspaces_are_told_apart_relative_to_the_largest_value() -> None:
    values = np.array([0.0, 1e-9, 2e-7, 0.5, 0.5 + 1e-9, 1.9])
    assert list(eigenspaces(values)) == [0, 0, 1, 2, 2, 3]
    assert list(eigenspaces(1e6 * values)) == [0, 0, 1, 2, 2, 3]
    assert list(eigenspaces(np.array([5.0, 5.0, 1.0]))) == [0, 0, 1]
    assert list(eigenspaces(np.zeros(3))) == [0, 0, 0]


@pytest.mark.parametrize("seed", range(8))
def test_mu_is_stationary_for_the_alignment(seed) -> None:
    A, B = energies(seed, 12)
    result = solve_parameter_free(A, B)
    root = np.sqrt(A / (2 * B))

    def log_alignment(t: float) -> float:
        weights = t * root - 1
        return float(np.log(abs(A @ weights)) - np.log(weights @ weights) / 2)

    t = 1 / result.root_mu
    step = 1e-5 * abs(t)
    slope = (log_alignment(t + step) - log_alignment(t - step)) / (2 * step)
    elsewhere = (log_alignment(1.5 * t) - log_alignment(1.4 * t)) / (0.1 * t)
    assert abs(slope) <= 1e-4 * abs(elsewhere)
    assert result.multiplier == pytest.approx(abs(t))


def test_weights_are_proportional_to_the_root_of_energy_over_penalty() -> None:
    A, B = energies(1, 10)
    weights = solve_parameter_free(A, B).weights
    assert weights.sum() == pytest.approx(10)
    assert weights**2 * B / A == pytest.approx(
        np.full(10, weights[0] ** 2 * B[0] / A[0])
    )


def test_all_directions_alike_leave_mu_open() -> None:
    result = solve_parameter_free(np.ones(4), np.full(4, 0.5))
    assert np.isnan(result.root_mu)
    assert result.weights == pytest.approx(np.ones(4))
