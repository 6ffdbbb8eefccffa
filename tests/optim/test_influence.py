import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from mercer.optim.affine_psd import solve_affine_psd
from mercer.optim.influence import (
    diffusion_distances,
    influence_costs,
    solve_fractional_affine,
    stationary_distances,
)
from oracles.influence import (
    affine_by_sdp,
    literal_costs,
    literal_diffusion_distances,
)


def normalized(K):
    root = np.sqrt(np.diagonal(K, axis1=1, axis2=2))
    return K / root[:, :, None] / root[:, None, :]


def base_kernels(n, b, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    X[: n // 2, 0] += 2
    squared = cdist(X, X, "sqeuclidean")
    linear = X @ X.T
    K = [
        linear,
        (linear + 1) ** 2,
        np.exp(-squared / 5),
        np.exp(-squared / 50),
        np.exp(-squared),
        (linear + 1) ** 3,
        np.exp(-squared / 0.3),
        np.exp(-squared / 200),
    ]
    return X, np.array(K[:b])


def problem(n, b, seed=0):
    X, K = base_kernels(n, b, seed)
    K = normalized(K)
    u = stationary_distances(cdist(X, X))
    return K, influence_costs(K, 1 - u)


def nearly_dependent(n, b=8):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 5))
    squared = cdist(X, X, "sqeuclidean")
    K = np.array([np.exp(-squared / (10 + 0.5 * i)) for i in range(b)])
    return K, influence_costs(K, 1 - stationary_distances(cdist(X, X))).weighted


def test_costs_equal_a_literal_reading_of_the_paper():
    X, K = base_kernels(12, 6)
    u, s = literal_costs(X, K)
    ours_u = stationary_distances(cdist(X, X))
    ours = influence_costs(normalized(K), 1 - ours_u)
    np.testing.assert_allclose(ours_u, u, rtol=1e-12)
    np.testing.assert_allclose(ours.weighted, s, rtol=1e-12)


def test_effect_of_influence_is_the_change_against_equal_weights():
    X, K = base_kernels(15, 3)
    K = normalized(K)
    even = influence_costs(K, np.full(15, 1 - 1 / 15))
    ours = influence_costs(K, 1 - stationary_distances(cdist(X, X)))
    change = np.abs(ours.weighted / even.weighted - 1).max()
    assert ours.effect == pytest.approx(change, rel=1e-10)
    assert even.effect == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("time", [1, 2, 7])
def test_diffusion_distances_equal_a_literal_walk(time):
    rng = np.random.default_rng(0)
    W = rng.uniform(0, 1, (9, 9)) * (rng.uniform(0, 1, (9, 9)) < 0.6)
    W += W.T
    ours = diffusion_distances(W, time)
    np.testing.assert_allclose(ours, literal_diffusion_distances(W, time), atol=1e-12)
    assert (np.diag(ours) == 0).all()


def test_no_walk_leaves_a_point_without_neighbours():
    W = np.ones((3, 3))
    W[1] = W[:, 1] = 0
    with pytest.raises(ValueError, match="row 1 of the similarity is zero"):
        diffusion_distances(W, 1)


def test_coinciding_points_are_an_error():
    with pytest.raises(ValueError, match="all points are equal"):
        stationary_distances(np.zeros((3, 3)))


@pytest.mark.parametrize(("n", "b"), [(10, 2), (30, 3), (50, 4), (40, 5)])
def test_affine_optimum_agrees_with_semidefinite_programming(n, b):
    pytest.importorskip("cvxpy")
    K, costs = problem(n, b)
    ours = solve_affine_psd(K, costs.weighted)
    _, objective = affine_by_sdp(K, costs.weighted)
    scale = np.abs(costs.weighted).max()
    assert abs(ours.objective - objective) <= 1e-6 * scale
    assert ours.smallest_eigenvalue >= -1e-8
    assert ours.weights.sum() == pytest.approx(1, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(8, 40), b=st.integers(2, 8))
def test_certificate_holds(seed, n, b):
    K, costs = problem(n, b, seed)
    ours = solve_affine_psd(K, costs.weighted)
    combined = np.tensordot(ours.weights, K, axes=1)
    lowest = np.linalg.eigvalsh(combined)[0]
    assert lowest >= -1e-9
    assert ours.smallest_eigenvalue == pytest.approx(lowest, abs=1e-12)
    assert ours.lower_bound <= ours.objective
    assert ours.gap <= 1e-6
    # No convex combination, which is always feasible, lies below the bound.
    assert ours.lower_bound <= costs.weighted.min() + 1e-9 * costs.weighted.max()


def test_nearly_dependent_kernels_converge_with_a_certificate():
    K, cost = nearly_dependent(80)
    ours = solve_affine_psd(K, cost)
    assert ours.gap <= 1e-6
    assert ours.smallest_eigenvalue >= -1e-8
    assert ours.n_directions < 7


def test_equal_kernels_leave_no_direction():
    K, _ = problem(10, 1)
    ours = solve_affine_psd(np.repeat(K, 3, axis=0), np.ones(3))
    np.testing.assert_allclose(ours.weights, 1 / 3)
    assert ours.n_directions == 0
    assert ours.gap == 0


def test_order_of_kernels_and_scale_of_cost_do_not_matter():
    K, costs = problem(25, 4)
    order = [2, 0, 3, 1]
    one = solve_affine_psd(K, costs.weighted)
    other = solve_affine_psd(K[order], 7 * costs.weighted[order])
    scale = costs.weighted.max()
    assert other.objective / 7 == pytest.approx(one.objective, abs=2e-6 * scale)


def test_too_few_rounds_warn_with_the_gap():
    K, costs = problem(40, 5)
    with pytest.warns(ConvergenceWarning, match="gap .* > tol"):
        solve_affine_psd(K, costs.weighted, max_rounds=2)


def test_fractional_optimum_agrees_with_a_search_over_the_feasible_interval():
    K, costs = problem(20, 2)
    s, t = costs.weighted, costs.total
    grid = np.linspace(-3, 4, 70_001)
    direction, start = K[0] - K[1], K[1]
    # K(a) = K_1 + a (K_0 - K_1) is feasible on an interval; find it by bisection.
    step = [
        a for a in grid[::100] if np.linalg.eigvalsh(start + a * direction)[0] >= -1e-10
    ]
    inside = grid[(grid >= min(step)) & (grid <= max(step))]
    best = ((s[1] + inside * (s[0] - s[1])) / (t[1] + inside * (t[0] - t[1]))).min()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = solve_fractional_affine(K, s, t)
    assert ours.objective <= best + 1e-9
    assert ours.gap <= 1e-6
    assert ours.smallest_eigenvalue >= -1e-8
