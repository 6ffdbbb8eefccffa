from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.preprocessing import StandardScaler

from mercer import RBF
from mercer._base.ranges import unit_rows
from mercer.evidence.pairs import Pairs
from mercer.exceptions import BrokenLinksWarning
from mercer.learners._pair_blend import blend
from mercer.learners.clustering import cluster
from mercer.learners.pairwise import PairwiseKernel
from mercer.optim.linked_kmeans import linked_kmeans


class Features:
    """A kernel that is known by its features alone."""

    def __init__(self, Phi):
        self.Phi = Phi

    def features(self, X=None):
        return self.Phi if X is None else X


def test_cluster_ignores_the_length_of_rows():
    rng = np.random.default_rng(0)
    angles = np.repeat([0.0, 1.5], 30) + 0.1 * rng.normal(size=60)
    Phi = np.column_stack([np.cos(angles), np.sin(angles)])
    Phi *= rng.lognormal(sigma=2.0, size=(60, 1))
    found = cluster(Features(Phi), 2, random_state=0)
    assert rand_score(np.repeat([0, 1], 30), found) == 1.0


def test_same_seed_same_clusters_and_new_points():
    Phi = np.random.default_rng(0).normal(size=(50, 4))
    one, two = (cluster(Features(Phi), 3, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert len(cluster(Features(Phi), 3, Phi[:10], random_state=7)) == 10


def test_unit_rows_keep_zeros():
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]])


class Plain:
    """Points that are their own features."""

    def __init__(self, rows):
        self.rows = rows

    def features(self, X=None):
        return self.rows if X is None else X


@pytest.mark.parametrize("seed", range(6))
def test_links_that_can_be_kept_are_kept(seed):
    rng = np.random.default_rng(seed)
    rows, truth = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
    pairs = Pairs.from_labels(truth, n_pairs=25, random_state=seed)
    found = cluster(Plain(rows), 3, pairs=pairs, random_state=seed)
    must, cannot = pairs.must_link, pairs.cannot_link
    assert (found[must[:, 0]] == found[must[:, 1]]).all()
    assert (found[cannot[:, 0]] != found[cannot[:, 1]]).all()
    free = cluster(Plain(rows), 3, random_state=seed)
    assert (free[must[:, 0]] != free[must[:, 1]]).any()  # it was not for nothing


def test_links_that_cannot_be_kept_are_named():
    rows = np.random.default_rng(0).standard_normal((6, 2))
    three = Pairs.from_index([], [(0, 1), (1, 2), (0, 2)], n_points=6)
    with pytest.warns(BrokenLinksWarning, match=r"1 of 3 cannot-links"):
        found = cluster(Plain(rows), 2, pairs=three, random_state=0)
    assert len(set(found[:3])) == 2
    against = Pairs.from_index([(0, 1), (1, 2)], [(0, 2)], n_points=6)
    with pytest.warns(BrokenLinksWarning, match=r"\[\(0, 2\)\]"):
        found = cluster(Plain(rows), 2, pairs=against, random_state=0)
    assert len(set(found[:3])) == 1


def test_without_links_it_is_k_means():
    rng = np.random.default_rng(0)
    rows = unit_rows(rng.standard_normal((60, 3)))
    none = Pairs.from_index([], n_points=60)
    kept = cluster(Plain(rows), 3, pairs=none, n_init=30, random_state=0)
    free = cluster(Plain(rows), 3, n_init=30, random_state=0)
    assert rand_score(kept, free) == 1.0


def test_links_are_of_the_points_clustered():
    with pytest.raises(ValueError, match="over 5 points, and 6 are clustered"):
        cluster(Plain(np.eye(6)), 2, pairs=Pairs.from_index([], n_points=5))
    whole = Pairs.from_index([(0, 1), (1, 2)], n_points=3)
    with pytest.raises(ValueError, match="2 clusters of 1 groups"):
        cluster(Plain(np.eye(3)), 2, pairs=whole)


def test_a_kernel_without_features_is_refused() -> None:
    with pytest.raises(TypeError, match="RBF has no features"):
        cluster(RBF(), 2, [[0.0], [1.0]])
    with pytest.raises(TypeError, match=r"learned kernel, such as .* ndarray has no"):
        cluster(np.eye(3), 2)


def digits_links(m, seed):
    points, truth = load_digits(return_X_y=True)
    points, truth = StandardScaler().fit_transform(points[:400]), truth[:400]
    return points, truth, Pairs.from_labels(truth, n_pairs=m, random_state=seed)


def test_few_links_are_better_than_none():
    """With the learned kernel alone they were worse: .15 with ten links, not .44."""
    leads = []
    for seed in range(2):
        X, truth, pairs = digits_links(20, seed)
        kernel = PairwiseKernel(random_state=0).fit(X, pairs=pairs).kernel_
        found = cluster(kernel, 10, pairs=pairs, n_init=4, random_state=0)
        plain = KMeans(10, n_init=4, random_state=0).fit_predict(X)
        leads.append(
            adjusted_rand_score(truth, found) - adjusted_rand_score(truth, plain)
        )
    assert np.mean(leads) >= 0.05


def test_clusters_give_half_of_the_other_shares_to_the_columns(monkeypatch):
    X, _, pairs = digits_links(60, 0)
    kernel = PairwiseKernel(random_state=0).fit(X, pairs=pairs).kernel_
    seen = {}

    def spied(*args, **settings):
        seen["found"] = blend(*args, **settings)
        return seen["found"]

    def clustered(rows, *args, **settings):
        seen["rows"] = rows
        return linked_kmeans(rows, *args, **settings)

    monkeypatch.setattr("mercer.learners.clustering.blend", spied)
    monkeypatch.setattr("mercer.learners.clustering.linked_kmeans", clustered)
    cluster(kernel, 10, pairs=pairs, n_init=1, random_state=0)
    k = seen["found"].kernel
    a, b, c = k.shares
    assert c < 0.9
    parts = (
        np.sqrt(a / 2) * unit_rows(k.learned.features()),
        np.sqrt(b / 2) * unit_rows(k.free.features()),
        np.sqrt(c / 2 + 0.5) * k.metric.features(X),
    )
    np.testing.assert_allclose(seen["rows"], np.hstack(parts), atol=1e-10)
    without = replace(k, metric=None, shares=(0.3, 0.7, 0.0))
    assert without.for_clusters() is without


def test_columns_come_from_the_basis_or_from_x():
    X, _, pairs = digits_links(60, 0)
    kernel = PairwiseKernel(random_state=0).fit(X, pairs=pairs).kernel_
    one = cluster(kernel, 10, pairs=pairs, n_init=1, random_state=0)
    two = cluster(kernel, 10, X, pairs=pairs, n_init=1, random_state=0)
    np.testing.assert_array_equal(one, two)


def test_links_of_one_kind_leave_the_kernel_as_it_is():
    X, _, pairs = digits_links(60, 0)
    kernel = PairwiseKernel(random_state=0).fit(X, pairs=pairs).kernel_
    must = Pairs.from_index(pairs.must_link, n_points=len(X))
    found = cluster(kernel, 10, pairs=must, n_init=1, random_state=0)
    alone = cluster(Plain(kernel.features()), 10, pairs=must, n_init=1, random_state=0)
    np.testing.assert_array_equal(found, alone)
