"""Class sizes: the assignment problem is the oracle, the dense sweep the twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from mercer._typing import FloatArray, IntArray
from mercer.fewlabels import sizes as module
from mercer.fewlabels.sizes import match_sizes


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


@pytest.mark.parametrize("dense_up_to", [50, 1], ids=["dense", "contenders"])
@pytest.mark.parametrize(("n", "C"), [(40, 2), (90, 6), (400, 25)])
def test_offsets_solve_the_assignment_problem(n: int, C: int, dense_up_to: int) -> None:
    scores, counts = blurred(n, C, seed=C)
    b = match_sizes(scores, counts / n, max_iter=2000, dense_up_to=dense_up_to)
    # Weak duality: no decision with these counts has a larger sum than the dual value.
    dual = (scores + b).max(axis=1).sum() - counts @ b
    optimum = best_assignment(scores, counts)
    assert dual >= optimum - 1e-9
    assert dual <= optimum + 1e-3 * abs(optimum)
    decided = np.bincount((scores + b).argmax(axis=1), minlength=C)
    assert np.abs(decided - counts).sum() <= 0.01 * n


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 60),
    C=st.integers(2, 12),
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.01, 1.0, 30.0]),
    max_iter=st.integers(1, 6),
)
def test_contenders_give_the_offsets_of_all_classes(
    n: int, C: int, seed: int, spread: float, max_iter: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=(n, C))
    shares = rng.dirichlet(np.ones(C))
    start = spread * rng.normal(size=C)
    some, every = (
        match_sizes(scores, shares, start=start, max_iter=max_iter, dense_up_to=limit)
        for limit in (1, 50)
    )
    np.testing.assert_allclose(some, every, atol=1e-9 * spread * (1 + n))


def test_many_classes_take_the_way_of_contenders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = []

    def stand_in(
        scores: FloatArray, b: FloatArray, places: IntArray, margin: float
    ) -> FloatArray:
        taken.append(scores.shape[1])
        return np.zeros(places.shape)

    monkeypatch.setattr(module, "leads_at", stand_in)
    for C in (50, 51):
        match_sizes(np.random.default_rng(0).normal(size=(60, C)), np.full(C, 1 / C))
    assert taken == [51]


def test_equal_scores_do_not_loop_for_ever() -> None:
    b = match_sizes(np.zeros((30, 3)), np.array([0.2, 0.3, 0.5]), dense_up_to=1)
    np.testing.assert_allclose(b, 0.0, atol=1e-9)
