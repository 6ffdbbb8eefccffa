import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from data_folder import needs_data
from mercer.evidence.pairs import Pairs
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import neighbor_graph
from mercer.optim.budgeted_psd import solve_budgeted_psd
from mercer.optim.npkl import PairProblem
from mercer.optim.npkl_newton import solve_npkl
from mercer.optim.npkl_paper import solve_npkl_paper
from mercer.optim.pair_forms import BasisForms, EntryForms
from mercer_studies.data import load
from oracles.npkl import npkl_sdp

LOSSES = ["squared_hinge", "hinge"]


def random_problem(seed, n=14, n_pairs=40):
    """A normalised Laplacian of a random graph and pairs of three random classes."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1) + 1e-2
    W = np.triu(W, 1) + np.triu(W, 1).T
    degree = W.sum(axis=1)
    L = np.eye(n) - W / np.sqrt(np.outer(degree, degree))
    pairs = Pairs.from_labels(rng.integers(0, 3, n), n_pairs=n_pairs, random_state=seed)
    return L, pairs, EntryForms(pairs.first, pairs.second, pairs.signs, n)


def dense(solution):
    return (solution.vectors * solution.values) @ solution.vectors.T


@pytest.mark.parametrize("budget", [14.0, 98.0, 2e4], ids=["small", "default", "slack"])
@pytest.mark.parametrize("C", [0.5, 10.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_the_sdp(loss, C, budget):
    L, pairs, forms = random_problem(seed=1)
    solution = solve_npkl(PairProblem(forms, L, loss, C, budget), tol=1e-8)
    T = pairs.matrix().toarray()
    reference = npkl_sdp(L, T, loss=loss, C=C, budget=budget)
    size = abs(reference.objective)
    assert solution.objective == pytest.approx(reference.objective, abs=1e-6 * size)
    assert solution.bound <= reference.objective + 1e-8 * size
    np.testing.assert_allclose(dense(solution), reference.K, atol=1e-4)


@pytest.mark.parametrize("budget", [14.0, 98.0])
def test_linear_loss_agrees_with_the_sdp(budget):
    L, pairs, forms = random_problem(seed=2)
    A = forms.less(np.full(len(pairs), 2.0), L)
    best = solve_budgeted_psd(A, budget=budget)
    T = pairs.matrix().toarray()
    reference = npkl_sdp(L, T, loss="linear", C=2.0, budget=budget)
    assert -best.objective == pytest.approx(reference.objective, rel=1e-6)
    np.testing.assert_allclose(dense(best), reference.K, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_gap_is_true_and_closed(loss, seed):
    """Objective and bound are recomputed here from K and the dual variables alone."""
    L, pairs, forms = random_problem(seed, n=20, n_pairs=60)
    C, budget = 10.0 ** (seed - 2), 20.0 * 20 / 3
    solution = solve_npkl(PairProblem(forms, L, loss, C, budget), tol=1e-6)
    K, a = dense(solution), solution.dual
    margins = pairs.signs * K[pairs.first, pairs.second]
    short = np.maximum(0, 1 - margins)
    losses = {"hinge": short.sum(), "squared_hinge": (short**2).sum() / 2}
    objective = np.sum(L * K) + C * losses[loss]
    quadratic = (a @ a) / (2 * C) if loss == "squared_hinge" else 0.0
    S = np.zeros((20, 20))
    S[pairs.first, pairs.second] = a * pairs.signs / 2
    positive = np.maximum(np.linalg.eigvalsh(S + S.T - L), 0)
    bound = a.sum() - quadratic - np.sqrt(budget) * np.linalg.norm(positive)
    assert a.min() >= 0
    assert a.max() <= (C if loss == "hinge" else np.inf)
    assert np.linalg.eigvalsh(K).min() >= -1e-9
    assert np.sum(K * K) <= budget * (1 + 1e-9)
    assert solution.objective == pytest.approx(objective, rel=1e-9)
    assert solution.bound == pytest.approx(bound, rel=1e-7, abs=1e-9)
    assert 0 <= objective - bound + 1e-9 <= 1.1e-6 * abs(objective) + 2e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_full_basis_gives_the_exact_kernel(loss):
    L, pairs, forms = random_problem(seed=3)
    U = np.linalg.qr(np.random.default_rng(0).normal(size=L.shape))[0]
    inside = BasisForms.over(U, pairs.first, pairs.second, pairs.signs)
    exact = solve_npkl(PairProblem(forms, L, loss, 3.0, 60.0), tol=1e-9)
    core = solve_npkl(PairProblem(inside, U.T @ L @ U, loss, 3.0, 60.0), tol=1e-9)
    assert core.objective == pytest.approx(exact.objective, rel=1e-8)
    np.testing.assert_allclose(U @ dense(core) @ U.T, dense(exact), atol=1e-4)


def test_order_of_pairs_does_not_matter():
    L, pairs, forms = random_problem(seed=4)
    order = np.random.default_rng(1).permutation(len(pairs))
    shuffled = EntryForms(
        pairs.first[order], pairs.second[order], pairs.signs[order], len(L)
    )
    one, two = (
        solve_npkl(PairProblem(f, L, "squared_hinge", 3.0, 60.0), tol=1e-10)
        for f in (forms, shuffled)
    )
    np.testing.assert_allclose(dense(one), dense(two), atol=1e-5)
    np.testing.assert_allclose(one.dual[order], two.dual, atol=1e-4)


def test_sparse_penalty_equals_dense():
    L, _, forms = random_problem(seed=5)
    one, two = (
        solve_npkl(PairProblem(forms, M, "squared_hinge", 3.0, 60.0))
        for M in (L, sparse.csr_array(L))
    )
    assert one.objective == pytest.approx(two.objective, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_weak_pairs_give_the_zero_kernel(loss):
    """Where no direction gains more than the smoothness costs, K = 0 is optimal."""
    _, _, forms = random_problem(seed=6)
    problem = PairProblem(forms, np.eye(forms.side), loss, 1e-3, 10.0)
    solution = solve_npkl(problem)
    assert solution.values.size == 0
    assert solution.gap <= 1e-12


def test_no_pairs_give_the_zero_kernel():
    empty = EntryForms(np.arange(0), np.arange(0), np.zeros(0), 4)
    solution = solve_npkl(PairProblem(empty, np.eye(4), "squared_hinge", 1.0, 1.0))
    assert solution.objective == solution.bound == 0.0


def test_few_decompositions_warn_with_the_gap():
    L, _, forms = random_problem(seed=1)
    problem = PairProblem(forms, L, "squared_hinge", 10.0, 98.0)
    with pytest.warns(ConvergenceWarning, match="relative gap .* eigen-decompositions"):
        solution = solve_npkl(problem, max_eigh=2)
    assert solution.n_eigh <= 3  # the last bound costs one of its own
    assert solution.bound <= solve_npkl(problem).objective <= solution.objective


def test_algorithm_1_brackets_the_optimum_and_lags_behind():
    L, _, forms = random_problem(seed=1)
    problem = PairProblem(forms, L, "squared_hinge", 10.0, 14.0)
    newton = solve_npkl(problem, tol=1e-8)
    paper = solve_npkl_paper(problem, step=1.0, max_eigh=30)
    assert paper.bound <= newton.objective <= paper.objective * (1 + 1e-8)
    assert paper.n_eigh == 30 > newton.n_eigh
    assert paper.gap > newton.gap


def test_algorithm_1_starts_at_the_linear_loss():
    """Its first kernel is eq. (8) with every dual variable 1."""
    L, pairs, forms = random_problem(seed=2)
    paper = solve_npkl_paper(
        PairProblem(forms, L, "squared_hinge", 2.0, 14.0), max_eigh=1
    )
    A = forms.less(np.ones(len(pairs)), L)
    linear = solve_budgeted_psd(A, budget=14.0)
    np.testing.assert_allclose(dense(paper), dense(linear), atol=1e-9)


@pytest.mark.parametrize("setting", [{"C": 0.0}, {"C": -1.0}, {"budget": 0.0}])
def test_settings_must_be_positive(setting):
    _, _, forms = random_problem(seed=0)
    settings = {"C": 1.0, "budget": 1.0} | setting
    with pytest.raises(ValueError, match="must be positive and finite"):
        PairProblem(forms, np.eye(14), "hinge", **settings)


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize("kind", ["entries", "basis"])
def test_margins_and_combine_are_adjoint(kind, width):
    rng = np.random.default_rng(0)
    _, pairs, forms = random_problem(seed=0)
    if kind == "basis":
        U = rng.normal(size=(forms.side, 5))
        forms = BasisForms.over(U, pairs.first, pairs.second, pairs.signs)
    left, right = rng.normal(size=(2, forms.side, width))
    weights = rng.normal(size=len(pairs))
    through = np.sum((forms.combine(weights) @ left) * right)
    assert forms.margins(left, right) @ weights == pytest.approx(through, rel=1e-10)
    np.testing.assert_allclose(
        forms.apply(weights, left), forms.combine(weights) @ left, atol=1e-12
    )
    penalty = rng.normal(size=(forms.side, forms.side))
    for L in (penalty, sparse.csr_array(penalty)):
        A = forms.less(weights, L) + penalty
        np.testing.assert_allclose(A @ left, forms.apply(weights, left), atol=1e-12)
    stacked = forms.stacked() @ (left @ right.T).ravel()
    np.testing.assert_allclose(stacked, forms.margins(left, right), atol=1e-12)


def test_solvers_are_silent_on_success():
    L, _, forms = random_problem(seed=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve_npkl(PairProblem(forms, L, "hinge", 1.0, 60.0))


@needs_data
@pytest.mark.slow
def test_adult_needs_few_eigen_decompositions():
    """a1a, C = 10, B = N: gap 1e-4; steps 1/t are at 0.26 after 45 of them."""
    data = load("a1a")
    pairs = Pairs.by_components(data.y, 0.7, random_state=0).closure()
    graph = neighbor_graph(data.X, 50, weights="binary", rng=np.random.default_rng(0))
    forms = EntryForms(pairs.first, pairs.second, pairs.signs, len(data.y))
    L = laplacian(graph.adjacency)
    problem = PairProblem(forms, L, "squared_hinge", 10.0, float(len(data.y)))
    solution = solve_npkl(problem, tol=1e-4)
    assert solution.relative_gap <= 1e-4
    assert solution.n_eigh <= 10
