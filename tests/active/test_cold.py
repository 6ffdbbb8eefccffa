"""Questions before there is a model."""

import numpy as np
from sklearn.datasets import load_digits

from mercer.active.cold import cold_rows, typical_rows

NONE = np.empty(0, dtype=np.intp)


def groups(sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    points = np.eye(len(sizes) + 2)[truth] + 0.05 * rng.standard_normal(
        (len(truth), len(sizes) + 2)
    )
    return points, truth


def test_choice_is_greedy_facility_location() -> None:
    features = np.random.default_rng(1).standard_normal((25, 4))
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    S = np.maximum(unit @ unit.T, 0)
    chosen = typical_rows(features, 8).tolist()
    assert len(set(chosen)) == 8
    for k in range(8):
        value = [S[[*chosen[:k], x]].max(axis=0).sum() for x in range(25)]
        assert value[chosen[k]] >= max(value) - 1e-12


def test_groups_are_visited_one_by_one_largest_first() -> None:
    points, truth = groups([40, 20, 10, 5])
    assert truth[typical_rows(points, 4)].tolist() == [0, 1, 2, 3]


def test_what_was_asked_is_not_asked_again() -> None:
    points, truth = groups([40, 20, 10])
    asked = np.flatnonzero(truth == 0)[:1]
    rng = np.random.default_rng(0)
    chosen = cold_rows(
        points.__getitem__, 2, n_points=len(points), asked=asked, rng=rng
    )
    assert truth[chosen].tolist() == [1, 2]
    every = cold_rows(
        points.__getitem__, 99, n_points=len(points), asked=asked, rng=rng
    )
    assert sorted(every) == sorted(set(range(70)) - set(asked))


def test_many_rows_are_sampled() -> None:
    points, truth = groups([300, 200, 100])
    drawn: list[int] = []

    def features_of(rows: np.ndarray) -> np.ndarray:
        drawn.append(len(rows))
        return points[rows]

    rng = np.random.default_rng(0)
    chosen = cold_rows(features_of, 3, n_points=600, asked=NONE, rng=rng, most=60)
    assert max(drawn) == 60
    assert sorted(truth[chosen]) == [0, 1, 2]


def test_twenty_questions_find_every_digit_where_random_ones_do_not() -> None:
    X, y = load_digits(return_X_y=True)
    X = X - X.mean(axis=0)
    rng = np.random.default_rng(0)
    chosen = cold_rows(X.__getitem__, 20, n_points=len(X), asked=NONE, rng=rng)
    found = len(np.unique(y[chosen]))
    random = [len(np.unique(rng.choice(y, 20, replace=False))) for _ in range(200)]
    assert found == 10
    assert np.mean(random) < 9
