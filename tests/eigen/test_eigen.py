"""The r smallest eigenpairs: all of them, however often a value repeats."""

import numpy as np
import pytest
from scipy import sparse

from mercer.eigen import lanczos, search, transforms
from mercer.eigen import smallest as eigen
from mercer.eigen.components import in_small_components
from mercer.eigen.lanczos import lowest_pairs
from mercer.eigen.ritz import RitzPairs
from mercer.eigen.smallest import Eigenpairs, smallest_eigenpairs
from mercer.eigen.transforms import make_transform
from mercer.exceptions import EigenpairError
from mercer.graphs.laplacians import degrees, laplacian
from mercer.graphs.neighbors import Graph, neighbor_graph
from mercer.spectrum.directions import graph_null_vectors
from oracles.spectrum import copies, dense_laplacian, grid_graph, projector

TOL = 1e-8


def solve(
    graph: Graph, r: int, kind: str = "normalized", seed: int = 0, **settings
) -> Eigenpairs:
    W = graph.adjacency
    d = degrees(W)
    upper = 2.0 if kind == "normalized" else 2.0 * d.max()
    null, _ = graph_null_vectors(graph, kind, at_most=r + 1)
    rng = np.random.default_rng(seed)
    L = laplacian(W, kind)
    return smallest_eigenpairs(L, r, upper=upper, null=null, rng=rng, **settings)


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
    monkeypatch.setattr(eigen, "SMALL_COMPONENT", 0)


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
    assert 0.99 * truth[r - 1] - 1e-12 <= pairs.floor <= truth[r] + 1e-12 * scale
    assert pairs.failure == (0 if pairs.method == "components" else 1e-6)
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
    monkeypatch.setattr(eigen, "SMALL_COMPONENT", 0)
    found = solve(graph, r, kind)
    angle = TOL * truth[-1] / gaps.max()
    assert dense.method == "dense"
    assert found.method in {"filtered lanczos", "band cholesky"}
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
    transform = make_transform(A, 1.1, 2.0)
    null = sparse.csr_array(outside)
    pairs = lowest_pairs(A, transform, 100, null=null, tol=TOL, rng=rng)
    U = np.hstack([null.toarray(), pairs.vectors])
    assert np.abs(U.T @ U - np.eye(U.shape[1])).max() <= 1e-11


@pytest.mark.parametrize("single", [False, True])
def test_a_space_that_was_thought_enough_is_filled_again(
    single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first residuals that are looked at seem to be none."""
    looks, refills = [], []
    exact, refill = lanczos.largest_residual, lanczos.KrylovSpace.refill

    def hopeful(A, X):
        looks.append(len(looks))
        return 0.0 if len(looks) <= 2 else exact(A, X)

    def counted(space, X, H):
        refills.append(len(H))
        refill(space, X, H)

    monkeypatch.setattr(lanczos, "largest_residual", hopeful)
    monkeypatch.setattr(lanczos.KrylovSpace, "refill", counted)
    graph = HARD["cloud"]
    A = laplacian(graph.adjacency)
    null, _ = graph_null_vectors(graph, "normalized", at_most=2)
    known = [np.linalg.eigh(A.toarray())[1][:, 1]]
    truth = np.linalg.eigvalsh(A.toarray())
    tol = 1e-4 if single else TOL
    pairs = lowest_pairs(
        A,
        make_transform(A, 0.5, 2.0),
        20,
        null=null,
        aside=known,
        tol=tol,
        rng=np.random.default_rng(0),
        single=single,
    )
    assert refills == [32, 32]
    assert pairs.converged(20, tol)
    assert np.abs(pairs.values[:20] - truth[2:22]).max() <= tol * truth[21]
    U = np.column_stack([null.toarray(), *known, pairs.vectors])
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
        np.delete(pairs.rounding, position),
    )


@pytest.mark.usefixtures("sparse_solver")
@pytest.mark.parametrize("position", [0, 7, 18])
def test_a_skipped_pair_is_found_and_merged(
    position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def forgetful(A, transform, k, **settings):
        calls.append(k)
        pairs = lowest_pairs(A, transform, k, **settings)
        return forget(pairs, position) if len(calls) == 1 else pairs

    monkeypatch.setattr(search, "lowest_pairs", forgetful)
    truth = np.linalg.eigvalsh(dense_laplacian(HARD["cloud"].adjacency, "normalized"))
    pairs = solve(HARD["cloud"], 20)
    assert np.abs(pairs.values - truth[:20]).max() <= 2 * TOL
    assert len(calls) > 1


@pytest.mark.usefixtures("sparse_solver")
@pytest.mark.parametrize("on_failure", ["raise", "fewer"])
def test_a_pair_that_stays_missing_is_told(
    on_failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search outside sees it and says how many directions are sure."""

    def forgetful(A, transform, k, **settings):
        return forget(lowest_pairs(A, transform, k, **settings), 7)

    monkeypatch.setattr(search, "lowest_pairs", forgetful)
    monkeypatch.setattr(search, "_merged", lambda A, transform, pairs, *rest: pairs)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 0)
    if on_failure == "raise":
        with pytest.raises(EigenpairError, match="ask for at most"):
            solve(HARD["cloud"], 20)
        return
    truth = np.linalg.eigvalsh(dense_laplacian(HARD["cloud"].adjacency, "normalized"))
    pairs = solve(HARD["cloud"], 20, on_failure="fewer")
    assert 1 <= len(pairs.values) <= 8  # the null vector and those before the missing
    assert np.abs(pairs.values - truth[: len(pairs.values)]).max() <= 2 * TOL
    assert "of 19 directions" in pairs.note


def test_wrong_null_vectors_are_an_error() -> None:
    graph = HARD["cloud"]
    L = laplacian(graph.adjacency)
    null = np.full((L.shape[0], 1), L.shape[0] ** -0.5)
    rng = np.random.default_rng(0)
    with pytest.raises(EigenpairError, match="residual"):
        smallest_eigenpairs(L, 5, upper=2.0, null=null, rng=rng)


@pytest.mark.parametrize("step", [3e-4, 1e-4])
def test_values_may_crowd_beyond_the_last_pair(
    step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transforms, "WIDEST_BAND", 0)
    crowd = 0.8 + step * np.arange(1, 1401)
    values = np.concatenate([[0.0], np.linspace(0.1, 0.8, 99), crowd])
    chain = sparse.diags_array(values).tocsr()
    # A rotation of neighbours makes the matrix connected.
    c, s = np.cos(0.3), np.sin(0.3)
    for start in (0, 1):
        pairs = (len(values) - start) // 2
        blocks = [np.eye(start)] * bool(start) + [np.array([[c, s], [-s, c]])] * pairs
        rest = len(values) - start - 2 * pairs
        Q = sparse.block_diag([*blocks, *[np.eye(1)] * rest], format="csr")
        chain = Q @ chain @ Q.T
    A = sparse.csr_array(chain)
    A = sparse.csr_array((A + A.T) / 2)
    null = np.linalg.eigh(A.toarray())[1][:, :1]
    rng = np.random.default_rng(0)
    pairs = smallest_eigenpairs(A, 100, upper=2.0, null=null, rng=rng)
    assert pairs.method == "filtered lanczos"
    np.testing.assert_allclose(pairs.values, values[:100], atol=1e-12)


def path_laplacian(n: int) -> tuple[sparse.csr_array, np.ndarray]:
    ends = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    beside = np.full(n - 1, -1.0)
    A = sparse.diags_array([beside, ends, beside], offsets=[-1, 0, 1]).tocsr()
    return A, np.full((n, 1), n**-0.5)


def test_dense_algebra_takes_over_where_the_search_gives_up(monkeypatch):
    def gives_up(*args, **kwargs):
        raise EigenpairError

    n = 1300
    path, null = path_laplacian(n)
    arguments = {"upper": 4.0, "null": null, "rng": np.random.default_rng(0)}
    monkeypatch.setattr(eigen, "searched_pairs", gives_up)
    pairs = eigen.smallest_eigenpairs(path, 5, **arguments)
    assert pairs.method == "dense"
    expected = 2 - 2 * np.cos(np.pi * np.arange(5) / n)
    np.testing.assert_allclose(pairs.values, expected, atol=1e-10)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", n - 1)
    with pytest.raises(EigenpairError):
        eigen.smallest_eigenpairs(path, 5, **arguments)


def test_a_long_path_is_solved_by_a_band_factor() -> None:
    n = 20_000
    path, null = path_laplacian(n)
    rng = np.random.default_rng(0)
    pairs = smallest_eigenpairs(path, 30, upper=4.0, null=null, rng=rng)
    assert pairs.method == "band cholesky"
    expected = 4 * np.sin(np.pi * np.arange(30) / (2 * n)) ** 2
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-6, atol=1e-16)


@pytest.mark.parametrize(("tol", "most"), [(1e-4, 700), (9e-5, 1200)])
def test_dense_algebra_is_for_few_points_fewer_where_rough_will_do(tol, most):
    for n, method in ((most, "dense"), (most + 1, "filtered lanczos")):
        graph = grid_graph(1, n) if method == "dense" else cloud(n)
        assert solve(graph, 4, tol=tol).method.startswith(method)


def test_residuals_follow_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    rough = solve(HARD["cloud"], 30, tol=1e-3)
    fine = solve(HARD["cloud"], 30, tol=1e-9)
    assert fine.residual <= 1e-9 * fine.values[-1] < rough.residual
    assert rough.residual <= 1e-3 * rough.values[-1]


@pytest.mark.parametrize("size", [0, 100])
def test_small_components_give_what_the_search_gives(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal rings, a cloud, isolated points: values of all, in order."""
    parts = [grid_graph(2, 9).adjacency] * 5
    W = sparse.block_diag([*parts, cloud(400).adjacency, np.zeros((3, 3))]).tocsr()
    graph = Graph.from_adjacency(W)
    truth = np.linalg.eigvalsh(dense_laplacian(W, "normalized"))
    monkeypatch.setattr(eigen, "DENSE_UP_TO", 10)
    monkeypatch.setattr(eigen, "SMALL_COMPONENT", size)
    for r in (3, 6, 25, 60):
        pairs = solve(graph, r)
        assert np.abs(pairs.values - truth[:r]).max() <= TOL
        assert abs(pairs.next_value - truth[r]) <= 1e-5
        U = pairs.vectors
        assert np.abs(U.T @ U - np.eye(r)).max() <= 1e-10


def test_null_vectors_over_several_components_are_not_torn() -> None:
    """Any basis of the null space will do, also one that mixes components."""
    graph = copies(grid_graph(3, 4), 4)
    null, _ = graph_null_vectors(graph, "combinatorial", at_most=9)
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    L = laplacian(graph.adjacency, "combinatorial")
    truth = np.linalg.eigvalsh(L.toarray())
    rng = np.random.default_rng(0)
    pairs = smallest_eigenpairs(L, 10, upper=8.0, null=null @ turned, rng=rng)
    assert np.abs(pairs.values - truth[:10]).max() <= 1e-12


@pytest.mark.parametrize("tol", [9e-3, 1e-2])
def test_rough_pairs_are_computed_in_single_precision(tol: float) -> None:
    graph = grid_graph(40, 40)
    A = laplacian(graph.adjacency)
    null, _ = graph_null_vectors(graph, "normalized", at_most=1)
    transform = make_transform(A, 0.05, 2.0, single=True)
    rng = np.random.default_rng(0)
    pairs = lowest_pairs(A, transform, 20, null=null, tol=tol, rng=rng, single=True)
    assert pairs.vectors.dtype == (np.float32 if tol >= 1e-2 else np.float64)
    assert lanczos.SINGLE_PAIRS_FROM == 1e-2
    exact = np.linalg.eigvalsh(A.toarray())[1:21]
    assert np.abs(pairs.values[:20] - exact).max() <= tol * exact[-1]
    errors = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert np.abs(errors - pairs.residuals).max() <= 1e-6


def test_one_null_vector_without_zeros_tells_that_all_points_are_connected() -> None:
    """And one with zeros does not."""
    graph = grid_graph(3, 3)
    apart = sparse.block_diag([graph.adjacency, [[0.0]]], format="csr")
    for W, n_small in ((graph.adjacency, 0), (apart, 10)):
        whole = Graph.from_adjacency(W)
        null, _ = graph_null_vectors(whole, "normalized", at_most=5)
        small, _ = in_small_components(laplacian(W), null, at_most=100)
        assert small.sum() == n_small
