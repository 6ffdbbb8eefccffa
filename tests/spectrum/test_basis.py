"""What every basis must do."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.graphs.neighbors import neighbor_graph
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.base import Basis
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis

X = np.random.default_rng(0).standard_normal((60, 4))
BASES = [
    GraphBasis(3, random_state=0),
    AnchorBasis(3, random_state=0),
    GramBasis(3, random_state=0),
]


@parametrize_with_checks(BASES)
def test_scikit_learn_contract(estimator: BaseEstimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize("basis", BASES, ids=lambda b: type(b).__name__)
def test_every_basis(basis: BaseEstimator) -> None:
    fitted = clone(basis).fit(X)
    assert isinstance(fitted, Basis)
    assert np.abs(fitted.vectors_.T @ fitted.vectors_ - np.eye(3)).max() <= 1e-9
    assert np.array_equal(clone(basis).fit_transform(X), fitted.vectors_)
    assert np.allclose(fitted.transform(X), fitted.vectors_, atol=1e-8)
    steps = np.diff(fitted.values_) * (-1 if isinstance(basis, GramBasis) else 1)
    assert (steps >= 0).all()
    assert fitted.is_orthonormal
    root = np.array([1.0, 2.0, 0.5])
    Phi = fitted.weighted(root)
    np.testing.assert_allclose(Phi.rows(np.arange(9)), fitted.vectors_[:9] * root)
    assert len(fitted.get_feature_names_out()) == 3
    largest = fitted.vectors_[np.abs(fitted.vectors_).argmax(axis=0), range(3)]
    assert (largest > 0).all()


@pytest.mark.parametrize("basis", [AnchorBasis(3), GramBasis(3)], ids=repr)
def test_a_graph_has_no_points_to_compare(basis: BaseEstimator) -> None:
    graph = neighbor_graph(X, 5, rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"X is a Graph, and .* use GraphBasis\(\)"):
        basis.fit(graph)


def test_in_a_pipeline() -> None:
    pipeline = make_pipeline(StandardScaler(), GraphBasis(4)).fit(X)
    assert pipeline.transform(X).shape == (60, 4)
