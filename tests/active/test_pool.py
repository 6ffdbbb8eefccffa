"""A classifier that keeps the pool, in loops that train on labelled rows."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from mercer import UnifiedKernelMachine
from mercer.active.pool import PoolClassifier

X, TRUTH = load_iris(return_X_y=True)
FEW = np.array([0, 1, 50, 51, 100, 103])
FIRST = np.unique(X, axis=0, return_index=True)[1]  # of rows that are equal


def model():
    return UnifiedKernelMachine(random_state=0)


@pytest.fixture(scope="module")
def whole():
    y = np.full(150, -1)
    y[FEW] = TRUTH[FEW]
    return model().fit(X, y)


def test_six_rows_of_a_pool_are_as_good_as_the_pool(whole):
    clf = PoolClassifier(model(), X).fit(X[FEW], TRUTH[FEW])
    np.testing.assert_allclose(
        clf.predict_proba(X[FIRST]), whole.training_proba()[FIRST]
    )
    alone = PoolClassifier(model()).fit(X[FEW], TRUTH[FEW])
    assert clf.score(X, TRUTH) > alone.score(X, TRUTH) + 0.05
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))


def test_names_of_classes_are_kept(whole):
    names = np.array(["setosa", "versicolor", "virginica"])
    clf = PoolClassifier(model(), X).fit(X[FEW], names[TRUTH[FEW]])
    np.testing.assert_array_equal(
        clf.predict(X[FIRST]), names[whole.transduction_[FIRST]]
    )


def test_the_basis_is_shared_by_fits_and_clones(whole):
    clf = PoolClassifier(model(), X).fit(X[FEW], TRUTH[FEW])
    basis = clf.model_.basis_
    other = clone(clf).fit(X[FEW[:4]], TRUTH[FEW[:4]])
    shared = other.model_.basis_
    assert shared is basis
    changed = clone(clf).set_params(pool=X[:, :2])
    assert (
        changed.fit(X[FEW, :2], TRUTH[FEW]).model_.kernel_ is not other.model_.kernel_
    )
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_allclose(again.predict_proba(X), clf.predict_proba(X))


def test_rows_outside_the_pool_join_it(whole):
    half = np.arange(150) % 2 == 0
    clf = PoolClassifier(model(), X[half]).fit(X[FEW], TRUTH[FEW])
    y = np.full(75 + 3, -1)
    inside, outside = FEW[half[FEW]], FEW[~half[FEW]]
    y[inside // 2], y[75:] = TRUTH[inside], TRUTH[outside]
    direct = model().fit(np.vstack([X[half], X[outside]]), y)
    rows = np.unique(X[half], axis=0, return_index=True)[1]
    np.testing.assert_allclose(
        clf.predict_proba(X[half][rows]), direct.training_proba()[rows]
    )


def test_equal_points_get_a_label_each():
    points = np.vstack([X[:40], X[50:90], X[:1]])  # row 80 equals row 0
    clf = PoolClassifier(model(), points)
    clf.fit(points[[0, 80, 40]], [0, 0, 1])
    assert len(clf.model_.labeled_) == 2  # said twice
    clf.fit(points[[0, 80, 40]], [0, 1, 1])
    assert len(clf.model_.labeled_) == 3
    assert clf.model_.labels_.codes[0] != clf.model_.labels_.codes[80]


@pytest.mark.parametrize(("labels", "expected"), [([], 1 / 3), ([1], [0, 1, 0])])
def test_before_there_are_two_classes(labels, expected):
    rows = FEW[: max(len(labels), 1)]
    y = labels or [-1]
    clf = PoolClassifier(model(), X, classes=[0, 1, 2]).fit(X[rows], y)
    np.testing.assert_allclose(
        clf.predict_proba(X[:4]), np.broadcast_to(expected, (4, 3))
    )
    assert clf.model_ is None


def test_unseen_classes_have_a_column():
    clf = PoolClassifier(model(), X, classes=[0, 1, 2]).fit(X[FEW[:4]], TRUTH[FEW[:4]])
    P = clf.predict_proba(X)
    assert P.shape == (150, 3)
    assert (P[:, 2] == 0).all()
    with pytest.raises(ValueError, match=r"y contains \[2\]"):
        PoolClassifier(model(), X, classes=[0, 1]).fit(X[FEW], TRUTH[FEW])
