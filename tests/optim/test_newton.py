import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mercer.optim.newton import solve_klr
from oracles.machines import klr_in_the_dual, klr_objective


def problem(seed, n, r, n_classes):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, r)) * 10.0 ** rng.uniform(-2, 1, r)
    codes = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    if n_classes == 2:
        return Phi, codes[:, None].astype(float), codes
    return Phi, (codes[:, None] == np.arange(n_classes)).astype(float), codes


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 20),
    r=st.integers(1, 25),
    n_classes=st.integers(2, 4),
    C=st.sampled_from([1e-3, 1.0, 100.0]),
    fit_intercept=st.booleans(),
)
def test_gradient_vanishes_and_no_neighbour_is_lower(
    seed, n, r, n_classes, C, fit_intercept
):
    Phi, Y, _ = problem(seed, n, r, n_classes)
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.2, 2.0, n)
    fit = solve_klr(Phi, Y, C=C, weights=s, fit_intercept=fit_intercept)
    assert fit.residual <= 1e-10
    value = klr_objective(Phi, Y, s, C, fit.coef, fit.intercept)
    np.testing.assert_allclose(fit.objective, value, rtol=1e-10)
    # Eq. 18: the weights are an expansion in the labelled points.
    scale = 1 + C * np.abs(Phi).sum(axis=0).max()
    assert np.abs(Phi.T @ fit.dual_coef - fit.coef).max() <= 1e-8 * scale
    for _ in range(5):
        away = fit.coef + 1e-3 * rng.standard_normal(fit.coef.shape)
        shift = 1e-3 * fit_intercept * rng.standard_normal(fit.intercept.shape)
        moved = klr_objective(Phi, Y, s, C, away, fit.intercept + shift)
        assert moved >= value - 1e-9 * (1 + value)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("shape", [(40, 8), (30, 60)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_scikit_learn(n_classes, shape, fit_intercept):
    rng = np.random.default_rng(n_classes)
    Phi, Y, codes = problem(7, *shape, n_classes)
    Phi /= np.abs(Phi).max()
    s = rng.uniform(0.5, 2.0, len(Phi))
    fit = solve_klr(Phi, Y, C=3.0, weights=s, fit_intercept=fit_intercept)
    theirs = LogisticRegression(
        C=3.0, solver="newton-cholesky", tol=1e-12, fit_intercept=fit_intercept
    ).fit(Phi, codes, sample_weight=s)
    np.testing.assert_allclose(fit.coef, theirs.coef_.T, atol=1e-6)
    np.testing.assert_allclose(
        fit.intercept - fit.intercept.mean() * (n_classes > 2),
        theirs.intercept_ - theirs.intercept_.mean() * (n_classes > 2),
        atol=1e-6,
    )


@pytest.mark.parametrize("seed", range(3))
def test_primal_equals_the_dual_form(seed):
    """Minimising (17) over W and over alpha in (18) gives the same function."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((15, 6))
    labels = rng.integers(0, 2, 15)
    fit = solve_klr(Phi, labels[:, None].astype(float), C=2.0, fit_intercept=False)
    f, value = klr_in_the_dual(Phi @ Phi.T, 2.0 * labels - 1, C=2.0)
    np.testing.assert_allclose(Phi @ fit.coef[:, 0], f, atol=1e-6)
    np.testing.assert_allclose(fit.objective, value, rtol=1e-10)


def test_equals_a_generic_minimiser_with_three_classes():
    Phi, Y, _ = problem(11, 12, 4, 3)

    def objective(v):
        return klr_objective(Phi, Y, np.ones(12), 0.5, v[:12].reshape(4, 3), v[12:])

    generic = minimize(objective, np.zeros(15), method="BFGS", tol=1e-9)
    fit = solve_klr(Phi, Y, C=0.5)
    assert fit.objective <= generic.fun + 1e-10
    np.testing.assert_allclose(fit.objective, generic.fun, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_hard_scaling_still_reaches_the_tolerance(n_classes):
    Phi, Y, _ = problem(5, 60, 20, n_classes)
    Phi[:, :3] *= 1e3
    Phi[:, 3] = Phi[:, 4] + 1e-6 * Phi[:, 5]
    assert solve_klr(Phi, Y, C=1e6).residual <= 1e-10


def test_a_zero_weight_leaves_the_point_out():
    Phi, Y, _ = problem(2, 20, 5, 3)
    s = np.ones(20)
    s[7] = 0.0
    rest = np.arange(20) != 7
    whole = solve_klr(Phi, Y, C=1.0, weights=s)
    part = solve_klr(Phi[rest], Y[rest], C=1.0)
    np.testing.assert_allclose(whole.coef, part.coef, atol=1e-8)


def test_too_few_steps_warn_with_the_residual():
    Phi, Y, _ = problem(0, 20, 5, 2)
    with pytest.warns(ConvergenceWarning, match=r"residual .* > tol=.* after 1 steps"):
        solve_klr(Phi, Y, C=10.0, max_iter=1)
