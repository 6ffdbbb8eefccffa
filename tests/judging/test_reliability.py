"""The one table behind the report, the plot and the calibration error."""

import numpy as np
import pytest
from scipy.stats import binomtest

from mercer.judging.reliability import reliability
from mercer.model_selection import expected_calibration_error
from mercer.model_selection.reliability import reliability_table


@pytest.mark.parametrize(
    ("n", "counts"), [(3, [3]), (19, [19]), (29, [15, 14]), (1000, [100] * 10)]
)
def test_bins_hold_equal_numbers_and_at_least_ten(n: int, counts: list[int]) -> None:
    rng = np.random.default_rng(0)
    found = reliability(rng.random(n), rng.random(n) < 0.5)
    assert found.counts.tolist() == counts
    assert (np.diff(found.confidence) > 0).all()


def test_intervals_are_those_of_wilson() -> None:
    right = np.repeat([True, False], [15, 5])
    found = reliability(np.full(20, 0.8), right, n_bins=1)
    theirs = binomtest(15, 20).proportion_ci(method="wilson")
    assert found.low[0] == pytest.approx(theirs.low)
    assert found.high[0] == pytest.approx(theirs.high)


def test_weights_count_as_repeated_points() -> None:
    confidence, right = np.array([0.6, 0.9, 0.9]), np.array([True, True, False])
    bins = np.array([0, 1, 1])
    weighted = reliability_table(confidence, right, bins, weights=[1, 3, 1])
    many = [np.repeat(v, [1, 3, 1]) for v in (confidence, right, bins)]
    repeated = reliability_table(*many)
    np.testing.assert_allclose(weighted.share, repeated.share)
    np.testing.assert_allclose(weighted.weight, repeated.weight)
    np.testing.assert_allclose(weighted.effective, [1, 16 / 10])


def test_the_calibration_error_is_the_mean_gap_of_its_bins() -> None:
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1, 1, 1], size=300)
    y, weights = rng.integers(0, 3, 300), rng.random(300)
    top, right = P.max(axis=1), P.argmax(axis=1) == y
    by_hand = sum(
        abs((weights * (right - top))[(top * 15).astype(int) == k].sum())
        for k in range(15)
    )
    got = expected_calibration_error(y, P, [0, 1, 2], sample_weight=weights)
    assert got == pytest.approx(by_hand / weights.sum())
