"""The three seams on PyTorch tensors, against the same work on the host."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

torch = pytest.importorskip("torch")

from mercer._base.tensors import sides  # noqa: E402
from mercer.backends.torch import eigen as torch_eigen  # noqa: E402
from mercer.backends.torch import graph as torch_graph  # noqa: E402
from mercer.backends.torch import search as torch_search  # noqa: E402
from mercer.backends.torch import tiles as torch_tiles  # noqa: E402
from mercer.backends.torch.features import TorchFeatures  # noqa: E402
from mercer.backends.torch.search import TorchSearch  # noqa: E402
from mercer.exceptions import EigenpairError  # noqa: E402
from mercer.graphs.laplacians import laplacian  # noqa: E402
from mercer.graphs.neighbors import graph_from_neighbors  # noqa: E402
from mercer.neighbors.index import nearest_neighbors  # noqa: E402
from mercer.spectrum.features import DenseFeatures  # noqa: E402


def blobs(n=600, d=5, n_blobs=6, seed=0):
    rng = np.random.default_rng(seed)
    centers = 6 * rng.normal(size=(n_blobs, d))
    return centers[rng.integers(n_blobs, size=n)] + rng.normal(size=(n, d))


def prepared(X, **options):
    return TorchSearch.prepare(X, rng=np.random.default_rng(0), **options)


def on_the_host(X, k):
    return nearest_neighbors(X, k, method="exact", rng=np.random.default_rng(0))


@pytest.mark.parametrize(("d", "k"), [(1, 3), (5, 10), (40, 50)])
@pytest.mark.parametrize("columns", [97, 2**18])
def test_search_finds_what_the_host_finds(d, k, columns, monkeypatch):
    monkeypatch.setattr(torch_search, "_COLUMNS", columns)
    X = blobs(d=d)
    found, true = prepared(X).neighbors(k), on_the_host(X, k)
    np.testing.assert_allclose(found.distances, true.distances, rtol=1e-5, atol=1e-6)
    assert np.mean(found.indices.numpy() == true.indices) > 0.999
    assert (found.recall, found.method) == (1.0, "exact")


def test_copies_are_ordered_by_index_and_nobody_finds_itself():
    X = np.repeat(np.arange(6.0)[:, None], 3, axis=0)
    found = prepared(X).neighbors(4)
    np.testing.assert_array_equal(found.indices[:3, :2], [[1, 2], [0, 2], [0, 1]])
    assert (found.indices != torch.arange(18)[:, None]).all()


def test_new_points_are_found_like_the_points():
    X = blobs()
    ids, distances = prepared(X).query(X[:9] + 0.01, 4)
    D = np.linalg.norm(X[:9, None] + 0.01 - X[None], axis=2)
    np.testing.assert_array_equal(ids, np.argsort(D, axis=1)[:, :4])
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :4], rtol=1e-5)


@pytest.mark.parametrize("k", [0, 600])
def test_impossible_numbers_of_neighbors_are_refused(k):
    with pytest.raises(ValueError, match="from 1 to n - 1 = 599"):
        prepared(blobs()).neighbors(k)


def test_points_must_be_finite():
    X = blobs()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        prepared(X)


def test_tiles_that_miss_too_many_give_way_to_the_exact_search(monkeypatch):
    def wrong(points, k, listing, some=None):
        n = len(points) if some is None else len(some)
        ids = torch.zeros((n, k), dtype=torch.int64)
        return ids, torch.full(ids.shape, torch.inf, dtype=torch.float64)

    monkeypatch.setattr(torch_search, "has_kernels", lambda points: True)
    monkeypatch.setattr(torch_search, "search_tiles", wrong)
    X = blobs()
    found = prepared(X).neighbors(5)
    assert found.method == "exact"
    np.testing.assert_array_equal(found.indices, on_the_host(X, 5).indices)


@pytest.mark.parametrize("n_all", [600, 100])
def test_finer_tiles_are_tried_before_the_exact_search(n_all, monkeypatch):
    tried = []

    def right_if_fine(points, k, listing, some=None):
        tried.append((listing.is_fine, some is None))
        rows = torch.arange(len(points)) if some is None else some
        found = torch_search.search_plain(points, points.X[rows], k, rows)
        return found if listing.is_fine else (found[0], found[1] * 2)

    monkeypatch.setattr(torch_search, "ALL_PAIRS_UP_TO", n_all)
    monkeypatch.setattr(torch_search, "has_kernels", lambda points: True)
    monkeypatch.setattr(torch_search, "search_tiles", right_if_fine)
    found = prepared(blobs()).neighbors(5)
    assert (found.method, found.recall) == ("tiles", 1.0)
    # All rows are searched once, after a sample has told which products will do.
    assert tried == [(False, False), (True, False), (True, True)]


@pytest.mark.parametrize(("n", "near"), [(2**19, 0), (2**19 + 1, 2)])
def test_more_than_half_a_million_points_meet_the_tiles_near_them(n, near, monkeypatch):
    listing = torch_tiles.Listing(torch.arange(3), torch.zeros((1, 1)))
    monkeypatch.setattr(torch_search, "near_tiles", lambda *args: listing)
    search = prepared(torch.zeros((n, 1)))
    found = list(search._listings(None, None))
    assert [some.is_fine for some in found] == [False, *[True] * (near or 1)]
    assert sum(len(some.order) == 3 for some in found) == near


def test_products_of_halves_tell_points_apart_that_16_bits_do_not():
    rng = np.random.default_rng(0)
    X = torch.as_tensor(1 - 0.01 * rng.random((400, 20)), dtype=torch.float32)
    q, c = (torch_tiles.in_halves(X, are_points=at).double() for at in (False, True))
    assert q.shape == (400, 40)
    half = 0.5 * (X.double() ** 2).sum(dim=1)
    near, coarse, exact = (
        (products - half).topk(6, dim=1).indices
        for products in (q @ c.T, X.half().double() @ X.half().double().T,
                         X.double() @ X.double().T)
    )  # fmt: skip
    right, before = (
        (found[:, :, None] == exact[:, None]).any(dim=2).double().mean()
        for found in (near, coarse)
    )
    assert right > 0.9 > 0.1 > before


def test_tiles_near_a_block_hold_its_neighbors_and_are_few(monkeypatch):
    for name, value in (("MEMBERS", 4), ("COLUMNS", 4), ("ROWS", 8), ("_PER_CELL", 16)):
        monkeypatch.setattr(torch_tiles, name, value)
    X = blobs(n=1200, n_blobs=20)
    true = torch.as_tensor(on_the_host(X, 5).indices.astype(int))
    P = torch.as_tensor(X, dtype=torch.float32)
    rows = torch.arange(0, 1200, 5)
    found = torch_tiles.near_tiles(P, rows, true[rows], 0.9, np.random.default_rng(0))
    place = torch.empty(1200, dtype=torch.int64)
    place[found.order] = torch.arange(1200)
    listed = found.tiles[place // 8].long()
    met = (listed[:, None] == (place[true] // 16)[:, :, None]).any(dim=2)
    assert met[rows].double().mean() >= 0.975  # a quarter of what may be missed
    assert met.double().mean() >= 0.95
    assert listed.shape[1] < 25  # of 75


def adjacency_of(graph):
    parts = (graph.weights, graph.columns, graph.starts)
    shape = (graph.n_points, graph.n_points)
    return sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=shape)


@pytest.mark.parametrize("weights", ["gaussian", "binary", "self_tuning"])
@pytest.mark.parametrize("symmetry", ["union", "mutual"])
def test_graphs_and_their_parts_are_those_of_the_host(weights, symmetry):
    X = blobs()
    X[:9] = X[0]  # copies have no scale of their own
    found, true = prepared(X).neighbors(5), on_the_host(X, 5)
    graph = torch_graph.graph_of(found, 4, weights=weights, mutual=symmetry == "mutual")
    host = graph_from_neighbors(true, 4, weights=weights, symmetry=symmetry)
    difference = abs(adjacency_of(graph) - host.adjacency)
    assert difference.max() < 1e-5
    labels = torch_graph.component_labels(graph).numpy()
    pairs = np.unique(np.c_[labels, host.component_labels], axis=0)
    assert len(pairs) == host.n_components == labels.max() + 1


def test_a_long_path_is_one_component():
    X = np.arange(500.0)[np.random.default_rng(0).permutation(500), None]
    graph = torch_graph.graph_of(prepared(X).neighbors(2), weights="binary")
    assert torch_graph.component_labels(graph).max() == 0


def pairs_of(X, r, **options):
    graph = torch_graph.graph_of(prepared(X).neighbors(6))
    labels = torch_graph.component_labels(graph)
    null, n_null = torch_graph.null_vectors(graph, labels, at_most=r + 1)
    rng = np.random.default_rng(0)
    return torch_eigen.smallest_pairs(graph, r, null=null, rng=rng, **options), n_null


def test_eigenpairs_are_those_of_the_dense_matrix():
    X = np.r_[blobs(400), blobs(400) + 100]  # every value twice
    pairs, n_null = pairs_of(X, 24, tol=1e-5)
    host = graph_from_neighbors(on_the_host(X, 6))
    assert n_null == host.n_components
    values = eigh(laplacian(host.adjacency).toarray())[0]
    np.testing.assert_allclose(pairs.values, values[:24], atol=1e-6)
    assert pairs.next_value == pytest.approx(values[24], abs=1e-6)
    V = pairs.vectors.numpy().astype(float)
    residuals = laplacian(host.adjacency) @ V - V * pairs.values
    assert np.linalg.norm(residuals, axis=0).max() <= 2e-5
    np.testing.assert_allclose(V.T @ V, np.eye(24), atol=1e-5)


def test_more_parts_than_directions_leave_nothing_to_compute():
    X = (
        100.0 * np.repeat(np.arange(20.0), 10)[:, None]
        + np.tile(np.arange(10.0), 20)[:, None]
    )
    pairs, n_null = pairs_of(X, 7)
    assert n_null == 20
    assert (pairs.values == 0).all()
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(7), atol=1e-6)


def test_inexact_pairs_are_refused_left_out_or_kept_and_told(monkeypatch):
    X = blobs(d=30, n_blobs=2)
    exact, _ = pairs_of(X, 30)
    assert (exact.note, len(exact.values)) == ("", 30)
    monkeypatch.setattr(torch_eigen, "_ROUNDS", 5)
    rough, n_null = pairs_of(X, 30)
    sure = int(rough.note.split()[0])
    assert 0 < sure < 30 - n_null
    assert rough.note.startswith(f"{sure} of {30 - n_null} directions are certain")
    assert f"residual {rough.residual:.1e}" not in rough.note or sure == 29 - n_null
    assert 2e-5 < rough.residual < 0.5
    fewer, _ = pairs_of(X, 30, on_failure="fewer")
    assert len(fewer.values) == fewer.vectors.shape[1] == sure + n_null
    assert fewer.residual <= 2e-5
    np.testing.assert_allclose(fewer.values, exact.values[: sure + n_null], atol=1e-6)
    with pytest.raises(EigenpairError, match=f"at most {sure} directions"):
        pairs_of(X, 30, on_failure="raise")


def test_a_looser_tolerance_and_less_work_take_fewer_products(monkeypatch):
    X, products = blobs(d=30, n_blobs=2), []
    recur = torch_eigen.Laplacian.recur

    def counted(self, *args):
        products[-1] += 1
        return recur(self, *args)

    monkeypatch.setattr(torch_eigen.Laplacian, "recur", counted)
    found = []
    for options in ({}, {"tol": 1e-2}, {"tol": 1e-2, "most_work": 1.0}):
        products.append(0)
        found.append(pairs_of(X, 30, **options)[0])
    assert products[0] > products[1] > products[2]
    assert found[1].note == ""
    assert found[1].residual <= 1e-2 * found[1].values[-1]
    assert "are certain" in found[2].note


def test_filters_begin_at_the_mean_of_the_values_and_come_down(monkeypatch):
    lows, whole = [], torch_eigen.Laplacian.filter

    def noted(self, X, degree, low):
        lows.append(low)
        return whole(self, X, degree, low)

    monkeypatch.setattr(torch_eigen.Laplacian, "filter", noted)
    pairs, _ = pairs_of(blobs(d=30, n_blobs=2), 30, tol=1e-2)
    assert lows[0] == 1.0
    assert len(lows) > 2
    assert lows == sorted(lows, reverse=True)
    assert pairs.values[-1] < lows[-1] < 1.5 * pairs.next_value


@pytest.mark.parametrize("seed", [0, 2])
def test_vectors_stay_orthogonal_where_some_pairs_are_exact_before_others(seed):
    """Filters that raise values by exp(8) / 2 left angles of 4e-5 here, and 1e-1."""
    rng = np.random.default_rng(0)
    angle, ring = 2 * np.pi * rng.random(1500), 1 + rng.integers(2, size=1500)
    X = 0.2 * rng.standard_normal((1500, 40))
    X[:, 0] += ring * np.cos(angle)
    X[:, 1] += ring * np.sin(angle)
    found = prepared(X.astype(np.float32)).neighbors(10)
    graph = torch_graph.graph_of(found, weights="self_tuning")
    labels = torch_graph.component_labels(graph)
    null, _ = torch_graph.null_vectors(graph, labels, at_most=101)
    pairs = torch_eigen.smallest_pairs(
        graph, 100, null=null, rng=np.random.default_rng(seed)
    )
    V = pairs.vectors.double()
    assert (V.T @ V - torch.eye(100)).abs().max() < 1e-5
    assert pairs.note == ""


def test_second_moments_of_single_precision_are_summed_in_double():
    U = 1 + 1e-3 * np.random.default_rng(0).random((3000, 4)).astype(np.float32)
    C = TorchFeatures(torch.as_tensor(U), np.ones(4)).second_moment()
    np.testing.assert_allclose(C, U.astype(float).T @ U, rtol=1e-12)


def test_arrays_of_negative_strides_are_put_on_a_device():
    put, take = sides(torch.zeros(2, 2))
    last = np.arange(6.0).reshape(3, 2)[:, ::-1][:, :1]
    np.testing.assert_array_equal(take(put(last)), last)


@pytest.mark.parametrize("columns", [3, None])
def test_products_of_features_are_those_of_the_host(columns):
    rng = np.random.default_rng(0)
    U = rng.normal(size=(50, 4))
    root = rng.normal(size=4) if columns is None else rng.normal(size=(4, columns))
    ours, host = TorchFeatures(torch.as_tensor(U), root), DenseFeatures(U, root)
    rows = np.array([3, 1, 40])
    A, codes = rng.normal(size=(host.shape[1], 2)), rng.integers(-1, 3, size=50)
    assert ours.shape == host.shape
    np.testing.assert_allclose(ours.rows(rows), host.rows(rows), rtol=1e-12)
    np.testing.assert_allclose(ours.times(A), host.times(A), rtol=1e-12)
    Phi = host.rows(np.arange(50))
    sums = np.stack([Phi[codes == c].sum(axis=0) for c in range(3)], axis=1)
    np.testing.assert_allclose(ours.class_sums(codes, 3), sums, rtol=1e-10)
    np.testing.assert_allclose(host.class_sums(codes, 3), sums, rtol=1e-10)
    some = Phi[rows] - Phi[rows].mean(axis=0)
    for features in (ours, host):
        sample, moment = features.sample(rows)
        np.testing.assert_allclose(sample.rows(np.arange(3)), some, atol=1e-12)
        np.testing.assert_allclose(moment, some.T @ some / 3, atol=1e-12)
    np.testing.assert_allclose(ours.second_moment(), Phi.T @ Phi, rtol=1e-10)
    for one, other in zip(ours.moments(), host.moments(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    np.testing.assert_allclose(ours.take(rows).times(A), host.take(rows).times(A))


def test_without_pytorch_mercer_works_and_a_device_names_the_extra():
    code = """
import sys
ABSENT = {"torch", "triton", "lazy_loader", "skops", "pooch", "click", "rich"}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy as np
import mercer
X = np.r_[np.zeros((9, 1)), np.ones((9, 1))] + 0.01 * np.arange(18)[:, None]
y = np.full(18, -1); y[0], y[-1] = 0, 1
model = mercer.UnifiedKernelMachine(random_state=0).fit(X, y)
assert (model.transduction_[:9] == 0).all()
try:
    mercer.GraphBasis(device="cuda").fit(X)
except ImportError as error:
    assert "mercer[gpu]" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
