"""Wrong input to kernels: a clear error before any arithmetic."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.exceptions import NotPSDError
from mercer.kernels.base import Kernel
from mercer.kernels.composite import Scaled, Weighted
from mercer.kernels.normalized import Centered, Normalized, TraceNormalized
from mercer.kernels.parametric import (
    RBF,
    Linear,
    PairwiseKernelFunction,
    Polynomial,
)
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.spec import as_kernel

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 6.0]])
POINT_KERNELS = [
    Linear(),
    Polynomial(),
    RBF(1.0),
    PairwiseKernelFunction("laplacian"),
    Linear() + RBF(1.0),
    Normalized(Linear()),
]


@pytest.mark.parametrize("kernel", POINT_KERNELS, ids=str)
@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[np.nan, 1.0]], "NaN"),
        ([[np.inf, 1.0]], "infinity"),
        (csr_array([[np.nan, 1.0]]), "NaN"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((2, 0)), "0 feature"),
        ([1.0, 2.0], "Expected 2D array"),
        ([["a", "b"]], "column 0 of X holds 'a'"),
    ],
)
def test_points_are_checked(kernel: Kernel, points: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernel(points)
    with pytest.raises(ValueError, match=message):
        kernel.diag(points)


@pytest.mark.parametrize("kernel", POINT_KERNELS, ids=str)
def test_both_sets_must_have_the_same_features(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match="X has 2 features and Z has 3"):
        kernel(X, np.ones((4, 3)))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(gamma=0.0), "gamma must be a finite number above 0; got 0"),
        (RBF(gamma=-1.0), "gamma must be .* got -1"),
        (RBF(gamma=float("nan")), "gamma must be .* got nan"),
        (RBF(gamma="meen"), r"one of \['mean_distance', 'mean_norm', 'median'\]"),
        (RBF(gamma="median"), r"use kernel\.resolve\(X_train\)"),
        (Polynomial(degree=0), "degree"),
        (Polynomial(gamma=-1.0), "gamma"),
        (Polynomial(coef0=-0.1), "coef0 must be a finite number at least 0"),
        (PairwiseKernelFunction("gauss"), "No kernel is named 'gauss'"),
        (Scaled(Linear(), -1.0), "factor must be a finite number at least 0"),
        (Weighted([Linear()], [1.0, 2.0]), r"1 kernels and weights of shape \(2,\)"),
        (Weighted([], []), "at least one"),
        (Weighted([Linear()], [np.nan]), "weights holds NaN"),
        (Centered(Linear()), r"Centered depends on the training points: .*resolve"),
        (TraceNormalized(Linear()), "TraceNormalized depends on the training points"),
    ],
    ids=str,
)
def test_parameters_are_checked(kernel: Kernel, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernel(X)
    with pytest.raises(ValueError, match=message):
        kernel.diag(X)


def test_unknown_rule_cannot_be_resolved() -> None:
    with pytest.raises(ValueError, match="got 'meen'"):
        RBF(gamma="meen").resolve(X)


@pytest.mark.parametrize("gamma", ["0.5", True, 1j])
def test_gamma_of_another_kind(gamma: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="gamma must be"):
        RBF(gamma=gamma)(X)


def test_function_of_two_points_is_refused() -> None:
    """scikit-learn has both conventions; Mercer's takes all rows at once."""
    kernel = PairwiseKernelFunction(lambda x, z: float(np.vdot(x, z)))
    with pytest.raises(ValueError, match=r"returned shape \(\) for 3 and 3 points"):
        kernel(X)


def test_negative_diagonal_has_no_cosine() -> None:
    kernel = Normalized(PairwiseKernelFunction(lambda X, Z: -(X @ Z.T)))
    with pytest.raises(NotPSDError, match=r"k\(x, x\) = -52 at row 2"):
        kernel(X)


def test_zero_kernel_has_no_trace_to_normalize() -> None:
    with pytest.raises(NotPSDError, match="above 0"):
        TraceNormalized(Linear()).resolve(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("K", "rows", "message"),
    [
        (np.ones((3, 2)), [0], "K must be square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), [0, 1], "K must be symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), [0, 1], "K holds NaN"),
        (np.eye(2), [2], "row numbers 0 to 1"),
        (np.eye(2), [-1], "row numbers 0 to 1"),
        (np.eye(2), [0.5], "row numbers 0 to 1"),
        (np.eye(2), np.eye(2), "1d array"),
    ],
)
def test_precomputed_is_checked(K: Any, rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Precomputed(K)(rows)


def test_as_kernel_understands_names_functions_and_kernels() -> None:
    kernel = RBF(2.0)
    assert as_kernel(kernel) is kernel
    for name in ("linear", "poly", "polynomial", "rbf", "laplacian", "cosine"):
        K = PairwiseKernelFunction(name)(X)
        assert np.allclose(as_kernel(name)(X), K)
    assert np.allclose(as_kernel(lambda X, Z: X @ Z.T)(X), X @ X.T)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("rfb", ValueError, "No kernel is named 'rfb'; the names are .*rbf"),
        ("precomputed", ValueError, r"Precomputed\(K\)"),
        (3, TypeError, "got 3 of type int"),
        (None, TypeError, "NoneType"),
        (np.eye(3), TypeError, r"numbers of shape \(3, 3\). .*Precomputed\(K\)"),
        (["rbf", "linear"], TypeError, "'linear'] of type list"),
        (RBF, TypeError, r"the class RBF itself; write RBF\(...\)"),
    ],
)
def test_as_kernel_says_what_it_wants(
    spec: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        as_kernel(spec)
