"""Sets of classes that hold the right one as often as stated."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from mercer import UnifiedKernelMachine
from mercer.judging.prediction_sets import prediction_sets


def test_the_threshold_is_the_kth_smallest_probability() -> None:
    """19 labels at 0.9: the second smallest; at 0.95 the smallest; at 0.96 none."""
    own = np.arange(1, 20) / 20
    held_out, codes = np.column_stack([own, 1 - own]), np.zeros(19, dtype=np.intp)
    proba = np.array([[0.101, 0.099], [0.051, 0.049], [0.04, 0.03]])

    def found(coverage: float) -> list[list[bool]]:
        return prediction_sets(proba, held_out, codes, coverage=coverage).tolist()

    assert found(0.9) == [[True, False], [True, False], [True, False]]
    assert found(0.95) == [[True, True], [True, False], [True, False]]
    assert found(0.96) == [[True, True]] * 3


def test_within_classes_each_has_its_own_threshold() -> None:
    """Nine labels are enough for 0.9, eight are not."""
    own = np.r_[np.full(9, 0.7), np.full(8, 0.6)]
    codes = np.repeat([0, 1], [9, 8])
    held_out = np.where(np.arange(2) == codes[:, None], own[:, None], 1 - own[:, None])
    proba = np.array([[0.69, 0.31], [0.3, 0.7], [0.71, 0.29]])
    sets = prediction_sets(proba, held_out, codes, coverage=0.9, class_wise=True)
    assert sets.tolist() == [[True, True], [False, True], [True, True]]
    with_nine = np.r_[codes, 1], np.vstack([held_out, held_out[-1:]])
    sets = prediction_sets(
        proba, with_nine[1], with_nine[0], coverage=0.9, class_wise=True
    )
    assert sets.tolist() == [[True, False], [False, True], [True, False]]


def test_the_coverage_is_that_of_exchangeable_scores() -> None:
    """The mean over draws lies between the stated share and 1 / (l + 1) above it."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(3000):
        own = rng.random(21)  # probability of the right one of many classes
        others = np.ones(21)  # another class is likelier, so no set gets it for free
        proba = np.column_stack([own, others])
        codes = np.zeros(20, dtype=np.intp)
        hits.append(prediction_sets(proba[20:], proba[:20], codes, coverage=0.9)[0, 0])
    error = 3 * np.sqrt(0.09 / 3000)
    assert 0.9 - error <= np.mean(hits) <= 0.9 + 1 / 21 + error


@pytest.mark.parametrize("class_wise", [False, True])
def test_sets_of_a_model_cover_and_are_small_where_classes_are_clear(
    class_wise: bool,
) -> None:
    X, y = load_iris(return_X_y=True)
    right, size = [], []
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(150)
        partly = np.full(150, -1)
        partly[rows[:50]] = y[rows[:50]]
        model = UnifiedKernelMachine(random_state=0).fit(X, partly)
        sets = model.predict_set(X[rows[50:]], coverage=0.9, class_wise=class_wise)
        right.append(sets[np.arange(100), y[rows[50:]]].mean())
        size.append(sets.sum(axis=1).mean())
    assert np.mean(right) >= 0.87
    assert np.mean(size) < 1.4


def test_classes_of_one_label_do_not_fill_the_sets() -> None:
    """Three of 23 labels are alone in their class: more than a tenth, untestable."""
    X, y = make_blobs(90, centers=5, random_state=8, cluster_std=0.3)
    partly = np.full(90, -1)
    for c, n in enumerate((10, 10, 1, 1, 1)):
        partly[np.flatnonzero(y == c)[:n]] = c
    model = UnifiedKernelMachine(random_state=0).fit(X, partly)
    sets = model.predict_set(coverage=0.9)
    assert sets[np.isin(y, (0, 1))].sum(axis=1).tolist() == [1] * 36
    assert sets[y < 2, y[y < 2]].all()
    assert model.predict_set(coverage=0.9, class_wise=True)[:, 2:].all()


def test_with_one_label_per_class_every_class_is_in_each_set() -> None:
    X, y = make_blobs(60, centers=3, random_state=8)
    partly = np.full(60, -1)
    for c in range(3):
        partly[np.flatnonzero(y == c)[0]] = c
    model = UnifiedKernelMachine(random_state=0).fit(X, partly)
    assert model.predict_set(coverage=0.6).all()
