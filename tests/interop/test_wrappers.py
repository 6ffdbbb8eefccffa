"""scikit-learn's own wrappers, where -1 would become a class."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from mercer import UnifiedKernelMachine
from mercer.exceptions import UnlabeledClassWarning
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.machines.rls import RLSClassifier
from mercer.model_selection import LabeledScorer, SemiSupervisedKFold

X, TRUTH = load_iris(return_X_y=True)
FEW = np.where(np.arange(150) % 5 == 0, TRUTH, -1)
ONE = [("rls", RLSClassifier())]
WRAPPED = [
    VotingClassifier(ONE),
    StackingClassifier(ONE, LogisticRegression(max_iter=1000), cv=2),
    OneVsRestClassifier(RLSClassifier()),
    CalibratedClassifierCV(RLSClassifier(), cv=2),
    BaggingClassifier(RLSClassifier(), n_estimators=2),
]


@pytest.mark.parametrize("wrapper", WRAPPED, ids=lambda w: type(w).__name__)
def test_a_wrapper_learns_a_class_of_unlabelled_rows(wrapper) -> None:
    """As docs/interop.md says: it codes y before a model sees it."""
    assert -1 in wrapper.fit(X, FEW).classes_
    assert wrapper.fit(X, TRUTH).score(X, TRUTH) > 0.8


def test_annealed_machines_warn_of_unlabelled_rows_to_score() -> None:
    machine = AnnealedKernelMachine(final_temperature=0.1)
    with pytest.warns(UnlabeledClassWarning, match="120 rows to score are unlabelled"):
        assert machine.fit(X, FEW).score(X, FEW) <= 0.2


@pytest.mark.parametrize("model", [RLSClassifier(), UnifiedKernelMachine()], ids=str)
def test_output_codes_are_refused_with_a_way_out(model) -> None:
    with pytest.raises(ValueError, match="only -1 and 1, and -1 means unlabelled"):
        OutputCodeClassifier(model, random_state=0).fit(X, TRUTH)


def test_a_search_that_scores_unlabelled_rows_is_told_what_to_write() -> None:
    grid = {"C": [0.1, 10.0]}
    with pytest.warns(UnlabeledClassWarning, match="LabeledScorer"):
        GridSearchCV(RLSClassifier(), grid, cv=2).fit(X, FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = GridSearchCV(
            RLSClassifier(),
            grid,
            cv=SemiSupervisedKFold(2, random_state=0),
            scoring=LabeledScorer(),
        ).fit(X, FEW)
    assert good.best_score_ > 0.8


def test_self_training_knows_what_minus_one_means() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlabeledClassWarning)
        fitted = SelfTrainingClassifier(RLSClassifier(C=10.0), threshold=0.6).fit(
            X, FEW
        )
    assert -1 not in fitted.classes_
