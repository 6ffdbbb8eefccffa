"""The map of points."""

import numpy as np

from mercer.judging.layout import place_points


def groups(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 4
    return 8 * np.eye(4)[truth] + rng.standard_normal((n, 4)), truth


def separation(xy: np.ndarray, truth: np.ndarray) -> float:
    """Return how many points have a nearest neighbour of their own group."""
    squares = ((xy[:, None] - xy[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return float(np.mean(truth[squares.argmin(axis=1)] == truth))


def test_groups_stay_together_whether_placed_or_interpolated() -> None:
    points, truth = groups(400)
    asked: list[int] = []

    def features_of(rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return points[rows]

    rng = np.random.default_rng(0)
    xy = place_points(features_of, 400, rng, landmarks=120)
    assert asked[0] == 120
    assert xy.shape == (400, 2)
    assert np.abs(xy).max() == 1.0
    assert separation(xy, truth) > 0.97


def test_tiny_tables_have_a_map() -> None:
    for n in (1, 2, 3, 4, 5, 7):
        points = np.arange(float(n))[:, None] ** 2
        xy = place_points(points.__getitem__, n, np.random.default_rng(0))
        assert xy.shape == (n, 2)
        assert np.isfinite(xy).all()
