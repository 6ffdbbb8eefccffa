"""Which labels look wrong, and how sure that is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax
from scipy.stats import norm

from mercer._base.typing import FloatArray, IntArray
from mercer.judging.suspicion import (
    NoisePrior,
    SuspiciousLabels,
    believe_errors,
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


STEEPER = np.linspace(-1.4, 2.2, 13)  # logarithms of slopes


def by_hand(logs: FloatArray, codes: IntArray) -> tuple[FloatArray, float]:
    """Return the posterior of the mixture, row by row, and that nothing is wrong."""
    n, C = logs.shape
    missed = (np.sum(logs.argmax(axis=1) != codes) + 0.5) / (n + 1)
    parts = []
    for share in (0.0001, 0.05, 0.1):
        belief = norm(np.log(1 + 4.5 * share), 0.2 + 0.6 * share).pdf(STEEPER)
        belief = 0.9 * belief / belief.sum() + 0.1 / len(belief)
        strange = share + 0.05 * max(0, missed - share)
        for slope, believed in zip(STEEPER, belief, strict=True):
            q = np.exp(np.exp(slope) * logs)
            q = 0.997 * q / q.sum(axis=1, keepdims=True) + 0.003 / C
            right = [(1 - strange) * q[i, codes[i]] for i in range(n)]
            even = np.full((n, C), 1 / (C - 1))
            for N in (even, taken_for(q, right, codes, strange)):
                other = [
                    strange * sum(q[i, t] * N[i, t] for t in range(C) if t != codes[i])
                    for i in range(n)
                ]
                total = np.add(right, other)
                wrong = share / strange * np.divide(other, total)
                parts.append((believed * total.prod(), wrong, share == 0.0001))
    weights, wrong, none = (np.array(column) for column in zip(*parts, strict=True))
    return np.average(wrong, axis=0, weights=weights), np.average(none, weights=weights)


def taken_for(
    q: FloatArray, right: list[float], codes: IntArray, strange: float
) -> FloatArray:
    """Return how often class t is taken for the label of i, by all rows but i."""
    n, C = q.shape
    N = np.full((n, C), 1 / (C - 1))
    for _ in range(8 if C > 2 else 0):
        r = np.zeros((n, C))
        for i in range(n):
            for t in set(range(C)) - {codes[i]}:
                r[i, t] = strange * q[i, t] * N[i, t]
            r[i] /= right[i] + r[i].sum()
        for i in range(n):
            rest = np.arange(n) != i
            for t in range(C):
                same = r[rest & (codes == codes[i]), t].sum()
                N[i, t] = (same + 6 / (C - 1)) / (r[rest, t].sum() + 6)
    return N


@given(seed=st.integers(0, 10_000), C=st.integers(2, 5), n=st.integers(1, 15))
@settings(max_examples=10, deadline=None)
def test_probabilities_are_those_of_the_stories(seed: int, C: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    logs = log_softmax(3 * rng.standard_normal((n, C)), axis=1)
    codes = rng.integers(C, size=n)
    found = believe_errors(logs, codes)
    wrong, none = by_hand(logs, codes)
    np.testing.assert_allclose(found.wrong, wrong, rtol=1e-9)
    assert found.all_right == pytest.approx(none, rel=1e-9)


def test_errors_with_a_pattern_are_named_as_even_ones_are() -> None:
    """A tenth of the labels of each class are called the next; eight others vote.

    None of these was named while errors were thought to be even.
    """
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 10
    codes = truth.copy()
    changed = rng.permutation(300)[:30]
    codes[changed] = (truth[changed] + 1) % 10
    votes = np.full((300, 10), 0.3)
    for i in range(300):
        same = np.flatnonzero((truth == truth[i]) & (np.arange(300) != i))
        np.add.at(votes[i], codes[rng.choice(same, 8, replace=False)], 1)
    logs = np.log(votes / votes.sum(axis=1, keepdims=True))
    found = ranked(logs, codes)
    named = found.ids[found.looks_wrong]
    assert len(named) >= 27
    assert np.isin(named, changed).all()
    even = believe_errors(logs, codes, prior=NoisePrior(evenness=1e9)).wrong
    assert not (even >= 0.5).any()


@pytest.mark.parametrize(
    ("all_right", "named"),
    [(0.0, [0.6, 0.43]), (0.29, [0.6, 0.43, 0.3]), (0.31, []), (1.0, [])],
)
def test_labels_are_named_if_errors_are_likely_and_these_among_them(
    all_right: float, named: list[float]
) -> None:
    wrong = np.array([0.6, 0.43, 0.3, 0.29])
    rows = np.arange(4)
    found = SuspiciousLabels(rows, rows, rows, wrong, wrong, wrong, all_right)
    assert wrong[found.looks_wrong].tolist() == named
    if named:
        expected = 1 - np.mean(named) / (1 - all_right)
        assert found.false_alarms == pytest.approx(expected)
    else:
        assert found.first.tolist() == [0, 1, 2, 3]
        assert found.false_alarms == 0


def test_several_clear_contradictions_are_wrong_labels() -> None:
    found = ranked(*held_out(40, 0.98, (3, 10, 21)))
    assert set(found.ids[found.looks_wrong]) == {3, 10, 21}


def test_the_same_contradictions_among_unsure_predictions_are_overlap() -> None:
    found = ranked(*held_out(40, 0.7, (3, 10, 21)))
    assert (found.wrong < 0.5).all()


def test_many_contradictions_are_overlap_however_sure_they_are() -> None:
    found = ranked(*held_out(40, 0.9, tuple(range(0, 40, 3))))
    assert not found.looks_wrong.any()


def test_one_odd_row_among_many_is_no_wrong_label() -> None:
    found = ranked(*held_out(200, 0.98, (3,)))
    assert not found.looks_wrong.any()


def test_nothing_is_said_where_all_labels_agree() -> None:
    found = ranked(*held_out(40, 0.98, ()))
    assert not found.looks_wrong.any()
    assert found.false_alarms == 0


def test_the_stated_share_of_false_alarms_is_what_the_probabilities_leave() -> None:
    found = ranked(*held_out(40, 0.98, (3, 10, 21)))
    wrong = found.wrong[found.looks_wrong]
    assert found.false_alarms == pytest.approx(1 - wrong.mean() / (1 - found.all_right))
    assert 0 < found.false_alarms <= 0.6


def test_what_is_believed_beforehand_counts() -> None:
    logs, codes = held_out(40, 0.98, (3, 10, 21))
    trusting = NoisePrior(shares=(1e-4, 0.005))
    odd = NoisePrior(odd_rows=0.05)
    misleading = NoisePrior(misleading=0.5)
    usual = believe_errors(logs, codes).wrong[3]
    for other in trusting, odd, misleading:
        assert believe_errors(logs, codes, prior=other).wrong[3] < usual - 0.1
    found = rank_labels(logs, codes, np.arange(40), np.arange(2), prior=trusting)
    assert not found.looks_wrong.any()


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_scores_flattened_by_wrong_labels_are_read_as_steeper(share: float) -> None:
    """Right posteriors, flattened as calibration on wrong labels flattens them.

    A fifth of wrong labels is more than `NoisePrior` thinks possible: those named are
    then wrong more often than stated.
    """
    rng = np.random.default_rng(1)
    n, steeper = 400, 1 + NoisePrior().steeper * share
    truth = rng.integers(2, size=n)
    x = rng.standard_normal(n) + 4 * truth
    logs = np.stack([8 - 4 * x, 4 * x - 8], axis=1) / 2
    changed = rng.random(n) < share
    given = np.where(changed, 1 - truth, truth)
    found = ranked(log_softmax(logs / steeper, axis=1), given)
    likely = found.wrong >= 0.5
    named = found.ids[likely]
    assert len(named) >= 0.7 * changed.sum()
    stated, true = found.wrong[likely].mean(), changed[named].mean()
    assert true > stated - 0.12
    assert true < stated + 0.12 or share > 0.1


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
        named = found.ids[found.looks_wrong]
        hits += changed[named].sum()
        alarms += len(named)
        expected += found.wrong[found.looks_wrong].tolist()
    assert alarms > 60
    assert hits / alarms >= 0.8
    assert abs(hits / alarms - np.mean(expected)) < 0.15


def listed(wrong: list[float]) -> SuspiciousLabels:
    n = len(wrong)
    ids, names = np.arange(n), np.repeat("a", n)
    return SuspiciousLabels(
        ids, names, names, np.zeros(n), np.ones(n), np.array(wrong), all_right=0.0
    )


def test_labels_are_named_from_a_probability_of_0_42_on() -> None:
    found = listed([0.9, 0.43, 0.42, 0.41, 0.1])
    assert found.looks_wrong.tolist() == [True, True, True, False, False]
    assert found.first.tolist() == found.first_places.tolist() == [0, 1, 2]


def test_where_none_is_named_the_ten_likeliest_come_first() -> None:
    found = listed([0.01, 0.3, *np.linspace(0.02, 0.2, 12)])
    assert not found.looks_wrong.any()
    assert found.first_places.tolist() == [1, 13, 12, 11, 10, 9, 8, 7, 6, 5]
    assert found.first.tolist() == found.ids[found.first_places].tolist()
    title = "No label of 14 is likely to be wrong; the 10 to look at first"
    assert title in found._repr_html_()
    assert found._facts()["row"].tolist()[:3] == ["1", "13", "12"]
    assert sorted(found._facts()["row"].tolist(), key=int) == [
        str(i) for i in range(14)
    ]
    assert len(listed([0.1, 0.2, 0.05]).first) == 3
