"""Honest numbers: what cross-validation, intervals and calibration claim."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_blobs

from mercer.evidence.labels import Labels
from mercer.fewlabels import LeaveOneOutRLS
from mercer.judging.hiding import check_by_hiding
from mercer.judging.intervals import (
    held_out_interval,
    paired_interval,
    wilson_interval,
)
from mercer.learners import AverageKernel
from mercer.model.estimator import UnifiedKernelMachine


def fitted(X: Any, y: Any) -> Any:
    return UnifiedKernelMachine(random_state=0).fit(X, y)


def check(X: Any, y: Any, **options: Any) -> Any:
    rng = np.random.default_rng(0)
    return check_by_hiding(
        fitted(X, y), X, Labels.read(y, min_classes=2), rng=rng, **options
    )


@pytest.fixture(scope="module")
def blobs() -> tuple[Any, Any]:
    return make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)


def some_labels(truth: Any, n: int) -> Any:
    y = np.full(len(truth), -1)
    y[:n] = truth[:n]
    return y


def test_random_labels_score_at_chance(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    shuffled = np.random.default_rng(1).permutation(truth)
    found = check(X, some_labels(shuffled, 150))
    for score in found.scores:
        assert score.low < 1 / 3 < score.high + 0.1
        assert score.accuracy < 0.5


def test_every_label_is_hidden_once_a_repeat_and_the_shares_add_up(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    found = check(X, some_labels(truth, 30))
    assert found.rows.tolist() == list(range(30))
    np.testing.assert_allclose(found.proba.sum(axis=1), 1)
    np.testing.assert_allclose(
        found.confusion.sum(axis=1), np.bincount(truth[:30]), atol=1e-9
    )
    right = np.trace(found.confusion) / 30
    expected = np.clip(right + found.shift, 0, 1)
    assert expected == pytest.approx(found.scores[0].accuracy)
    assert found.scores[0].accuracy > 0.9


def test_folds_are_left_out_once_enough_labels_were_hidden(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    y = some_labels(truth, 60)
    y[60:] = 3  # a class of one label, which cannot be tested
    y[61:] = -1
    all_of_them = check(X, y, n_repeats=1, enough_labels=60)
    some = check(X, y, n_repeats=1, enough_labels=24)
    assert (all_of_them.n_tried, len(all_of_them.rows)) == (5, 60)
    assert (some.n_tried, len(some.rows)) == (2, 24)
    assert some.n_splits == 5
    # Labels that were not hidden are no labels that cannot be tested.
    assert some.scores[0].accuracy > 0.8
    place = np.searchsorted(all_of_them.rows, some.rows)
    np.testing.assert_array_equal(some.proba, all_of_them.proba[place])
    twice = check(X, y, n_repeats=2, enough_labels=24)
    assert (twice.n_tried, twice.n_repeats) == (2, 2)


def test_a_hidden_label_does_not_reach_its_own_prediction(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    y, other = some_labels(truth, 30), some_labels(truth, 30)
    test = np.array([3, 8, 20])
    other[test] = (other[test] + 1) % 3
    np.testing.assert_array_equal(
        fitted(X, y).held_out_proba(test), fitted(X, other).held_out_proba(test)
    )


def test_wrong_labels_are_found_and_no_others(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    y, wrong = some_labels(truth, 60), [7, 30, 31, 40, 41, 50]
    assert not fitted(X, y).suspicious_labels().looks_wrong.any()
    y[wrong] = (y[wrong] + 1) % 3
    ranked = fitted(X, y).suspicious_labels()
    named = ranked.ids[ranked.looks_wrong]
    assert len(named) >= 1
    assert set(named) <= set(wrong)
    assert set(ranked.ids[np.argsort(-ranked.wrong)[:4]]) <= set(wrong)


@pytest.mark.parametrize("seed", [1, 2])
def test_wrong_labels_in_clear_groups_are_named(
    blobs: tuple[Any, Any], seed: int
) -> None:
    """The kernel alone named none of these six; trees that know none of them do."""
    X, truth = blobs
    rng = np.random.default_rng(seed)
    labeled = rng.permutation(300)[:60]
    y = np.full(300, -1)
    y[labeled] = truth[labeled]
    wrong = labeled[:6]
    y[wrong] = (truth[wrong] + 1 + rng.integers(0, 2, 6)) % 3
    ranked = UnifiedKernelMachine(random_state=0).fit(X, y).suspicious_labels()
    named = ranked.ids[ranked.looks_wrong]
    assert len(named) >= 4
    assert set(named.tolist()) <= set(wrong.tolist())


def test_nothing_to_check_with_one_label_per_class(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    y = np.full(300, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[0]] = c
    assert check(X, y) is None


def test_nothing_to_check_where_labels_are_of_one_class(blobs: tuple[Any, Any]) -> None:
    """Votes name the other classes, or nothing is labelled yet."""
    X, truth = blobs
    y = np.where((truth == 0) & (np.arange(300) < 60), 0, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y, sources={"votes": truth})
    rng = np.random.default_rng(0)
    assert check_by_hiding(model, X, model.labels_, rng=rng) is None
    for labels in (Labels.read(y), Labels.read(np.full(300, -1))):
        assert check_by_hiding(model, X, labels, rng=rng) is None


def test_few_of_many_unlabelled_rows_give_nearly_the_same_check(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    y = some_labels(truth, 60)
    some, every = check(X, y, rows_in_folds=100), check(X, y)
    assert abs(some.scores[0].accuracy - every.scores[0].accuracy) <= 0.1
    assert len(some.rows) == 60


def test_held_out_probabilities_are_those_of_a_model_without_the_labels(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    y = some_labels(truth, 12)
    model, test = fitted(X, y), np.array([2, 5])
    hidden = y.copy()
    hidden[test] = -1
    again = model.with_labels(hidden).training_proba()[test]
    np.testing.assert_allclose(model.held_out_proba(test), again, atol=1e-12)
    np.testing.assert_array_equal(model.labeled_, np.arange(12))  # nothing is lost


@pytest.mark.parametrize("given", [[0.2, 0.3, 0.5], {0: 2, 1: 3, 2: 5}])
def test_sizes_of_a_class_without_labels_are_left_out(
    blobs: tuple[Any, Any], given: Any
) -> None:
    X, truth = blobs
    y = some_labels(truth, 12)
    test, machine = np.flatnonzero(y == 1), LeaveOneOutRLS(class_sizes=given)
    machine.set_params(unreached=given)
    model = UnifiedKernelMachine(machine=machine, random_state=0).fit(X, y)
    y[test] = -1
    other = LeaveOneOutRLS(class_sizes=[2, 5], unreached=[2, 5])
    wanted = UnifiedKernelMachine(machine=other, random_state=0).fit(X, y)
    proba = model.held_out_proba(test)
    np.testing.assert_allclose(proba[:, [0, 2]], wanted.training_proba()[test])
    np.testing.assert_array_equal(proba[:, 1], 0.0)


@pytest.mark.parametrize("learner", ["auto", AverageKernel()])
def test_with_one_class_left_it_is_certain(
    blobs: tuple[Any, Any], learner: Any
) -> None:
    X, truth = blobs
    y = some_labels(truth, 12)
    model = UnifiedKernelMachine(learner=learner, random_state=0).fit(X, y)
    test = np.flatnonzero(y > 0)
    np.testing.assert_array_equal(model.held_out_proba(test), len(test) * [[1, 0, 0]])


@pytest.mark.parametrize(("k", "n"), [(18, 20), (0, 5), (5, 5), (300, 1000)])
def test_wilson_interval_against_scipy(k: int, n: int) -> None:
    reference = binomtest(k, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(
        wilson_interval(k / n, n), (reference.low, reference.high), atol=1e-12
    )


def test_paired_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        gains = rng.choice([-1.0, 0.0, 1.0], size=25, p=[0.1, 0.6, 0.3])
        _, low, high = paired_interval(gains)
        hits += low <= 0.2 <= high
    assert 0.92 <= hits / 400 <= 0.99


def test_weights_of_rows_are_numbers_of_rows() -> None:
    gains = np.array([1.0, 0.0, -1.0])
    twice = paired_interval(np.repeat(gains, 2), np.ones(6))
    assert twice == paired_interval(np.repeat(gains, 2))
    # Rows of weight 0 are not there; others count by their weights.
    none = paired_interval(np.r_[gains, 1.0], np.array([1.0, 1.0, 1.0, 0.0]))
    assert none == pytest.approx(paired_interval(gains))
    assert paired_interval(gains, np.array([3.0, 1.0, 1.0]))[0] == pytest.approx(0.4)


def test_no_difference_on_few_rows_is_not_certainty() -> None:
    lead, low, high = paired_interval(np.zeros(5))
    assert lead == 0
    assert low < -0.2 < 0.2 < high


def test_the_check_warns_of_nothing(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(X, some_labels(truth, 12))


def test_seventy_five_labels_count_as_sixty_cases_and_few_rows_left_as_a_sample() -> (
    None
):
    expected, low, high = held_out_interval(0.8, 75)
    assert expected == 0.8
    np.testing.assert_allclose((low, high), wilson_interval(0.8, 60))
    _, low, high = held_out_interval(0.8, 75, n_rest=60)
    np.testing.assert_allclose((low, high), wilson_interval(0.8, 30))


def test_a_shift_moves_the_interval_and_a_quarter_of_it_widens() -> None:
    _, low, high = held_out_interval(0.6, 90)
    expected, least, most = held_out_interval(0.6, 90, shift=0.08)
    assert expected == pytest.approx(0.68)
    assert (least, most) == (pytest.approx(low + 0.06), pytest.approx(high + 0.1))
    expected, least, most = held_out_interval(0.95, 90, shift=0.2)
    assert (expected, most) == (1.0, 1.0)


def test_labels_that_cannot_be_tested_are_not_expected_to_be_right() -> None:
    _, low, high = held_out_interval(0.8, 80)
    expected, least, most = held_out_interval(0.8, 80, n_untested=20)
    assert expected == pytest.approx(0.8 * 0.8)
    assert (least, most) == (pytest.approx(0.8 * low), pytest.approx(0.8 * high + 0.2))


def test_asked_rows_are_harder_and_the_claim_allows_for_it() -> None:
    """Two Gaussians, eight draws; the labelled rows are those in between."""
    shifts, with_it, without = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=400)
        X = rng.standard_normal((400, 2)) + 2.5 * truth[:, None]
        between = np.argsort(np.abs(X.sum(axis=1) - 2.5))
        known = np.r_[between[:40], between[-10:]]
        y = np.full(400, -1)
        y[known] = truth[known]
        found = check(X, y)
        hidden = np.setdiff1d(np.arange(400), known)
        right = (fitted(X, y).transduction_[hidden] == truth[hidden]).mean()
        plain = np.trace(found.confusion) / found.confusion.sum()
        claim = found.scores[0].accuracy
        assert claim == pytest.approx(plain + found.shift)
        shifts.append(found.shift)
        with_it.append(abs(claim - right))
        without.append(abs(plain - right))
    assert np.mean(shifts) > 0.05
    assert np.mean(with_it) < 0.75 * np.mean(without)


def overlapping() -> tuple[Any, Any]:
    """Forty labels of two classes, one of which is found less often."""
    X, truth = make_blobs([120, 80], centers=[[0, 0], [2, 0]], random_state=0)
    order = np.random.default_rng(0).permutation(200)
    return X[order], some_labels(truth[order], 40)


def test_known_sizes_weigh_the_hidden_labels() -> None:
    """Told that few rows are of a class, its labels counted as if many were."""
    X, y = overlapping()
    sizes = np.array([0.9, 0.1])
    told, plain = (check(X, y, n_repeats=1, class_sizes=s) for s in (sizes, None))
    total = [told.weights[told.codes == c].sum() for c in (0, 1)]
    np.testing.assert_allclose(total, 40 * sizes)
    right = told.proba.argmax(axis=1) == told.codes
    found = [right[told.codes == c].mean() for c in (0, 1)]
    assert found[0] != pytest.approx(found[1])
    # What is expected is the share of rows, however many labels a class has.
    ours = told.scores[0]
    assert ours.accuracy == pytest.approx(sizes @ found + told.shift)
    assert ours.accuracy != pytest.approx(plain.scores[0].accuracy)
    assert ours.balanced == plain.scores[0].balanced
    gaps = told.proba.max(axis=1) - right
    one_bin = abs(np.average(gaps, weights=told.weights))
    assert told.calibration_error >= one_bin > 0
    assert told.calibration_error != pytest.approx(plain.calibration_error)
    # The lead is that in expected rows, too.
    rival = told.scores[1]
    assert rival.lead == pytest.approx(ours.accuracy - rival.accuracy)
    assert rival.lead != pytest.approx(plain.scores[1].lead)
    # Labels of the small class say little, so that the interval is wider.
    assert ours.high - ours.low > plain.scores[0].high - plain.scores[0].low
    counts = np.bincount(told.codes)
    same = check(X, y, n_repeats=1, class_sizes=counts / counts.sum())
    for name in ("accuracy", "low", "high", "lead", "lead_low", "lead_high"):
        for one, other in zip(same.scores, plain.scores, strict=True):
            assert getattr(one, name) == pytest.approx(getattr(other, name))


def test_a_known_size_tells_how_much_is_untested() -> None:
    X, y = overlapping()
    y[150] = 2
    ours = check(X, y, class_sizes=np.array([0.4, 0.3, 0.3])).scores[0]
    # Of the 30% without a test nothing is expected, and anything is possible.
    assert ours.accuracy <= 0.7
    assert ours.high - ours.low >= 0.3
    two = check(X, np.where(y == 2, -1, y), class_sizes=np.array([4, 3]) / 7).scores[0]
    assert ours.accuracy == pytest.approx(0.7 * two.accuracy, abs=0.05)


@pytest.mark.parametrize(("n", "times"), [(200, 2), (201, 1)])
def test_folds_are_dealt_twice_up_to_200_labels(
    blobs: tuple[Any, Any], n: int, times: int
) -> None:
    """The factor by which the interval is widened rests on the second deal."""
    X, truth = blobs
    assert check(X, some_labels(truth, n)).n_repeats == times
