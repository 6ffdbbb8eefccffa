"""Neighbours found by other libraries."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from mercer.graphs.neighbors import Graph, neighbor_graph
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier

X, TRUTH = make_moons(120, noise=0.05, random_state=0)


def ours(**settings):
    return neighbor_graph(X, 7, rng=np.random.default_rng(0), **settings)


@pytest.mark.parametrize("weights", ["gaussian", "binary", "self_tuning"])
@pytest.mark.parametrize("symmetry", ["union", "mutual"])
def test_their_neighbours_make_our_graph(weights, symmetry):
    D = kneighbors_graph(X, 7, mode="distance")
    theirs = Graph.from_distances(D, weights=weights, symmetry=symmetry)
    graph = ours(weights=weights, symmetry=symmetry)
    np.testing.assert_allclose(
        theirs.adjacency.toarray(), graph.adjacency.toarray(), rtol=1e-6
    )
    np.testing.assert_array_equal(theirs.component_labels, graph.component_labels)


def test_a_transformer_counts_the_point_itself():
    D = KNeighborsTransformer(n_neighbors=7, mode="distance").fit_transform(X)
    theirs = Graph.from_distances(D).adjacency
    np.testing.assert_allclose(theirs.toarray(), ours().adjacency.toarray(), rtol=1e-6)


def test_learners_take_the_graph():
    y = np.full(120, -1)
    for c in (0, 1):
        y[np.flatnonzero(c == TRUTH)[:3]] = c
    graph = Graph.from_distances(kneighbors_graph(X, 7, mode="distance"))
    machine = RLSClassifier(ParameterFreeKernel(random_state=0), C=np.inf)
    assert np.mean(machine.fit(graph, y).transduction_ == TRUTH) > 0.9


def test_equal_points_stay_neighbours():
    D = kneighbors_graph([[0.0], [0.0], [2.0]], 1, mode="distance")
    W = Graph.from_distances(D).adjacency.toarray()
    assert W[0, 1] == 1.0


def test_approximate_neighbours_of_pynndescent():
    pynndescent = pytest.importorskip("pynndescent", reason="group bench")
    index = pynndescent.PyNNDescentTransformer(n_neighbors=7, random_state=0)
    W = Graph.from_distances(index.fit_transform(X), weights="binary").adjacency
    exact = ours(weights="binary").adjacency
    assert (exact != W).nnz < 0.05 * exact.nnz


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.eye(3), "sparse"),
        (sparse.csr_array(np.ones((2, 3))), "sparse"),
        (sparse.csr_array(-np.eye(3)), "not negative"),
        (sparse.csr_array(np.eye(3) * np.nan), "finite"),
    ],
)
def test_what_are_no_distances_is_refused(D, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_distances(D)
