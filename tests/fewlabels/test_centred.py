"""Ridge regression on the labelled points, and the columns that it leaves aside."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.ridge import loo_ridges, solve_loo_ridge
from mercer.spectrum.features import DenseFeatures
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.kernel import SpectralKernel


def test_what_is_no_kernel_is_refused_in_words() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="K must be a kernel, ridge > 0"):
        solve_loo_ridge(-np.eye(3), np.eye(3), ridge=0.5)


def test_many_labels_are_solved_for_the_features_with_the_same_result() -> None:
    rng = np.random.default_rng(0)
    U, core = rng.standard_normal((40, 6)), rng.uniform(0, 2, 6)
    Y = np.eye(3)[rng.integers(3, size=40)]
    ridges = [rng.uniform(0.05, 0.5, 40), np.full(40, 1.0)]
    few = loo_ridges(U, core, Y, ridges)
    many = loo_ridges(U, core, Y, ridges, kernel_up_to=10)
    for a, b in zip(few, many, strict=True):
        for name in ("alpha", "offset", "held_out", "held_out_offset"):
            x, y = getattr(a, name), getattr(b, name)
            np.testing.assert_allclose(y, x, rtol=1e-8, atol=1e-10)
        assert (a.alpha != b.alpha).any()  # another way to the same


def test_columns_that_labels_have_ruled_out_are_left_aside(monkeypatch) -> None:
    X, truth = load_iris(return_X_y=True)
    few = np.where(np.arange(150) % 10 == 0, truth, -1)
    basis = GraphBasis(n_components=30, random_state=0).fit(X)
    is_left = (np.arange(30) >= 1) & (np.arange(30) < 12)
    core = np.where(is_left, 0.8 ** np.arange(30), 1e-40)
    kernel = SpectralKernel(basis, core)
    narrow, kept = kernel.at_training().narrowed()
    assert (narrow.shape[1], kept) == (11, slice(1, 12))
    found = LeaveOneOutRLS().solve(kernel, few)
    monkeypatch.setattr(DenseFeatures, "narrowed", lambda self: (self, slice(None)))
    wanted = LeaveOneOutRLS().solve(kernel, few)
    for name in ("training_proba_", "_readout", "dual_coef_", "intercept_"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(wanted, name), atol=1e-9
        )
    np.testing.assert_allclose(found.predict_proba(X), found.training_proba_, atol=1e-6)


@pytest.mark.parametrize(("dtype", "least"), [(np.float64, 1e-20), (np.float32, 1e-14)])
def test_columns_of_less_weight_than_rounding_are_left_aside(dtype, least) -> None:
    columns = np.tile(np.array([[1.0], [-1.0]], dtype), (2, 10))  # of variance 1
    for weight, n_left in ((2 * least, 10), (least / 2, 5)):
        root = np.sqrt(np.repeat([1.0, weight], 5))
        narrow, kept = DenseFeatures(columns, root).narrowed()
        assert (narrow.shape[1], kept) == (n_left, slice(0, n_left))


def test_features_without_any_weight_have_no_columns() -> None:
    Phi = DenseFeatures(np.ones((4, 3)), np.array([0.0, 0.0, 0.0]))
    narrow, kept = Phi.narrowed()
    assert narrow.shape == (4, 0)
    assert kept == slice(0, 0)
    narrow, kept = DenseFeatures(np.ones((4, 3)), np.array([0.0, 2.0, 0.0])).narrowed()
    assert (narrow.shape, kept) == ((4, 1), slice(1, 2))
