"""Distances of rows to the points of cells, against numpy."""

import numpy as np
import pytest

from mercer._base.machine_code.instructions import WIDTH
from mercer.neighbors import panels as _panels


def points(n, r, seed=0):
    """Return points whose distances from the origin differ by orders of magnitude."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, r)) * 10.0 ** rng.uniform(-3, 3, size=(n, 1))
    X[::7] = 0
    X[1::7, 1:] = 0  # all length in one entry, which is the largest there is
    return X.astype(np.float32)


@pytest.mark.parametrize("r", [1, 2, 5, 50])
def test_distances_are_wrong_by_the_rounding_stated_at_most(r):
    X, Q = points(3 * WIDTH - 5, r), points(_panels.GROUP, r, seed=1)
    starts = np.array([0, WIDTH + 3, WIDTH + 3, len(X)])
    centers = np.array([X[1], 0 * X[0], X[-1] + 1])
    near = np.empty((3, 0), dtype=np.int32)
    grid = _panels.grid_of(X, starts, centers, near)
    assert grid.firsts.tolist() == [0, 2, 2, 4]
    A = _panels.empty_rows(r)
    which = np.roll(np.arange(len(Q), dtype=np.int32), 3)
    for c in (0, 2):
        G = np.zeros((len(Q), 2, WIDTH), dtype=np.float32)
        _panels.load(Q, 0, which, 0, len(Q), centers, c, A)
        _panels.multiply(A, len(Q), grid.panels, grid.firsts[c], 2, G)
        local = X[starts[c] : starts[c + 1]].astype(float) - centers[c]
        rows = Q[which].astype(float) - centers[c]
        both = np.linalg.norm(rows, axis=1)[:, None] + np.linalg.norm(local, axis=1)
        true = np.linalg.norm(rows[:, None] - local, axis=2)
        found = G.reshape(len(Q), -1)
        assert (found[:, len(local) :] == np.inf).all()
        error = np.sqrt(r) / 65534 * both
        upper = (true + error) ** 2 + 1e-6 * both**2
        lower = np.maximum(true - error, 0) ** 2 - 1e-6 * both**2
        assert (found[:, : len(local)] <= upper).all()
        assert (found[:, : len(local)] >= lower).all()


def test_nearest_center_among_those_of_the_group():
    rng = np.random.default_rng(0)
    X, C = (rng.normal(size=(n, 5)).astype(np.float32) for n in (300, 3 * WIDTH))
    order = rng.permutation(300).astype(np.int32)
    stops = np.array([0, 120, 120, 300])
    near = np.stack([rng.permutation(len(C))[: 2 * WIDTH - 1] for _ in range(3)])
    origins = rng.normal(size=(3, 5)).astype(np.float32)
    found = _panels.nearest_around(X, order, stops, origins, C, near.astype(np.int32))
    for a in (0, 2):
        rows = order[stops[a] : stops[a + 1]]
        D = np.linalg.norm(X[rows][:, None].astype(float) - C[near[a]], axis=2)
        assert np.isin(found[rows], near[a]).all()
        reached = np.linalg.norm(X[rows].astype(float) - C[found[rows]], axis=1)
        np.testing.assert_allclose(reached, D.min(axis=1), rtol=1e-3)
        assert np.mean(found[rows] == near[a][D.argmin(axis=1)]) > 0.99
