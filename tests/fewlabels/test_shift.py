"""Class shares told by the points: cvxpy and simulated data are the oracles."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import softmax

from mercer.evidence.labels import Labels
from mercer.fewlabels import AutoKernel, LeaveOneOutRLS
from mercer.fewlabels.centred import fit_centred
from mercer.fewlabels.rule import DEFAULT
from mercer.fewlabels.shift import likeliest_shares, shift_of_classes, trust_in_points
from mercer.spectrum.features import DenseFeatures

UNMOVED = replace(DEFAULT, labels_for_sizes=1e9)


def opinions(n: int, C: int, seed: int):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, C))
    scores[np.arange(n), rng.choice(C, n, p=rng.dirichlet(np.ones(C)))] += 2
    return softmax(scores, axis=1), rng.dirichlet(np.full(C, 5.0))


@pytest.mark.parametrize("trust", [0.3, 0.9, 0.999])
@pytest.mark.parametrize(("n", "C"), [(60, 2), (80, 7)])
def test_the_shares_are_the_maximum_that_cvxpy_finds(n, C, trust) -> None:
    P, q = opinions(n, C, seed=C)
    found = likeliest_shares(P, q, trust)
    x = cp.Variable(C)
    points = cp.sum(cp.log((P / q) @ x)) / n
    objective = cp.Maximize(trust * points + (1 - trust) * q @ cp.log(x))
    best = cp.Problem(objective, [cp.sum(x) == 1]).solve(solver=cp.CLARABEL)
    x.value = found.shares
    assert found.residual <= 1e-12
    assert found.shares.sum() == pytest.approx(1.0)
    assert objective.value == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("trust", [0.3, 0.9])
def test_the_shares_are_where_expectation_maximisation_rests(trust) -> None:
    P, q = opinions(80, 7, seed=7)
    shares = q
    for _ in range(5000):
        R = P * shares / q
        R /= R.sum(axis=1, keepdims=True)
        shares = trust * R.mean(axis=0) + (1 - trust) * q
    np.testing.assert_allclose(likeliest_shares(P, q, trust).shares, shares, rtol=1e-8)


def test_a_class_that_no_point_is_likely_in_almost_vanishes() -> None:
    P = np.tile([0.98, 0.01, 0.01], (500, 1))
    found = likeliest_shares(P, np.full(3, 1 / 3), 0.99)
    assert found.residual <= 1e-12
    assert 0 < found.shares[1] < 0.01


def test_points_that_are_drawn_with_other_shares_tell_them() -> None:
    """Two Gaussians, one in ten points of the second, a model of equal shares."""
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(-1, 1, 9000), rng.normal(1, 1, 1000)]
    P = softmax(np.stack([-x, x], axis=1), axis=1)  # exact for equal shares
    found = likeliest_shares(P, np.array([0.5, 0.5]), 0.999)
    assert found.shares[1] == pytest.approx(0.1, abs=0.01)


def test_trust_grows_with_held_out_labels_and_falls_with_unevenness() -> None:
    even = np.array([15.0, 15.0, 15.0])
    assert trust_in_points(even, 45) == pytest.approx(0.5)
    assert trust_in_points(even, 15) == pytest.approx(0.1)  # five per class
    assert trust_in_points(even, 0) == 0
    assert trust_in_points(np.array([4.0]), 4) == 0
    assert trust_in_points(even, 45, "at random") == 0
    uneven = np.array([20.0, 15.0, 10.0])
    g = 2 * (20 * np.log(20 / 15) + 10 * np.log(10 / 15))
    assert trust_in_points(uneven, 45) == pytest.approx(0.5 * np.exp(-g / 2))
    assert trust_in_points(uneven, 45, "per class") == pytest.approx(0.5)


def test_a_shift_moves_from_label_shares_and_sums_to_zero() -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(3), (8, 8, 7))
    truth = np.r_[codes, np.repeat(np.arange(3), (200, 50, 27))]
    Phi = np.eye(3)[truth] + 0.3 * rng.normal(size=(300, 3))
    Phi -= Phi.mean(axis=0)
    y = np.r_[codes, np.full(277, -1)]
    fit = fit_centred(DenseFeatures.plain(Phi), Labels.read(y))
    counts = np.array([8.0, 8.0, 7.0])
    shift = shift_of_classes(fit, counts, 23)
    q = (counts + 1) / 26
    P = softmax(fit.points.to_numpy() + fit.offset, axis=1)
    found = likeliest_shares(P, q, trust_in_points(counts, 23)).shares
    wanted = np.log(found / q)
    assert shift[0] > 0.1 > 0 > shift[2]
    np.testing.assert_allclose(shift, wanted - wanted.mean(), atol=1e-9)
    assert not shift_of_classes(fit, counts, 0).any()


def uneven_points():
    """Return 600 points of two classes that overlap, one in eight of the second."""
    rng = np.random.default_rng(3)
    truth = (np.arange(600) % 8 == 0).astype(int)
    X = rng.normal(size=(600, 3))
    X[:, 0] += 2.0 * truth
    y = np.full(600, -1)
    for c in (0, 1):
        y[rng.choice(np.flatnonzero(truth == c), 15, replace=False)] = c
    return X, y, truth


def accuracy_and_share(**settings):
    X, y, truth = uneven_points()
    model = LeaveOneOutRLS(AutoKernel(random_state=0), **settings).fit(X, y)
    asked = y < 0
    right = np.mean(model.transduction_[asked] == truth[asked])
    return right, np.mean(model.transduction_ == 1)


def test_equal_numbers_of_labels_do_not_make_uneven_classes_even() -> None:
    right, share = accuracy_and_share()
    unmoved, too_many = accuracy_and_share(rule=UNMOVED)
    assert right > unmoved + 0.03
    assert accuracy_and_share(labels_drawn="per class")[0] > unmoved + 0.03
    assert 0.08 < share < too_many


def test_labels_said_to_be_drawn_at_random_and_known_sizes_are_believed() -> None:
    for said in ({"labels_drawn": "at random"}, {"class_sizes": [0.875, 0.125]}):
        assert accuracy_and_share(**said) == accuracy_and_share(**said, rule=UNMOVED)
    assert accuracy_and_share(class_sizes=None) == accuracy_and_share(
        class_sizes=None, rule=UNMOVED
    )
