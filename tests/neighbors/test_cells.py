"""The approximate search against the exact one."""

import numpy as np
import pytest

from mercer.neighbors import approximate as _approximate
from mercer.neighbors import cells as _cells
from mercer.neighbors.exact import DensePoints
from mercer.neighbors.index import NeighborIndex, nearest_neighbors
from mercer.neighbors.partition import _lloyd, kmeans, nearest_center

K = 8


def blobs(n=6000, d=6, n_blobs=12, seed=0):
    rng = np.random.default_rng(seed)
    centers = 3 * rng.normal(size=(n_blobs, d))
    return centers[rng.integers(n_blobs, size=n)] + rng.normal(size=(n, d))


def both(X, k=K, seed=0, **options):
    cells = nearest_neighbors(
        X, k, method="cells", rng=np.random.default_rng(seed), **options
    )
    options.pop("recall", None)
    exact = nearest_neighbors(
        X, k, method="exact", rng=np.random.default_rng(0), **options
    )
    return cells, exact


def true_recall(cells, exact):
    return float(np.mean(cells.distances <= exact.distances[:, -1:]))


@pytest.mark.parametrize("target", [0.9, 0.99])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_recall_reaches_the_target_and_its_estimate_is_honest(target, seed):
    cells, exact = both(blobs(seed=seed), recall=target, seed=seed)
    assert cells.method == "cells"
    shares = np.mean(cells.distances <= exact.distances[:, -1:], axis=1)
    error = shares.std() / np.sqrt(_approximate._VALIDATION)
    # Chosen and validated on samples: four standard errors of each.
    assert shares.mean() >= target - 4 * error
    assert abs(cells.recall - shares.mean()) <= 4 * error


def test_found_neighbors_are_others_in_order_with_exact_distances():
    X = blobs()
    cells, exact = both(X)
    own = np.arange(len(X))[:, None]
    assert (cells.indices != own).all()
    assert (np.diff(np.sort(cells.indices, axis=1), axis=1) > 0).all()
    assert (np.diff(cells.distances, axis=1) >= 0).all()
    measured = np.linalg.norm(X[cells.indices] - X[:, None], axis=2)
    np.testing.assert_allclose(cells.distances, measured, rtol=1e-12)
    whole = (cells.distances <= exact.distances[:, -1:]).all(axis=1)
    np.testing.assert_array_equal(cells.indices[whole], exact.indices[whole])


def test_seed_decides_and_threads_do_not(monkeypatch):
    monkeypatch.setattr(_cells, "_TASK", 1000)
    X = blobs()
    one, _ = both(X, n_jobs=1)
    two, _ = both(X, n_jobs=2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)
    assert one.recall == two.recall


def test_many_columns_are_searched_by_principal_coordinates():
    rng = np.random.default_rng(0)
    X = blobs() @ rng.normal(size=(6, 300)) + 0.3 * rng.normal(size=(6000, 300))
    cells, exact = both(X)
    assert cells.method == "cells"
    assert true_recall(cells, exact) >= 0.98
    measured = np.linalg.norm(X[cells.indices[:50]] - X[:50, None], axis=2)
    np.testing.assert_allclose(cells.distances[:50], measured, rtol=1e-12)


def test_directions_that_projection_drops_are_made_up_for_or_given_up():
    # All 300 columns matter alike: 64 of them do not order the neighbours.
    cells, exact = both(np.random.default_rng(0).normal(size=(3000, 300)))
    assert cells.method == "exact"
    np.testing.assert_array_equal(cells.indices, exact.indices)


def test_points_without_structure_are_searched_exactly():
    X = np.random.default_rng(0).normal(size=(3000, 300))
    found, exact = both(X)
    assert found.method == "exact"
    assert found.recall == 1.0
    np.testing.assert_array_equal(found.indices, exact.indices)


def test_many_copies_of_few_points():
    X = np.repeat(blobs(n=5), 2000, axis=0)
    cells, _ = both(X)
    assert cells.method == "cells"
    assert cells.recall == 1.0
    assert cells.distances.max() == 0
    assert (cells.indices != np.arange(len(X))[:, None]).all()


def test_all_points_equal():
    cells, _ = both(np.ones((3000, 2)))
    assert cells.distances.max() == 0
    assert (cells.indices != np.arange(3000)[:, None]).all()


def test_tight_clusters_far_apart_keep_their_neighbors():
    # Relative to the whole, single precision cannot see inside a cluster.
    rng = np.random.default_rng(0)
    X = 1e4 * rng.normal(size=(40, 5))[rng.integers(40, size=6000)]
    X += 1e-2 * rng.normal(size=X.shape)
    cells, exact = both(X)
    assert true_recall(cells, exact) >= 0.98


def test_a_few_huge_entries_do_not_blur_the_others():
    # A mean of them all is far from all, by more than single precision can see past.
    X = blobs()
    X[::100, 0] = 1e12
    cells, exact = both(X)
    assert cells.method == "cells"
    assert true_recall(cells, exact) >= 0.98


def test_cosine_distances():
    cells, exact = both(blobs(), metric="cosine")
    assert cells.method == "cells"
    assert true_recall(cells, exact) >= 0.98


def test_new_points_are_found_as_well_as_old_ones():
    X, Z = blobs(), blobs(n=500, seed=0) + 0.01
    index = NeighborIndex.fit(X, method="cells", rng=np.random.default_rng(0))
    indices, distances = index.query(Z, K)
    D = np.linalg.norm(Z[:, None] - X[None], axis=2)
    np.testing.assert_allclose(
        distances, np.take_along_axis(D, indices, axis=1), rtol=1e-9
    )
    assert np.mean(distances <= np.sort(D, axis=1)[:, K - 1 : K] + 1e-12) >= 0.98


@pytest.mark.parametrize("reach", [0.0, 0.02, 0.06])
@pytest.mark.parametrize("kept", [1, K, 70])
def test_points_meet_if_either_probes_the_cell_of_the_other(reach, kept, monkeypatch):
    monkeypatch.setattr(_cells, "_TASK", 700)
    monkeypatch.setattr(_cells, "_CELL", 64)
    points = DensePoints.of(blobs(n=2000))
    cells = _cells.Cells.of(points, np.random.default_rng(0))
    found = cells.candidates(_cells.Plan(reach, kept))

    P, own = cells.rows.astype(float), cells.cell
    C = cells.grid.centers.astype(float)
    to_centers = ((P[:, None] - C[None]) ** 2).sum(axis=2)
    away = to_centers - to_centers[np.arange(len(P)), own, None]
    ways = np.linalg.norm(C[own][:, None] - C[None], axis=2)
    border = np.divide(away, 2 * ways, out=np.zeros_like(away), where=ways > 0)
    around = (cells.grid.near[own][:, :, None] == np.arange(len(C))).any(axis=1)
    # Of two points seen from one centre, 16 bits leave this much open.
    error = np.sqrt(P.shape[1]) / 65534 * 2 * np.sqrt(to_centers[around].max())

    def nearest(reach):
        probed = (border < reach) & around
        probed[np.arange(len(P)), own] = True
        goes = probed[:, own]
        D = np.linalg.norm(P[:, None] - P[None], axis=2)
        D[~(goes | goes.T)] = np.inf
        np.fill_diagonal(D, np.inf)
        return D, np.sort(D, axis=1)[:, :kept], probed.sum(axis=1).max()

    D, at_best, _ = nearest(reach + error)
    _, at_worst, most = nearest(reach - error)
    assert (most > 1) == (reach > 0)
    reached = np.where(found >= 0, np.take_along_axis(D, found, axis=1), np.inf)
    assert (reached >= at_best - 2 * error).all()
    assert (reached <= at_worst + 2 * error).all()


def test_no_one_is_met_twice():
    points = DensePoints.of(blobs())
    cells = _cells.Cells.of(points, np.random.default_rng(0))
    found = np.sort(cells.candidates(_cells.Plan(0.06, K)), axis=1)
    assert ((np.diff(found, axis=1) > 0) | (found[:, 1:] < 0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_column(dtype):
    X = np.random.default_rng(0).normal(size=(9000, 1)).astype(dtype)
    cells, exact = both(X)
    assert cells.method == "cells"
    assert true_recall(cells, exact) >= 0.98


@pytest.mark.parametrize(("n", "method"), [(8192, "exact"), (8193, "cells")])
def test_cells_are_searched_above_8192_points(n, method):
    found = nearest_neighbors(blobs(n), K, rng=np.random.default_rng(0))
    assert found.method == method


def test_ties_on_a_lattice_are_as_near_as_the_exact_ones():
    X = np.stack(np.meshgrid(*[np.arange(21.0)] * 3), axis=-1).reshape(-1, 3)
    found = nearest_neighbors(X, K, rng=np.random.default_rng(0))
    exact = nearest_neighbors(X, K, method="exact", rng=np.random.default_rng(0))
    assert found.method == "cells"
    assert true_recall(found, exact) >= 0.98


def test_half_of_the_points_are_copies_of_one():
    X = blobs()
    X[::2] = X[0]
    cells, exact = both(X)
    assert true_recall(cells, exact) >= 0.98
    assert cells.distances[::2].max() == 0


def test_cells_of_few_points(monkeypatch):
    monkeypatch.setattr(_cells, "_CELL", 5)
    cells, exact = both(blobs(n=1000), recall=0.9)
    assert cells.method == "cells"
    assert true_recall(cells, exact) >= 0.85


def test_points_that_meet_too_few_are_searched_exactly():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(9000, 3)), 100 * rng.normal(size=(60, 3))]
    index = NeighborIndex.fit(X, method="cells", rng=np.random.default_rng(1))
    found = index.neighbors(10)
    assert found.method == "cells"
    for indices, distances in (
        (found.indices, found.distances),
        index.query(2 * X[-60:], 10),
    ):
        assert indices.min() >= 0
        assert indices.max() < len(X)
        assert np.isfinite(distances).all()


@pytest.mark.parametrize(("spread", "shift"), [(1.0, 0.0), (2.0, 0.0), (1.0, 100.0)])
def test_new_points_unlike_the_old_ones_find_their_neighbors_too(spread, shift) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 5))
    Q = spread * rng.standard_normal((200, 5)) + shift
    index = NeighborIndex.fit(X, method="cells", rng=np.random.default_rng(0))
    found, distances = index.query(Q, 10)
    squares = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    limits = np.sqrt(np.sort(squares, axis=1)[:, 9:10])
    assert (distances <= limits * (1 + 1e-9)).mean() >= 0.94
    np.testing.assert_allclose(
        distances, np.sqrt(np.take_along_axis(squares, found.astype(int), axis=1))
    )


def test_crowded_cells_are_divided():
    """Centres near the mean of rows of many lengths would take most of them."""
    rng = np.random.default_rng(0)
    even = rng.normal(size=(4000, 16)).astype(np.float32)
    uneven = even / rng.random((4000, 1)).astype(np.float32)
    assert len(kmeans(even, 40, rng)) == 40
    centers = kmeans(uneven, 40, rng)
    assert 40 < len(centers) <= 80
    largest = np.bincount(nearest_center(uneven, centers)).max()
    once = _lloyd(uneven[:640], 40)
    assert largest < 0.7 * np.bincount(nearest_center(uneven, once)).max()
