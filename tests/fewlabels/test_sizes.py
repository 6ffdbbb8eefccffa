"""Class sizes: the assignment problem is the oracle, sorted leads the twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from mercer._base.typing import FloatArray, IntArray
from mercer.fewlabels.sizes import match_sizes
from mercer.optim.leads import ArrayLeads, leads_at
from mercer.spectrum.scores import UNDECIDED, ArrayScores


def blurred(n: int, C: int, seed: int) -> tuple[FloatArray, IntArray]:
    """Return scores in which the right class is ahead by 2, and class counts."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, C))
    scores[np.arange(n), rng.integers(C, size=n)] += 2
    counts = 1 + rng.multinomial(n - C, rng.dirichlet(np.full(C, 3.0)))
    return scores, counts


def best_assignment(scores: FloatArray, counts: IntArray) -> float:
    """Return the largest sum of scores of a decision with these counts."""
    places = np.repeat(np.arange(len(counts)), counts)
    rows, columns = linear_sum_assignment(scores[:, places], maximize=True)
    return float(scores[rows, places[columns]].sum())


@pytest.mark.parametrize(("n", "C"), [(40, 2), (90, 6), (400, 25)])
def test_offsets_solve_the_assignment_problem(n: int, C: int) -> None:
    scores, counts = blurred(n, C, seed=C)
    b = match_sizes(ArrayScores(scores), counts / n, max_iter=2000)
    # Weak duality: no decision with these counts has a larger sum than the dual value.
    dual = (scores + b).max(axis=1).sum() - counts @ b
    optimum = best_assignment(scores, counts)
    assert dual >= optimum - 1e-9
    assert dual <= optimum + 1e-3 * abs(optimum)
    decided = np.bincount((scores + b).argmax(axis=1), minlength=C)
    assert np.abs(decided - counts).sum() <= 0.01 * n


def by_sorting(columns: FloatArray, b: FloatArray, places: IntArray) -> FloatArray:
    moved = columns + b[:, None]
    every = [moved[c] - np.delete(moved, c, axis=0).max(axis=0) for c in range(len(b))]
    found: FloatArray = np.take_along_axis(np.sort(every, axis=1), places, axis=1)
    return found


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 2500),
    C=st.integers(2, 12),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.0, 0.01, 1.0, 30.0]),
    margin=st.sampled_from([1e-9, 0.3, 1e6]),
)
def test_leads_are_those_of_all_points_in_order(
    n: int, C: int, seed: int, spread: float, margin: float
) -> None:
    rng = np.random.default_rng(seed)
    columns = spread * rng.normal(size=(C, n)).round(int(rng.integers(0, 9)))
    b = spread * rng.normal(size=C)
    low = rng.integers(n, size=C)
    places = np.stack([low, np.minimum(low + rng.integers(2, size=C), n - 1)], axis=1)
    found = leads_at(columns, b, places, np.full(C, margin))
    np.testing.assert_array_equal(found, by_sorting(columns, b, places))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 2500),
    C=st.integers(2, 8),
    seed=st.integers(0, 10**6),
    jumps=st.lists(st.sampled_from([0, 0, 0, 2]), min_size=4, max_size=8),
)
def test_leads_follow_offsets_that_converge_or_jump(
    n: int, C: int, seed: int, jumps: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, C)).round(int(rng.integers(1, 9)))
    b = rng.normal(size=C)
    low = ((1 - rng.dirichlet(np.full(C, 5.0))) * (n - 1)).astype(np.intp)
    places = np.stack([low, np.minimum(low + 1, n - 1)], axis=1)
    leads = ArrayLeads(scores)
    for jump in jumps:
        found = leads.at(b, places)
        np.testing.assert_array_equal(found, by_sorting(scores.T, b, places))
        b = b - 0.75 * found[:, 0]
        b += jump * np.abs(found).max() * rng.choice([-1, 1], size=C)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 2500), C=st.integers(2, 9), seed=st.integers(0, 10**6))
def test_offsets_are_matched_step_by_step(n: int, C: int, seed: int) -> None:
    """Whatever points were put aside, and in whatever order offsets are matched."""
    rng = np.random.default_rng(seed)
    scores, part = rng.normal(size=(n, C)), rng.random(C)
    low = ((1 - rng.dirichlet(np.full(C, 5.0))) * (n - 1)).astype(np.intp)
    places = np.stack([low, np.minimum(low + 1, n - 1)], axis=1)
    start, expected, most = rng.normal(size=C), np.zeros(C), min(1 - 1 / C, 0.75)
    expected += start
    for _ in range(6):
        last = by_sorting(scores.T, expected, places)
        step = -(1 - part) * last[:, 0] - part * last[:, 1]
        expected = expected + most * (step - step.mean())
    found = ArrayLeads(scores).matched(start, places, part, 6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 2500), C=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_a_tie_is_undecided(n: int, C: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=(n, C)) + 1e-10 * rng.random((n, C))
    level = 1e-8 * np.abs(scores).max()
    first = scores.max(axis=1, keepdims=True)
    level_with_first = (scores >= first - level).sum(axis=1)
    expected = np.where(level_with_first > 1, UNDECIDED, scores.argmax(axis=1))
    np.testing.assert_array_equal(ArrayScores(scores).decide(), expected)


def test_one_class_needs_no_offset() -> None:
    np.testing.assert_array_equal(
        match_sizes(ArrayScores(np.ones((4, 1))), np.ones(1)), [0.0]
    )


def test_equal_scores_do_not_loop_for_ever() -> None:
    b = match_sizes(ArrayScores(np.zeros((30, 3))), np.array([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(b, 0.0, atol=1e-9)
