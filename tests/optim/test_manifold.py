import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.optim.manifold import deform, inverted_folds


def problem(seed=0, n=14):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    W = np.abs(A + A.T) * (rng.random((n, n)) < 0.4)
    W = np.triu(W, 1)
    W = W + W.T
    return rng.standard_normal((n, n)), np.diag(W.sum(axis=1)) - W


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", [0.0, 1e-3, 50.0])
def test_features_span_the_deformed_kernel(degree, ratio):
    Phi, L = problem()
    L /= np.abs(L).max()
    found = deform(Phi, csr_array(L), degree=degree)
    F = Phi @ found.rotation * found.scaling(ratio)
    power = np.linalg.matrix_power(L, degree)
    dense = np.linalg.inv(np.linalg.inv(Phi @ Phi.T) + ratio * power)
    np.testing.assert_allclose(F @ F.T, dense, atol=1e-8 * np.abs(dense).max())
    assert found.roughness.min() >= 0
    assert found.residual <= 1e-12


def test_every_class_is_in_every_fold_and_no_point_on_both_sides():
    codes = np.array([0] * 7 + [1] * 5 + [2] * 2)
    folds = inverted_folds(codes, 5)
    assert len(folds) == 5
    for train, held in folds:
        assert set(codes[train]) == {0, 1, 2}
        assert sorted([*train, *held]) == list(range(14))
    taught = np.concatenate([train for train, _ in folds])
    # Points of classes with enough members teach once.
    assert np.bincount(taught)[:12].tolist() == [1] * 12
