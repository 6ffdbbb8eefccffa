"""Neighbour searches against a full sort of all distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from mercer.neighbors import exact as _exact
from mercer.neighbors import index as search
from mercer.neighbors.index import NeighborIndex, nearest_neighbors
from oracles import graphs as oracle


def find(X, k, **settings):
    settings.setdefault("rng", np.random.default_rng(0))
    return nearest_neighbors(X, k, **settings)


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("k", [1, 7, 70])
@pytest.mark.parametrize("shape", [(90, 1), (700, 5), (1100, 40)])
def test_exact_search_is_a_full_sort(shape, k):
    X = gaussian(*shape)
    indices, distances = oracle.neighbors(oracle.distances(X), k)
    found = find(X, k)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)
    assert found.recall == 1.0
    assert found.method == "exact"


@settings(max_examples=60, deadline=None)
@given(
    X=arrays(np.float64, (23, 3), elements=st.integers(-2, 2).map(float)),
    k=st.integers(1, 22),
)
def test_ties_and_copies_are_ordered_by_index(X, k):
    # Integers have exact distances, many of them equal.
    indices, distances = oracle.neighbors(oracle.distances(X), k)
    found = find(X, k)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-15)
    np.testing.assert_array_equal(found.indices, indices)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_scale_of_the_numbers_does_not_matter(scale):
    X = gaussian(300, 6)
    plain = find(X, 5)
    found = find(X * scale, 5)
    np.testing.assert_array_equal(found.indices, plain.indices)
    np.testing.assert_allclose(found.distances, plain.distances * scale, rtol=1e-12)


@pytest.mark.parametrize("method", ["exact", "cells"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_near_the_smallest_there_are(dtype, method):
    X = np.round(100 * gaussian(2000, 3))
    smallest = np.finfo(dtype).smallest_subnormal
    plain = find(X, 5, method=method)
    found = find((X * smallest).astype(dtype), 5, method=method)
    assert found.method == plain.method == method
    np.testing.assert_array_equal(found.indices, plain.indices)


def test_far_points_slow_no_others_down(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_t(1, size=(600, 20))  # a few rows lie very far out
    measured_again = []

    def settle(points, Q, own, rows, *rest, old=_exact._settle):
        measured_again.extend(rows)
        old(points, Q, own, rows, *rest)

    monkeypatch.setattr(_exact, "_settle", settle)
    found = find(X, 5)
    indices, _ = oracle.neighbors(oracle.distances(X), 5)
    np.testing.assert_array_equal(found.indices, indices)
    assert len(measured_again) < 60


def test_single_precision_products_do_not_decide():
    # Clusters a million apart and a thousandth wide: float32 values all cancel.
    rng = np.random.default_rng(0)
    X = 1e6 * rng.normal(size=(8, 4))[np.arange(400) % 8]
    X += 1e-3 * rng.normal(size=X.shape)
    indices, distances = oracle.neighbors(oracle.distances(X), 6)
    found = find(X, 6)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, bool])
def test_any_numeric_type_is_searched(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 12)).astype(dtype)
    indices, distances = oracle.neighbors(oracle.distances(X.astype(float)), 4)
    found = find(X, 4)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-15)


@pytest.mark.parametrize("dense_bytes", [0, 2**26], ids=["sparse", "made dense"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_points_give_what_dense_points_give(monkeypatch, dense_bytes, metric):
    monkeypatch.setattr(search, "_DENSE_BYTES", dense_bytes)
    rng = np.random.default_rng(0)
    S = sparse.random_array((400, 150), density=0.05, random_state=rng, format="csr")
    S = sparse.csr_array(sparse.vstack([S, S[:30]]))  # copies: distance exactly zero
    dense = find(S.toarray(), 8, metric=metric)
    found = find(S, 8, metric=metric)
    np.testing.assert_allclose(found.distances, dense.distances, atol=1e-12)
    kind = search.SparsePoints if dense_bytes == 0 else search.DensePoints
    index = NeighborIndex.fit(S, metric=metric, rng=rng)
    assert isinstance(index.points, kind)
    assert (found.distances[-30:, 0] <= 1e-15).all()
    indices, _ = index.query(S[-3:], 5)
    np.testing.assert_array_equal(np.sort(indices[:, :2])[:, 0], [27, 28, 29])


def test_cosine_distance_of_rows_and_of_zero_rows():
    X = gaussian(80, 6)
    X[[3, 40, 41]] = 0
    D = oracle.cosine_distances(X)
    indices, distances = oracle.neighbors(D, 5)
    found = find(X, 5, metric="cosine")
    np.testing.assert_allclose(found.distances, distances, atol=1e-14)
    full = np.setdiff1d(np.arange(80), [3, 40, 41])
    np.testing.assert_array_equal(found.indices[full], indices[full])
    np.testing.assert_array_equal(found.indices[3, :2], [40, 41])
    assert np.allclose(found.distances[3], [0, 0, 1, 1, 1])


@pytest.mark.parametrize("n", [40, 300])
def test_callable_and_precomputed_distances(n):
    X = gaussian(n, 3)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    indices, distances = oracle.neighbors(D, 6)
    for found in (
        find(X, 6, metric=lambda x, y: np.abs(x - y).sum()),
        find(D, 6, metric="precomputed"),
    ):
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(found.distances, distances, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_query_finds_the_nearest_of_new_points(metric):
    X, Z = gaussian(200, 4), gaussian(30, 4, seed=1)
    D = oracle.distances(Z, X)
    if metric == "cosine":
        D = oracle.cosine_distances(np.vstack([Z, X]))[:30, 30:]
    fitted = oracle.distances(X) if metric == "precomputed" else X
    asked = D if metric == "precomputed" else Z
    rng = np.random.default_rng(0)
    indices, distances = NeighborIndex.fit(fitted, metric=metric, rng=rng).query(
        asked, 7
    )
    order = np.argsort(D, axis=1)[:, :7]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(
        distances, np.take_along_axis(D, order, axis=1), rtol=1e-9
    )


def test_result_does_not_depend_on_order_of_points():
    X = gaussian(500, 8)
    order = np.random.default_rng(1).permutation(500)
    plain, shuffled = find(X, 5), find(X[order], 5)
    np.testing.assert_array_equal(order[shuffled.indices], plain.indices[order])


@pytest.mark.parametrize(
    ("X", "k", "options", "message"),
    [
        (np.zeros((0, 3)), 1, {}, "0 sample"),
        (np.zeros((4, 0)), 1, {}, "0 feature"),
        (np.ones((1, 3)), 1, {}, "k must be an integer from 1 to n - 1 = 0"),
        (np.ones((5, 3)), 5, {}, "k must be an integer from 1 to n - 1 = 4, got 5"),
        (np.ones((5, 3)), 0, {}, "k must be an integer"),
        (np.ones((5, 3)), 2.0, {}, "k must be an integer"),
        ([[np.nan], [1.0]], 1, {}, "NaN"),
        ([[np.inf], [1.0]], 1, {}, "infinity"),
        ([["a"], ["b"]], 1, {}, "column 0 of X holds 'a'"),
        (np.ones(5), 1, {}, "Expected 2D array"),
        (np.ones((5, 3)), 1, {"metric": "manhattan"}, "metric must be"),
        (np.ones((5, 3)), 1, {"method": "kd_tree"}, "method must be"),
        (np.ones((5, 3)), 1, {"recall": 1.0}, "recall must lie between 0 and 1"),
        (np.ones((5, 3)), 1, {"metric": "precomputed"}, r"needs a dense \(n, n\)"),
        (-np.ones((5, 5)), 1, {"metric": "precomputed"}, "finite and >= 0"),
        (np.triu(np.ones((5, 5))), 1, {"metric": "precomputed"}, "symmetric"),
        (np.ones((5, 5)), 1, {"metric": "precomputed", "method": "cells"}, "dense poi"),
    ],
)
def test_bad_input_is_named(X, k, options, message):
    with pytest.raises(ValueError, match=message):
        find(X, k, **options)


def test_query_names_wrong_width_and_k():
    index = NeighborIndex.fit(gaussian(9, 3), rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"X_new has 2 columns, but .* made with 3"):
        index.query(gaussian(4, 2), 1)
    with pytest.raises(ValueError, match="from 1 to n = 9, got 10"):
        index.query(gaussian(4, 3), 10)


@pytest.mark.parametrize("method", ["exact", "cells"])
@pytest.mark.parametrize("scale", [1e-300, 1.0])
def test_new_points_may_be_far_away_but_not_beyond_all_measure(method, scale):
    X = scale * gaussian(1000, 3)
    index = NeighborIndex.fit(X, method=method, rng=np.random.default_rng(0))
    far = np.full((1, 3), 1e28 * scale)
    np.testing.assert_allclose(index.query(far, 2)[1], 3**0.5 * far[0, 0], rtol=1e-12)
    with pytest.raises(ValueError, match="equally far from there"):
        index.query(1e4 * far, 2)


def test_what_the_caller_passed_is_not_written_to():
    X = gaussian(60, 4)
    before = X.copy()
    find(X, 3)
    find(X, 3, metric="cosine")
    np.testing.assert_array_equal(X, before)
