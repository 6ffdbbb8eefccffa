"""Neighbour graphs against graphs built edge by edge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from mercer._base.threads import using_threads
from mercer.graphs._edges import joined
from mercer.graphs.neighbors import Graph, graph_from_neighbors, neighbor_graph
from mercer.neighbors.index import NeighborIndex, nearest_neighbors
from oracles import graphs as oracle

WEIGHTS = ["gaussian", "binary", "self_tuning"]
SYMMETRIES = ["union", "mutual"]


def graph_of(X, k=5, **options):
    return neighbor_graph(X, k, rng=np.random.default_rng(0), **options)


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_adjacency_is_the_one_built_edge_by_edge(weights, symmetry):
    X = gaussian(80, 3)
    graph = graph_of(X, weights=weights, symmetry=symmetry)
    D = oracle.distances(X)
    expected = oracle.adjacency(D, 5, weights=weights, symmetry=symmetry)
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, atol=1e-13)
    assert isinstance(graph.adjacency, sparse.csr_array)


def test_sigma_is_the_root_mean_square_edge_or_the_number_given():
    X = gaussian(60, 3)
    D = oracle.distances(X)
    edges = oracle.adjacency(D, 5, weights="binary") > 0
    assert graph_of(X).sigma == pytest.approx(np.sqrt(np.mean(D[edges] ** 2)))
    given_sigma = graph_of(X, sigma=0.7)
    assert given_sigma.sigma == 0.7
    expected = oracle.adjacency(D, 5, sigma=0.7)
    np.testing.assert_allclose(given_sigma.adjacency.toarray(), expected, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(
    X=arrays(np.float64, (17, 2), elements=st.integers(-3, 3).map(float)),
    k=st.integers(1, 16),
    weights=st.sampled_from(WEIGHTS),
    scale=st.sampled_from([1e-150, 1.0, 1e150]),
)
def test_graphs_are_symmetric_with_weights_in_range(X, k, weights, scale):
    union, mutual = (
        graph_of(X * scale, k, weights=weights, symmetry=symmetry).adjacency
        for symmetry in SYMMETRIES
    )
    for W in (union, mutual):
        assert (W != W.T).nnz == 0
        assert not W.diagonal().any()
        assert W.has_canonical_format
        assert W.nnz == 0 or (W.data.min() > 0 and W.data.max() <= 1)
    assert ((mutual > 0).astype(int) - (union > 0).astype(int)).max() <= 0
    assert np.diff(union.indptr).min() >= k


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_order_of_points_only_reorders_the_graph(weights, symmetry):
    X = gaussian(120, 4)
    order = np.random.default_rng(1).permutation(120)
    W = graph_of(X, weights=weights, symmetry=symmetry).adjacency.toarray()
    V = graph_of(X[order], weights=weights, symmetry=symmetry).adjacency.toarray()
    np.testing.assert_allclose(V, W[np.ix_(order, order)], rtol=1e-12)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_one_search_serves_every_smaller_graph(symmetry):
    X = gaussian(150, 4)
    found = nearest_neighbors(X, 20, rng=np.random.default_rng(0))
    for weights in WEIGHTS:
        part = graph_from_neighbors(found, 6, weights=weights, symmetry=symmetry)
        whole = graph_of(X, 6, weights=weights, symmetry=symmetry)
        np.testing.assert_array_equal(
            part.adjacency.toarray(), whole.adjacency.toarray()
        )
    with pytest.raises(ValueError, match=r"n_neighbors must be in 1\.\.20"):
        graph_from_neighbors(found, 21)


def test_components_are_counted_and_named():
    X = np.concatenate([gaussian(20, 2), 100 + gaussian(30, 2), 200 + gaussian(10, 2)])
    graph = graph_of(X)
    assert graph.n_components == 3
    np.testing.assert_array_equal(
        graph.component_labels, np.repeat([0, 1, 2], [20, 30, 10])
    )


def test_mutual_graph_leaves_a_far_point_alone():
    X = np.vstack([gaussian(30, 2), [[50.0, 50.0]]])
    graph = graph_of(X, symmetry="mutual")
    assert 30 in graph.isolated
    assert graph.adjacency[[30]].nnz == 0
    assert graph_of(X, symmetry="union").isolated.size == 0


@pytest.mark.parametrize("weights", WEIGHTS)
def test_equal_points_weigh_one(weights):
    graph = graph_of(np.ones((9, 3)), 4, weights=weights)
    assert (graph.adjacency.data == 1).all()
    assert graph.sigma == (0.0 if weights == "gaussian" else None)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_more_copies_than_neighbors(weights):
    # Eight copies have the scale 0; the others lie around them.
    X = np.vstack([np.zeros((8, 2)), gaussian(30, 2)])
    W = graph_of(X, 4, weights=weights).adjacency
    copies = W[:8][:, :8]
    assert np.isfinite(W.data).all()
    assert copies.nnz > 0
    assert (copies.data == 1).all()


def test_constant_columns_change_nothing():
    X = gaussian(50, 3)
    padded = np.hstack([X, np.full((50, 2), 1e3)])
    np.testing.assert_allclose(
        graph_of(padded).adjacency.toarray(), graph_of(X).adjacency.toarray()
    )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_new_points_at_old_places_are_weighed_as_in_the_graph(weights):
    X = gaussian(70, 3)
    graph = graph_of(X, 5, weights=weights)
    found = nearest_neighbors(X, 5, rng=np.random.default_rng(0))
    rows = graph.weigh(found.indices, found.distances, 5)
    assert rows.shape == (70, 70)
    expected = graph.adjacency.toarray()
    i = np.repeat(np.arange(70), 5)
    j = found.indices.ravel()
    np.testing.assert_allclose(rows.toarray()[i, j], expected[i, j], rtol=1e-12)
    assert rows.nnz == 350


def test_new_points_on_many_copies_are_weighed():
    X = np.vstack([np.zeros((8, 2)), gaussian(30, 2)])
    index = NeighborIndex.fit(X, rng=np.random.default_rng(0))
    graph = graph_of(X, 4, weights="self_tuning")
    rows = graph.weigh(*index.query(np.zeros((1, 2)), 4), 4)
    assert (rows.data == 1).all()


def test_a_self_tuning_edge_weighs_at_least_a_thousandth():
    """A tight pair far from others: its degree would be exp(-1e6), its vectors 1e80."""
    X = np.vstack([gaussian(40, 2), [[50.0, 50.0], [50.0 + 1e-6, 50.0]]])
    graph = graph_of(X, 3, weights="self_tuning")
    weights = graph.adjacency.toarray()
    assert weights[weights > 0].min() == 1e-3
    i, j = np.nonzero(weights)
    tuned = np.exp(
        -np.sum((X[i] - X[j]) ** 2, axis=1) / (graph.scales[i] * graph.scales[j])
    )
    np.testing.assert_allclose(weights[i, j], np.maximum(tuned, 1e-3))
    new = graph.weigh(
        *NeighborIndex.fit(X, rng=np.random.default_rng(0)).query(X[-1:] + 1e-7, 3), 3
    )
    assert new.data.min() == 1e-3


def test_ready_made_graph_is_checked_and_kept():
    W = np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 0]])
    for given_w in (W, sparse.csr_array(W), sparse.coo_matrix(W), W.tolist()):
        graph = Graph.from_adjacency(given_w)
        np.testing.assert_array_equal(graph.adjacency.toarray(), W - np.diag([5, 0, 0]))
        assert graph.n_components == 1
        assert graph.recall == 1.0
    assert W[0, 0] == 5
    with pytest.raises(ValueError, match="ready-made adjacency"):
        graph.weigh(np.array([[0]]), np.array([[1.0]]), 1)


def test_rounding_of_a_symmetric_adjacency_is_removed():
    W = np.array([[0, 1 / 3], [1 / 3 + 1e-16, 0]])
    A = Graph.from_adjacency(W).adjacency
    assert (A != A.T).nnz == 0


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), r"square and not empty, got shape \(2, 3\)"),
        (np.zeros((0, 0)), "square and not empty"),
        ([[0, -1], [-1, 0]], "negative weight"),
        ([[0, 1], [2, 0]], "not symmetric"),
        ([[0, np.nan], [np.nan, 0]], "NaN or infinity"),
        ([[0, np.inf], [np.inf, 0]], "NaN or infinity"),
        ([["a", "b"], ["b", "a"]], "numeric matrix"),
    ],
)
def test_bad_adjacency_is_named(W, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_adjacency(W)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "cosine"}, "weights must be"),
        ({"symmetry": "or"}, "symmetry must be"),
        ({"sigma": 0.0}, "sigma must be a positive number"),
        ({"sigma": np.nan}, "sigma must be a positive number"),
        ({"sigma": 1.0, "weights": "binary"}, "belongs to weights='gaussian'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        graph_of(gaussian(20, 2), **options)


def test_as_many_neighbors_as_points_is_an_error():
    with pytest.raises(ValueError, match="n - 1 = 5, got 6"):
        graph_of(gaussian(6, 2), 6)


def test_all_points_as_near_as_the_last_neighbour_are_joined():
    side = np.arange(5.0)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    W = graph_of(X, 2, weights="binary").adjacency.toarray()
    near = np.abs(X[:, None] - X).sum(axis=2) == 1
    np.testing.assert_array_equal(W, near)


def test_where_too_many_are_equally_near_the_first_are_joined():
    X = np.repeat([[0.0], [1.0]], 40, axis=0)
    found = NeighborIndex.fit(X, rng=np.random.default_rng(0)).neighbors_and_ties(3)
    assert found.indices.shape == (80, 14)
    graph = graph_from_neighbors(found, 3, weights="binary", symmetry="mutual")
    assert graph.adjacency.sum(axis=1).max() == 3


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_lists_are_joined_edge_by_edge_by_any_number_of_threads(symmetry):
    rng, n = np.random.default_rng(0), 5000  # more than one block of rows
    around = np.r_[-8:0, 1:9]
    ids = rng.permuted(np.tile(around, (n, 1)), axis=1)[:, :6]
    ids = ((ids + np.arange(n)[:, None]) % n).astype(np.int32)
    d = np.sort(rng.random((n, 6)) + 0.1, axis=1)  # the two ends disagree
    used = np.arange(6) < rng.integers(1, 7, (n, 1))
    D = np.zeros((n, n))
    D[np.nonzero(used)[0], ids[used]] = d[used]
    first = np.where(np.triu(np.ones((n, n), bool)), D, D.T)  # as the first has it
    expected = np.where((D > 0) & (D.T > 0), first, D + D.T)
    if symmetry == "mutual":
        expected[(D == 0) | (D.T == 0)] = 0.0
    for n_jobs in (1, 3):
        with using_threads(n_jobs):
            indptr, columns, lengths = joined(ids, d, used, mutual=symmetry == "mutual")
        rows, wanted = np.nonzero(expected)
        np.testing.assert_array_equal(np.diff(indptr), np.bincount(rows, minlength=n))
        np.testing.assert_array_equal(columns, wanted)
        np.testing.assert_array_equal(lengths, expected[rows, wanted])
