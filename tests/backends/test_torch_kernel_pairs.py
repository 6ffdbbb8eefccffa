"""Principal directions of kernels whose columns are tensors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mercer.spectrum.kernel_pairs import landmark_pairs, pivoted_cholesky  # noqa: E402


def gaussian(X, rows):
    Z = X[rows]
    squares = ((X[:, None] - Z[None]) ** 2).sum(2)
    return (
        torch.exp(-squares / 8) if isinstance(X, torch.Tensor) else np.exp(-squares / 8)
    )


@pytest.mark.parametrize("centered", [False, True])
def test_pairs_of_tensors_are_those_of_arrays(centered):
    X = np.random.default_rng(0).normal(size=(300, 3))
    host, device = (
        landmark_pairs(
            lambda rows, P=P, at=at: gaussian(P, at(rows)),
            ones,
            20,
            120,
            centered=centered,
            rng=np.random.default_rng(1),
        )
        for P, ones, at in (
            (X, np.ones(300), lambda rows: rows),
            (torch.as_tensor(X), torch.ones(300, dtype=torch.float64), torch.as_tensor),
        )
    )
    np.testing.assert_array_equal(device.landmarks, host.landmarks)
    assert isinstance(device.vectors, torch.Tensor)
    for name in ("values", "weights", "offset"):
        assert isinstance(getattr(device, name), np.ndarray)
    np.testing.assert_allclose(device.values, host.values, rtol=1e-10)
    # Weights are as exact as the landmarks are far apart; directions are exact.
    new = np.concatenate([X[host.landmarks], X[:50] + 0.1])
    K = gaussian(new, np.arange(len(new)))[:, : len(host.landmarks)]
    ours, theirs = ((K - found.offset) @ found.weights for found in (device, host))
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
    np.testing.assert_allclose(device.vectors.numpy(), host.vectors, atol=1e-8)
    assert device.next_value == pytest.approx(host.next_value)
    assert device.trace == pytest.approx(host.trace)
    assert device.residual < 1e-9


def test_equal_points_among_tensors_leave_one_pivot():
    ones = torch.ones(9, dtype=torch.float64)
    found = pivoted_cholesky(
        lambda rows: torch.ones((9, len(rows)), dtype=torch.float64),
        ones,
        5,
        rng=np.random.default_rng(0),
    )
    assert found.factor.shape == (9, 1)
    assert found.lost == pytest.approx(0.0, abs=1e-12)
    assert (ones == 1).all()  # what was given is left alone
