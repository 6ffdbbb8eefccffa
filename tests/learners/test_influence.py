import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.exceptions import NearlyConstantKernelWarning, NotPSDError
from mercer.graphs.laplacians import degrees, laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.kernels.composite import Weighted
from mercer.kernels.normalized import Normalized
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.learners.influence import InfluenceKernel
from mercer.persist import load, save
from oracles.influence import (
    affine_by_sdp,
    literal_costs,
    literal_diffusion_distances,
)

BASE = [Linear(), Polynomial(degree=2), RBF(gamma=0.05), RBF(gamma=0.5)]


def points(n=30, seed=0):
    X, y = make_blobs(n, n_features=4, centers=3, cluster_std=2.0, random_state=seed)
    return X, y


@parametrize_with_checks(
    [
        InfluenceKernel(),
        InfluenceKernel(
            [Polynomial(degree=2), RBF(gamma="mean_distance")], combination="affine"
        ),
    ]
)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.NearlyConstantKernelWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_costs_and_influence_are_those_of_the_paper():
    X, _ = points(12)
    learner = InfluenceKernel(BASE).fit(X)
    u, s = literal_costs(X, [kernel(X) for kernel in BASE])
    np.testing.assert_allclose(learner.costs_, s, rtol=1e-10)
    np.testing.assert_allclose(learner.influence_, 1 - u, rtol=1e-10)


def weighted_costs(X, influence):
    costs = []
    for kernel in BASE:
        K = Normalized(kernel)(X)
        costs.append(sum(influence[j] * (2 - 2 * K[:, j]).sum() for j in range(len(X))))
    return np.array(costs)


def test_a_similarity_gives_influence_to_points_that_are_well_joined():
    X, _ = points(15)
    W = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    u = np.array([W[i].sum() for i in range(15)]) / W.sum()
    learner = InfluenceKernel(BASE, similarity=RBF(gamma=0.05)).fit(X)
    np.testing.assert_allclose(learner.influence_, u, rtol=1e-10)
    np.testing.assert_allclose(learner.costs_, weighted_costs(X, u), rtol=1e-10)
    nearest = W.sum(axis=1).argmax()
    assert learner.influence_.argmax() == nearest
    for same in (W, W.tolist(), csr_array(W)):
        again = InfluenceKernel(BASE, similarity=same).fit(X)
        np.testing.assert_allclose(again.influence_, u, rtol=1e-10)


def test_a_graph_of_ones_own_joins_the_points():
    X, _ = points(15)
    graph = neighbor_graph(X, n_neighbors=3, rng=np.random.default_rng(0))
    learner = InfluenceKernel(BASE, similarity=graph).fit(X)
    u = learner.influence_  # the walk keeps it
    transition = laplacian(graph.adjacency, "random_walk").toarray()
    assert u.sum() == pytest.approx(1)
    np.testing.assert_allclose(u @ transition, 0, atol=1e-14)
    np.testing.assert_allclose(u, degrees(graph.adjacency) / graph.adjacency.sum())


@pytest.mark.parametrize("time", [1, 4])
def test_diffusion_distances_stand_where_euclidean_ones_do(time):
    X, _ = points(12)
    W = RBF(gamma=0.05)(X)
    distances = literal_diffusion_distances(W, time)
    u = distances.sum(axis=1) / distances.sum()
    learner = InfluenceKernel(BASE, similarity=W, diffusion_time=time).fit(X)
    np.testing.assert_allclose(learner.influence_, 1 - u, rtol=1e-9)
    np.testing.assert_allclose(learner.costs_, weighted_costs(X, 1 - u), rtol=1e-9)
    alone = InfluenceKernel(BASE, diffusion_time=time).fit(X)
    gaussian = InfluenceKernel(BASE, similarity="rbf", diffusion_time=time).fit(X)
    np.testing.assert_array_equal(alone.influence_, gaussian.influence_)
    assert np.abs(alone.influence_ - learner.influence_).max() > 1e-6


def test_walks_that_have_met_weigh_all_points_alike():
    X, _ = points(12)
    everyone = InfluenceKernel(BASE, similarity=np.ones((12, 12)), diffusion_time=3)
    np.testing.assert_allclose(everyone.fit(X).influence_, 11 / 12)


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (np.eye(11), "similarity joins 11 points, but X has 10 rows"),
        (np.triu(np.ones((10, 10))), r"similarity\[0, 1\] = 1 but"),
        (np.eye(10) - 0.1, r"similarity\[0, 1\] = -0.1 is negative"),
        (np.full((10, 10), np.nan), "similarity holds NaN"),
        (np.zeros((10, 10)), "similarity is zero everywhere"),
    ],
)
def test_bad_similarities(similarity, message):
    X, _ = points(10)
    with pytest.raises(ValueError, match=message):
        InfluenceKernel(BASE, similarity=similarity).fit(X)


def test_bad_diffusion_times():
    X, _ = points(10)
    with pytest.raises(ValueError, match="diffusion_time == 0, must be >= 1"):
        InfluenceKernel(BASE, diffusion_time=0).fit(X)
    with pytest.raises(TypeError, match="diffusion_time must be an instance of int"):
        InfluenceKernel(BASE, diffusion_time=1.5).fit(X)


def test_convex_combination_is_the_kernel_of_smallest_cost():
    X, _ = points()
    learner = InfluenceKernel(BASE).fit(X)
    np.testing.assert_array_equal(
        learner.weights_, np.arange(4) == np.argmin(learner.costs_)
    )
    assert learner.certificate_.objective == learner.costs_.min()
    assert learner.certificate_.gap == 0


def test_tied_kernels_share_the_weight():
    X, _ = points()
    learner = InfluenceKernel([RBF(gamma=0.05), BASE[3], RBF(gamma=0.05)]).fit(X)
    np.testing.assert_allclose(learner.weights_, [0.5, 0, 0.5])


def test_affine_combination_agrees_with_semidefinite_programming():
    pytest.importorskip("cvxpy")
    X = np.random.default_rng(0).standard_normal((25, 6))
    learner = InfluenceKernel(BASE, combination="affine").fit(X)
    K = np.array([kernel(X) for kernel in learner.kernels_])
    _, objective = affine_by_sdp(K, learner.costs_)
    certificate = learner.certificate_
    assert abs(certificate.objective - objective) <= 1e-6 * learner.costs_.max()
    assert certificate.smallest_eigenvalue >= -1e-8
    assert certificate.gap <= 1e-6
    assert certificate.objective <= learner.costs_.min()


@pytest.mark.parametrize("combination", ["convex", "affine"])
def test_kernel_equals_the_combination_at_training_points(combination):
    X, _ = points()
    X_new = points(seed=5)[0][:7]
    learner = InfluenceKernel(BASE, combination=combination).fit(X)
    direct = sum(
        w * kernel(X_new, X)
        for w, kernel in zip(learner.weights_, learner.kernels_, strict=True)
    )
    np.testing.assert_allclose(learner.kernel_(X_new, X), direct, atol=1e-6)
    Phi = learner.transform(X)
    np.testing.assert_allclose(Phi @ Phi.T, learner.kernel_(X), atol=1e-8)
    assert np.linalg.eigvalsh(learner.kernel_(X_new))[0] >= -1e-10


def test_kernel_goes_into_scikit_learn():
    X, y = load_iris(return_X_y=True)
    learner = InfluenceKernel([RBF(gamma=0.5), RBF(gamma=5.0)]).fit(X)
    assert SVC(kernel=learner.kernel_).fit(X, y).score(X, y) >= 0.9
    few = X[::10]
    pca = KernelPCA(2, kernel=learner.kernel_).fit(few)
    whole = KernelPCA(2, kernel="precomputed").fit(learner.kernel_(few))
    np.testing.assert_allclose(pca.eigenvalues_, whole.eigenvalues_, rtol=1e-6)
    clusters = KMeans(3, n_init=2, random_state=0).fit_predict(learner.transform(X))
    assert len(set(clusters)) == 3


def test_average_is_shown_beside():
    X, _ = points()
    learner = InfluenceKernel(BASE).fit(X)
    mean = sum(kernel(X) for kernel in learner.kernels_) / 4
    np.testing.assert_allclose(learner.average_kernel_(X), mean)
    assert learner.certificate_.average_objective == pytest.approx(
        learner.costs_.mean()
    )


def test_a_nearly_constant_choice_warns():
    X, _ = points()
    with pytest.warns(NearlyConstantKernelWarning, match="mean cosine .* is 0.99"):
        learner = InfluenceKernel([RBF(gamma=1e-5), RBF(gamma=0.5)]).fit(X)
    assert learner.weights_[0] == 1
    assert learner.certificate_.spread < 0.01


def test_fractional_objective_is_the_ratio_of_the_paper():
    X, _ = points()
    learner = InfluenceKernel(BASE, objective="fractional").fit(X)
    u = 1 - learner.influence_
    ratios = []
    for kernel in learner.kernels_:
        K = kernel(X)
        distances = 2 - 2 * K
        star = distances.sum(axis=1) / distances.sum()  # u* of Eq. 27
        ratios.append((1 - u) @ star)
    assert learner.weights_[np.argmin(ratios)] == 1
    assert learner.certificate_.objective == pytest.approx(min(ratios))
    affine = InfluenceKernel(BASE, combination="affine", objective="fractional").fit(X)
    assert affine.certificate_.objective <= min(ratios) + affine.tol
    assert affine.certificate_.smallest_eigenvalue >= -1e-8


def test_views_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    X, _ = points()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    views = [(RBF(gamma=0.1), ["a", "b"]), ("linear", ["c", "d"])]
    named = InfluenceKernel(views, combination="affine").fit(frame)
    numbered = [(RBF(gamma=0.1), [0, 1]), ("linear", [2, 3])]
    plain = InfluenceKernel(numbered, combination="affine").fit(X)
    np.testing.assert_allclose(named.weights_, plain.weights_)
    np.testing.assert_allclose(named.transform(frame), plain.transform(X))
    first = named.kernels_[0]
    np.testing.assert_allclose(first(X), RBF(gamma=0.1)(X[:, :2]))


def test_matrices_names_and_functions_mean_the_same_kernels():
    X, _ = points()

    def gaussian(A, B):
        return RBF(gamma=0.1)(A, B)

    objects = InfluenceKernel([RBF(gamma=0.1), Linear()], combination="affine").fit(X)
    mixed = InfluenceKernel([gaussian, "linear"], combination="affine").fit(X)
    matrices = InfluenceKernel([RBF(gamma=0.1)(X), X @ X.T], combination="affine").fit(
        X
    )
    np.testing.assert_allclose(mixed.weights_, objects.weights_, atol=1e-6)
    np.testing.assert_allclose(matrices.weights_, objects.weights_, atol=1e-6)
    np.testing.assert_allclose(matrices.kernel_(X), objects.kernel_(X), atol=1e-5)
    with pytest.raises(ValueError, match="2 of 2 points are new"):
        matrices.kernel_(X[:2] + 1)


def test_clone_and_refit_give_the_same():
    X, _ = points()
    learner = InfluenceKernel(BASE, combination="affine")
    one, two = learner.fit(X).weights_, clone(learner).fit(X).weights_
    np.testing.assert_array_equal(one, two)


def test_saved_learners_transform_the_same(tmp_path):
    X, _ = points()
    learner = InfluenceKernel([RBF(gamma=0.1), X @ X.T], combination="affine").fit(X)
    save(learner, tmp_path / "learner.skops")
    again = load(tmp_path / "learner.skops")
    np.testing.assert_array_equal(again.transform(X), learner.transform(X))


def bad_matrix(kind, n=10):
    K = np.eye(n)
    if kind == "size":
        return np.eye(n + 1)
    if kind == "not symmetric":
        K[0, 1] = 0.5
    if kind == "not PSD":
        K[0, 1] = K[1, 0] = 3.0
    if kind == "NaN":
        K[2, 2] = np.nan
    if kind == "not square":
        return np.ones((n, n - 1))
    return K


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("size", ValueError, r"kernels\[1\] is a 11 x 11 matrix, but X has 10 rows"),
        ("not symmetric", ValueError, r"kernels\[1\]\[0, 1\] = 0.5 but"),
        ("not PSD", NotPSDError, r"kernels\[1\] .* smallest eigenvalue is -2"),
        ("NaN", ValueError, r"kernels\[1\] holds NaN"),
        ("not square", ValueError, r"kernels\[1\] must be square"),
    ],
)
def test_bad_matrices(kind, error, message):
    X, _ = points(10)
    with pytest.raises(error, match=message):
        InfluenceKernel([RBF(gamma=0.1), bad_matrix(kind)]).fit(X)


def test_other_bad_input():
    X, _ = points(10)
    with pytest.raises(ValueError, match="at least one kernel, got \\[\\]"):
        InfluenceKernel([]).fit(X)
    with pytest.raises(ValueError, match="list of at least one kernel, got 'rbf'"):
        InfluenceKernel("rbf").fit(X)
    zero = X.copy()
    zero[3] = 0
    with pytest.raises(ValueError, match=r"k\(x, x\) = 0 at 1 points, first at row 3"):
        InfluenceKernel(["linear"]).fit(zero)
    with pytest.raises(ValueError, match="combination must be one of"):
        InfluenceKernel(BASE, combination="linear").fit(X)
    with pytest.raises(ValueError, match="names column 'z', but X is not a data frame"):
        InfluenceKernel([("rbf", ["z"])]).fit(X)
    with pytest.raises(ValueError, match="all 4 points are equal"):
        InfluenceKernel([RBF()]).fit(np.ones((4, 2)))


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.NearlyConstantKernelWarning")
def test_affine_is_no_worse_than_convex_where_costs_differ_a_hundredfold(load):
    data = load().data
    X = data[:: len(data) // 40][:40]
    kernels = ["linear", Polynomial(2), RBF(gamma="mean_distance")]
    learner = InfluenceKernel(kernels, combination="affine").fit(X)
    certificate = learner.certificate_
    assert learner.costs_.max() > 50 * learner.costs_.min()
    assert certificate.objective <= learner.costs_.min()
    # What is called the gap is one of the objective, not of the largest cost.
    left = certificate.objective - certificate.lower_bound
    assert certificate.gap == pytest.approx(left / certificate.objective)
    assert certificate.gap <= 1e-6


@pytest.mark.parametrize("n", [10, 30])
def test_two_values_have_one_ratio_and_no_search(n):
    X = (np.arange(n) % 3 == 0)[:, None] * 1.0
    affine = InfluenceKernel(combination="affine", objective="fractional").fit(X)
    np.testing.assert_allclose(affine.weights_, 1 / 3)
    certificate = affine.certificate_
    assert certificate.gap == 0.0
    assert certificate.objective == pytest.approx(certificate.average_objective)


def test_weights_of_both_signs_lose_what_the_training_points_do_not_span():
    X = np.array([[1.0, 0.0], [1.2, 0.1], [0.0, 1.0], [0.1, 1.3]])
    new = np.array([[-1.0, 0.4]])
    learner = InfluenceKernel(["linear", "rbf"], combination="affine").fit(X)
    combined = Weighted(learner.kernels_, learner.weights_)
    np.testing.assert_allclose(learner.kernel_(X), combined(X), atol=1e-8)
    direct = combined(new, X)[0]
    span = np.linalg.pinv(combined(X), rcond=1e-9) @ combined(X)
    np.testing.assert_allclose(learner.kernel_(new, X)[0], direct @ span, atol=1e-6)
    assert np.abs(learner.kernel_(new, X)[0] - direct).max() > 1e-3
