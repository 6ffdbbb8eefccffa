"""Every certificate against an input made to fool it; see docs/certificates.md.

A certificate that is a bound is attacked with allowed points drawn at random and with
hand-made ones: none may beat it. A residual is computed again from its definition.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mercer.evidence.pairs import Pairs
from mercer.evidence.pairs.implied import ContradictionWarning
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.kernels import RBF, Linear
from mercer.learners.combination import CenteredAlignmentKernel
from mercer.learners.npkl_sdp import NPKL
from mercer.learners.pairwise import PairwiseKernel
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.svm import KernelSVC
from mercer.optim.affine_psd import solve_affine_psd
from mercer.optim.budgeted_psd import solve_budgeted_psd
from mercer.optim.mkl import solve_mkl
from mercer.optim.newton import solve_klr
from mercer.optim.nnls import solve_nnls
from mercer.optim.ridge import solve_rls
from mercer.optim.spectral import solve_closed_form, solve_parameter_free
from mercer.optim.svm import solve_svm
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis

DOCS = Path(__file__).parents[1] / "docs" / "certificates.md"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_every_certificate_is_on_the_page() -> None:
    """Each class with a certificate's name, in the package, has a row in the docs."""
    source = Path(__file__).parents[1] / "src" / "mercer"
    text = "".join(path.read_text() for path in source.rglob("*.py"))
    names = set(re.findall(r"^class (\w+Certificate)\b", text, flags=re.MULTILINE))
    names |= set(re.findall(r"certificate_ : (\w+)", text)) - {"float", "fitted"}
    assert len(names) > 10
    page = DOCS.read_text()
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_least_squares_of_dependent_columns(rng) -> None:
    """Alignment: equal kernels and kernels a million times larger than others."""
    B = rng.standard_normal((30, 4))
    B = np.hstack([B, B[:, :2], 1e6 * B[:, 2:3], B[:, :1] + 1e-9 * B[:, 1:2]])
    y = rng.standard_normal(30)
    found = solve_nnls(B.T @ B, B.T @ y)
    best = nnls(B, y)[1] ** 2 / 2 - y @ y / 2
    assert found.objective <= best + 1e-9 * abs(best)
    # A point that is not optimal: the residual of the conditions is not small.
    assert found.kkt_residual <= 1e-9
    halved = solve_nnls(B.T @ B, B.T @ y, max_iter=1)
    assert halved.objective > best + 1e-6
    assert halved.kkt_residual > 1e-4


def test_alignment_of_kernels_that_are_all_the_same(rng) -> None:
    X = rng.standard_normal((20, 3))
    y = (X[:, 0] > 0).astype(int)
    learner = CenteredAlignmentKernel(["linear", "linear", "rbf"]).fit(X, y)
    proof = learner.certificate_
    assert proof.kkt_residual <= 1e-9
    assert proof.alignment >= max(proof.base_alignments) - 1e-12


def hinge(K, y, beta, b, C: float) -> float:
    slack = np.maximum(0.0, 1 - y * (K @ beta + b))
    return float(beta @ K @ beta / 2 + C * slack.sum())


def contradictory(rng) -> tuple[np.ndarray, np.ndarray]:
    """Points that occur twice with opposite labels, and a singular Gram matrix."""
    X = np.repeat(rng.standard_normal((8, 2)), 2, axis=0)
    y = np.tile([1.0, -1.0], 8)
    y[:4] = 1.0
    return X @ X.T, y


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_no_machine_beats_the_bound_of_the_svm(C: float, rng) -> None:
    K, y = contradictory(rng)
    fit = solve_svm(K, y[:, None], C=C)
    own = hinge(K, y, fit.dual_coef[:, 0], fit.intercept[0], C)
    assert own == pytest.approx(fit.objective)
    assert -1e-9 * own <= fit.gap <= 1e-3 * own
    bound = fit.objective - fit.gap
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            beta = fit.dual_coef[:, 0] + scale * C * rng.standard_normal(len(y))
            b = fit.intercept[0] + scale * rng.standard_normal()
            assert hinge(K, y, beta, b, C) >= bound - 1e-9 * own


def test_no_weights_beat_the_bound_of_simple_mkl(rng) -> None:
    K, y = contradictory(rng)
    X = rng.standard_normal((len(y), 3))
    grams = np.stack([K / np.trace(K), X @ X.T / 40, np.eye(len(y)) / 10, X @ X.T / 40])
    fit = solve_mkl(grams, y[:, None], C=10.0)
    bound = fit.objective - fit.gap
    for weights in [*np.eye(4), *rng.dirichlet(np.ones(4), 20)]:
        one = solve_svm(np.tensordot(weights, grams, axes=1), y[:, None], C=10.0)
        assert one.objective >= bound - 1e-6 * bound


def test_the_violation_of_a_machine_is_seen(rng) -> None:
    """A loose solver must say so: the certificate is measured, not copied."""
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(int)
    exact = KernelSVC("rbf", C=100.0, tol=1e-6).fit(X, y).certificate_
    loose = KernelSVC("rbf", C=100.0, tol=0.5).fit(X, y).certificate_
    assert exact <= 1e-5 < 0.01 < loose


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_the_gradient_of_separable_logistic_regression(C: float) -> None:
    features = np.linspace(-1, 1, 12)[:, None] ** [1, 3]
    targets = (features[:, :1] > 0).astype(float)
    fit = solve_klr(features, targets, C=C)
    p = expit(features @ fit.coef + fit.intercept)
    gradient = fit.coef - C * features.T @ (targets - p)
    largest = C * np.abs(features).sum(axis=0).max()
    assert np.abs(gradient).max() <= 10 * max(fit.residual, 1e-12) * max(largest, 1.0)
    assert fit.residual <= 1e-10


def test_ridge_of_dependent_features_and_its_left_out_residuals(rng) -> None:
    features = rng.standard_normal((9, 3))
    features = np.hstack([features, features[:, :2], 1e3 * features[:, :1]])
    targets = rng.standard_normal((9, 2))
    fit = solve_rls(features, targets, C=5.0)
    normal = fit.coef - 5.0 * features.T @ (targets - features @ fit.coef)
    assert np.abs(normal).max() <= 1e-7 * np.abs(5.0 * features.T @ targets).max()
    for i in range(9):
        rest = np.delete(np.arange(9), i)
        without = solve_rls(features[rest], targets[rest], C=5.0).coef
        expected = targets[i] - features[i] @ without
        np.testing.assert_allclose(fit.loo_residuals[i], expected, rtol=1e-5)


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_no_kernel_of_the_budget_beats_the_bound(shift: float, rng) -> None:
    """Also where A has no positive eigenvalue and the best kernel is 0."""
    A = rng.standard_normal((6, 6))
    A = A + A.T + shift * np.eye(6)
    best = solve_budgeted_psd(A, budget=4.0)
    assert best.objective == pytest.approx(best.bound, abs=1e-12)
    for _ in range(200):
        root = rng.standard_normal((6, int(rng.integers(1, 7))))
        K = root @ root.T
        K *= 2.0 / np.linalg.norm(K)
        assert np.trace(A @ K) <= best.bound + 1e-9


def test_no_kernel_beats_the_bound_of_contradictory_pairs(rng) -> None:
    X = rng.standard_normal((14, 2))
    must = np.array([[0, 1], [1, 2], [3, 4], [5, 6]])
    cannot = np.array([[0, 2], [3, 5], [7, 8]])
    basis = GraphBasis(None, n_neighbors=4)
    learner = PairwiseKernel(basis=basis, tol=1e-8)
    with pytest.warns(ContradictionWarning):
        learner.fit(X, pairs=Pairs.from_index(must, cannot, n_points=14))
    proof, gamma = learner.certificate_, learner.basis_.values_
    U, C, budget = learner.basis_.vectors_, learner.C_, learner.budget_
    pairs = np.vstack([must, cannot])
    signs = np.r_[np.ones(4), -np.ones(3)]

    def objective(M: np.ndarray) -> float:
        K = U @ M @ U.T
        slack = np.maximum(0.0, 1 - signs * K[pairs[:, 0], pairs[:, 1]])
        return float(gamma @ np.diag(M) + C * (slack**2).sum() / 2)

    core = learner.core_
    assert np.linalg.norm(core) <= np.sqrt(budget) * (1 + 1e-9)
    assert objective(core) == pytest.approx(proof.objective, rel=1e-6)
    for scale in (1e-3, 0.1, 1.0):
        for _ in range(60):
            root = rng.standard_normal((len(gamma), 3))
            M = core + scale * np.linalg.norm(core) * root @ root.T / 30
            M *= min(1.0, np.sqrt(budget) / np.linalg.norm(M))
            assert objective(M) >= proof.bound - 1e-7 * abs(proof.bound)


def test_no_affine_combination_beats_the_bound() -> None:
    """Nearly equal kernels, where weights can be large and of both signs."""
    rng = np.random.default_rng(1)  # how many are allowed depends on it
    X = rng.standard_normal((12, 3))
    first = X @ X.T + np.eye(12)
    K = np.stack([first, first + 0.05 * np.diag(rng.random(12)), np.eye(12) * 2])
    cost = np.array([1.0, 1.01, 3.0])
    fit = solve_affine_psd(K, cost)
    assert fit.weights.sum() == pytest.approx(1.0)
    allowed = 0
    for _ in range(400):
        a, b = rng.normal(scale=8.0, size=2)
        weights = np.array([a, b, 1 - a - b])
        if np.linalg.eigvalsh(np.tensordot(weights, K, axes=1))[0] >= 0:
            allowed += 1
            assert cost @ weights >= fit.lower_bound - 1e-9 * abs(fit.lower_bound)
    assert allowed > 20


def test_the_lost_trace_of_a_kernel_with_one_huge_point(rng) -> None:
    """Landmarks drawn by size see only that point at first."""
    X = rng.standard_normal((300, 4))
    X[0] *= 1e4
    basis = GramBasis(3, kernel="linear", n_landmarks=3, random_state=0).fit(X)
    K, U = X @ X.T, basis.vectors_
    inside = np.trace(U.T @ K @ U) / np.trace(K)
    assert basis.certificate_.lost_trace >= 1 - inside - 1e-9
    assert basis.certificate_.lost_trace <= 1e-4


def test_no_weights_beat_the_closed_form(rng) -> None:
    """Energies over 20 orders, penalties of the null vectors, weights cut at zero."""
    A = np.r_[10.0 ** rng.uniform(-15, 5, size=12), 0.0]
    B = np.r_[1e-6, 10.0 ** rng.uniform(-6, 2, size=12)]
    best = solve_closed_form(A, B, C=10.0, mu=0.3)
    assert best.kkt_residual <= 1e-9

    def objective(weights: np.ndarray) -> float:
        return float((A / (weights + 0.1)).sum() / 2 + 0.3 * weights @ B)

    assert objective(best.weights) == pytest.approx(best.objective)
    for scale in (1e-3, 0.1, 1.0):
        for _ in range(100):
            change = np.exp(scale * rng.standard_normal(13))
            other = best.weights * change + scale * rng.random(13)
            assert objective(other) >= best.objective - 1e-9 * best.objective


@pytest.mark.parametrize("seed", range(20))
def test_the_root_of_the_paper_is_a_maximum_only_where_that_is_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.gamma(0.3, size=6)
    B = rng.gamma(0.3, size=6) if seed % 2 else np.sort(rng.random(6))[::-1] ** 4
    root = np.sqrt(A / (2 * B))

    def alignment(t: float) -> float:
        """Of the weights (8) with root mu = t and C = 1, before they are cut."""
        weights = root / t - 1
        return float(weights @ A / np.linalg.norm(weights))

    found = solve_parameter_free(A, B).root_mu
    tried = np.geomspace(1e-3, 1e3, 400) * abs(found)
    if found > 0:
        sign = np.sign(alignment(found))
        assert sign * alignment(found) >= max(sign * alignment(t) for t in tried) - 1e-9
    else:
        assert max(map(alignment, tried)) <= alignment(1e-9) + 1e-6


def test_a_solver_that_was_stopped_is_not_optimal(rng) -> None:
    X = rng.standard_normal((12, 2))
    pairs = Pairs.from_index([[0, 1], [2, 3]], [[0, 4], [5, 6]], n_points=12)
    basis = GraphBasis(6, n_neighbors=4)
    exact = NPKL(basis=basis, solver="CLARABEL").fit(X, pairs=pairs).certificate_
    assert exact.status == "optimal"
    assert exact.objective == pytest.approx(exact.reported, rel=1e-5)
    hasty = NPKL(basis=basis, solver="SCS", solver_options={"max_iters": 1})
    with pytest.warns(ConvergenceWarning):
        stopped = hasty.fit(X, pairs=pairs).certificate_
    assert stopped.status != "optimal"
    # The objective is that of the kernel returned, whatever the solver reports.
    assert stopped.objective >= exact.objective * (1 - 1e-5)


def test_no_weights_beat_the_gap_of_the_annealed_machine(rng) -> None:
    """Kernels that are equal, constant, or see single points only."""
    X = np.r_[rng.standard_normal((15, 2)) - 2, rng.standard_normal((15, 2)) + 2]
    y = np.full(30, -1)
    y[[0, 1, 15]] = 0, 0, 1
    kernels = [RBF(1.0), RBF(1.0), RBF(1e-4), RBF(1e4), Linear()]
    fitted = AnnealedKernelMachine(kernels, gamma=0.1, beta=0.5).fit(X, y)
    soft = fitted.annealing_.P[:, 1]
    targets = np.where(y == 1, 1.0, -1.0)
    targets[y < 0] = 2 * soft - 1
    noise = np.where(y < 0, 0.1 / 0.5, 0.1)
    grams = np.stack([kernel(X) for kernel in kernels])

    def value(weights: np.ndarray) -> float:
        K = np.tensordot(weights, grams, axes=1)
        return float(targets @ np.linalg.solve(K + np.diag(noise), targets))

    own = value(fitted.weights_)
    for weights in [*np.eye(5), *rng.dirichlet(np.full(5, 0.5), 200)]:
        assert value(weights) >= own * (1 - fitted.certificate_.gap) - 1e-9


def test_evidence_of_noise_is_no_evidence(rng) -> None:
    """Labels that no kernel can know: none may be said to predict them well."""
    X = rng.standard_normal((120, 3))
    y = np.full(120, -1)
    y[:40] = rng.permutation(np.repeat([0, 1], 20))
    proof = AutoKernel(random_state=0).fit(X, y).certificate_
    assert proof.n_held_out == 40
    # Guessing costs log 2 per label, and a slope chosen by 40 labels gains little.
    assert (proof.losses >= 40 * np.log(2) - 4.0).all()
    assert proof.weights.sum() == pytest.approx(1.0)


def test_single_labels_cannot_be_held_out(rng) -> None:
    X = np.r_[rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 9]
    y = np.full(40, -1)
    y[0], y[20], y[21] = 0, 1, 1
    proof = LeaveOneOutRLS().fit(X, y).certificate_
    np.testing.assert_array_equal(proof.counted, [False, True, True])
    assert proof.n_errors == 0
    y[[1, 2, 22, 23]] = 0, 0, 1, 1
    y[21] = 0  # a wrong label: the machine itself fits it
    machine = LeaveOneOutRLS().fit(X, y)
    wrong = np.flatnonzero(machine.certificate_.scores.argmax(axis=1) != y[y >= 0])
    assert 21 in np.flatnonzero(y >= 0)[wrong]
    assert machine.certificate_.n_errors == len(wrong)


def test_the_floor_of_an_anchor_graph(rng) -> None:
    """Equal islands: the value after the last is repeated, and none is below."""
    island = rng.standard_normal((60, 2))
    X = np.vstack([island + np.array([100.0 * i, 0.0]) for i in range(8)])
    basis = AnchorBasis(12, n_anchors=96, random_state=0).fit(X)
    proof, every = basis.certificate_, AnchorBasis(None, n_anchors=96, random_state=0)
    truth = every.fit(X).values_
    assert proof.floor <= truth[12] + 1e-9
    assert proof.floor >= truth[11] * 0.99
    assert proof.failure <= 1e-6
