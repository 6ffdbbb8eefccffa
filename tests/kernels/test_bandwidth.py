from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel

from mercer.kernels.bandwidth import (
    RULES,
    mean_distance_gamma,
    mean_norm_gamma,
    median_gamma,
)
from mercer.kernels.parametric import RBF

RNG = np.random.default_rng(0)
X = RNG.normal(size=(21, 4)) * (RNG.random((21, 4)) < 0.7) + 3.0


def distances() -> list[float]:
    return [float(np.linalg.norm(a - b)) for a, b in combinations(X, 2)]


def test_mean_norm() -> None:
    sigma = np.mean([np.sqrt(x @ x) for x in X])
    assert mean_norm_gamma(X) == pytest.approx(1 / (2 * sigma**2))


def test_mean_distance() -> None:
    mean_square = np.mean([d**2 for d in distances()])
    assert mean_distance_gamma(X) == pytest.approx(1 / mean_square)


def test_median() -> None:
    sigma = np.median(distances())
    assert median_gamma(X) == pytest.approx(1 / (2 * sigma**2))


@pytest.mark.parametrize("rule", RULES)
def test_resolving_fixes_gamma_by_the_training_points(rule: str) -> None:
    kernel = RBF(gamma=rule).resolve(X)
    assert isinstance(kernel, RBF)
    new = X[:3] + 0.5
    expected = rbf_kernel(new, X, gamma=RULES[rule](X))
    assert np.allclose(kernel(new, X), expected)
    assert kernel.resolve(new) is kernel


@pytest.mark.parametrize("rule", RULES)
def test_sparse_equals_dense(rule: str) -> None:
    assert RULES[rule](csr_array(X)) == pytest.approx(RULES[rule](X), rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("c", [0.25, 8.0])
def test_kernel_does_not_depend_on_the_unit_of_x(rule: str, c: float) -> None:
    K = RBF(gamma=rule).resolve(X)(X)
    assert np.allclose(RBF(gamma=rule).resolve(c * X)(c * X), K)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("as_array", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "equal", [np.ones((5, 2)), np.zeros((4, 2)), np.array([[1.0, 2.0]])]
)
def test_the_kernel_of_equal_points_is_one(rule: str, as_array, equal) -> None:
    kernel = RBF(gamma=rule).resolve(as_array(equal))
    assert np.array_equal(kernel(as_array(equal)), np.ones((len(equal),) * 2))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("as_array", [np.asarray, csr_array])
def test_points_whose_squares_vanish_have_no_width(rule: str, as_array) -> None:
    with pytest.raises(ValueError, match=f"'{rule}' finds no width: .* Scale the col"):
        RULES[rule](as_array(1e-170 * X))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("as_array", [np.asarray, csr_array])
def test_points_whose_squares_overflow_are_refused(rule: str, as_array) -> None:
    with pytest.raises(ValueError, match=r"values up to .*e\+300, too large"):
        RULES[rule](as_array(1e300 * X / np.abs(X).max()))


def test_the_median_of_mostly_copies_is_no_width() -> None:
    copies = np.zeros((6, 1))
    copies[0] = 1.0
    with pytest.raises(ValueError, match=r"not all points are equal.*drop copies"):
        median_gamma(copies)


def test_median_of_too_many_rows_names_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"20001 rows .* gamma='mean_distance'"):
        median_gamma(np.arange(20_001.0)[:, None])
