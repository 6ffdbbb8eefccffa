"""Whether unlabelled rows help, and which labels look wrong."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

from mercer.judging.hiding import Score
from mercer.model.advice import Advice, does_unlabeled_help
from mercer.model.estimator import UnifiedKernelMachine


def partly(truth: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for c in np.unique(truth):
        rows = rng.choice(np.flatnonzero(truth == c), per_class, replace=False)
        y[rows] = c
    return y


def test_unlabelled_rows_help_on_digits() -> None:
    X, truth = load_digits(return_X_y=True)
    y = partly(truth, 5, seed=0)
    advice = does_unlabeled_help(X / 16, y, n_repeats=2)
    assert advice.answer == "yes"
    assert len(advice.check.rows) == 50
    hidden = y == -1
    model = UnifiedKernelMachine(random_state=0).fit(X / 16, y)
    reached = np.mean(model.transduction_[hidden] == truth[hidden])
    # Held-out labels are 50 coins: the estimate is within three standard errors.
    error = np.sqrt(0.05 * 0.95 / 50)
    assert abs(advice.check.scores[0].accuracy - reached) < 3 * error
    rival = advice.rival.accuracy
    assert rival == max(score.accuracy for score in advice.check.scores[1:])
    # What was changed is at least the difference in accuracy.
    assert advice.changed > reached - rival - 3 * np.sqrt(rival * (1 - rival) / 50)


def test_unlabelled_rows_cannot_help_where_all_is_easy() -> None:
    X, truth = make_blobs(150, centers=[[0, 0], [20, 0]], random_state=0)
    advice = does_unlabeled_help(X, partly(truth, 10, seed=0), n_repeats=1)
    assert advice.answer == "cannot tell"
    assert advice.changed == 0
    assert "changed 0% of the predictions" in str(advice)
    assert "+0.0 points" in str(advice)
    assert "on 20 held-out labels" in str(advice)


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(0.1, 0.2, "yes"), (-0.2, -0.1, "no"), (-0.1, 0.1, "cannot tell")],
)
def test_the_interval_decides(low: float, high: float, answer: str) -> None:
    score = Score("forest", 0.5, 0.4, 0.6, 0.5, (low + high) / 2, low, high)
    assert Advice(None, score, 0.1).answer == answer  # type: ignore[arg-type]


def test_nothing_can_be_said_with_one_label_per_class() -> None:
    X, truth = make_blobs(50, centers=[[0, 0], [20, 0]], random_state=0)
    with pytest.raises(ValueError, match="single label"):
        does_unlabeled_help(X, partly(truth, 1, seed=0))


def test_flipped_labels_are_ranked_first() -> None:
    X, truth = load_digits(return_X_y=True)
    y = partly(truth, 20, seed=1)
    labeled = np.flatnonzero(y != -1)
    rng = np.random.default_rng(1)
    wrong = rng.choice(labeled, 20, replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, 10, 20)) % 10
    found = UnifiedKernelMachine(random_state=0).fit(X / 16, y).suspicious_labels()
    assert len(set(found.ids[:20]) & set(wrong)) >= 18
    assert (np.diff(found.support) >= 0).all()
    first = found.ids[:10]
    assert np.mean(found.suggested[:10] == truth[first]) >= 0.9
    named = found.ids[found.looks_wrong]
    assert len(named) >= 3
    assert np.isin(named, wrong).mean() >= 0.8
    assert found.false_alarms <= 0.4


def test_a_label_alone_in_its_class_is_not_judged() -> None:
    X, truth = make_moons(60, noise=0.05, random_state=0)
    y = np.full(60, -1)
    y[np.flatnonzero(truth == 0)[0]] = 0
    rows = np.flatnonzero(truth == 1)[:3]
    y[rows] = 1
    found = UnifiedKernelMachine(random_state=0).fit(X, y).suspicious_labels()
    assert set(found.ids) == set(rows)
