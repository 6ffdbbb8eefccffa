"""Weights, doubtful labels and several annotators in the whole model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.semi_supervised import LabelPropagation

from mercer import UnifiedKernelMachine
from mercer.active import answer_shares
from mercer.exceptions import UnlabeledClassWarning
from mercer.learners.combination import AverageKernel
from mercer.machines import RLSClassifier
from mercer.model_selection import LabeledScorer

X, TRUTH = load_iris(return_X_y=True)
FEW = np.where(np.arange(150) % 15 == 0, TRUTH, -1)
SHARES = np.where(FEW[:, None] >= 0, np.eye(3)[TRUTH], 0.0)


def model() -> UnifiedKernelMachine:
    return UnifiedKernelMachine(random_state=0)


def test_certain_shares_are_labels() -> None:
    plain, soft = model().fit(X, FEW), model().fit(X, SHARES)
    np.testing.assert_allclose(soft.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(soft.transduction_, plain.transduction_)
    np.testing.assert_array_equal(soft.ask(5), plain.ask(5))


def test_weights_and_doubts_reach_kernel_and_machine() -> None:
    weight = np.where(TRUTH == 2, 5.0, 1.0)
    plain = model().fit(X, FEW)
    with pytest.warns(UserWarning, match="mean sample_weight"):
        heavy = model().fit(X, FEW, weight)
    assert (
        np.abs(
            plain.learner_.certificate_.weights - heavy.learner_.certificate_.weights
        ).max()
        > 1e-3
    )
    assert np.abs(plain.predict_proba(X) - heavy.predict_proba(X)).max() > 0.01


def test_an_answer_replaces_a_doubt_and_others_stay() -> None:
    shares = SHARES.copy()
    shares[60], shares[75] = [0, 0.4, 0.6], [0, 0.3, 0.7]
    found = model().fit(X, shares)
    np.testing.assert_allclose(found.label_distributions_[75], [0, 0.3, 0.7])
    assert found.transduction_[60] == 2
    found.tell([60], [1])
    np.testing.assert_allclose(found.label_distributions_[60], [0, 1, 0])
    np.testing.assert_allclose(found.label_distributions_[75], [0, 0.3, 0.7])
    held = found.held_out_proba(np.array([60]))
    assert held.shape == (1, 3)
    assert len(found.suspicious_labels().ids) == 10


def test_label_distributions_are_those_of_scikit_learn_in_kind() -> None:
    ours, theirs = model().fit(X, FEW), LabelPropagation().fit(X, FEW)
    for fitted in (ours, ours.machine_):
        P = fitted.label_distributions_
        assert P.shape == theirs.label_distributions_.shape
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        known = FEW >= 0
        np.testing.assert_allclose(P[known], theirs.label_distributions_[known])
        np.testing.assert_array_equal(
            ours.classes_[P.argmax(axis=1)], ours.transduction_
        )


def test_annotators_who_disagree_are_a_distribution() -> None:
    answers = np.full((150, 3), None, dtype=object)
    names = np.array(["a", "b", "c"], dtype=object)
    answers[FEW >= 0, 0] = names[TRUTH[FEW >= 0]]
    answers[60, :] = ["b", "b", "c"]
    labels, n_answers = answer_shares(answers)
    found = model().fit(X, labels, n_answers)
    np.testing.assert_allclose(found.label_distributions_[60], [0, 2 / 3, 1 / 3])
    assert found.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="column per annotator"):
        answer_shares(["a", "b"])


def test_weight_zero_is_no_label_in_the_model() -> None:
    weight = np.ones(150)
    weight[60] = 0
    found = model().fit(X, FEW, weight)
    assert 60 not in found.labeled_
    assert 60 in model().fit(X, FEW).labeled_


def test_a_learner_without_a_basis_trains_its_machine_on_weights() -> None:
    one = UnifiedKernelMachine(AverageKernel(["linear", "rbf"]), "rls")
    plain = one.fit(X, FEW).predict_proba(X)
    with pytest.warns(UserWarning, match="mean sample_weight"):
        heavy = one.fit(X, FEW, 1.0 + 9 * (TRUTH == 1)).predict_proba(X)
    assert np.abs(plain - heavy).max() > 0.01


def test_shares_are_scored_by_their_likeliest_class() -> None:
    """`fit` took them, and `score` did not."""
    shares = 0.4 * np.eye(3)[TRUTH] + 0.2
    found = RLSClassifier("rbf").fit(X, shares)
    assert found.score(X, shares) == found.score(X, TRUTH)
    names = pd.DataFrame(shares, columns=["setosa", "versicolor", "virginica"])
    named = RLSClassifier("rbf").fit(X, names)
    assert LabeledScorer()(named, X, names) == found.score(X, TRUTH)
    with pytest.warns(UnlabeledClassWarning, match="1 row to score is unlabelled"):
        assert found.score(X[:2], [TRUTH[0], -1]) == 0.5
