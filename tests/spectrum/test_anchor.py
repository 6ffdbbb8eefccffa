"""AnchorBasis: the anchor graph's directions against the n x n matrix itself."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer.eigen import smallest as eigen
from mercer.spectrum.anchor import AnchorBasis, choose_anchors
from oracles.spectrum import blobs, projector

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 3))
MORE = RNG.standard_normal((400, 3))
FAR = blobs(5, 80, np.random.default_rng(2))


def tied(points: np.ndarray, anchors: np.ndarray, s: int) -> np.ndarray:
    """Z, one point at a time."""
    Z = np.zeros((len(points), len(anchors)))
    for i, x in enumerate(points):
        squares = ((anchors - x) ** 2).sum(axis=1)
        order = np.argsort(squares, kind="stable")
        z = (1 - squares[order[:s]] / squares[order[s]]) ** 2
        Z[i, order[:s]] = z / z.sum()
    return Z


@pytest.mark.parametrize("dense_up_to", [1200, 100])
@pytest.mark.parametrize("points", [MORE, FAR], ids=["connected", "disconnected"])
def test_pairs_of_the_n_by_n_matrix(
    points: np.ndarray, dense_up_to: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eigen, "DENSE_UP_TO", dense_up_to)
    basis = AnchorBasis(8, n_anchors=150, random_state=0).fit(points)
    Z = tied(points, basis.anchors_, 5)
    W = Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T
    values, vectors = np.linalg.eigh(np.eye(len(points)) - W)
    assert np.abs(basis.values_ - values[:8]).max() <= 1e-7
    U = basis.vectors_
    assert np.abs(U.T @ U - np.eye(8)).max() <= 1e-9
    assert np.abs(W @ U - U * (1 - basis.values_)).max() <= 1e-7
    if values[8] - values[7] > 1e-3:
        assert np.abs(projector(U) - projector(vectors[:, :8])).max() <= 1e-4
    assert abs(basis.certificate_.gap - (values[8] - values[7])) <= 1e-6
    assert basis.certificate_.n_null == np.count_nonzero(values < 1e-10)


def test_each_far_blob_has_a_zero() -> None:
    basis = AnchorBasis(9, n_anchors=40, random_state=0).fit(FAR)
    assert np.count_nonzero(basis.values_ == 0.0) >= 5


def test_extension() -> None:
    basis = AnchorBasis(10, n_anchors=40, n_nearest=4, random_state=0).fit(X)
    assert np.abs(basis.extend(X) - basis.vectors_).max() <= 1e-10
    new = RNG.standard_normal((9, 3))
    Z = tied(X, basis.anchors_, 4)
    z = tied(new, basis.anchors_, 4)
    # the eigenvector equation of W at the new points
    expected = z @ np.diag(1 / Z.sum(axis=0)) @ Z.T @ basis.vectors_
    expected /= 1 - basis.values_
    assert np.abs(basis.extend(new) - expected).max() <= 1e-9
    step = basis.extend(new + 1e-7) - basis.extend(new)
    assert np.abs(step).max() <= 1e-5  # continuous where anchors change


def test_anchors_are_distinct_and_close() -> None:
    anchors = choose_anchors(X, 30, rng=np.random.default_rng(0))
    assert anchors.shape == (30, 3)
    start = X[np.random.default_rng(0).choice(150, 30, replace=False)]

    def cost(A: np.ndarray) -> float:
        return ((X[:, None] - A) ** 2).sum(axis=2).min(axis=1).sum()

    assert cost(anchors) < 0.8 * cost(start)
    doubled = choose_anchors(np.repeat(X[:6], 5, axis=0), 20, rng=RNG)
    assert len(doubled) == 6


@pytest.mark.parametrize("n_anchors", [1, 2, 3, 150, 999])
def test_few_and_many_anchors(n_anchors: int) -> None:
    basis = AnchorBasis(None, n_anchors=n_anchors, random_state=0).fit(X)
    r = len(basis.values_)
    assert r <= min(n_anchors, 150)
    assert np.isfinite(basis.vectors_).all()
    assert basis.certificate_.orthogonality <= 1e-8
    assert np.allclose(basis.extend(X), basis.vectors_, atol=1e-8)


def test_default_number_of_anchors_is_a_quarter_of_few_points() -> None:
    assert len(AnchorBasis(3, random_state=0).fit(X).anchors_) == 37


def test_equal_points() -> None:
    basis = AnchorBasis(4, random_state=0).fit(np.ones((12, 2)))
    assert np.allclose(basis.vectors_, 12**-0.5)
    assert np.array_equal(basis.values_, [0.0])


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="minimum of 2"):
        AnchorBasis().fit(X[:1])
    with pytest.raises(ValueError, match="NaN"):
        AnchorBasis().fit(np.full((5, 2), np.nan))
    with pytest.raises(ValueError, match="n_anchors"):
        AnchorBasis(n_anchors=0).fit(X)
    with pytest.raises(ValueError, match="n_nearest"):
        AnchorBasis(n_nearest=0).fit(X)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        AnchorBasis().fit(sparse.csr_array(X))


def test_clone_pickle_and_seed() -> None:
    basis = AnchorBasis(5, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(basis))
    assert np.array_equal(again.extend(X[:4] + 0.1), basis.extend(X[:4] + 0.1))
    assert np.array_equal(clone(basis).fit(X).vectors_, basis.vectors_)
    other = AnchorBasis(5, random_state=1).fit(X)
    assert not np.array_equal(other.anchors_, basis.anchors_)
