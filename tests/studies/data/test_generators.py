from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mercer_studies.data import make_chessboard, make_double_spiral, make_g50c

GENERATORS = [make_chessboard, make_double_spiral, make_g50c]


@pytest.mark.parametrize("make", GENERATORS)
def test_equal_seeds_give_equal_data(make: Callable[..., Any]) -> None:
    X, y = make(50, random_state=3)
    X_same, y_same = make(50, random_state=np.random.default_rng(3))
    assert np.array_equal(X, X_same)
    assert np.array_equal(y, y_same)
    assert not np.array_equal(X, make(50, random_state=4)[0])
    assert set(np.unique(y)) == {0, 1}
    assert len(X) == len(y) == 50


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n_samples", [0, -1, 2.5])
def test_sizes_are_checked(make: Callable[..., Any], n_samples: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="n_samples"):
        make(n_samples)


@pytest.mark.parametrize("bayes_error", [0.0, 0.6, float("nan")])
def test_bayes_error_is_checked(bayes_error: float) -> None:
    with pytest.raises(ValueError, match="bayes_error"):
        make_g50c(bayes_error=bayes_error)


def test_best_rule_of_g50c_errs_as_asked() -> None:
    n = 40_000
    X, y = make_g50c(n, n_features=5, bayes_error=0.05, random_state=0)
    wrong = np.mean((X.sum(axis=1) > 0) != y)
    five_deviations = 5 * np.sqrt(0.05 * 0.95 / n)
    assert abs(wrong - 0.05) < five_deviations


def test_features_of_g50c_have_unit_covariance_within_a_class() -> None:
    X, y = make_g50c(20_000, n_features=3, random_state=0)
    covariance = np.cov(X[y == 1].T)
    assert np.abs(covariance - np.eye(3)).max() < 5 * np.sqrt(2 / np.sum(y == 1))


def test_neighboring_squares_of_the_chessboard_differ() -> None:
    X, y = make_chessboard(2000, side=3, random_state=0)
    assert X.min() >= 0
    assert X.max() <= 3
    column, row = X.astype(int).T
    for i in range(3):
        for j in range(3):
            assert set(y[(column == i) & (row == j)]) == {(i + j) % 2}


def test_arms_of_the_double_spiral_are_half_a_turn_apart() -> None:
    X, y = make_double_spiral(400, turns=1.5, random_state=0)
    angle = np.arctan2(X[:, 1], X[:, 0]) - 2 * np.pi * 1.5 * X[:, 2] - np.pi * y
    assert np.allclose(np.cos(angle), 1)
    assert np.allclose(np.hypot(X[:, 0], X[:, 1]), X[:, 2])


def test_noise_has_the_asked_deviation() -> None:
    still, _ = make_double_spiral(5000, noise=0.0, random_state=0)
    noisy, _ = make_double_spiral(5000, noise=0.3, random_state=0)
    deviation = np.std(noisy - still)
    assert abs(deviation - 0.3) < 5 * 0.3 / np.sqrt(2 * 15_000)
