import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.optim.class_ratio import solve_soft_labels
from oracles.annealed import best_soft_labels


# Below about 0.2 the conic solver calls the problem infeasible.
@pytest.mark.parametrize("C", [2, 3, 4])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 10.0])
def test_soft_labels_agree_with_a_conic_solver(C, temperature):
    pytest.importorskip("cvxpy")
    rng = np.random.default_rng(C)
    g = rng.standard_normal((20, C))
    ratio = rng.dirichlet(np.full(C, 5.0))
    ours = solve_soft_labels(g, temperature=temperature, ratio=ratio)
    P, energy = best_soft_labels(g, temperature, ratio)
    positive = ours.P[ours.P > 0]
    value = (ours.P * g).sum() + temperature * (positive * np.log(positive)).sum()
    assert value == pytest.approx(energy, abs=1e-6)
    np.testing.assert_allclose(ours.P, P, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    C=st.integers(2, 6),
    u=st.integers(2, 60),
    log_temperature=st.floats(-6, 1),
)
def test_shares_are_met_and_rows_sum_to_one(seed, C, u, log_temperature):
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((u, C))
    ratio = rng.dirichlet(np.full(C, 3.0)) * 0.9 + 0.1 / C
    offsets = None
    for log_t in np.arange(1, log_temperature, -0.3):
        offsets = solve_soft_labels(
            g, temperature=10.0**log_t, ratio=ratio, offsets=offsets
        ).offsets
    ours = solve_soft_labels(
        g, temperature=10.0**log_temperature, ratio=ratio, offsets=offsets
    )
    assert ours.P.min() >= 0
    np.testing.assert_allclose(ours.P.sum(axis=1), 1, atol=1e-9)
    assert ours.residual <= 1e-6
    assert np.abs(ours.P.mean(axis=0) - ratio).max() <= 1e-6


def test_two_classes_equal_the_many_class_method_with_an_empty_third():
    rng = np.random.default_rng(0)
    g = rng.standard_normal((30, 2))
    two = solve_soft_labels(g, temperature=0.3, ratio=np.array([0.4, 0.6]))
    # The printed solution: one sigmoid of (g_i - nu) / T.
    difference = g[:, 1] - g[:, 0]
    nu = two.offsets[1] - two.offsets[0]
    np.testing.assert_allclose(two.P[:, 1], 1 / (1 + np.exp((difference - nu) / 0.3)))
    third = np.column_stack([g, np.full(30, 50.0)])
    three = solve_soft_labels(
        third, temperature=0.3, ratio=np.array([0.4, 0.6 - 1e-9, 1e-9])
    )
    np.testing.assert_allclose(three.P[:, :2], two.P, atol=1e-6)
