"""The accuracy that probabilities and answers reveal together."""

import numpy as np
import pytest
from scipy.special import expit, logit

from mercer.judging.estimate import LearningCurve


def drawn(
    rng: np.random.Generator,
    shift: float,
    n_answers: int,
    *,
    hard: bool,
    handicap: float = 0.5,
):
    """Return answers and rows of a model that is wrong about itself by a shift."""
    rest = rng.beta(5, 1.5, size=2_000).clip(0.5, 1)
    p = rng.choice(np.sort(rest)[:400] if hard else rest, n_answers)
    harder = handicap * hard
    score, of_rest = (1.35 * logit(q.clip(0, 0.999)) + shift for q in (p, rest))
    right = rng.random(n_answers) < expit(score - harder)
    truth = (rng.random(2_000) < expit(of_rest)).mean()
    return right, p, rest, truth


@pytest.mark.parametrize("shift", [-0.5, 0.0, 0.5])
@pytest.mark.parametrize("n_hard", [0, 88])  # as in the studio: one in eight is random
def test_the_interval_holds_the_truth_also_if_hard_rows_were_asked(
    shift: float, n_hard: int
) -> None:
    rng = np.random.default_rng(0)
    inside, widths = 0, []
    asked = np.arange(100) < n_hard
    for _ in range(100):
        *hard, _, _ = drawn(rng, shift, n_hard, hard=True)
        *easy, rest, truth = drawn(rng, shift, 100 - n_hard, hard=False)
        right, p = (np.concatenate(both) for both in zip(hard, easy, strict=True))
        found = LearningCurve(
            np.full(100, 50), right, p, asked, rest, now=50, n_classes=2
        ).at(50)
        inside += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert inside >= 88
    assert np.mean(widths) < (0.28 if n_hard else 0.16)


@pytest.mark.parametrize("handicap", [0.0, 0.9, 1.6])
def test_how_hard_the_asked_rows_are_is_learned(handicap: float) -> None:
    """One handicap for all data: on texts the interval held the truth in no run."""
    rng, inside = np.random.default_rng(0), 0
    asked = np.arange(100) < 80
    for _ in range(100):
        *hard, _, _ = drawn(rng, -0.3, 80, hard=True, handicap=handicap)
        *easy, rest, truth = drawn(rng, -0.3, 20, hard=False)
        right, p = (np.concatenate(both) for both in zip(hard, easy, strict=True))
        many = np.full(100, 100)
        curve = LearningCurve(many, right, p, asked, rest, now=100, n_classes=2)
        found = curve.at(100)
        inside += found.low <= truth <= found.high
    assert inside >= 85


def test_a_model_with_few_labels_per_class_is_believed_less() -> None:
    rest = np.full(500, 0.8)

    def believed(now: int, n_classes: int) -> float:
        given = {"now": now, "n_classes": n_classes}
        return LearningCurve([], [], [], [], rest, **given).at(now).mean

    assert believed(200, 2) == pytest.approx(0.74, abs=0.01)
    assert believed(20, 2) == pytest.approx(0.72, abs=0.01)
    assert believed(20, 10) == pytest.approx(0.64, abs=0.01)


def test_answers_about_an_earlier_model_count_less() -> None:
    no, rest = np.zeros(30), np.full(500, 0.8)
    early, late = (
        LearningCurve(no + n, no, no + 0.8, no, rest, now=100, n_classes=2).at(100)
        for n in (10, 100)
    )
    assert early.mean == pytest.approx(
        0.62, abs=0.02
    )  # (11 / 101)^1.5 of an answer each
    assert late.mean == pytest.approx(0.07, abs=0.02)


def test_answers_narrow_the_interval_and_move_it() -> None:
    widths, rest = [], np.full(1_000, 0.8)
    for k in (4, 16, 64, 256):
        right = np.arange(k) % 2 > 0  # half of them, where 80% were expected
        no = np.zeros(k)
        curve = LearningCurve(no + 50, right, no + 0.8, no, rest, now=50, n_classes=2)
        found = curve.at(50)
        widths.append(found.high - found.low)
        assert found.mean < 0.8
    assert widths == sorted(widths, reverse=True)
    assert found.mean == pytest.approx(0.5, abs=0.04)


def test_few_rows_that_are_left_are_known_less_well() -> None:
    many, few = (
        LearningCurve([], [], [], [], np.full(n, 0.8), now=20, n_classes=2).at(20)
        for n in (5_000, 10)
    )
    assert few.high - few.low > many.high - many.low + 0.05


def test_gain_is_the_difference_of_the_curve_and_shrinks_when_all_is_right() -> None:
    rest = np.full(300, 0.8)
    labels = np.arange(8, 101, 8)
    curve = LearningCurve(
        labels, labels > 40, np.full(12, 0.7), np.zeros(12), rest, now=100, n_classes=2
    )
    assert curve.gain(20).mean == pytest.approx(curve.at(120).mean - curve.at(100).mean)
    sure = np.full(60, 0.99)
    perfect = LearningCurve(
        np.full(60, 100),
        np.ones(60),
        sure,
        0 * sure,
        np.full(99, 0.99),
        now=100,
        n_classes=2,
    )
    assert perfect.gain(20).mean < curve.gain(20).mean
    assert perfect.gain(20).high < 0.02
