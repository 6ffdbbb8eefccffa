"""Queries for labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.active.batches import diverse_batch, reducing_batch
from mercer.active.strategies import (
    EXPLORING,
    QUERIES,
    choose_rows,
    entropy,
    least_confidence,
    margin,
)


def gaussian_process_variance(
    features: np.ndarray, labeled: list[int], ridge: float
) -> np.ndarray:
    K = features @ features.T
    K_l = K[labeled]
    inner = np.linalg.inv(K_l[:, labeled] + ridge * np.eye(len(labeled)))
    return np.diag(K - K_l.T @ inner @ K_l)


@given(seed=st.integers(0, 10**6))
def test_batch_is_the_greedy_one_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(15, 5))
    scores = rng.random(15)
    labeled = [0, 1]
    candidates = np.arange(2, 15)
    known = list(labeled)
    expected = []
    for _ in range(6):
        variance = gaussian_process_variance(features, known, 0.2)
        free = [i for i in candidates if i not in known]
        best = max(free, key=lambda i: scores[i] * variance[i])
        expected.append(best)
        known.append(best)
    got = diverse_batch(scores, features, np.array(labeled), candidates, 6, ridge=0.2)
    assert list(got) == expected


@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("n_known", [2, 8])  # fewer and more than features
def test_reducing_batch_leaves_least_variance_by_brute_force(
    seed: int, n_known: int
) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(21, 5))
    weights = rng.random(21)
    targets, candidates = np.arange(8, 21), rng.permutation(np.arange(10, 19))
    known = list(range(n_known))

    def left(known: list[int]) -> float:
        variance = gaussian_process_variance(features, known, 0.2)
        return float(weights[targets] @ variance[targets])

    got = reducing_batch(
        weights, features, np.arange(n_known), targets, candidates, 6, ridge=0.2
    )
    assert len(set(got)) == 6
    for row in got:
        free = [i for i in candidates if i not in known]
        least = min(left([*known, i]) for i in free)
        known.append(int(row))
        assert left(known) == pytest.approx(least, rel=1e-9)


def test_outliers_are_not_asked_about() -> None:
    crowd = np.full((10, 2), [1.0, 0.0])
    features = np.vstack([[0.1, 0.1], crowd, [0.0, 2.0]])
    known, rest = np.array([0]), np.arange(1, 12)
    weights = np.ones(12)
    assert reducing_batch(weights, features, known, rest, rest, 1, ridge=0.1)[0] < 11
    assert diverse_batch(weights, features, known, rest, 1, ridge=0.1)[0] == 11


def test_batch_never_asks_about_copies_of_one_point() -> None:
    rng = np.random.default_rng(0)
    distinct = np.eye(5) + 0.01 * rng.normal(size=(5, 5))
    features = np.repeat(distinct, 4, axis=0)
    rows = diverse_batch(
        np.ones(20), features, np.array([0]), np.arange(1, 20), 4, ridge=0.01
    )
    assert sorted(rows // 4) == [1, 2, 3, 4]


def test_uncertainties_order_rows_as_they_should() -> None:
    proba = np.array([[1.0, 0.0, 0.0], [0.6, 0.3, 0.1], [0.34, 0.33, 0.33]])
    for score in (entropy, least_confidence, margin):
        assert list(np.argsort(score(proba))) == [0, 1, 2]
    assert entropy(proba)[2] == pytest.approx(np.log(3), abs=1e-3)


@pytest.mark.parametrize("query", QUERIES)
def test_queries_return_distinct_candidates(query: str) -> None:
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(3), size=30)
    arguments = {
        "proba": proba,
        "features": rng.normal(size=(30, 4)),
        "labeled": np.arange(5),
        "candidates": np.arange(5, 30),
    }
    rows = choose_rows(query, 7, **arguments, rng=np.random.default_rng(0))
    again = choose_rows(query, 7, **arguments, rng=np.random.default_rng(0))
    assert len(set(rows)) == 7
    assert min(rows) >= 5
    np.testing.assert_array_equal(rows, again)
    everything = choose_rows(query, 99, **arguments, rng=np.random.default_rng(0))
    assert sorted(everything) == list(range(5, 30))


@pytest.mark.parametrize("query", EXPLORING)
def test_queries_that_compare_points_need_features(query: str) -> None:
    with pytest.raises(ValueError, match="give features"):
        choose_rows(
            query,
            1,
            proba=np.ones((2, 1)),
            features=None,
            labeled=np.array([0]),
            candidates=np.array([1]),
            rng=np.random.default_rng(0),
        )


def test_many_points_are_compared_with_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.active.strategies.MOST_CANDIDATES", 8)
    rng = np.random.default_rng(0)
    arguments = {
        "proba": rng.dirichlet(np.ones(3), size=40),
        "features": rng.normal(size=(40, 4)),
        "labeled": np.arange(5),
        "candidates": np.arange(10, 40),
    }
    seen = {
        tuple(choose_rows("reduction", 3, **arguments, rng=np.random.default_rng(i)))
        for i in range(10)
    }
    assert len(seen) > 1
    assert min(map(min, seen)) >= 10
    many = choose_rows("reduction", 20, **arguments, rng=rng)
    assert len(set(many)) == 20


def test_without_labels_the_batch_starts_at_the_point_of_most_variance() -> None:
    features = np.diag([1.0, 3.0, 2.0])
    none = np.array([], dtype=int)
    rows = diverse_batch(np.ones(3), features, none, np.arange(3), 3, ridge=0.1)
    assert list(rows) == [1, 2, 0]


def test_unknown_query_is_an_error() -> None:
    with pytest.raises(ValueError, match="query must be one of entropy"):
        choose_rows(
            "best",
            1,
            proba=np.ones((2, 1)),
            features=np.ones((2, 1)),
            labeled=np.array([0]),
            candidates=np.array([1]),
            rng=np.random.default_rng(0),
        )
