"""SKL_KTA: the printed algorithm, eigenspaces, and the limit of SKL."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import make_blobs

from mercer.learners.closed_form import ClosedFormKernel
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis
from oracles.learners import (
    GivenBasis,
    parameter_free_decision,
    rotate_eigenspaces,
)

ALL = GraphBasis(n_components=None, affinity="precomputed")


def random_graph(n: int, seed: int):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(0.1, 1, size=(n, n)) * (rng.random((n, n)) < 0.5), 1)
    W[np.arange(n - 1), np.arange(1, n)] = 1.0
    return W + W.T


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("power", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_with_rls_it_is_the_printed_algorithm(n_classes, power, seed) -> None:
    n, eps = 24, 1e-3
    W = random_graph(n, seed)
    labeled = np.arange(0, n, 3)
    y = np.full(n, -1)
    y[labeled] = np.arange(len(labeled)) % n_classes
    F = parameter_free_decision(
        W, labeled, np.eye(n_classes)[y[labeled]], power=power, eps=eps
    )
    learner = ParameterFreeKernel(ALL, power=power, eps=eps)
    machine = RLSClassifier(learner, C=np.inf).fit(W, y)
    unlabeled = np.flatnonzero(y < 0)
    ours = machine.decision_function(W[unlabeled])
    printed = F[unlabeled]
    if n_classes == 2:
        printed = printed[:, 1] - printed[:, 0]
    assert ours == pytest.approx(printed, abs=1e-7 * np.abs(printed).max())
    assert np.array_equal(machine.transduction_[unlabeled], F[unlabeled].argmax(axis=1))


def test_weights_are_the_formula_at_mean_diagonal_one() -> None:
    X, y = make_blobs(50, centers=3, random_state=0)
    y = np.where(np.arange(50) < 12, y, -1)
    learner = ParameterFreeKernel(GraphBasis(12), power=3.0, eps=0.1).fit(X, y)
    U, gamma = learner.basis_.vectors_, learner.basis_.values_
    distinct = np.flatnonzero(np.diff(gamma, prepend=-1, append=3)[:-1] > 1e-6)
    distinct = [i for i in distinct if np.sum(np.abs(gamma - gamma[i]) < 1e-6) == 1]
    A = np.square(U[:12].T @ np.eye(3)[y[:12]]).sum(axis=1)
    ratio = learner.weights_**2 * (gamma**3 + 0.1) / A
    assert ratio[distinct] == pytest.approx(np.full(len(distinct), ratio[distinct][0]))
    assert learner.kernel_.diag().mean() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_kernel_does_not_depend_on_bases_of_eigenspaces(seed) -> None:
    # Three equal parts and one other: every eigenvalue of the former thrice.
    part = random_graph(6, seed)
    W = block_diag(part, part, part, random_graph(7, seed + 10))
    basis = GraphBasis(n_components=None, affinity="precomputed").fit(W)
    assert basis.certificate_.n_null == 4
    y = np.full(len(W), -1)
    y[[0, 2, 7, 13, 20]] = [0, 1, 1, 0, 1]
    turned = rotate_eigenspaces(basis.vectors_, basis.values_, seed)
    assert np.abs(turned - basis.vectors_).max() > 0.1
    K, K_turned = (
        ParameterFreeKernel(GivenBasis(U, basis.values_)).fit(W, y).kernel_()
        for U in (basis.vectors_, turned)
    )
    assert np.allclose(K, K_turned, rtol=0, atol=1e-10 * np.abs(K).max())
    certificate = ParameterFreeKernel(ALL).fit(W, y).certificate_
    assert certificate.n_eigenspaces <= 1 + 6 + 6


def test_small_mu_and_large_c_lead_from_skl_to_the_same_decision() -> None:
    W = random_graph(20, 3)
    y = np.full(20, -1)
    y[[0, 5, 9, 14]] = [0, 1, 0, 1]
    free = RLSClassifier(ParameterFreeKernel(ALL), C=np.inf).fit(W, y)
    given = RLSClassifier(ClosedFormKernel(C=1.0, mu=1e-18, basis=ALL), C=1.0)
    limit = given.fit(W, y).decision_function(W)
    assert limit == pytest.approx(free.decision_function(W), abs=1e-6)


def test_certificate_reports_mu_and_alignment() -> None:
    W = random_graph(20, 4)
    y = np.full(20, -1)
    y[[0, 5, 9, 14]] = [0, 1, 0, 1]
    learner = ParameterFreeKernel(ALL, eps=1e-3).fit(W, y)
    K = learner.kernel_()
    T = np.zeros((20, 20))
    for c in (0, 1):
        T[np.ix_(y == c, y == c)] = 1.0
    expected = (K * T).sum() / np.linalg.norm(K) / np.linalg.norm(T)
    assert learner.certificate_.alignment == pytest.approx(expected, rel=1e-10)
    assert learner.certificate_.mu > 0
    assert learner.certificate_.C == 1.0


def test_kernel_values_are_refused() -> None:
    X, y = make_blobs(30, centers=2, random_state=0)
    with pytest.raises(ValueError, match="needs the values of a Laplacian"):
        ParameterFreeKernel(GramBasis()).fit(X, y)


@pytest.mark.parametrize(
    ("params", "match"),
    [({"power": 0}, "power"), ({"eps": 0.0}, "eps"), ({"eps": -1.0}, "eps")],
)
def test_parameters_are_checked_first(params, match) -> None:
    with pytest.raises(ValueError, match=match):
        ParameterFreeKernel(**params).fit([["no", "numbers"]], [0])


def test_default_basis_keeps_away_from_as_many_directions_as_labels() -> None:
    for n_labeled in range(1, 2000, 7):
        r = ParameterFreeKernel()._default_basis(n_labeled).n_components
        assert r >= 2 * n_labeled or r <= n_labeled / 5
