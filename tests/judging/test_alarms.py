"""Labels to look at again, and the share of them that is right."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import UnifiedKernelMachine
from mercer.judging.alarms import NoisePrior, chance_right, suspicious_set


def drawn(noise: float, *, slope: float = 3.0, n: int = 4000, seed: int = 0):
    """Scores, given codes, and which of these are right, as the formula has it."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=2.0, size=(n, 3))
    p = np.exp(slope * scores)
    p /= p.sum(axis=1, keepdims=True)
    truth = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    is_wrong = rng.random(n) < noise
    given = np.where(is_wrong, (truth + rng.integers(1, 3, n)) % 3, truth)
    return scores, given, given == truth


@pytest.mark.parametrize("noise", [0.05, 0.2])
@pytest.mark.parametrize("asked", [0.05, 0.1])
def test_the_stated_share_is_the_share_found(noise: float, asked: float) -> None:
    scores, given, is_right = drawn(noise)
    found = suspicious_set(
        scores, given, np.arange(len(given)), np.arange(3), false_alarms=asked
    )
    assert len(found.ids) > 40
    assert found.false_alarms <= asked
    assert np.mean(is_right[found.ids]) == pytest.approx(found.false_alarms, abs=0.06)
    assert found.wrong == pytest.approx((~is_right).sum(), rel=0.2)


def test_it_is_the_largest_such_set() -> None:
    scores, given, _ = drawn(0.1, n=300)
    chance = np.sort(chance_right(scores, given))
    found = suspicious_set(scores, given, np.arange(300), np.arange(3))
    n = len(found.ids)
    assert 0 < n < 300
    assert found.false_alarms == pytest.approx(chance[:n].mean())
    assert chance[: n + 1].mean() > 0.2 or chance[n] >= 0.5
    assert (found.chance_right < 0.5).all()


def test_labels_that_are_likely_right_do_not_fill_the_set() -> None:
    held_out = np.repeat([[8.0, 0.0], [0.0, 8.0]], 50, axis=0)
    codes = np.repeat([0, 1], 50)
    codes[:5] = 1
    found = suspicious_set(
        held_out, codes, np.arange(100), np.arange(2), false_alarms=0.6
    )
    assert found.ids.tolist() == [0, 1, 2, 3, 4]


def test_a_model_that_misses_labels_does_not_call_them_wrong() -> None:
    """Unlikely labels as often as the calibrated model expects them."""
    scores, given, _ = drawn(0.0, slope=1.0, n=400)
    found = suspicious_set(scores, given, np.arange(400), np.arange(3))
    assert len(found.ids) <= 2
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert (np.exp(logs[np.arange(400), given]) < 0.1).sum() > 10


def test_what_is_believed_beforehand_counts_with_few_labels() -> None:
    scores, given, _ = drawn(0.1, n=40)
    many = chance_right(scores, given, prior=NoisePrior(a=8, b=20))
    few = chance_right(scores, given, prior=NoisePrior(a=1, b=200))
    assert many.sum() < few.sum() - 1


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_is_asked_for(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        suspicious_set(
            np.zeros((2, 2)), np.array([0, 1]), np.arange(2), np.arange(2),
            false_alarms=share,
        )  # fmt: skip


def test_the_model_names_flipped_labels_and_is_silent_without() -> None:
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:700] / 16, truth[:700]
    y = np.where(np.arange(700) < 300, truth, -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    assert len(model.suspicious_set().ids) <= 1
    rng = np.random.default_rng(0)
    wrong = rng.choice(300, 30, replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, 10, 30)) % 10
    found = model.with_labels(y).suspicious_set()
    assert len(found.ids) >= 15
    assert np.mean(np.isin(found.ids, wrong)) >= 0.8
    assert np.mean(found.suggested == truth[found.ids]) >= 0.8
