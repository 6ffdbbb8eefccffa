"""Filters: the kernel they name, from dense matrices."""

import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.datasets import make_blobs
from sklearn.decomposition import KernelPCA

from mercer.learners.filter_kernel import FilterKernel
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis


@pytest.fixture
def points():
    return make_blobs(40, centers=2, cluster_std=2.0, random_state=0)[0]


@pytest.fixture
def laplacian(points):
    W = GraphBasis().fit(points).graph_.adjacency.toarray()
    d = W.sum(axis=1)
    return np.eye(40) - W / np.sqrt(np.outer(d, d))


ALL = GraphBasis(n_components=None)


def test_diffusion_is_the_matrix_exponential(points, laplacian) -> None:
    learner = FilterKernel("diffusion", {"t": 1.7}, basis=ALL).fit(points)
    assert learner.kernel_() == pytest.approx(expm(-1.7 * laplacian), abs=1e-10)


def test_gaussian_field_is_the_regularised_inverse(points, laplacian) -> None:
    learner = FilterKernel("gaussian_field", {"eps": 0.3}, basis=ALL).fit(points)
    inverse = np.linalg.inv(laplacian + 0.3 * np.eye(40))
    assert learner.kernel_() == pytest.approx(inverse, abs=1e-10)


def test_cluster_projects_on_the_smoothest_directions(points, laplacian) -> None:
    learner = FilterKernel("cluster", {"n_kept": 5}, basis=ALL).fit(points)
    U = np.linalg.eigh(laplacian)[1][:, :5]
    assert learner.kernel_() == pytest.approx(U @ U.T, abs=1e-9)
    assert FilterKernel("cluster").fit(points).weights_.tolist() == [1.0] * 40


def test_truncated_is_kernel_pca(points) -> None:
    basis = GramBasis(n_components=10, kernel="rbf", centered=True)
    learner = FilterKernel("truncated", {"n_kept": 4}, basis=basis).fit(points)
    scores = KernelPCA(4, kernel="rbf", eigen_solver="dense").fit_transform(points)
    assert learner.kernel_() == pytest.approx(scores @ scores.T, abs=1e-9)


def test_any_function_of_the_values_is_a_filter(points) -> None:
    learner = FilterKernel(lambda values, a: a * values, {"a": 2.0}).fit(points)
    assert np.array_equal(learner.weights_, 2 * learner.basis_.values_)


def test_labels_change_nothing(points) -> None:
    with_labels = FilterKernel().fit(points, np.arange(40) % 2)
    assert np.array_equal(with_labels.weights_, FilterKernel().fit(points).weights_)


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (FilterKernel("heat"), "filter must be one of"),
        (FilterKernel("diffusion", basis=GramBasis()), "values of a Laplacian"),
        (FilterKernel("truncated", basis=GraphBasis()), "those of a Laplacian"),
        (FilterKernel(lambda values: -values), "negative"),
    ],
)
def test_filters_that_make_no_sense_are_refused(points, learner, match) -> None:
    with pytest.raises(ValueError, match=match):
        learner.fit(points)
