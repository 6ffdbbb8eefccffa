"""The average and centred alignment against brute force and a conic solver."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from mercer.kernels.aligning import centered_alignment
from mercer.kernels.columns import OnColumns
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.learners.combination import AverageKernel, CenteredAlignmentKernel

KERNELS = [RBF(gamma=g) for g in (0.01, 0.1, 1.0)] + [
    Linear(),
    Polynomial(degree=2),
]


def blobs(n_classes: int, seed: int = 0):
    X, y = make_blobs(50, 4, centers=n_classes, cluster_std=5.0, random_state=seed)
    return X, np.where(np.arange(50) % 2 == 0, y, -1)


def ideal(y):
    known = y[y >= 0]
    return (known[:, None] == known).astype(float)


def test_average_has_equal_traces() -> None:
    X, y = blobs(2)
    learner = AverageKernel(KERNELS).fit(X, y)
    expected = np.mean([k(X) / k.diag(X).mean() for k in KERNELS], axis=0)
    assert learner.kernel_(X) == pytest.approx(expected, rel=1e-12)
    assert learner.weights_ == pytest.approx(np.full(5, 0.2))
    K = learner.kernel_(X[y >= 0])
    assert learner.certificate_.alignment == pytest.approx(
        centered_alignment(K, ideal(y)), rel=1e-10
    )


def test_average_needs_no_labels() -> None:
    X, y = blobs(2)
    without = AverageKernel(KERNELS).fit(X)
    assert np.isnan(without.certificate_.alignment)
    assert np.array_equal(
        without.kernel_(X), AverageKernel(KERNELS).fit(X, y).kernel_(X)
    )


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_no_combination_aligns_better(n_classes, seed) -> None:
    cp = pytest.importorskip("cvxpy")
    X, y = blobs(n_classes, seed)
    learner = CenteredAlignmentKernel(KERNELS).fit(X, y)
    rows, T = X[y >= 0], ideal(y)
    ours = centered_alignment(learner.kernel_(rows), T)
    assert learner.certificate_.alignment == pytest.approx(ours, rel=1e-10)
    assert learner.certificate_.kkt_residual <= 1e-10
    # Maximise <K_c, T> over ||K_c|| <= 1 and w >= 0.
    H = np.eye(len(rows)) - 1 / len(rows)
    base = np.stack([(H @ k(rows) @ H).ravel() for k in learner.kernels_], axis=1)
    base /= np.linalg.norm(base, axis=0)
    w = cp.Variable(len(KERNELS), nonneg=True)
    goal = (base.T @ T.ravel()) / np.linalg.norm(H @ T @ H)
    cp.Problem(cp.Maximize(goal @ w), [cp.norm(base @ w) <= 1]).solve("CLARABEL")
    theirs = goal @ w.value / np.linalg.norm(base @ w.value)
    assert ours == pytest.approx(theirs, abs=1e-8)
    assert ours >= max(learner.certificate_.base_alignments) - 1e-12
    average = AverageKernel(KERNELS).fit(X, y)
    assert ours >= average.certificate_.alignment - 1e-12


def test_units_of_the_kernels_do_not_matter() -> None:
    X, y = blobs(3)
    scaled = [
        factor * k for factor, k in zip((1e-3, 1, 50, 7, 0.2), KERNELS, strict=True)
    ]
    for learner in (AverageKernel, CenteredAlignmentKernel):
        K = learner(KERNELS).fit(X, y).kernel_(X)
        assert learner(scaled).fit(X, y).kernel_(X) == pytest.approx(K, rel=1e-8)


def test_transform_feeds_a_precomputed_machine() -> None:
    X, y = blobs(2)
    learner = CenteredAlignmentKernel(KERNELS).fit(X, y)
    known = np.flatnonzero(y >= 0)
    columns = SVC(kernel="precomputed").fit(
        learner.transform(X)[known][:, known], y[known]
    )
    direct = SVC(kernel=learner.kernel_).fit(X[known], y[known])
    predicted = columns.predict(learner.transform(X)[:, known])
    assert np.array_equal(predicted, direct.predict(X))


def test_sparse_points_give_the_same_kernel() -> None:
    X, y = blobs(2)
    dense = CenteredAlignmentKernel(KERNELS).fit(X, y)
    sparse = CenteredAlignmentKernel(KERNELS).fit(csr_array(X), y)
    assert sparse.weights_ == pytest.approx(dense.weights_, abs=1e-8)


def test_kernels_constant_over_the_labels_are_refused() -> None:
    X = np.array([[1.0], [1.0], [3.0], [5.0]])
    with pytest.raises(ValueError, match="constant over the labelled points"):
        CenteredAlignmentKernel(["linear"]).fit(X, [0, 1, -1, -1])


@pytest.mark.parametrize("kernels", [[], "rbf", RBF(gamma=1.0)])
def test_a_list_of_kernels_is_wanted(kernels) -> None:
    with pytest.raises(ValueError, match="list of at least one kernel"):
        AverageKernel(kernels).fit([[0.0], [1.0]])


@pytest.mark.parametrize("kind", [AverageKernel, CenteredAlignmentKernel])
def test_lists_of_matrices_are_lists_of_kernels(kind) -> None:
    X, y = blobs(3)
    X_new = X[::3] + 0.1
    points = kind(KERNELS).fit(X, y)
    matrices = kind("precomputed").fit([k(X) for k in KERNELS], y)
    assert matrices.weights_ == pytest.approx(points.weights_)
    new = matrices.transform([k(X_new, X) for k in KERNELS])
    assert new == pytest.approx(points.transform(X_new), rel=1e-8)
    assert matrices.certificate_.alignment == pytest.approx(
        points.certificate_.alignment
    )


def test_entries_may_be_matrices_and_blocks_of_columns() -> None:
    X, y = blobs(2)
    given = AverageKernel([X @ X.T, ("rbf", [0])]).fit(X, y)
    direct = AverageKernel([Linear(), OnColumns("rbf", [0])]).fit(X, y)
    assert given.kernel_(X) == pytest.approx(direct.kernel_(X))


@pytest.mark.parametrize(
    ("fitted", "new", "message"),
    [
        ([np.eye(3), np.eye(4)], None, "of one shape"),
        ([np.ones((3, 2))] * 2, None, "are square"),
        ([np.eye(3)] * 2, [np.ones((2, 4))] * 2, "2 kernels of new points with the 3"),
        ([np.eye(3)] * 2, [np.ones((2, 3))] * 3, "got 3 of shape"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(fitted, new, message) -> None:
    with pytest.raises(ValueError, match=message):
        AverageKernel("precomputed").fit(fitted).transform(new)
