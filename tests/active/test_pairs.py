import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mercer.active.pairs import next_pairs, select_constraints
from mercer.evidence.pairs import Pairs


def blobs(n=60, centers=3, seed=0):
    X, y = make_blobs(n, centers=centers, cluster_std=0.6, random_state=seed)
    X = X - X.mean(axis=0)
    return X, y


def answer(questions, y):
    same = y[questions[:, 0]] == y[questions[:, 1]]
    return Pairs.from_index(questions[same], questions[~same], n_points=len(y))


def test_selection_is_the_printed_formula():
    rng = np.random.default_rng(0)
    _, y = blobs(20)
    pairs = Pairs.from_labels(y, n_pairs=40, random_state=0)
    Phi = rng.normal(size=(20, 4))
    K, T = Phi @ Phi.T, pairs.matrix().toarray()
    doubt = {
        i: abs(np.sum(T[i] * K[i]) / np.count_nonzero(T[i]))
        for i in range(20)
        if T[i].any()
    }
    uncertain = sorted(doubt, key=doubt.get)[:5]
    expected = {
        (i, j)
        for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
        if i in uncertain or j in uncertain
    }
    kept = select_constraints(pairs, Phi, 5)
    got = set(zip(kept.first.tolist(), kept.second.tolist(), strict=True))
    assert got == expected


def test_selecting_every_point_keeps_every_pair():
    X, y = blobs(20)
    pairs = Pairs.from_labels(y, n_pairs=30, random_state=1)
    assert len(select_constraints(pairs, X, 20)) == 30
    with pytest.raises(ValueError, match="n_points must be at least 1"):
        select_constraints(pairs, X, 0)


def test_questions_are_new_and_about_different_points():
    X, y = blobs()
    rng = np.random.default_rng(0)
    pairs = Pairs.from_index(n_points=60)
    for _ in range(12):
        questions = next_pairs(X, pairs, 3, rng=rng)
        assert len(set(questions[:, 0].tolist())) == len(questions)
        closed = (
            pairs.closure().matrix().toarray() if len(pairs) else np.zeros((60, 60))
        )
        assert np.all(closed[questions[:, 0], questions[:, 1]] == 0)
        assert np.all(questions[:, 0] != questions[:, 1])
        pairs = pairs + answer(questions, y)


def test_all_questions_answered_finds_the_classes():
    """Asked until nothing is unknown, the must-link components are the classes."""
    X, y = blobs(30)
    rng = np.random.default_rng(1)
    pairs = Pairs.from_index(n_points=30)
    while len(questions := next_pairs(X, pairs, rng=rng)):
        pairs = pairs + answer(questions, y)
    assert pairs.n_components == 3
    np.testing.assert_array_equal(
        np.equal.outer(pairs.component_labels, pairs.component_labels),
        np.equal.outer(y, y),
    )
    assert len(pairs) < 30 * 2  # of 435 pairs


def test_undecided_point_comes_first():
    """Between two groups, and asked against the nearer of them."""
    angles = np.radians([0, 2, 90, 88, 5, 44, 85])
    Phi = np.column_stack([np.cos(angles), np.sin(angles)])
    pairs = Pairs.from_index([(0, 1), (2, 3)], [(1, 2)], n_points=7)
    ((x, partner),) = next_pairs(Phi, pairs, rng=np.random.default_rng(0))
    assert x == 5
    assert partner in (0, 1)


def test_cannot_link_rules_a_group_out():
    angles = np.radians([0, 2, 90, 88, 44])
    Phi = np.column_stack([np.cos(angles), np.sin(angles)])
    pairs = Pairs.from_index([(0, 1), (2, 3)], [(1, 2), (4, 0)], n_points=5)
    ((x, partner),) = next_pairs(Phi, pairs, rng=np.random.default_rng(0))
    assert x == 4
    assert partner in (2, 3)


def test_first_question_compares_far_points():
    X, y = blobs(centers=2)
    rng = np.random.default_rng(0)
    ((x, partner),) = next_pairs(X, Pairs.from_index(n_points=60), rng=rng)
    assert y[x] != y[partner]


def test_nothing_left_to_ask():
    pairs = Pairs.from_index([(0, 1)], [(1, 2)], n_points=3)
    questions = next_pairs(np.eye(3), pairs, 5, rng=np.random.default_rng(0))
    assert questions.shape == (0, 2)


def test_same_seed_same_questions():
    X, y = blobs()
    pairs = Pairs.from_labels(y, n_pairs=10, random_state=0)
    one, two = (next_pairs(X, pairs, 4, rng=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_number_of_questions_must_be_positive():
    with pytest.raises(ValueError, match="n must be at least 1"):
        next_pairs(
            np.eye(3), Pairs.from_index(n_points=3), 0, rng=np.random.default_rng(0)
        )
