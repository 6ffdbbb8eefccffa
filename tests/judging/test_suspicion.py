"""Which labels look wrong, and how sure that is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from mercer._typing import FloatArray, IntArray
from mercer.judging.suspicion import (
    _NOISE,
    _SLOPES,
    DOUBT,
    SuspiciousLabels,
    false_alarms,
    is_doubtful,
    probability_wrong,
    rank_labels,
)


def held_out(
    n: int, sure: float, missed: tuple[int, ...], n_classes: int = 2
) -> tuple[FloatArray, IntArray]:
    """Return held-out logarithms and labels; `missed` rows look like the next class."""
    codes = np.arange(n) % n_classes
    looks = codes.copy()
    looks[list(missed)] = (looks[list(missed)] + 1) % n_classes
    p = np.full((n, n_classes), (1 - sure) / (n_classes - 1))
    p[np.arange(n), looks] = sure
    return np.log(p), codes


def ranked(logs: FloatArray, codes: IntArray) -> SuspiciousLabels:
    return rank_labels(logs, codes, np.arange(len(codes)), np.arange(logs.shape[1]))


def by_hand(logs: FloatArray, codes: IntArray) -> FloatArray:
    """Return the posterior of the mixture, one story at a time."""
    C, parts = logs.shape[1], []
    for slope in _SLOPES:
        for share in _NOISE:
            right, wrong = [], []
            for row, c in zip(slope * logs, codes, strict=True):
                q = 0.99 * np.exp(row[c]) / np.exp(row).sum() + 0.01 / C
                right.append((1 - share) * q)
                wrong.append(share / (C - 1) * (1 - q))
            total = np.add(right, wrong)
            parts.append((total.prod(), np.divide(wrong, total)))
    weights = np.array([weight for weight, _ in parts])
    return np.average([p for _, p in parts], axis=0, weights=weights)


@given(seed=st.integers(0, 10_000), C=st.integers(2, 5), n=st.integers(1, 15))
@settings(max_examples=25, deadline=None)
def test_probabilities_are_those_of_the_stories(seed: int, C: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    logs = log_softmax(3 * rng.standard_normal((n, C)), axis=1)
    codes = rng.integers(C, size=n)
    found = probability_wrong(logs, codes)
    np.testing.assert_allclose(found, by_hand(logs, codes), rtol=1e-9)


def test_several_clear_contradictions_are_wrong_labels() -> None:
    found = ranked(*held_out(40, 0.98, (3, 10, 21)))
    assert set(found.ids[is_doubtful(found)]) == {3, 10, 21}


def test_the_same_contradictions_among_unsure_predictions_are_overlap() -> None:
    found = ranked(*held_out(40, 0.7, (3, 10, 21)))
    assert not is_doubtful(found).any()


def test_many_contradictions_are_overlap_however_sure_they_are() -> None:
    found = ranked(*held_out(40, 0.9, tuple(range(0, 40, 3))))
    assert not is_doubtful(found).any()


def test_one_odd_row_among_many_is_no_wrong_label() -> None:
    found = ranked(*held_out(200, 0.98, (3,)))
    assert not is_doubtful(found).any()


def test_nothing_is_said_where_all_labels_agree() -> None:
    found = ranked(*held_out(40, 0.98, ()))
    assert not is_doubtful(found).any()
    assert false_alarms(found) == 0


def test_the_stated_share_of_false_alarms_is_what_the_probabilities_leave() -> None:
    found = ranked(*held_out(40, 0.98, (3, 10, 21)))
    wrong = found.wrong[is_doubtful(found)]
    assert false_alarms(found) == pytest.approx(1 - wrong.mean())
    assert 0 < false_alarms(found) <= 1 - DOUBT


def test_simulated_wrong_labels_are_four_of_five_of_those_named() -> None:
    """Two Gaussians, known posteriors, one label in ten changed."""
    rng = np.random.default_rng(0)
    hits = alarms = 0
    expected = []
    for _ in range(60):
        truth = rng.integers(2, size=40)
        x = rng.standard_normal(40) + rng.choice([2.0, 4.0]) * truth
        apart = np.abs(np.subtract.outer(x, [0.0, x[truth == 1].mean()]))
        logs = log_softmax(-(apart**2) / 2, axis=1)
        changed = np.arange(40) < 4
        found = rank_labels(
            logs, np.where(changed, 1 - truth, truth), np.arange(40), np.arange(2)
        )
        named = found.ids[is_doubtful(found)]
        hits += changed[named].sum()
        alarms += len(named)
        expected += found.wrong[is_doubtful(found)].tolist()
    assert alarms > 60
    assert hits / alarms >= 0.8
    assert abs(hits / alarms - np.mean(expected)) < 0.15
