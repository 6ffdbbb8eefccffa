"""What a search from random vectors proves, and how often it may fail."""

import numpy as np
import pytest
from scipy import sparse

from mercer.eigen import search, transforms
from mercer.eigen.lanczos import Search, lowest_pairs, search_outside
from mercer.eigen.proof import largest_unseen
from mercer.eigen.search import searched_pairs
from mercer.eigen.transforms import ChebyshevTransform, InverseTransform
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.spectrum.directions import graph_null_vectors

N = 300
CLOSE = np.r_[0.0, 0.05, np.linspace(0.06, 2.0, N - 2)]


def outside(position: int) -> np.ndarray:
    """Set the first two eigenvectors aside, but for one."""
    return np.delete(np.eye(N)[:, :2], position, axis=1)


def chebyshev(values: np.ndarray, degree: int = 8) -> ChebyshevTransform:
    A = sparse.csr_array(sparse.diags_array(values))
    return ChebyshevTransform(A, 0.2, 2.0, degree)


def look(transform, aside: np.ndarray, level: float, **settings) -> Search:
    settings = {"same": 1e-6, "failure": 1e-6, **settings}
    settings.setdefault("rng", np.random.default_rng(0))
    no_null = sparse.csr_array((len(aside), 0))
    return search_outside(transform, no_null, list(aside.T), level, **settings)


@pytest.mark.parametrize("seed", range(5))
def test_a_hidden_value_is_seen(seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen = look(chebyshev(CLOSE), outside(1), 0.06, rng=rng)
    assert seen.smallest < 0.06 - 1e-6
    assert seen.floor <= 0.05


def test_nothing_hidden_is_proved() -> None:
    seen = look(chebyshev(CLOSE), np.eye(N)[:, :2], 0.055)
    assert 0.055 <= seen.floor <= 0.06
    assert seen.smallest >= 0.06 - 1e-12


@pytest.mark.parametrize("steps", [2, 3, 5, 9])
def test_the_floor_is_below_the_smallest_value_after_any_number_of_steps(
    steps: int,
) -> None:
    """However early the search stops, and with a value far below all others."""
    lonely = np.r_[0.0, 1e-3, np.linspace(0.5, 2.0, N - 2)]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        settings = {"rng": rng, "steps": steps, "block": 1, "same": 1.0}
        seen = look(chebyshev(lonely, 2), outside(1), 0.4, **settings)
        assert seen.floor <= 1e-3


def bounds_after(steps: int, failure: float, values: np.ndarray) -> np.ndarray:
    """Bound the largest of the values from one random vector, for 300 draws."""
    bounds = []
    for seed in range(300):
        z = np.random.default_rng(seed).standard_normal(len(values))
        powers = values[:, None] ** np.arange(steps) * z[:, None]
        V = np.linalg.qr(powers)[0]
        seen = np.linalg.eigvalsh(V.T @ (values[:, None] * V))[-1]
        norm = float(np.linalg.norm(z))
        settings = {"low": 0.0, "norm": norm, "block": 1, "failure": failure}
        bounds.append(largest_unseen(seen, steps, **settings))
    return np.array(bounds)


def test_the_bound_fails_as_often_as_it_says_in_the_worst_case() -> None:
    """One step, all other values at the lower end, a probability that can be seen."""
    values = np.r_[np.zeros(200), 1.5]
    failures = np.mean(bounds_after(1, 0.3, values) < 1.5)
    error = np.sqrt(0.3 * 0.7 / 300)
    assert 0.3 - 4 * error <= failures <= 0.3 + 3 * error


@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_the_bound_holds_at_the_probability_that_is_used(steps: int) -> None:
    values = np.r_[np.linspace(0.0, 1.0, 60), 1.01]
    assert np.all(bounds_after(steps, 1e-6, values) >= 1.01)


def test_a_smaller_probability_and_fewer_steps_prove_less() -> None:
    settings = {"low": -1.0, "norm": 20.0, "block": 8}
    bounds = [
        largest_unseen(2.0, steps, failure=failure, **settings)
        for steps, failure in ((20, 1e-2), (20, 1e-6), (10, 1e-6), (5, 1e-6))
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] > 2.0


def test_transforms_invert_their_heights() -> None:
    inverse = InverseTransform(np.ones((1, 3)), 0.3)
    for transform in (chebyshev(CLOSE), inverse):
        for value in (0.0, 0.01, 0.19):
            height = transform.height(value)
            assert transform.value(height) == pytest.approx(value, abs=1e-12)
    assert chebyshev(CLOSE).value(0.5) == 0.2  # nothing is known beyond the cut


def test_a_cut_below_the_wanted_values_is_raised(monkeypatch) -> None:
    """The cause of wrong values with a clean certificate: an estimate too low."""
    n = 1500
    values = np.r_[0.0, np.repeat([0.0123, 0.0489, 0.11], 40), np.linspace(0.2, 2, n)]
    A = sparse.csr_array(sparse.diags_array(values))
    null = sparse.csr_array(np.eye(len(values))[:, :1])
    monkeypatch.setattr(search, "value_below_which", lambda *args, **kwargs: 0.005)
    found = searched_pairs(
        A, null, 60, upper=2.0, tol=1e-7, rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(found.values, values[1:61], atol=1e-10)
    assert found.next_value == pytest.approx(0.0489)


@pytest.mark.parametrize(("tol", "below"), [(1e-3, 0.01), (3e-2, 0.03)])
def test_rough_pairs_have_a_floor_that_is_one(tol: float, below: float) -> None:
    """It is below the last value by the tolerance, or a hundredth, at most."""
    n, k = 3000, 60
    values = np.sort(np.random.default_rng(0).beta(3, 3, n)) * 2
    values[:30] *= 0.2
    values[0] = 0.0
    values.sort()
    A = sparse.csr_array(sparse.diags_array(values))
    null = sparse.csr_array(np.eye(n)[:, :1])
    rng = np.random.default_rng(0)
    found = searched_pairs(A, null, k, upper=2.0, tol=tol, rng=rng)
    assert found.note == ""
    errors = A @ found.vectors - found.vectors * found.values
    assert np.linalg.norm(errors, axis=0).max() <= tol * found.values[-1]
    assert values[k] <= found.values[-1] <= values[k] * (1 + tol)
    assert (1 - below) * values[k] <= found.floor <= values[k + 1]


@pytest.mark.parametrize("tol", [0.5, 1.0, 3.0])
def test_a_tolerance_that_allows_anything_has_a_floor_all_the_same(tol: float) -> None:
    A, null = crowded_graph(1500)
    options = {"upper": 2.0, "tol": tol, "rng": np.random.default_rng(0)}
    found = searched_pairs(A, null, 19, **options)
    outside = np.linalg.eigvalsh(A.toarray())[null.shape[1] :]
    assert found.note == ""
    assert outside[18] / 2 <= found.floor <= outside[19]


def crowded_graph(n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the Laplacian of a 3-neighbour graph of one blob in 50 columns."""
    X = np.random.default_rng(0).standard_normal((n, 50))
    graph = neighbor_graph(X, 3, weights="self_tuning", rng=np.random.default_rng(0))
    null, _ = graph_null_vectors(graph, "normalized", at_most=51)
    return sparse.csr_array(laplacian(graph.adjacency)), null


def test_a_rough_proof_of_crowded_values_takes_fewer_blocks(monkeypatch) -> None:
    blocks: list[int] = []

    def counted(seen: float, done: int, **options) -> float:
        blocks.append(done)
        return largest_unseen(seen, done, **options)

    monkeypatch.setattr("mercer.eigen.lanczos.largest_unseen", counted)
    A, null = crowded_graph(4000)
    rng = np.random.default_rng(0)
    found = searched_pairs(A, null, 50, upper=2.0, tol=3e-2, rng=rng)
    assert found.note == ""
    assert found.floor >= 0.97 * found.values[-1]
    assert 6 <= max(blocks) < 12


def test_a_cut_that_is_too_low_ends_the_search_when_the_space_is_full() -> None:
    A, null = crowded_graph(8000)
    rng = np.random.default_rng(0)
    applied = []

    class Counted(ChebyshevTransform):
        def apply(self, X):
            applied.append(X.shape[1])
            return super().apply(X)

    low = Counted(A, 0.15, 2.0, 10)
    pairs = lowest_pairs(A, low, 51, null=null, tol=1e-3, rng=rng, block=8)
    assert pairs.values[50] > 0.15
    assert sum(applied) <= 3 * len(pairs.values) + 8  # not filled again


def path_laplacian(n: int) -> sparse.csr_array:
    d = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    edges = -np.ones(n - 1)
    return sparse.csr_array(sparse.diags_array([edges, d, edges], offsets=[-1, 0, 1]))


def test_values_below_the_rounding_of_single_precision_take_double(
    monkeypatch,
) -> None:
    """A thousandth of the tenth value of this grid is 1e-7."""
    monkeypatch.setattr(transforms, "WIDEST_BAND", 0)
    n = 1500
    A = sparse.kronsum(path_laplacian(n), path_laplacian(4)).tocsr() / 4
    null = sparse.csr_array(np.full((4 * n, 1), 1 / np.sqrt(4 * n)))
    found = searched_pairs(
        sparse.csr_array(A), null, 10, upper=2.0, tol=1e-3, rng=np.random.default_rng(0)
    )
    exact = np.sin(np.pi * np.arange(1, 11) / (2 * n)) ** 2
    np.testing.assert_allclose(found.values, exact, rtol=1e-3)
    assert found.method == "filtered lanczos"  # not in single precision
