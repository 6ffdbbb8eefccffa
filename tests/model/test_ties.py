"""Symmetric problems have symmetric answers, whatever the order of rows."""

from itertools import permutations

import numpy as np
import pytest

from mercer import UnifiedKernelMachine
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.sizes import match_sizes
from mercer.spectrum.features import class_counts
from mercer.spectrum.scores import ArrayScores


def polygon(sides):
    """Corners of a regular polygon, one per class, and its centre."""
    angle = 2 * np.pi * np.arange(sides) / sides
    corners = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.vstack([corners, [[0.0, 0.0]]]), np.append(np.arange(sides), -1)


def mirrored(n, seed):
    """Points and their mirror images, one label on each side, one in the middle."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    X[:, 0] += 1.0
    images = X * [-1.0, 1.0]
    y = np.full(2 * n + 1, -1)
    y[0], y[n] = 0, 1
    return np.vstack([X, images, [[0.0, 0.0]]]), y


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_point_between_two_labels_is_a_tie_in_every_order(order):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])[list(order)]
    y = np.array([0, 1, -1])[list(order)]
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    P = model.training_proba()[np.argsort(order)]
    np.testing.assert_allclose(P[2], 0.5, atol=1e-9)
    np.testing.assert_allclose(P[0], P[1, ::-1], atol=1e-9)
    # A tie still has to be one class: always the same.
    assert model.transduction_[order.index(2)] == 0


@pytest.mark.parametrize("sides", [3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_centre_of_a_polygon_belongs_to_no_corner(sides, seed):
    X, y = polygon(sides)
    order = np.random.default_rng(seed).permutation(len(X))
    machine = LeaveOneOutRLS().fit(X[order], y[order])
    P = machine.predict_proba(X)
    np.testing.assert_allclose(P[-1], 1 / sides, atol=1e-9)
    for c in range(sides):
        np.testing.assert_allclose(np.roll(P[c], -c), P[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_mirror_images_have_mirrored_probabilities(seed):
    X, y = mirrored(10, seed)
    # Without the middle, so that no two neighbours are equally near.
    P = UnifiedKernelMachine(random_state=0).fit(X[:-1], y[:-1]).training_proba()
    np.testing.assert_allclose(P[:10], P[10:, ::-1], atol=1e-9)
    P = LeaveOneOutRLS().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P[:10], P[10:20, ::-1], atol=1e-9)
    np.testing.assert_allclose(P[20], 0.5, atol=1e-9)


def lattice(seed):
    """A mirrored problem on a coarse grid: equal distances and equal rows abound."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(5, 25)), int(rng.integers(1, 4))
    half = rng.integers(0, 4, (m, d)) + 0.5 * (seed % 2)
    half[0, 0] += 1.0
    middle = np.zeros((2, d))
    X = np.vstack([half, half * np.r_[-1.0, np.ones(d - 1)], middle])
    y = np.full(len(X), -1)
    y[0], y[m] = 0, 1
    return X, y, m


@pytest.mark.parametrize("seed", range(8))
def test_equally_near_neighbours_are_all_neighbours(seed):
    X, y, m = lattice(seed)
    P = UnifiedKernelMachine(random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P[:m], P[m : 2 * m, ::-1], atol=1e-9)
    np.testing.assert_allclose(P[2 * m :], 0.5, atol=1e-9)
    order = np.random.default_rng(seed).permutation(len(X))
    other = UnifiedKernelMachine(random_state=0).fit(X[order], y[order])
    np.testing.assert_allclose(other.predict_proba(X), P, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_classes_does_not_change_offsets(seed):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((50, 4))
    sizes = rng.dirichlet(np.full(4, 10.0))
    b = match_sizes(ArrayScores(scores), sizes)
    for order in ([1, 0, 2, 3], [3, 2, 1, 0], [1, 2, 3, 0]):
        np.testing.assert_allclose(
            match_sizes(ArrayScores(scores[:, order]), sizes[order]),
            b[order],
            atol=1e-12,
        )


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_offsets_give_every_class_its_share(n_classes):
    rng = np.random.default_rng(n_classes)
    scores = rng.standard_normal((2000, n_classes)) + rng.standard_normal(n_classes)
    sizes = rng.dirichlet(np.full(n_classes, 5.0))
    said = ArrayScores(scores)
    decision = said.decide(match_sizes(said, sizes, max_iter=50))
    shares = class_counts(decision, n_classes) / len(scores)
    # One point per class may be on either side of its boundary.
    np.testing.assert_allclose(shares, sizes, atol=(n_classes + 1) / 2000)


def test_half_a_point_too_many_is_shared():
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.4, 0.4]])
    b = match_sizes(ArrayScores(scores), np.array([0.5, 0.5]))
    np.testing.assert_allclose(b, 0.0, atol=1e-12)
    np.testing.assert_array_equal(ArrayScores(scores + b).decide(), [0, 1, -1])
