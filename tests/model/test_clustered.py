import numpy as np
import pytest

from mercer.evidence.sources import Sources
from mercer.model.clustered import clustered_errors, counts_for


def test_the_explained_share_is_that_of_rows_left_out_one_by_one():
    rng = np.random.default_rng(0)
    n, Phi = 40, rng.standard_normal((40, 3))
    fires = Phi[:, 1] + 0.5 * rng.standard_normal(n) > 0.5
    several = rng.integers(-1, 2, n)
    sources = Sources.read({"anna": several, "rule": np.where(fires, 1, -1)})
    q = rng.dirichlet([1, 1], n)
    v = fires.astype(float)
    P = (q.T @ v + 0.5) / (q.sum(axis=0) + 1)
    r, Z, best = v - q @ P, Phi - Phi.mean(axis=0), 0.0
    for ridge in np.array([0.1, 1, 10]) * (Z**2).sum(axis=1).mean():
        left = 0.0
        for i in range(n):
            kept = np.arange(n) != i
            a, b = Z[kept].mean(axis=0), r[kept].mean()
            A = Z[kept] - a
            coef = np.linalg.solve(A.T @ A + ridge * np.eye(3), A.T @ (r[kept] - b))
            left += (r[i] - b - (Z[i] - a) @ coef) ** 2
        best = max(best, (r**2).sum() - left)
    found = clustered_errors(Phi, sources, q)
    assert found[0] == 0  # several answers
    assert found[1] == pytest.approx(best / ((v - v.mean()) ** 2).sum(), abs=1e-9)
    assert found[1] > 0.2


def test_rules_on_columns_are_told_from_rules_that_fire_by_chance():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 3
    X = y[:, None] + rng.standard_normal((400, 2))
    columns = {
        "chance": np.where(rng.random(400) < np.where(y == 1, 0.6, 0.1), 1, -1),
        "rare": np.where(rng.random(400) < np.where(y == 2, 0.2, 0.0), 2, -1),
        "above": np.where(X[:, 0] > 2, 2, -1),
        "between": np.where(np.abs(X[:, 1] - 1) < 0.7, 1, -1),
    }
    Phi = np.column_stack([np.tanh(X - c) for c in X[:20]])
    found = clustered_errors(Phi, Sources.read(columns), np.eye(3)[y])
    counts = counts_for(found)
    assert counts[:2].min() > 0.5
    assert counts[2:].max() < 0.1


def test_what_a_vote_counts_and_that_of_no_votes_nothing_is_told():
    shares = np.array([0, 0.02, 1.0])
    np.testing.assert_allclose(counts_for(shares), [1, 1 / 1.98, 0.02])
    silent = Sources.read(np.full((5, 2), -1)).with_classes(np.arange(2))
    Phi = np.random.default_rng(0).standard_normal((5, 2))
    even = np.full((5, 2), 0.5)
    assert clustered_errors(Phi, silent, even).tolist() == [0, 0]
    always = Sources.read(np.zeros(5, int)).with_classes(np.arange(2))
    assert clustered_errors(np.ones((5, 2)), always, even).tolist() == [0]
