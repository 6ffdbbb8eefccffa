import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.optim.ridge import solve_rls
from oracles.machines import rls_by_pinv, rls_loo_by_refits

sizes = st.integers(2, 9)
weights = st.sampled_from([1e-3, 0.3, 10.0, 1e5, np.inf])


def problem(seed, n, r, n_targets=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, r)), rng.standard_normal((n, n_targets))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=sizes, r=sizes, C=weights)
def test_solution_and_leave_one_out_match_refits(seed, n, r, C):
    Phi, Y = problem(seed, n, r)
    fit = solve_rls(Phi, Y, C=C)
    np.testing.assert_allclose(fit.coef, rls_by_pinv(Phi, Y, C), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        fit.loo_residuals, rls_loo_by_refits(Phi, Y, C), rtol=1e-5, atol=1e-6
    )
    assert fit.residual <= 1e-10


@pytest.mark.parametrize("C", [0.7, 1e6, np.inf])
@pytest.mark.parametrize("shape", [(12, 5), (5, 12)])
def test_dual_coefficients_expand_the_primal_ones(C, shape):
    Phi, Y = problem(3, *shape)
    fit = solve_rls(Phi, Y, C=C)
    np.testing.assert_allclose(Phi.T @ fit.dual_coef, fit.coef, atol=1e-8)


def test_leave_one_out_of_interpolation_mixes_dependent_and_independent_rows():
    rng = np.random.default_rng(0)
    Phi = np.zeros((8, 6))
    Phi[:5, :3] = rng.standard_normal((5, 3))  # dependent
    Phi[5, 3], Phi[6, 4] = 2.0, 3.0  # independent; row 7 is zero
    Y = rng.standard_normal((8, 1))
    fit = solve_rls(Phi, Y, C=np.inf)
    np.testing.assert_allclose(
        fit.loo_residuals, rls_loo_by_refits(Phi, Y, np.inf), atol=1e-10
    )
    assert fit.rank == 5


def test_large_weight_of_the_loss_tends_to_interpolation():
    Phi, Y = problem(1, 6, 10)
    limit = solve_rls(Phi, Y, C=np.inf)
    near = solve_rls(Phi, Y, C=1e10)
    np.testing.assert_allclose(near.coef, limit.coef, atol=1e-7)
    np.testing.assert_allclose(near.loo_residuals, limit.loo_residuals, atol=1e-6)
