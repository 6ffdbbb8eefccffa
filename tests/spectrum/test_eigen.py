"""The r smallest eigenpairs: all of them, however often a value repeats."""

import numpy as np
import pytest
from scipy import sparse

from mercer.exceptions import EigenpairError
from mercer.graphs.laplacian import degrees, laplacian
from mercer.graphs.neighbors import Graph, neighbor_graph
from mercer.spectrum import eigen
from mercer.spectrum.eigen import Eigenpairs, smallest_eigenpairs
from mercer.spectrum.graph import graph_null_vectors
from mercer.spectrum.lanczos import RitzPairs, filtered_lanczos
from oracles.spectrum import copies, dense_laplacian, grid_graph, projector

TOL = 1e-8


def solve(graph: Graph, r: int, kind: str = "normalized", seed: int = 0) -> Eigenpairs:
    W = graph.adjacency
    d = degrees(W)
    upper = 2.0 if kind == "normalized" else 2.0 * d.max()
    null, _ = graph_null_vectors(graph, kind, at_most=r + 1)
    rng = np.random.default_rng(seed)
    return smallest_eigenpairs(laplacian(W, kind), r, upper=upper, null=null, rng=rng)


def cloud(n: int, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    return neighbor_graph(rng.standard_normal((n, 3)), 8, rng=rng)


def with_weak_bridges() -> Graph:
    """Six equal clouds in a ring, joined by almost nothing: near-multiplicities."""
    W = copies(cloud(100), 6).adjacency.tolil()
    for i in range(6):
        a, b = 100 * i, 100 * ((i + 1) % 6)
        W[a, b] = W[b, a] = 1e-7
    return Graph.from_adjacency(W.tocsr())


HARD = {
    "cloud": cloud(700),
    "square grid": grid_graph(26, 26),
    "ten equal clouds": copies(cloud(70), 10),
    "thirty equal grids": copies(grid_graph(4, 6), 30),
    "weak bridges": with_weak_bridges(),
    "long path": grid_graph(1, 700),
    "isolated points": Graph.from_adjacency(
        sparse.block_diag([cloud(600).adjacency, np.zeros((60, 60))]).tocsr()
    ),
}


@pytest.fixture
def sparse_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)


@pytest.mark.usefixtures("sparse_solver")
@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("name", HARD)
def test_no_pair_is_missing(name: str, kind: str) -> None:
    graph = HARD[name]
    L = dense_laplacian(graph.adjacency, kind)
    truth = np.linalg.eigvalsh(L)
    r = 40
    pairs = solve(graph, r, kind)
    scale = truth[-1]
    assert pairs.method != "dense"
    assert np.abs(pairs.values - truth[:r]).max() <= TOL * scale
    assert abs(pairs.next_value - truth[r]) <= 1e-6 * scale
    U = pairs.vectors
    assert np.abs(U.T @ U - np.eye(r)).max() <= 1e-10
    assert np.linalg.norm(L @ U - U * pairs.values, axis=0).max() <= 2 * TOL * scale


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("name", HARD)
def test_dense_and_sparse_projectors_agree(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = HARD[name]
    truth = np.linalg.eigvalsh(dense_laplacian(graph.adjacency, kind))
    gaps = np.diff(truth[20:80])
    r = 21 + int(np.argmax(gaps))  # a cut where the projector is well defined
    dense = solve(graph, r, kind)
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    found = solve(graph, r, kind)
    angle = TOL * truth[-1] / gaps.max()
    assert (dense.method, found.method) == ("dense", "filtered lanczos")
    difference = projector(dense.vectors) - projector(found.vectors)
    assert np.linalg.norm(difference, 2) <= 10 * angle + 1e-12


def one_value(n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Return a matrix with the eigenvalues 0, once, and 1, and its null vector."""
    values = np.r_[0.0, np.ones(n - 1)]
    return sparse.csr_array(sparse.diags_array(values)), np.eye(n)[:, :1]


@pytest.mark.parametrize("name", ["thirty equal grids", "one value"])
def test_vectors_stay_orthogonal_once_the_krylov_space_is_exhausted(name: str) -> None:
    if name in HARD:
        A = laplacian(HARD[name].adjacency)
        outside, _ = graph_null_vectors(HARD[name], "normalized", at_most=200)
    else:
        A, outside = one_value(400)
    rng = np.random.default_rng(0)
    pairs = filtered_lanczos(A, 100, outside=outside, upper=2.0, tol=TOL, rng=rng)
    U = np.hstack([outside, pairs.vectors])
    assert np.abs(U.T @ U - np.eye(U.shape[1])).max() <= 1e-11


@pytest.mark.usefixtures("sparse_solver")
def test_equal_seeds_give_equal_results_and_others_the_same_space() -> None:
    graph = HARD["cloud"]
    first, again, other = solve(graph, 12), solve(graph, 12), solve(graph, 12, seed=1)
    assert np.array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert np.allclose(projector(first.vectors), projector(other.vectors), atol=1e-6)


def forget(pairs: RitzPairs, position: int) -> RitzPairs:
    return RitzPairs(
        np.delete(pairs.values, position),
        np.delete(pairs.vectors, position, axis=1),
        np.delete(pairs.residuals, position),
        pairs.cut,
    )


@pytest.mark.usefixtures("sparse_solver")
@pytest.mark.parametrize("position", [0, 7, 18])
def test_a_skipped_pair_is_found_and_merged(
    position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def forgetful(A, k, **settings):
        calls.append(k)
        pairs = filtered_lanczos(A, k, **settings)
        return forget(pairs, position) if len(calls) == 1 else pairs

    monkeypatch.setattr(eigen, "filtered_lanczos", forgetful)
    truth = np.linalg.eigvalsh(dense_laplacian(HARD["cloud"].adjacency, "normalized"))
    pairs = solve(HARD["cloud"], 20)
    assert np.abs(pairs.values - truth[:20]).max() <= 2 * TOL
    assert len(calls) > 2


@pytest.mark.usefixtures("sparse_solver")
def test_a_pair_that_stays_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(A, k, **settings):
        pairs = filtered_lanczos(A, k, **settings)
        return forget(pairs, 0) if k > 1 else pairs

    monkeypatch.setattr(eigen, "filtered_lanczos", forgetful)
    monkeypatch.setattr(eigen, "_merged", lambda A, pairs, *rest: pairs)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 0)
    with pytest.raises(EigenpairError, match="still finds the value"):
        solve(HARD["cloud"], 20)


def test_wrong_null_vectors_are_an_error() -> None:
    graph = HARD["cloud"]
    L = laplacian(graph.adjacency)
    null = np.full((L.shape[0], 1), L.shape[0] ** -0.5)
    rng = np.random.default_rng(0)
    with pytest.raises(EigenpairError, match="residual"):
        smallest_eigenpairs(L, 5, upper=2.0, null=null, rng=rng)


@pytest.mark.parametrize("step", [3e-4, 1e-4])
def test_values_may_crowd_beyond_the_last_pair(step: float) -> None:
    crowd = 0.8 + step * np.arange(1, 1401)
    values = np.concatenate([[0.0], np.linspace(0.1, 0.8, 99), crowd])
    A = sparse.csr_array(sparse.diags_array(values))
    null = np.eye(len(values))[:, :1]
    rng = np.random.default_rng(0)
    pairs = smallest_eigenpairs(A, 100, upper=2.0, null=null, rng=rng)
    assert pairs.method == "filtered lanczos"
    np.testing.assert_allclose(pairs.values, values[:100], atol=1e-12)


def test_dense_algebra_takes_over_where_the_search_gives_up(monkeypatch):
    def gives_up(*args, **kwargs):
        raise EigenpairError

    n = 1300
    path = sparse.diags_array(
        [
            np.full(n - 1, -1.0),
            np.r_[1.0, np.full(n - 2, 2.0), 1.0],
            np.full(n - 1, -1.0),
        ],
        offsets=[-1, 0, 1],
    ).tocsr()
    null = np.full((n, 1), n**-0.5)
    arguments = {"upper": 4.0, "null": null, "rng": np.random.default_rng(0)}
    monkeypatch.setattr(eigen, "_searched", gives_up)
    pairs = eigen.smallest_eigenpairs(path, 5, **arguments)
    assert pairs.method == "dense"
    expected = 2 - 2 * np.cos(np.pi * np.arange(5) / n)
    np.testing.assert_allclose(pairs.values, expected, atol=1e-10)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", n - 1)
    with pytest.raises(EigenpairError):
        eigen.smallest_eigenpairs(path, 5, **arguments)
