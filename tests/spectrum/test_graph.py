"""GraphBasis: the graph's smoothest directions, here and at new points."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer.eigen import search
from mercer.eigen import smallest as eigen
from mercer.exceptions import EigenpairError
from mercer.graphs.neighbors import Graph, neighbor_graph
from mercer.spectrum.directions import damped_inverse, extend_vectors
from mercer.spectrum.graph import GraphBasis
from oracles.spectrum import blobs, copies, dense_laplacian, grid_graph, projector

RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((80, 4))
TWO = np.vstack([CLOUD, CLOUD[:50] + 60.0])
WEIGHTS = ["gaussian", "binary", "self_tuning"]
LAPLACIANS = ["normalized", "combinatorial", "random_walk"]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("laplacian", ["normalized", "combinatorial"])
@pytest.mark.parametrize("X", [CLOUD, TWO], ids=["connected", "disconnected"])
def test_pairs_solve_the_eigenvalue_problem(
    X: np.ndarray, laplacian: str, weights: str
) -> None:
    basis = GraphBasis(12, weights=weights, laplacian=laplacian).fit(X)
    L = dense_laplacian(basis.graph_.adjacency, laplacian)
    U, gamma = basis.vectors_, basis.values_
    assert np.abs(L @ U - U * gamma).max() <= 1e-10 * np.abs(L).max()
    assert np.abs(gamma - np.linalg.eigvalsh(L)[:12]).max() <= 1e-10 * np.abs(L).max()
    assert np.abs(U.T @ U - np.eye(12)).max() <= 1e-12


@pytest.mark.parametrize("X", [CLOUD, TWO], ids=["connected", "disconnected"])
def test_random_walk_modes(X: np.ndarray) -> None:
    basis = GraphBasis(12, laplacian="random_walk").fit(X)
    W = basis.graph_.adjacency
    V, d = basis.vectors_, W.sum(axis=1)
    L = dense_laplacian(W, "random_walk")
    assert np.abs(L @ V - V * basis.values_).max() <= 1e-10
    assert np.abs((V.T * (d / d.mean())) @ V - np.eye(12)).max() <= 1e-10


def test_thirty_blobs_have_thirty_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    X = blobs(30, 25, np.random.default_rng(1))
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    basis = GraphBasis(40, n_neighbors=6, random_state=0).fit(X)
    assert np.count_nonzero(basis.values_ == 0.0) == 30
    assert basis.values_[30] > 1e-3
    assert basis.certificate_.n_null == 30
    block = np.repeat(np.eye(30), 25, axis=0)
    support = (np.abs(basis.vectors_[:, :30]).T @ block) > 0
    assert (support.sum(axis=1) == 1).all()  # one component a null vector
    assert (support.sum(axis=0) == 1).all()


def test_sparse_dense_and_approximate_paths_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(3).standard_normal((900, 3))
    exact = GraphBasis(10, random_state=0).fit(X)
    rows = GraphBasis(10, random_state=0).fit(sparse.csr_array(X))
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    searched = GraphBasis(10, random_state=0).fit(X)
    assert exact.certificate_.method == "dense"
    assert searched.certificate_.method == "filtered lanczos"
    P = projector(exact.vectors_)
    assert np.abs(projector(rows.vectors_) - P).max() <= 1e-6
    assert np.abs(projector(searched.vectors_) - P).max() <= 1e-6


def test_order_of_points_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(len(CLOUD))
    P = projector(GraphBasis(7).fit(CLOUD).vectors_)
    Q = projector(GraphBasis(7).fit(CLOUD[order]).vectors_)
    assert np.abs(P[np.ix_(order, order)] - Q).max() <= 1e-8


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_extension_at_training_points(
    metric: str, weights: str, laplacian: str
) -> None:
    for X in (TWO, sparse.csr_array(TWO)):
        basis = GraphBasis(
            None, metric=metric, weights=weights, laplacian=laplacian
        ).fit(X)
        assert basis.vectors_.shape == (130, 130)
        assert np.array_equal(basis.extend(X), basis.vectors_)
        assert np.array_equal(basis.transform(X[5:9]), basis.vectors_[5:9])


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_extension_solves_the_equation_at_the_new_point(laplacian: str) -> None:
    basis = GraphBasis(6, laplacian=laplacian, n_neighbors=15).fit(CLOUD)
    W = basis.graph_.adjacency
    d = W.sum(axis=1)
    extended = extend_vectors(W, basis.vectors_, basis.values_, W, laplacian)
    scale = d[:, None] if laplacian == "combinatorial" else np.ones((80, 1))
    undamped = np.abs(1 - basis.values_ / scale) >= 0.1
    assert undamped.mean() > 0.8
    assert np.abs(extended - basis.vectors_)[undamped].max() <= 1e-10


def test_extension_is_smooth_and_stays_in_its_component() -> None:
    basis = GraphBasis(8, random_state=0).fit(TWO)
    near = basis.extend(TWO + 1e-9)
    K, L = basis.vectors_ @ basis.vectors_.T, near @ basis.vectors_.T
    assert np.all(L[:80, 80:] == 0)
    assert np.all(L[80:, :80] == 0)
    assert np.abs(basis.extend(TWO + 1e-7) - near).max() <= 1e-5
    assert np.abs(L - K).max() <= 0.5 * np.abs(K).max()


def test_extension_is_bounded_near_gamma_one() -> None:
    x = np.array([-1.0, -0.1, -0.05, 0.0, 0.05, 0.1, 0.5, 1.0])
    assert np.allclose(damped_inverse(x), [1.0, 10.0, 5.0, 0.0, 5.0, 10.0, 2.0, 1.0])
    far = GraphBasis(None).fit(CLOUD).extend(CLOUD * 1e6)
    assert np.isfinite(far).all()
    assert np.abs(far).max() <= 10.0


def test_precomputed_graph_extends_to_rows_of_weights() -> None:
    graph = neighbor_graph(TWO, 10, rng=RNG)
    points = GraphBasis(9).fit(TWO)
    for X in (graph, graph.adjacency, graph.adjacency.toarray()):
        basis = GraphBasis(9, affinity="precomputed").fit(X)
        assert np.allclose(projector(basis.vectors_), projector(points.vectors_))
        assert np.array_equal(basis.extend(graph.adjacency), basis.vectors_)
    assert np.array_equal(GraphBasis(9).fit(graph).vectors_, basis.vectors_)
    no_edge = np.zeros((1, 130))
    assert np.array_equal(basis.extend(no_edge), np.zeros((1, 9)))
    with pytest.raises(ValueError, match="rows of weights to its 130 points"):
        basis.extend(CLOUD)
    for fitted in (basis, points):
        with pytest.raises(TypeError, match="X is a Graph, which has no new points"):
            fitted.extend(graph)
    with pytest.raises(ValueError, match="finite and >= 0"):
        basis.extend(-graph.adjacency)


def test_certificate_tells_of_a_cut_through_a_repeated_value() -> None:
    square = grid_graph(6, 6)
    assert GraphBasis(2).fit(square).certificate_.cuts_repeated_value
    assert not GraphBasis(3).fit(square).certificate_.cuts_repeated_value
    many = copies(grid_graph(2, 2), 10)
    cut = GraphBasis(4).fit(many)
    assert cut.certificate_.cuts_repeated_value
    assert np.array_equal(cut.values_, np.zeros(4))
    assert cut.certificate_.n_null == 10
    whole = GraphBasis(None).fit(square).certificate_
    assert whole.gap == np.inf
    assert not whole.cuts_repeated_value
    assert whole.residual <= 1e-8
    assert whole.orthogonality <= 1e-12


def test_rough_directions_that_are_not_in_order_show_no_repeated_value() -> None:
    X = np.random.default_rng(0).normal(size=(1500, 30))
    rough = GraphBasis(20, tol=0.5, random_state=0).fit(X).certificate_
    assert rough.gap < 0
    assert not rough.cuts_repeated_value
    exact = GraphBasis(20, random_state=0).fit(X).certificate_
    assert exact.gap > 0.005
    assert not exact.cuts_repeated_value


def test_n_components_is_an_upper_bound() -> None:
    assert GraphBasis(1).fit(CLOUD).vectors_.shape == (80, 1)
    for r in (80, 81, 500, None):
        U = GraphBasis(r).fit(CLOUD).vectors_
        assert np.abs(U @ U.T - np.eye(80)).max() <= 1e-12
    for r in (0, -3):
        with pytest.raises(ValueError, match="n_components"):
            GraphBasis(r).fit(CLOUD)
    with pytest.raises(TypeError, match="n_components"):
        GraphBasis(2.5).fit(CLOUD)


def test_more_neighbours_than_points_is_the_complete_graph() -> None:
    basis = GraphBasis(3, n_neighbors=50, weights="binary").fit(CLOUD[:6])
    assert basis.graph_.adjacency.nnz == 30
    assert np.allclose(basis.values_, [0.0, 1.2, 1.2])


def test_small_integers_are_points_too() -> None:
    X = np.random.default_rng(1).integers(0, 255, (50, 6)).astype(np.uint8)
    basis, same = GraphBasis(5).fit(X), GraphBasis(5).fit(X.astype(float))
    assert np.allclose(projector(basis.vectors_), projector(same.vectors_))
    assert np.array_equal(basis.extend(X), basis.vectors_)
    assert np.array_equal(basis.extend(X.astype(float)), basis.vectors_)


def test_equal_points() -> None:
    basis = GraphBasis(4, n_neighbors=3).fit(np.ones((9, 2)))
    assert np.isfinite(basis.vectors_).all()
    assert np.abs(basis.vectors_.T @ basis.vectors_ - np.eye(4)).max() <= 1e-12
    mean = np.broadcast_to(basis.vectors_.mean(axis=0), (2, 4))
    np.testing.assert_allclose(basis.extend(np.ones((2, 2))), mean, atol=1e-15)


def test_isolated_points_take_no_part_in_smooth_directions() -> None:
    W = sparse.block_diag([grid_graph(3, 3).adjacency, np.zeros((2, 2))]).tocsr()
    basis = GraphBasis(None, affinity="precomputed").fit(W)
    assert np.count_nonzero(basis.values_ == 0) == 1
    assert np.count_nonzero(np.isclose(basis.values_, 1.0)) >= 2
    lonely = GraphBasis(2, affinity="precomputed").fit(np.zeros((3, 3)))
    assert np.array_equal(lonely.values_, [1.0, 1.0])
    assert np.array_equal(lonely.extend(np.zeros((1, 3))), [[0.0, 0.0]])
    alone = GraphBasis(2, affinity="precomputed", laplacian="combinatorial")
    assert np.array_equal(alone.fit(np.zeros((3, 3))).values_, [0.0, 0.0])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((5, 2), np.nan), "NaN"),
        (np.full((5, 2), np.inf), "infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.ones((1, 2)), "minimum of 2"),
        (np.array([["a"], ["b"]]), "column 0 of X holds 'a'"),
    ],
)
def test_bad_points(X: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphBasis().fit(X)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        ([[0.0, 1.0], [0.5, 0.0]], "not symmetric"),
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([[0.0, 1.0]], "square"),
    ],
)
def test_bad_adjacency(W: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphBasis(affinity="precomputed").fit(np.array(W))


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match="affinity must be"):
        GraphBasis(affinity="rbf").fit(CLOUD)
    with pytest.raises(ValueError, match="kind must be"):
        GraphBasis(laplacian="signless").fit(CLOUD)


def test_clone_and_pickle() -> None:
    basis = GraphBasis(5, random_state=0).fit(TWO)
    again = pickle.loads(pickle.dumps(basis))
    assert np.array_equal(again.extend(TWO[:7] + 0.1), basis.extend(TWO[:7] + 0.1))
    fresh = clone(basis)
    assert not hasattr(fresh, "vectors_")
    assert np.array_equal(fresh.fit(TWO).vectors_, basis.vectors_)


def test_one_point_graph() -> None:
    basis = GraphBasis(3, laplacian="combinatorial").fit(
        Graph.from_adjacency(np.zeros((1, 1)))
    )
    assert np.array_equal(basis.vectors_, [[1.0]])
    assert np.array_equal(basis.values_, [0.0])


def test_fewer_directions_and_the_reason_where_values_crowd(monkeypatch) -> None:
    """What is certain is kept, or all with a note, or it is an error."""
    X = np.random.default_rng(0).standard_normal((300, 3))
    whole = GraphBasis(20, random_state=0).fit(X)
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 10)
    monkeypatch.setattr(search, "_how_many_are_sure", lambda *args: (6, "they crowd"))
    with pytest.raises(EigenpairError, match="they crowd; ask for at most 6"):
        GraphBasis(20, on_failure="raise", random_state=0).fit(X)
    rough = GraphBasis(20, random_state=0).fit(X)
    assert rough.certificate_.note == "6 of 19 directions are certain: they crowd"
    np.testing.assert_allclose(rough.values_, whole.values_, atol=1e-9)
    basis = GraphBasis(20, on_failure="fewer", random_state=0).fit(X)
    assert basis.certificate_.note == "6 of 19 directions: they crowd"
    np.testing.assert_allclose(basis.values_, whole.values_[:7], atol=1e-9)
    assert basis.extend(X[:3]).shape == (3, 7)
