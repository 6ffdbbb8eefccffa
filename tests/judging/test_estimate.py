"""The accuracy that random questions reveal."""

import numpy as np
import pytest

from mercer.judging.estimate import LearningCurve


def simulated(rng: np.random.Generator, n: int, start: float, power: float):
    """Check every eighth of n labels against a curve 1 - start * labels^-power."""
    labels = np.arange(8, n + 1, 8)
    right = rng.random(len(labels)) < 1 - start * labels**-power
    return labels, right, 1 - start * n**-power


@pytest.mark.parametrize(("start", "power"), [(0.8, 0.1), (0.9, 0.4), (0.5, 0.5)])
@pytest.mark.parametrize("n", [24, 200])
def test_interval_holds_the_truth(start: float, power: float, n: int) -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(60):
        labels, right, truth = simulated(rng, n, start, power)
        found = LearningCurve(labels, right, now=n).at(n)
        inside += found.low <= truth <= found.high
    assert inside >= 54


def test_more_checks_narrow_the_interval() -> None:
    widths = []
    for k in (4, 16, 64):
        found = LearningCurve(np.full(k, 50), np.arange(k) % 4 > 0, now=50).at(50)
        assert abs(found.mean - 0.75) < 0.1
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.25


def test_few_right_answers_prove_little() -> None:
    found = LearningCurve([5, 10, 15], [True, True, True], now=15).at(15)
    assert found.low < 0.6
    assert found.high > 0.98


def test_gain_is_the_difference_of_the_curve_and_shrinks_when_all_is_right() -> None:
    rng = np.random.default_rng(1)
    labels, right, _ = simulated(rng, 100, 0.9, 0.4)
    curve = LearningCurve(labels, right, now=100)
    assert curve.gain(20).mean == pytest.approx(curve.at(120).mean - curve.at(100).mean)
    perfect = LearningCurve(np.full(60, 100), np.ones(60), now=100)
    assert perfect.gain(20).mean < curve.gain(20).mean
    assert perfect.gain(20).high < 0.02
