"""Questions before there is a model."""

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from mercer import UnifiedKernelMachine
from mercer.active.cold import cold_rows, typical_rows, unseen_share
from mercer.model.questions import looks_for_classes

NONE = np.empty(0, dtype=np.intp)


def groups(sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    points = np.eye(len(sizes) + 2)[truth] + 0.05 * rng.standard_normal(
        (len(truth), len(sizes) + 2)
    )
    return points, truth


def test_choice_is_greedy_facility_location() -> None:
    features = np.random.default_rng(1).standard_normal((25, 4))
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    S = np.maximum(unit @ unit.T, 0) ** 3
    chosen = typical_rows(features, 8).tolist()
    assert len(set(chosen)) == 8
    assert chosen != typical_rows(features, 8, sharpness=1.0).tolist()
    for k in range(8):
        value = [S[[*chosen[:k], x]].max(axis=0).sum() for x in range(25)]
        assert value[chosen[k]] >= max(value) - 1e-12


def test_groups_are_visited_one_by_one_largest_first() -> None:
    points, truth = groups([40, 20, 10, 5])
    assert truth[typical_rows(points, 4)].tolist() == [0, 1, 2, 3]


def test_what_was_asked_is_not_asked_again() -> None:
    points, truth = groups([40, 20, 10])
    asked = np.flatnonzero(truth == 0)[:1]
    rng = np.random.default_rng(0)
    chosen = cold_rows(
        points.__getitem__, 2, n_points=len(points), asked=asked, rng=rng
    )
    assert truth[chosen].tolist() == [1, 2]
    every = cold_rows(
        points.__getitem__, 99, n_points=len(points), asked=asked, rng=rng
    )
    assert sorted(every) == sorted(set(range(70)) - set(asked))


def test_many_rows_are_sampled() -> None:
    points, truth = groups([300, 200, 100])
    drawn: list[int] = []

    def features_of(rows: np.ndarray) -> np.ndarray:
        drawn.append(len(rows))
        return points[rows]

    rng = np.random.default_rng(0)
    chosen = cold_rows(features_of, 3, n_points=600, asked=NONE, rng=rng, most=60)
    assert max(drawn) == 60
    assert sorted(truth[chosen]) == [0, 1, 2]


def test_twenty_questions_find_every_digit_where_random_ones_do_not() -> None:
    X, y = load_digits(return_X_y=True)
    X = X - X.mean(axis=0)
    rng = np.random.default_rng(0)
    chosen = cold_rows(X.__getitem__, 20, n_points=len(X), asked=NONE, rng=rng)
    found = len(np.unique(y[chosen]))
    random = [len(np.unique(rng.choice(y, 20, replace=False))) for _ in range(200)]
    assert found == 10
    assert np.mean(random) < 9


def test_estimate_of_unseen_rows_is_right_on_average() -> None:
    """Good's estimate: as many single labels as rows of classes without one."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(12))
    said, true = [], []
    for _ in range(400):
        labels = rng.choice(12, size=15, p=shares)
        counts = np.bincount(labels, minlength=12)
        said.append(unseen_share(counts))
        true.append(shares[counts == 0].sum())
    assert abs(np.mean(said) - np.mean(true)) < 0.02
    assert unseen_share(np.array([], dtype=int)) == 1.0


@pytest.mark.parametrize(("n_single", "looks"), [(2, False), (3, True)])
def test_classes_are_looked_for_while_many_have_one_label(
    n_single: int, looks: bool
) -> None:
    """With 2 single labels of 8 a quarter of the rows is unseen, with 3 of 9 more."""
    points, truth = groups([12] * 6)
    given = np.full(len(points), -1)
    for c, n in enumerate([2, 2, 2] + [1] * n_single):
        given[np.flatnonzero(truth == c)[:n]] = c
    model = UnifiedKernelMachine(random_state=0).fit(points, given)
    assert (unseen_share(np.bincount(given[given >= 0])) > 0.25) == looks
    cold = cold_rows(
        model._features,
        1,
        n_points=len(points),
        asked=model.labeled_,
        rng=np.random.default_rng(0),
    )
    assert looks_for_classes(model) == looks
    if looks:
        assert model.ask(1).tolist() == cold.tolist()
        assert truth[cold[0]] == 5  # the one class without a label
    margin = UnifiedKernelMachine(query="margin", random_state=0).fit(points, given)
    assert not looks_for_classes(margin)


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_answer_may_be_any_class(first: int) -> None:
    X, truth = make_blobs(60, centers=[[0, 0], [9, 0]], random_state=0)
    model = UnifiedKernelMachine(random_state=0).fit(X, np.full(60, -1))
    row = model.ask(1)
    model.tell(row, [first])
    assert model.classes_.tolist() == [first]
    assert (model.predict(X) == first).all()
    other = np.flatnonzero(truth != truth[row[0]])[:1]
    model.tell(other, [1 - first])
    right = np.where(truth == truth[row[0]], first, 1 - first)
    np.testing.assert_array_equal(model.transduction_, right)
    # Whoever passes -1 as a class to `fit` is told.
    with pytest.raises(ValueError, match="only -1 and 1"):
        UnifiedKernelMachine().fit(X, np.where(truth == 1, 1, -1))


def test_typical_rows_take_the_memory_of_one_square_matrix() -> None:
    features = np.random.default_rng(0).standard_normal((1_000, 5))
    tracemalloc.start()
    try:
        typical_rows(features, 3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 8e6 < peak < 16e6  # a quarter of it is worked on at a time
