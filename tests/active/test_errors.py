"""Questions expected to remove most errors."""

import numpy as np
import pytest

from mercer.active.batches import error_batch
from mercer.active.strategies import choose_rows


def by_hand(errors, F, labeled, targets, candidates, n, ridge, own):
    """Condition the whole covariance matrix on one row after the other."""
    K, e, chosen = F @ F.T, errors.copy(), []
    known = list(labeled)
    for _ in range(n):
        L = K[np.ix_(known, known)] + ridge * np.eye(len(known))
        S = K - K[:, known] @ np.linalg.solve(L, K[known])
        gains = {}
        for x in set(candidates.tolist()) - set(chosen):
            share = S[:, x] ** 2 / (S[x, x] + ridge) / (np.diag(S) + ridge)
            share[x] = 1.0 if own else 0.0
            gains[x] = e[targets] @ share[targets]
        best = max(sorted(gains), key=gains.__getitem__)
        share = S[:, best] ** 2 / (S[best, best] + ridge) / (np.diag(S) + ridge)
        share[best] = 1.0
        e = e * (1 - share)
        chosen.append(best)
        known.append(best)
    return np.array(chosen)


@pytest.mark.parametrize("own", [True, False])
def test_the_batch_is_that_of_the_formula(own: bool) -> None:
    rng = np.random.default_rng(0)
    F, errors = rng.normal(size=(30, 4)), rng.uniform(0, 0.5, 30)
    labeled, targets = np.arange(6), np.arange(6, 30)
    candidates = np.arange(10, 30)
    found = error_batch(errors, F, labeled, targets, candidates, 5, ridge=2.0, own=own)
    expected = by_hand(errors, F, labeled, targets, candidates, 5, 2.0, own)
    np.testing.assert_array_equal(found, expected)


def test_with_little_left_to_learn_filling_asks_the_least_certain_row() -> None:
    """Features that are small against the noise tell nothing about other rows."""
    rng = np.random.default_rng(1)
    F, errors = 1e-3 * rng.normal(size=(30, 4)), rng.uniform(0, 0.5, 30)
    rows = np.arange(30)
    at = {"labeled": rows[:2], "targets": rows[2:], "candidates": rows[2:]}
    found = error_batch(errors, F, n=5, ridge=1.0, own=True, **at)
    np.testing.assert_array_equal(found, 2 + np.argsort(-errors[2:])[:5])


def test_filling_asks_a_lonely_doubt_and_predicting_a_typical_one() -> None:
    """Row 1 is alone and a coin toss; rows 2 to 9 are alike and somewhat unsure."""
    F = np.zeros((10, 3))
    F[0, 0], F[1, 1], F[2:, 2] = 1.0, 1.0, 0.6
    proba = np.column_stack([np.r_[1.0, 0.5, np.full(8, 0.95)]] * 2)
    proba[:, 1] = 1 - proba[:, 0]
    at = {
        "proba": proba,
        "features": F,
        "labeled": np.array([0]),
        "candidates": np.arange(1, 10),
        "rng": np.random.default_rng(0),
    }
    assert choose_rows("fill", 1, **at).tolist() == [1]
    assert choose_rows("fill_new", 1, **at)[0] >= 2
