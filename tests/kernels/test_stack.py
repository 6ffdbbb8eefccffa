import numpy as np
import pytest

from mercer.kernels.columns import OnColumns
from mercer.kernels.parametric import RBF, Linear
from mercer.kernels.sets import gaussian_set
from mercer.kernels.stack import gram_stack, resolve_kernels
from mercer.kernels.tabulated import Tabulated

X = np.random.default_rng(0).standard_normal((8, 3))


def test_gaussian_set_is_log_spaced_between_the_printed_ends():
    widths = np.array([1 / kernel.gamma for kernel in gaussian_set()])
    assert len(widths) == 20
    np.testing.assert_allclose(widths[[0, -1]], [0.1, 100_000])
    np.testing.assert_allclose(np.diff(np.log(widths)), np.log(1e6) / 19)


def test_columns_are_seen_alone():
    kernel = OnColumns(RBF(gamma="median"), [0, 2]).resolve(X)
    plain = RBF(gamma="median").resolve(X[:, [0, 2]])
    np.testing.assert_allclose(kernel(X), plain(X[:, [0, 2]]))
    np.testing.assert_allclose(kernel.diag(X), 1)
    np.testing.assert_allclose(kernel(X[:2], X), plain(X[:2, [0, 2]], X[:, [0, 2]]))


def test_columns_by_name_and_position_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    by_name, by_position = OnColumns(Linear(), ["a", "c"]), OnColumns(Linear(), [0, 2])
    np.testing.assert_allclose(by_name(frame), by_position(frame))
    np.testing.assert_allclose(by_name(frame), by_position(X))
    with pytest.raises(TypeError, match="are names, and X has none"):
        by_name(X)


def test_columns_that_are_not_there():
    with pytest.raises(ValueError, match="column 3 is beyond the 3 columns of X"):
        OnColumns(Linear(), [3])(X)
    with pytest.raises(ValueError, match="has no columns"):
        OnColumns(Linear(), [])(X)


def test_tabulated_kernel_finds_its_points():
    K = X @ X.T
    kernel = Tabulated(X, K)
    order = [3, 1, 1]
    np.testing.assert_array_equal(kernel(X[order], X), K[order])
    np.testing.assert_array_equal(kernel.diag(X[order]), np.diag(K)[order])
    with pytest.raises(ValueError, match="1 of 1 points are new"):
        kernel(X[:1] + 1)
    with pytest.raises(ValueError, match="points has 7 rows and K has 8"):
        Tabulated(X[:7], K)


def test_tabulated_zero_has_no_sign():
    kernel = Tabulated([[0.0]], np.ones((1, 1)))
    assert kernel([[-0.0]])[0, 0] == 1


def test_stack_holds_every_gram_matrix():
    kernels = resolve_kernels(["linear", RBF(gamma=0.5), X @ X.T], X)
    stack = gram_stack(kernels, X)
    np.testing.assert_allclose(stack[0], stack[2])
    np.testing.assert_allclose(stack[1], RBF(gamma=0.5)(X))
