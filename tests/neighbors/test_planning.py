"""How far queries probe, against brute force."""

import numpy as np
import pytest

from mercer.neighbors import approximate as _approximate
from mercer.neighbors import cells as _cells
from mercer.neighbors import planning as _planning
from mercer.neighbors.exact import DensePoints


def search_of(n=2000, d=5, target=0.99):
    X = np.random.default_rng(0).normal(size=(n, d))
    rng = np.random.default_rng(1)
    points = DensePoints.of(X)
    return X, _approximate.CellSearch.prepare(points, recall=target, rng=rng)


def sure(met, reach):
    shares = (met <= reach).mean(axis=1)
    return shares.mean() - 3 * shares.std() / np.sqrt(len(shares))


@pytest.mark.parametrize("wanted", [0.5, 0.9, 0.98])
def test_least_reach_gets_what_is_wanted_and_hardly_more(wanted):
    rng = np.random.default_rng(0)
    met = rng.exponential(size=(500, 8)) * rng.uniform(0.5, 2, size=(500, 1))
    reach = _planning._least_reach(met, wanted)
    assert wanted <= sure(met, reach) <= wanted + 0.03 * (1 - wanted)


def test_no_reach_is_enough_for_what_cannot_be_met():
    met = np.random.default_rng(0).random((100, 8))
    assert _planning._least_reach(met, 0.9) < 1
    assert _planning._least_reach(met, 1.01) is None
    met[:20, :5] = np.inf
    assert _planning._least_reach(met, 0.9) is None


def test_borders_are_midway_between_centers(monkeypatch):
    monkeypatch.setattr(_cells, "_CELL", 40)
    monkeypatch.setattr(_cells, "_AROUND", 12)
    cells = search_of()[1].cells
    C, P, own = cells.grid.centers.astype(float), cells.rows.astype(float), cells.cell
    rng = np.random.default_rng(0)
    a, b = rng.integers(len(P), size=(30, 1)), rng.integers(len(P), size=(30, 20))
    found = _planning._borders(cells, a, b)
    assert found.shape == (30, 20)
    for i, j in np.ndindex(30, 20):
        x, here, there = P[a[i, 0]], own[a[i, 0]], own[b[i, j]]
        if here == there:
            expected = -np.inf
        elif there not in cells.grid.near[here]:
            expected = np.inf
        else:
            normal = (C[there] - C[here]) / np.linalg.norm(C[there] - C[here])
            expected = (C[here] + C[there]) @ normal / 2 - x @ normal
        assert found[i, j] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert np.isposinf(found).any()
    assert np.isneginf(found).any()
    assert np.isfinite(found).any()


def test_sampled_rows_do_not_find_themselves(monkeypatch):
    monkeypatch.setattr(_approximate, "_SAMPLE", 300)
    X, search = search_of()
    rows, plan = search.sample, _cells.Plan(10.0, 5)
    ids, distances = _planning._search_old(search.cells, 4, rows, plan)
    assert len(rows) == 300
    D = np.linalg.norm(X[rows][:, None] - X, axis=2)
    D[np.arange(len(rows)), rows] = np.inf
    np.testing.assert_array_equal(ids, np.argsort(D, axis=1)[:, :4])
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :4], rtol=1e-12)


def test_more_is_probed_for_more_and_for_new_points():
    def reach(target, mutual):
        return search_of(9000, 3, target)[1].plan(6, mutual=mutual).reach

    assert reach(0.8, True) < reach(0.95, True) < reach(0.99, True)
    assert reach(0.95, True) < reach(0.95, False)


def test_nothing_is_tried_where_candidates_alone_cost_more_than_all(monkeypatch):
    # Of 300 columns that matter alike 64 say little: nearly all points are candidates.
    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(_planning, "_search_old", refused)
    _, search = search_of(3000, 300)
    assert search.plan(8, mutual=True) is None


def test_cells_are_searched_where_few_columns_say_little():
    """A cloud of 64 columns that matter alike: all pairs take four times as long."""
    _, search = search_of(9000, 64)
    found = search.neighbors(10)
    assert found.method == "cells"
    assert found.recall >= 0.98


def test_a_point_may_probe_256_cells(monkeypatch):
    monkeypatch.setattr(_cells, "_CELL", 8)
    cells = search_of(3000)[1].cells
    assert len(cells.grid.centers) > 257
    assert cells.grid.near.shape[1] == 256
