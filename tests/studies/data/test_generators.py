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


def test_best_rule_of_g50c_errs_as_asked() -> None:
    n = 40_000
    X, y = make_g50c(n, random_state=0)
    wrong = np.mean((X.sum(axis=1) > 0) != y)
    five_deviations = 5 * np.sqrt(0.05 * 0.95 / n)
    assert abs(wrong - 0.05) < five_deviations


def test_features_of_g50c_have_unit_covariance_within_a_class() -> None:
    X, y = make_g50c(20_000, random_state=0)
    covariance = np.cov(X[y == 1, :3].T)
    assert np.abs(covariance - np.eye(3)).max() < 5 * np.sqrt(2 / np.sum(y == 1))


def test_neighboring_squares_of_the_chessboard_differ() -> None:
    X, y = make_chessboard(2000, random_state=0)
    assert X.min() >= 0
    assert X.max() <= 4
    column, row = X.astype(int).T
    for i in range(4):
        for j in range(4):
            assert set(y[(column == i) & (row == j)]) == {(i + j) % 2}


def test_arms_of_the_double_spiral_are_half_a_turn_apart() -> None:
    X, y = make_double_spiral(400, random_state=0)
    angle = np.arctan2(X[:, 1], X[:, 0]) - 4 * np.pi * X[:, 2] - np.pi * y
    assert np.allclose(np.cos(angle), 1)
    assert np.allclose(np.hypot(X[:, 0], X[:, 1]), X[:, 2])
