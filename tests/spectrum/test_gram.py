"""GramBasis: eigenpairs of a kernel, exact or from landmarks."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel

from mercer.exceptions import NotPSDError
from mercer.kernels.normalized import Normalized
from mercer.kernels.parametric import RBF, Linear
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.kernel_pairs import pivoted_cholesky
from oracles.spectrum import projector

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5))
NEW = RNG.standard_normal((7, 5))


def cosine(K: np.ndarray) -> np.ndarray:
    root = np.sqrt(K.diagonal())
    return K / root / root[:, None]


def centre(K: np.ndarray) -> np.ndarray:
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("n_landmarks", [None, 60])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("centered", [False, True])
def test_pairs_of_the_transformed_gram_matrix(
    centered: bool, normalized: bool, n_landmarks: int | None
) -> None:
    basis = GramBasis(
        10,
        kernel=Normalized("poly") if normalized else "poly",
        centered=centered,
        n_landmarks=n_landmarks,
        random_state=0,
    ).fit(X)
    K = (X @ X.T / 5 + 1) ** 3
    K = cosine(K) if normalized else K
    K = centre(K) if centered else K
    values, vectors = np.linalg.eigh(K)
    scale = values[-1]
    assert np.abs(basis.values_ - values[:-11:-1]).max() <= 1e-8 * scale
    expected = projector(vectors[:, -10:])
    assert np.abs(projector(basis.vectors_) - expected).max() <= 1e-6
    lost = 1 - values[-10:].sum() / np.trace(K)
    assert abs(basis.certificate_.lost_trace - lost) <= 1e-8
    assert basis.certificate_.residual <= 1e-8 * scale
    assert abs(basis.certificate_.gap - (values[-10] - values[-11])) <= 1e-8 * scale


@pytest.mark.parametrize("n_landmarks", [None, 25])
@pytest.mark.parametrize("centered", [False, True])
def test_extension(centered: bool, n_landmarks: int | None) -> None:
    basis = GramBasis(
        8, kernel=RBF(0.1), centered=centered, n_landmarks=n_landmarks, random_state=0
    ).fit(X)
    assert np.abs(basis.extend(X) - basis.vectors_).max() <= 1e-9
    assert np.abs(basis.vectors_.T @ basis.vectors_ - np.eye(8)).max() <= 1e-10
    if n_landmarks is None:
        pca = KernelPCA(8, kernel="rbf", gamma=0.1)
        features = basis.extend(NEW) * np.sqrt(basis.values_)
        if centered:
            expected = pca.fit(X).transform(NEW)
            assert np.abs(np.abs(features) - np.abs(expected)).max() <= 1e-8
        else:
            K = rbf_kernel(NEW, X, gamma=0.1)
            assert np.allclose(basis.extend(NEW), K @ basis.vectors_ / basis.values_)


def test_landmarks_use_nystroms_matrix() -> None:
    basis = GramBasis(None, kernel=RBF(0.1), n_landmarks=20, random_state=3).fit(X)
    K, S = rbf_kernel(X, gamma=0.1), basis.landmarks_
    assert len(set(S)) == 20
    nystrom = K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    approximation = (basis.vectors_ * basis.values_) @ basis.vectors_.T
    assert np.abs(approximation - nystrom).max() <= 1e-8
    lost = 1 - np.trace(nystrom) / np.trace(K)
    assert abs(basis.certificate_.lost_trace - lost) <= 1e-8
    new = (basis.extend(NEW) * basis.values_) @ basis.vectors_.T
    expected = rbf_kernel(NEW, X[S], gamma=0.1) @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    assert np.abs(new - expected).max() <= 1e-8


@settings(max_examples=30, deadline=None)
@given(
    rank=st.integers(1, 6),
    n=st.integers(6, 25),
    m=st.integers(1, 25),
    seed=st.integers(0, 99),
)
# Small pivots are drawn early, and rounding errors grow by as much.
@example(rank=5, n=23, m=6, seed=23)
@example(rank=3, n=15, m=25, seed=46)
def test_cholesky_factor_never_overshoots(rank: int, n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, rank))
    K = A @ A.T
    result = pivoted_cholesky(lambda i: K[:, i], K.diagonal(), min(m, n), rng=rng)
    F = result.factor
    rest = K - F @ F.T
    scale = np.trace(K)
    assert F.shape[1] == min(rank, m, n)
    assert np.linalg.eigvalsh(rest)[0] >= -1e-9 * scale
    assert abs(np.trace(rest) - result.lost) <= 1e-9 * scale
    assert np.abs(rest[:, result.pivots]).max() <= 1e-9 * scale
    assert np.abs(np.triu(F[result.pivots], 1)).max(initial=0.0) <= 1e-9 * scale


@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_cut_at_the_numerical_rank(n_landmarks: int | None) -> None:
    wine = load_wine().data  # 13 features
    basis = GramBasis(20, kernel=Linear(), n_landmarks=n_landmarks, random_state=0)
    assert basis.fit(wine).vectors_.shape == (178, 13)
    assert np.abs(basis.extend(wine) - basis.vectors_).max() <= 1e-5
    assert basis.certificate_.lost_trace <= 1e-12


def test_precomputed() -> None:
    K, K_new = rbf_kernel(X, gamma=0.1), rbf_kernel(NEW, X, gamma=0.1)
    direct = GramBasis(6, kernel=RBF(0.1), centered=True).fit(X)
    for n_landmarks in (None, 60):
        basis = GramBasis(
            6, kernel="precomputed", centered=True, n_landmarks=n_landmarks
        ).fit(K)
        assert np.allclose(projector(basis.vectors_), projector(direct.vectors_))
        left = basis.extend(K_new) @ basis.vectors_.T
        assert np.allclose(left, direct.extend(NEW) @ direct.vectors_.T)
    with pytest.raises(ValueError, match="must be square"):
        GramBasis(kernel="precomputed").fit(K_new)
    with pytest.raises(ValueError, match="must be symmetric"):
        GramBasis(kernel="precomputed").fit(np.triu(K))
    with pytest.raises(NotPSDError):
        GramBasis(kernel="precomputed").fit(K - np.eye(60))


def test_sparse_points() -> None:
    rows = sparse.random_array((50, 30), density=0.2, random_state=RNG, format="csr")
    for n_landmarks in (None, 20):
        basis = GramBasis(5, kernel="linear", n_landmarks=n_landmarks, random_state=0)
        dense = clone(basis).fit(rows.toarray())
        basis.fit(rows)
        assert np.allclose(projector(basis.vectors_), projector(dense.vectors_))
        assert np.abs(basis.extend(rows) - basis.vectors_).max() <= 1e-10


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="Gram matrix is zero"):
        GramBasis(kernel="linear").fit(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="all points are equal"):
        GramBasis(centered=True).fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="n_landmarks"):
        GramBasis(n_landmarks=0).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        GramBasis().fit(np.full((5, 2), np.nan))
    with pytest.raises(ValueError, match="5 features"):
        GramBasis().fit(X).extend(X[:, :3])


def test_one_point_and_equal_points() -> None:
    one = GramBasis().fit(np.array([[1.0, 2.0]]))
    assert np.array_equal(np.abs(one.vectors_), [[1.0]])
    equal = GramBasis().fit(np.ones((4, 2)))
    assert np.allclose(equal.values_, [4.0])
    assert np.allclose(equal.vectors_, 0.5)


def test_clone_pickle_and_seed() -> None:
    basis = GramBasis(6, kernel=RBF(0.1), n_landmarks=30, random_state=5).fit(X)
    again = pickle.loads(pickle.dumps(basis))
    assert np.array_equal(again.extend(NEW), basis.extend(NEW))
    assert np.array_equal(clone(basis).fit(X).vectors_, basis.vectors_)
    other = clone(basis).set_params(random_state=6).fit(X)
    assert not np.array_equal(other.landmarks_, basis.landmarks_)


def test_eigenpairs_that_lapack_misses_are_computed_again(monkeypatch):
    """Of 51 pairs of 600 texts of a word each, most with the value 2, it gave 45."""
    import mercer.spectrum.kernel_pairs as module

    def eigh(K, **settings):
        values, vectors = np.linalg.eigh(K)
        if "subset_by_index" in settings:
            first = settings["subset_by_index"][0] + 2  # two are missed
            return values[first:], vectors[:, first:]
        return values, vectors

    monkeypatch.setattr(module, "eigh", eigh)
    pairs = module.exact_pairs(np.diag([1.0, 2.0, 2.0, 2.0, 5.0]), 3, centered=False)
    assert pairs.values.tolist() == [5.0, 2.0, 2.0]
    assert pairs.next_value == 2.0


@pytest.mark.parametrize("n_landmarks", [None, 60])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("energy", [0.3, 0.8, 0.95, 0.999])
def test_a_share_of_the_trace_keeps_as_few_directions_as_have_it(
    energy: float, centered: bool, n_landmarks: int | None
) -> None:
    basis = GramBasis(energy, centered=centered, n_landmarks=n_landmarks).fit(X)
    K = rbf_kernel(X)
    spectrum = np.linalg.eigvalsh(centre(K) if centered else K)[::-1]
    shares = [spectrum[: r + 1].sum() / spectrum.sum() for r in range(60)]
    wanted = next(r for r, share in enumerate(shares) if share >= energy) + 1
    assert basis.vectors_.shape == (60, wanted)
    assert basis.certificate_.lost_trace <= 1 - energy + 1e-12
    assert basis.certificate_.lost_trace > 1 - energy - spectrum[wanted - 1] / 60
    whole = GramBasis(wanted, centered=centered, n_landmarks=n_landmarks).fit(X)
    np.testing.assert_allclose(basis.values_, whole.values_)
    np.testing.assert_allclose(basis.extend(NEW), whole.extend(NEW), atol=1e-10)
    assert basis.certificate_.gap == pytest.approx(whole.certificate_.gap, abs=1e-10)


def test_landmarks_that_do_not_have_the_share_are_all_kept() -> None:
    basis = GramBasis(0.9999, n_landmarks=5, random_state=0).fit(X)
    assert basis.vectors_.shape == (60, 5)
    assert basis.certificate_.lost_trace > 1e-4


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5, -0.5, float("nan")])
def test_a_share_lies_between_0_and_1(share: float) -> None:
    with pytest.raises(ValueError, match=r"n_components must be .* share of the trace"):
        GramBasis(share).fit(X)
