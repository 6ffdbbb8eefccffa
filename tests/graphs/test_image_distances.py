import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import rotate, shift
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from mercer.graphs.image_distances import (
    AffineDistance,
    TangentDistance,
    tangent_vectors,
)
from mercer.graphs.neighbors import neighbor_graph

METRICS = [TangentDistance(), AffineDistance()]
SIDE = 16


def smooth_images(n, seed=0, side=SIDE):
    """Sums of a few Gaussian blobs, away from the edge."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    images = np.zeros((n, side, side))
    for image in images:
        for cy, cx in rng.uniform(0.38 * side, 0.58 * side, (3, 2)):
            width = rng.uniform(1.2, 1.8)
            image += np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * width**2))
    return images.reshape(n, -1)


@pytest.mark.parametrize("metric", METRICS)
def test_symmetric_zero_on_equal_images_and_no_larger_than_euclidean(metric):
    X = np.random.default_rng(0).standard_normal((9, SIDE**2))
    X[4] = X[2]
    D = metric.pairwise(X)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(D.diagonal(), 0)
    assert D[4, 2] == 0
    assert (cdist(X, X) + 1e-9 >= D).all()
    off = ~np.eye(9, dtype=bool)
    off[4, 2] = off[2, 4] = False
    assert D[off].min() > 1


@pytest.mark.parametrize("metric", METRICS)
def test_two_sets_agree_with_one(metric):
    X = smooth_images(6)
    whole = metric.pairwise(X)
    np.testing.assert_allclose(metric.pairwise(X[:2], X[2:]), whole[:2, 2:], atol=1e-6)
    np.testing.assert_allclose(metric(X[1], X[5]), whole[1, 5], atol=1e-6)


def test_blocks_of_pairs_agree_with_one_block(monkeypatch):
    X = smooth_images(7)
    whole = TangentDistance().pairwise(X)
    monkeypatch.setattr("mercer.graphs.image_distances._BLOCK", 10)
    np.testing.assert_allclose(TangentDistance().pairwise(X), whole, atol=1e-7)


def test_tangent_distance_is_the_minimum_over_both_planes():
    metric = TangentDistance(smoothing=0.7, ridge=1e-9)
    X = np.random.default_rng(3).standard_normal((2, 64))
    T = tangent_vectors(X, 0.7)

    def residual(ab):
        moved = X[0] + ab[:7] @ T[0] - X[1] - ab[7:] @ T[1]
        return moved @ moved

    best = minimize(residual, np.zeros(14), method="BFGS", options={"gtol": 1e-10})
    assert metric(X[0], X[1]) == pytest.approx(np.sqrt(best.fun), rel=1e-5)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    down=st.floats(-0.5, 0.5),
    right=st.floats(-0.5, 0.5),
    degrees=st.floats(-6, 6),
)
def test_tangent_distance_forgives_small_shifts_and_rotations(
    seed, down, right, degrees
):
    image = smooth_images(1, seed).reshape(SIDE, SIDE)
    moved = shift(rotate(image, degrees, reshape=False, order=3), (down, right))
    plain = np.linalg.norm(image - moved)
    ours = TangentDistance()(image.ravel(), moved.ravel())
    # What is left is of second order in the movement; the image has norm above 3.
    assert ours <= 0.25 * plain + 0.02


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), down=st.sampled_from([-1, 0, 1]))
def test_affine_distance_forgives_the_movements_of_its_group(seed, down):
    image = smooth_images(1, seed).reshape(SIDE, SIDE)
    moved = np.roll(image, (down, -1), axis=(0, 1))
    ours = AffineDistance()(image.ravel(), moved.ravel())
    assert ours <= 0.05 * np.linalg.norm(image - moved) + 1e-6


def test_tangents_are_derivatives_of_moved_images():
    image = smooth_images(1).reshape(SIDE, SIDE)
    T = tangent_vectors(image.reshape(1, -1), 0.0)[0].reshape(7, SIDE, SIDE)
    changes = [
        lambda t: shift(image, (0, -t)),
        lambda t: shift(image, (-t, 0)),
        lambda t: rotate(image, -np.rad2deg(t), reshape=False),
    ]
    inner = (slice(1, -1), slice(1, -1))
    for tangent, change in zip(T, changes, strict=False):
        slope = (change(0.05) - change(-0.05))[inner].ravel()
        ours = tangent[inner].ravel()
        cosine = ours @ slope / np.linalg.norm(ours) / np.linalg.norm(slope)
        assert cosine > 0.99  # differences over one pixel are short of the slope


def test_blank_images_have_the_euclidean_distance():
    X = np.vstack([np.zeros(16), np.ones(16)])
    assert TangentDistance()(X[0], X[1]) == pytest.approx(4)


@pytest.mark.parametrize("metric", METRICS)
def test_neighbor_graphs_take_image_distances_all_pairs_at_once(metric, monkeypatch):
    X = smooth_images(10)
    rng = np.random.default_rng(0)
    plain = neighbor_graph(
        metric.pairwise(X), 3, metric="precomputed", weights="binary", rng=rng
    )

    def one_pair(self, x, z):
        raise AssertionError

    monkeypatch.setattr(type(metric), "__call__", one_pair)
    ours = neighbor_graph(X, 3, metric=metric, weights="binary", rng=rng)
    assert (ours.adjacency != plain.adjacency).nnz == 0


@pytest.mark.parametrize("metric", METRICS)
def test_images_that_are_not_square_are_an_error(metric):
    with pytest.raises(ValueError, match="X has 10 columns, which is not the number"):
        metric.pairwise(np.ones((2, 10)))
    with pytest.raises(ValueError, match="X has images of 9 pixels and Z of 16"):
        metric.pairwise(np.ones((2, 9)), np.ones((2, 16)))
    with pytest.raises(ValueError, match="NaN"):
        metric.pairwise(np.full((2, 9), np.nan))


@pytest.mark.parametrize(
    "metric", [TangentDistance(smoothing=-1), TangentDistance(ridge=0)]
)
def test_bad_settings_of_the_tangent_distance(metric):
    with pytest.raises(ValueError, match="must be a finite number"):
        metric.pairwise(smooth_images(2))


def test_bad_settings_of_the_affine_distance():
    with pytest.raises(ValueError, match="growth must be a finite number at least 1"):
        AffineDistance(growth=0.9).pairwise(smooth_images(2))


def test_an_image_goes_on_beyond_its_edge():
    # Shifted, turned or stretched, an even grey is the same even grey. With a
    # background around it, it would have tangents at the border.
    grey = np.full((1, 64), 0.7)
    np.testing.assert_allclose(tangent_vectors(grey, 0.9), 0.0, atol=1e-12)
    half = np.repeat([[0.0] * 4 + [1.0] * 4], 8, axis=0).reshape(1, 64)
    dy = tangent_vectors(half, 0.9)[0, 1]
    np.testing.assert_allclose(dy, 0.0, atol=1e-12)
