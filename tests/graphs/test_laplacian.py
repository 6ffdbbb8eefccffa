"""Laplacians against their definitions, entry by entry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.graphs.laplacians import degrees, laplacian
from mercer.graphs.neighbors import Graph
from oracles import graphs as oracle

KINDS = ["normalized", "combinatorial", "random_walk"]


@st.composite
def adjacencies(draw):
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    return W + W.T


@settings(max_examples=80, deadline=None)
@given(W=adjacencies(), kind=st.sampled_from(KINDS))
def test_entries_spectrum_and_null_space(W, kind):
    graph = Graph.from_adjacency(W)
    L = laplacian(graph.adjacency, kind)
    assert isinstance(L, sparse.csr_array)
    L = L.toarray()
    np.testing.assert_allclose(L, oracle.laplacian(W, kind), atol=1e-14)
    values = np.linalg.eigvals(L).real
    assert values.min() >= -1e-12
    if kind != "combinatorial":
        assert values.max() <= 2 + 1e-12
    alone = 0 if kind == "combinatorial" else len(graph.isolated)
    assert np.sum(np.abs(values) < 1e-10) == graph.n_components - alone


def test_tiny_weights_do_not_overflow():
    tiny = np.finfo(float).tiny
    W = sparse.csr_array(tiny * (np.ones((3, 3)) - np.eye(3)))
    L = laplacian(W).toarray()
    np.testing.assert_allclose(L, 1.5 * np.eye(3) - 0.5, atol=1e-12)


def test_degrees_are_row_sums():
    W = np.array([[0, 1.5, 0], [1.5, 0, 2], [0, 2, 0]])
    np.testing.assert_array_equal(degrees(sparse.csr_array(W)), [1.5, 3.5, 2])


def test_an_unknown_kind_is_named():
    empty = sparse.csr_array((3, 3))
    with pytest.raises(ValueError, match=r"kind must be .* got 'signless'"):
        laplacian(empty, "signless")
