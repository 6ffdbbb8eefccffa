"""The rule for few labels on tensors is the rule on arrays."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mercer.backends.torch import scores as torch_scores  # noqa: E402
from mercer.backends.torch.features import TorchFeatures  # noqa: E402
from mercer.backends.torch.scores import TorchScores  # noqa: E402
from mercer.evidence.labels import Labels  # noqa: E402
from mercer.fewlabels.centred import fit_centred  # noqa: E402
from mercer.fewlabels.machine import LeaveOneOutRLS  # noqa: E402
from mercer.fewlabels.rule import DEFAULT  # noqa: E402
from mercer.fewlabels.sizes import candidate_sizes, match_sizes  # noqa: E402
from mercer.fewlabels.spreading import spread_decision  # noqa: E402
from mercer.spectrum.features import DenseFeatures, Standardised  # noqa: E402
from mercer.spectrum.scores import ArrayScores  # noqa: E402

N, CLASSES = 600, 4
FEW_SAMPLED = replace(DEFAULT, sampled_points=150)  # the last rounds use all points


class Kernel:
    """Points are their own features."""

    def features(self, X):
        return X


def scores_of(n, C, seed):
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, C)).round(2)  # ties
    S[:5] = 0.0
    return S, rng.dirichlet(np.full(C, 2.0))


def groups(spread=1.0):
    rng = np.random.default_rng(5)
    truth = np.arange(N) % CLASSES
    U = 2 * rng.normal(size=(CLASSES, 12))[truth] + spread * rng.normal(size=(N, 12))
    y = np.full(N, -1)
    y[: 3 * CLASSES] = truth[: 3 * CLASSES]
    return U, truth, y


@pytest.mark.parametrize("C", [2, 3, 60])
def test_offsets_of_tensors_are_those_of_arrays(C, monkeypatch):
    S, sizes = scores_of(300, C, seed=C)
    start = np.linspace(-0.2, 0.2, C)
    expected = match_sizes(ArrayScores(S), sizes, start=start, max_iter=6)
    found = match_sizes(TorchScores(torch.as_tensor(S)), sizes, start=start, max_iter=6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    monkeypatch.setattr(torch_scores, "_SORTED_AT_A_TIME", 700)  # two classes at a time
    again = match_sizes(TorchScores(torch.as_tensor(S)), sizes, start=start, max_iter=6)
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("C", [1, 2, 5])
def test_decisions_of_tensors_are_those_of_arrays(C):
    S, _ = scores_of(200, C, seed=7)
    S[10] = S[10, 0]
    S[11] += 1e-12 * np.arange(C)  # level but for rounding
    kept = torch.as_tensor(S)
    for b in (None, np.linspace(-0.5, 0.5, C)):
        expected, found = ArrayScores(S).decide(b), TorchScores(kept).decide(b)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(kept.numpy(), S)


def test_scores_of_tensors_are_those_of_arrays():
    S, b = scores_of(40, 3, seed=2)
    S, rows = np.abs(S) + 1.0, np.array([7, 1])
    host, device = ArrayScores(S), TorchScores(torch.as_tensor(S))
    M = np.arange(6.0).reshape(3, 2)
    for asked in (
        lambda s: s.rows(rows),
        lambda s: s.mean(),
        lambda s: s.mean_squares(),
        lambda s: s.take(rows).to_numpy(),
        lambda s: s.moved(b).to_numpy(),
        lambda s: s.times(M).to_numpy(),
        lambda s: s.combined(0.25).to_numpy(),
        lambda s: s.combined(0.25, s.moved(b)).to_numpy(),
        lambda s: s.combined(0.25, s.moved(b), 0.75).to_numpy(),
        lambda s: s.log_centred(0.5).to_numpy(),
    ):
        np.testing.assert_allclose(asked(device), asked(host), rtol=1e-13, atol=1e-15)
    mixed = host.combined(0.25, host.moved(b), 0.75).to_numpy()
    np.testing.assert_allclose(mixed, S + 0.75 * b)
    logs = np.log(S + 0.5)
    centred = logs - logs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(host.log_centred(0.5).to_numpy(), centred)
    np.testing.assert_array_equal(host.to_numpy(), device.to_numpy())
    assert host.shape == device.shape == (40, 3)


def test_candidate_sizes_of_tensors_are_those_of_arrays():
    S, _ = scores_of(200, 3, seed=1)
    codes = np.array([0, 1, 2, 1, 1, 1, 1])
    expected = candidate_sizes(ArrayScores(S), codes)
    found = candidate_sizes(TorchScores(torch.as_tensor(S)), codes)
    assert list(found) == list(expected)
    for name, sizes in expected.items():
        np.testing.assert_allclose(found[name], sizes, rtol=1e-14)


@pytest.mark.parametrize("spread", [1.0, 3.0])  # clear clusters, and none
@pytest.mark.parametrize("rule", [DEFAULT, FEW_SAMPLED])
def test_the_machine_finds_the_same_on_tensors_and_arrays(spread, rule):
    U, _, y = groups(spread)
    root = np.linspace(1.0, 0.2, 12)
    host, device = (
        LeaveOneOutRLS(rule=rule).solve(Kernel(), y, features=features)
        for features in (
            DenseFeatures(U, root),
            TorchFeatures(torch.as_tensor(U), root),
        )
    )
    np.testing.assert_array_equal(device.transduction_, host.transduction_)
    np.testing.assert_allclose(
        device.training_proba_, host.training_proba_, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        device.certificate_.sizes, host.certificate_.sizes, rtol=1e-12
    )


def test_scores_of_all_points_stay_on_the_device(monkeypatch):
    U, truth, y = groups()
    rows = np.flatnonzero(y >= 0)
    Phi = Standardised.of(TorchFeatures(torch.as_tensor(U), np.ones(12)))
    most = FEW_SAMPLED.sampled_points + len(rows)
    to_numpy, times = torch_scores.to_numpy, TorchFeatures.times

    def few(X):
        assert X.numel() <= most * CLASSES < N * CLASSES
        return to_numpy(X)

    def times_of_few(self, A):
        assert self.shape[0] <= most < N
        return times(self, A)

    monkeypatch.setattr(torch_scores, "to_numpy", few)
    monkeypatch.setattr(TorchFeatures, "times", times_of_few)
    start = fit_centred(Phi, Labels.read(y))
    spread = spread_decision(
        Phi, start.coef, start.offset, rows, y[rows], rule=FEW_SAMPLED
    )
    monkeypatch.undo()
    decided = (Phi.times(spread.coef) + spread.offset).argmax(axis=1)
    assert np.mean(decided == truth) > 0.95
