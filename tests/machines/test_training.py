"""Predictions of training points wait until somebody looks."""

import pickle
import warnings
from copy import copy

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mercer import UnifiedKernelMachine
from mercer.exceptions import DisconnectedGraphWarning
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import seen_points
from mercer.learners import DecayingKernel
from mercer.machines import RLSClassifier, _training
from mercer.spectrum import GraphBasis

KNOWN = {"training_proba_", "transduction_"}


def blobs(n=240):
    X, truth = make_blobs(n, centers=3, cluster_std=2.5, random_state=0)
    y = np.full(n, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:4]] = c
    return X, truth, y


@pytest.fixture
def later(monkeypatch):
    """Let all predictions wait."""
    monkeypatch.setattr(_training, "AT_ONCE_UP_TO", 0)


def known(machine):
    return KNOWN & set(vars(machine))


@pytest.mark.parametrize(("n", "at_once"), [(20_000, True), (20_001, False)])
def test_more_than_20000_points_are_predicted_later(n, at_once) -> None:
    X = np.random.default_rng(0).standard_normal((n, 1))
    y = np.full(n, -1)
    y[:2], X[0], X[1] = [0, 1], -1, 1
    machine = RLSClassifier("linear").fit(X, y)
    assert known(machine) == (KNOWN if at_once else set())
    assert np.mean(machine.transduction_ == (X[:, 0] > 0)) > 0.95
    assert known(machine) == KNOWN


def test_what_is_seen_later_is_what_would_have_been_seen_at_once(monkeypatch) -> None:
    X, _, y = blobs()
    now = UnifiedKernelMachine(random_state=0).fit(X, y)
    monkeypatch.setattr(_training, "AT_ONCE_UP_TO", 0)
    later = UnifiedKernelMachine(random_state=0).fit(X, y)
    some = np.array([200, 3, 17])
    rows = later.machine_.proba_of_rows(some)
    assert not known(later.machine_)
    np.testing.assert_allclose(rows, now.training_proba()[some], atol=1e-9)
    np.testing.assert_array_equal(later.transduction_, now.transduction_)
    np.testing.assert_array_equal(later.training_proba(), now.training_proba())
    kept = later.machine_.proba_of_rows(some)
    np.testing.assert_array_equal(kept, later.training_proba()[some])
    # Products of three rows and of all may differ in the last bit.
    np.testing.assert_allclose(kept, rows, rtol=1e-12)


@pytest.mark.usefixtures("later")
def test_an_answer_and_a_question_look_at_a_few_rows_only() -> None:
    X, truth, y = blobs()
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    for _ in range(2):
        model.tell(row := model.ask(), truth[row])
    assert not known(model.machine_)
    before = model.transduction_
    model.tell(row := model.ask(), truth[row])
    assert model.transduction_ is not before
    assert model.transduction_[row] == truth[row]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("again", [copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_knows_predictions_and_needs_no_points(again) -> None:
    X, _, y = blobs()
    machine = UnifiedKernelMachine(random_state=0).fit(X, y).machine_
    other = again(machine)
    assert known(other) == KNOWN
    assert "_own" not in vars(other)
    np.testing.assert_array_equal(other.transduction_, machine.transduction_)


def test_a_model_without_rows_says_that_it_has_none() -> None:
    X, _, y = blobs()
    slim = UnifiedKernelMachine(random_state=0).fit(X, y).without_rows()
    assert len(slim.transduction_) == 0
    with pytest.raises(AttributeError, match="does not have its training points"):
        _ = slim.machine_.training_proba_


@pytest.mark.usefixtures("later")
def test_points_that_no_label_reaches_are_said_when_they_are_seen() -> None:
    X = np.r_[np.zeros((6, 1)), np.full((6, 1), 50.0)] + 0.1 * np.arange(12)[:, None]
    y = np.full(12, -1)
    y[[0, 5]] = 0, 1
    model = UnifiedKernelMachine(
        DecayingKernel(), RLSClassifier(), basis=GraphBasis(4, n_neighbors=2)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    with pytest.warns(DisconnectedGraphWarning, match="6 of 12 points"):
        _ = model.transduction_


def test_of_many_points_25000_are_seen_and_ten_per_label() -> None:
    labeled = np.array([0, 1, 25_000])
    np.testing.assert_array_equal(seen_points(25_000, labeled[:2]), np.arange(25_000))
    seen = seen_points(25_001, labeled)
    assert 25_000 <= len(seen) <= 25_003
    assert np.isin(labeled, seen).all()
    assert (np.diff(seen) > 0).all()
    many = seen_points(100_000, np.arange(3_000))
    assert 30_000 <= len(many) <= 33_000
    assert len(seen_points(30_000, np.arange(3_000))) == 30_000


@pytest.mark.parametrize("labels", [12, 60])
def test_few_points_that_are_seen_decide_as_all_do(labels) -> None:
    X, truth, y = blobs(1200)
    y[:labels] = truth[:labels]
    every = UnifiedKernelMachine(random_state=0).fit(X, y)
    rule = Rule(seen_points=400, sampled_points=200)
    some = UnifiedKernelMachine(rule=rule, random_state=0).fit(X, y)
    assert len(seen_points(1200, some.labeled_, rule)) < 1200
    assert np.mean(some.transduction_ == every.transduction_) > 0.97
    gap = np.abs(some.training_proba() - every.training_proba()).mean()
    assert 0 < gap < 0.03
    assert DEFAULT.seen_points == 25_000
