import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from mercer.optim.convex_losses import difference, solve_column
from mercer.optim.kernel_stack import DenseStack, LossStack, dense_stack
from mercer.optim.kernel_weights import solve_kernel_weights
from oracles.annealed import LOSSES as CONVEX
from oracles.annealed import best_under_loss, multiple_kernel_rls

LOSSES = ["logistic", "hinge"]


def problem(seed, n=15, N=4):
    rng = np.random.default_rng(seed)
    features = [rng.standard_normal((n, int(r))) for r in rng.integers(1, 6, N)]
    K = np.array([f @ f.T for f in features])
    noise = 10 ** rng.uniform(-1.5, 0.5, n)
    targets = rng.uniform(-1, 1, n)
    targets[: n // 2] = np.sign(targets[: n // 2])
    return K, noise, targets


def objective(K, c, targets, noise, loss):
    f = K @ c
    cost = CONVEX[loss]
    total = c @ K @ c
    for f_i, t, d in zip(f, targets, noise, strict=True):
        total += ((1 + t) / 2 * cost(f_i) + (1 - t) / 2 * cost(-f_i)) / d
    return total


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), scale=st.floats(-2, 2))
def test_no_point_nearby_is_better_than_the_gap_allows(loss, seed, n, scale):
    K, noise, targets = problem(seed, n, N=1)
    K = K[0] * 10**scale
    c, value, gap = solve_column(K, targets, 1 / noise, loss=loss)
    assert 0 <= gap <= 1e-9 * value
    assert value == pytest.approx(objective(K, c, targets, noise, loss), rel=1e-9)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-1, 1.0):
        near = c + size * rng.standard_normal(n) * (1 + np.abs(c))
        assert objective(K, near, targets, noise, loss) >= value - gap - 1e-12 * value


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_weights_and_machine_agree_with_a_conic_solver(loss, seed):
    pytest.importorskip("cvxpy")
    K, noise, targets = problem(seed)
    ours = solve_kernel_weights(
        LossStack(K, noise, loss),
        targets[:, None],
        weights=np.eye(4)[0],
        tol=1e-7,
        max_iter=200,
    )
    weights, f, value = best_under_loss(K, targets, noise, loss)
    assert ours.gap <= 1e-7
    assert ours.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(ours.weights, weights, atol=5e-3)
    np.testing.assert_allclose(ours.point.fitted()[:, 0], f, atol=5e-3)


def test_hinge_is_the_machine_of_liblinear():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(40) > 0, 1.0, -1.0)
    c, _, _ = solve_column(X @ X.T, y, np.full(40, 2.0), loss="hinge")
    # c' K c + 2 hinge is twice |w|^2 / 2 + hinge.
    peer = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
    np.testing.assert_allclose(X.T @ c, peer.fit(X, y).coef_[0], atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_and_curvature_are_derivatives_of_the_value(loss):
    K, noise, targets = problem(3, n=12)
    K = K + 0.5 * np.eye(12)
    columns = np.stack([targets, -targets[::-1]], axis=1)
    stack = LossStack(K, noise, loss)
    weights = np.full(4, 0.25)
    point = stack.factor(weights)(columns)
    hessian = point.curvature(np.arange(4))
    step = 1e-4
    for j in range(4):
        ahead = stack.factor(weights + step * np.eye(4)[j])(columns)
        behind = stack.factor(weights - step * np.eye(4)[j])(columns)
        slope = (ahead.value - behind.value) / (2 * step)
        assert slope == pytest.approx(-point.scores[j], rel=1e-5)
        bend = (behind.scores - ahead.scores) / (2 * step)
        np.testing.assert_allclose(hessian[j], bend, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared", *LOSSES])
def test_difference_is_what_the_other_label_costs_more(loss):
    for f in (-3.0, -0.4, 0.0, 0.7, 1.5):
        wanted = CONVEX[loss](f) - CONVEX[loss](-f)
        assert difference(np.array(f), loss) == pytest.approx(wanted)


def test_labels_of_no_weight_leave_the_other_as_it_is():
    K, noise, targets = problem(1)
    sure = np.sign(targets)
    nearly = sure * (1 - 1e-15)
    for loss in LOSSES:
        one, _, _ = solve_column(K[0], sure, 1 / noise, loss=loss)
        two, _, gap = solve_column(K[0], nearly, 1 / noise, loss=loss)
        np.testing.assert_allclose(K[0] @ one, K[0] @ two, atol=1e-6)
        assert gap <= 1e-9


def test_squares_without_unlabelled_points_are_multiple_kernel_least_squares():
    pytest.importorskip("cvxpy")
    K, _, targets = problem(5)
    C = 3.0
    y = np.sign(targets)
    stack = dense_stack(K, np.full(len(y), 1 / C), "squared")
    assert isinstance(stack, DenseStack)
    ours = solve_kernel_weights(stack, y[:, None], weights=np.eye(4)[0], tol=1e-10)
    weights, alpha, value = multiple_kernel_rls(K, y, C)
    assert ours.value / 2 == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(ours.weights, weights, atol=1e-4)
    np.testing.assert_allclose(ours.point.coef()[:, 0], alpha, atol=1e-4)
