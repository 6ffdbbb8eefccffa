import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from data_folder import needs_data
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.kernels.parametric import RBF
from mercer.machines.laplacian import LapRLS, LapRLSCV, LapSVM, LapSVMCV
from mercer.machines.rls import RLSClassifier
from mercer.machines.svm import KernelSVC
from mercer.optim.manifold import inverted_folds
from mercer_studies.data import load
from oracles.machines import lap_rls_dense, lap_svm_by_cvxpy

GAMMA = 2.0  # a narrow kernel, so that its matrix has full rank


def problem(n_classes=2, n=30, seed=0, step=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    truth = np.argsort(np.argsort(X[:, 0] + X[:, 1] ** 2)) * n_classes // n
    y = np.where(np.arange(n) % step == 0, truth, -1)
    graph = neighbor_graph(X, 5, rng=rng)
    return X, y, graph


def power_of_laplacian(graph, degree):
    return np.linalg.matrix_power(laplacian(graph.adjacency).toarray(), degree)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("gammas", [(1e-2, 1e-1), (1.0, 1e-4), (1e-4, 10.0)])
def test_least_squares_equal_the_dense_solution_everywhere(n_classes, degree, gammas):
    X, y, graph = problem(n_classes)
    gamma_A, gamma_I = gammas
    model = LapRLS(
        RBF(gamma=GAMMA), gamma_A=gamma_A, gamma_I=gamma_I, degree=degree, graph=graph
    ).fit(X, y)
    labeled = np.flatnonzero(y >= 0)
    Y = (y[labeled][:, None] == np.arange(n_classes)).astype(float)
    alpha = lap_rls_dense(
        rbf_kernel(X, gamma=GAMMA),
        power_of_laplacian(graph, degree),
        Y,
        labeled,
        gamma_A,
        gamma_I,
    )
    new = np.concatenate([X, X + 0.2])  # out of sample through the ambient kernel
    f = rbf_kernel(new, X, gamma=GAMMA) @ alpha
    expected = f[:, 1] - f[:, 0] if n_classes == 2 else f
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-7)


@pytest.mark.parametrize("gammas", [(1e-2, 1e-1), (1e-3, 1.0)])
def test_support_vectors_equal_the_convex_program(gammas):
    pytest.importorskip("cvxpy")
    X, y, graph = problem(2)
    gamma_A, gamma_I = gammas
    model = LapSVM(
        RBF(gamma=GAMMA), gamma_A=gamma_A, gamma_I=gamma_I, degree=2, graph=graph
    ).fit(X, y)
    labeled = np.flatnonzero(y >= 0)
    f, b, value = lap_svm_by_cvxpy(
        rbf_kernel(X, gamma=GAMMA),
        power_of_laplacian(graph, 2),
        2.0 * y[labeled] - 1,
        labeled,
        gamma_A,
        gamma_I,
    )
    # Ours is the same program times 1 / (2 gamma_A).
    np.testing.assert_allclose(
        2 * gamma_A * model.certificate_.objective, value, rtol=1e-5
    )
    np.testing.assert_allclose(model.decision_function(X), f + b, atol=2e-4)
    assert model.certificate_.gap <= 1e-4 * model.certificate_.objective


def test_three_classes_of_support_vectors_are_one_versus_rest():
    X, y, graph = problem(3)
    params = {"kernel": RBF(gamma=GAMMA), "graph": graph}
    f = LapSVM(**params).fit(X, y).decision_function(X)
    for c in range(3):
        one = np.where(y == -1, -1, y == c)
        single = LapSVM(**params).fit(X, one).decision_function(X)
        np.testing.assert_allclose(f[:, c], single, atol=1e-4)


def test_without_the_graph_both_are_the_supervised_machines():
    X, y, graph = problem(2)
    kernel, n_labeled = RBF(gamma=GAMMA), np.sum(y >= 0)
    flat = LapRLS(kernel, gamma_A=0.1, gamma_I=0.0, graph=graph).fit(X, y)
    plain = RLSClassifier(kernel, C=1 / (0.1 * n_labeled)).fit(X, y)
    np.testing.assert_allclose(
        flat.decision_function(X), plain.decision_function(X), atol=1e-8
    )
    flat_svm = LapSVM(kernel, gamma_A=0.1, gamma_I=0.0, graph=graph).fit(X, y)
    plain_svm = KernelSVC(kernel, C=1 / (0.2 * n_labeled), tol=1e-6).fit(X, y)
    np.testing.assert_allclose(
        flat_svm.decision_function(X), plain_svm.decision_function(X), atol=1e-4
    )


def test_a_basis_of_all_directions_is_the_dense_machine():
    X, y, graph = problem(3)
    params = {"kernel": RBF(gamma=GAMMA), "graph": graph}
    dense = LapRLS(**params).fit(X, y).decision_function(X)
    whole = LapRLS(n_components=len(X), **params).fit(X, y).decision_function(X)
    np.testing.assert_allclose(whole, dense, atol=1e-8)
    few = [
        np.abs(LapRLS(n_components=r, **params).fit(X, y).decision_function(X) - dense)
        for r in (5, 15, 25)
    ]
    assert few[0].max() > few[1].max() > few[2].max()


@pytest.mark.parametrize(("fixed", "by_grid"), [(LapRLS, LapRLSCV), (LapSVM, LapSVMCV)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_grid_scores_equal_refits_of_the_machine(fixed, by_grid, n_classes):
    X, y, graph = problem(n_classes, n=60, step=2)
    params = {"kernel": RBF(gamma=GAMMA), "graph": graph}
    grid = (1e-3, 1e-1, 10.0)
    model = by_grid(gammas_A=grid, gammas_I=grid, cv=3, **params).fit(X, y)
    labeled = np.flatnonzero(y >= 0)
    scores = np.zeros((3, 3))
    for i, gamma_A in enumerate(grid):
        for j, gamma_I in enumerate(grid):
            machine = fixed(gamma_A=gamma_A, gamma_I=gamma_I, **params)
            for train, held in inverted_folds(y[labeled], 3):
                known = np.full(len(y), -1)
                known[labeled[train]] = y[labeled[train]]
                found = machine.fit(X, known).predict(X[labeled[held]])
                scores[i, j] += np.mean(found == y[labeled[held]]) / 3
    np.testing.assert_allclose(model.cv_scores_, scores, atol=1e-12)
    assert len(np.unique(scores)) > 1
    best = fixed(gamma_A=model.gamma_A_, gamma_I=model.gamma_I_, **params).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), best.decision_function(X), atol=1e-10
    )
    place = grid.index(model.gamma_A_), grid.index(model.gamma_I_)
    assert scores[place] == pytest.approx(scores.max())


def test_ties_go_to_the_labels_and_the_graph():
    X = np.array([[1.0], [1.1], [1.2], [3.0], [3.1], [3.2]])
    one_each = LapRLSCV(n_neighbors=2).fit(X, [0, -1, -1, 1, -1, -1])
    assert (one_each.gamma_A_, one_each.gamma_I_) == (1e-6, 100.0)
    assert not one_each.cv_scores_.any()  # nothing to validate on
    all_right = LapSVMCV(n_neighbors=2).fit(X, [0, 0, 0, 1, 1, 1])
    tied = np.argwhere(all_right.cv_scores_ == all_right.cv_scores_.max())
    assert len(tied) > 1
    assert all_right.gamma_A_ == min(all_right.gammas_A[i] for i, _ in tied)


def test_a_precomputed_kernel_needs_a_graph():
    X, y, graph = problem(2)
    K = rbf_kernel(X, gamma=GAMMA)
    with pytest.raises(ValueError, match="give graph= too"):
        LapRLS("precomputed").fit(K, y)
    f = LapRLS("precomputed", graph=graph.adjacency).fit(K, y).decision_function(K)
    points = LapRLS(RBF(gamma=GAMMA), graph=graph).fit(X, y)
    np.testing.assert_allclose(f, points.decision_function(X), atol=1e-8)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LapRLS(gamma_A=0.0), ValueError, "gamma_A must be a finite number above 0"),
        (
            LapRLS(gamma_I=-1.0),
            ValueError,
            "gamma_I must be a finite number at least 0",
        ),
        (LapRLS(degree=0), ValueError, "degree == 0"),
        (
            LapRLS(graph=np.zeros((3, 3))),
            ValueError,
            "has 3 points and X has 30",
        ),
        (LapRLS(LapRLS()), TypeError, "deforms a given kernel"),
        (
            LapRLSCV(gammas_A=()),
            ValueError,
            "gammas_A must be a list with at least one entry",
        ),
        (LapSVMCV(cv=1), ValueError, "cv == 1"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(model, error, message):
    X, y, _ = problem(2)
    with pytest.raises(error, match=message):
        model.fit(X, y)


def test_a_graph_in_place_of_points_is_refused():
    _, y, graph = problem(2)
    with pytest.raises(TypeError, match="ready-made Graph as graph="):
        LapRLS().fit(graph, y)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("name", "n_labeled", "n_neighbors", "degree", "printed"),
    [
        ("g50c", 50, 50, 5, 94.64),
        ("ssl_digit1", 100, 5, 2, 98.14),
        ("ssl_usps", 100, 5, 2, 95.10),
        ("ssl_text", 100, 50, 5, 76.44),
    ],
)
def test_near_print(name, n_labeled, n_neighbors, degree, printed):
    """Mao and Tsang (2010), Table 2, where folds and ties are not said: one point."""
    data = load(name)
    model = LapRLSCV(n_neighbors=n_neighbors, degree=degree, random_state=0)
    accuracies = []
    for known, rest in data.splits[n_labeled]:
        found = model.fit(data.X, data.reveal(known)).transduction_[rest]
        accuracies.append(100 * np.mean(found == data.y[rest]))
    assert abs(np.mean(accuracies) - printed) <= 1.0
