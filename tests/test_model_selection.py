"""Model selection with partly labelled targets."""

from contextlib import suppress
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.exceptions import UnlabeledClassWarning
from mercer.kernels.parametric import RBF
from mercer.learners.filter_kernel import FilterKernel
from mercer.machines.rls import RLSClassifier
from mercer.model_selection import (
    LabeledScorer,
    SemiSupervisedKFold,
    TemperatureScaledClassifier,
    expected_calibration_error,
    fit_temperature,
)
from mercer.spectrum.graph import GraphBasis


@given(
    codes=st.lists(st.integers(-1, 3), min_size=4, max_size=40),
    n_splits=st.integers(2, 6),
    seed=st.integers(0, 99),
)
def test_folds_test_each_label_once_and_train_on_every_class(
    codes: list[int], n_splits: int, seed: int
) -> None:
    y = np.array([*codes, 7, 7])
    cv = SemiSupervisedKFold(n_splits, random_state=seed)
    folds = list(cv.split(y, y))
    counts = {c: int(np.sum(y == c)) for c in set(y[y != -1])}
    testable = [i for i in range(len(y)) if y[i] != -1 and counts[y[i]] > 1]
    assert sorted(np.concatenate([test for _, test in folds])) == testable
    assert len(folds) == cv.get_n_splits(y, y)
    for train, test in folds:
        assert set(train) | set(test) == set(range(len(y)))
        assert not set(train) & set(test)
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert set(y[train]) - {-1} == set(counts)
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 1


def test_splits_strings_and_none() -> None:
    y = np.array(["a", None, "b", "a", "b", None], dtype=object)
    for train, test in SemiSupervisedKFold(2, random_state=0).split(y, y):
        assert {1, 5} <= set(train)
        assert all(y[i] is not None for i in test)


def test_nothing_to_leave_out_is_an_error() -> None:
    with pytest.raises(ValueError, match="every class has a single label"):
        next(SemiSupervisedKFold().split([0, 0, 0], [0, 1, -1]))
    with pytest.raises(ValueError, match="needs y"):
        next(SemiSupervisedKFold().split([0, 0, 0]))


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.full(len(X), -1)
    rows = rng.permutation(len(X))[:200]
    y[rows] = truth[rows]
    return X / 16.0, y, truth


def test_partly_labelled_digits_are_scored_right_where_plain_folds_are_not(
    digits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, truth = digits
    model = LabelSpreading(kernel="knn")
    hidden = y == -1
    true_accuracy = np.mean(model.fit(X, y).transduction_[hidden] == truth[hidden])
    plain = cross_val_score(model, X, y, cv=5).mean()
    ours = cross_val_score(model, X, y, cv=SemiSupervisedKFold(random_state=0)).mean()
    assert true_accuracy > 0.9
    assert plain < 0.2
    # 200 labels: the standard error of the estimate is about 0.015.
    assert abs(ours - true_accuracy) < 0.05


def test_grid_search_chooses_on_labelled_rows(
    digits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, _ = digits
    search = GridSearchCV(
        LabelSpreading(kernel="knn"),
        {"n_neighbors": [7, 400]},
        cv=SemiSupervisedKFold(3, random_state=0),
        scoring=LabeledScorer("accuracy"),
    ).fit(X, y)
    assert search.best_params_ == {"n_neighbors": 7}


def test_labelled_scorer_ignores_unlabelled_rows(
    digits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, _ = digits
    known = y != -1
    model = LogisticRegression(max_iter=1000).fit(X[known], y[known])
    expected = model.score(X[known], y[known])
    assert LabeledScorer()(model, X, y) == expected
    with pytest.raises(ValueError, match="no labelled row"):
        LabeledScorer()(model, X, np.full(len(X), -1))


def kinds_of_labels() -> dict[str, object]:
    """Labels 0 and 1 of the even rows among 40, in containers of every kind."""
    known = np.where(np.arange(40) % 2 == 0, np.arange(40) // 20, None)
    kinds: dict[str, object] = {
        "None": known,
        "NaN": known.astype(float),
        "masked": np.ma.array(np.arange(40) // 20, mask=np.arange(40) % 2 == 1),
    }
    for package, make in [
        ("pandas", lambda pandas: pandas.array(known, dtype="Int64")),
        ("polars", lambda polars: polars.Series(known.tolist())),
        ("pyarrow", lambda pyarrow: pyarrow.array(known.tolist())),
    ]:
        with suppress(ImportError):
            kinds[package] = make(import_module(package))
    return kinds


@pytest.mark.parametrize("kind", kinds_of_labels())
def test_every_kind_of_label_is_scored(kind: str) -> None:
    """Numbers with None made every score of a search NaN."""
    X = np.arange(40.0)[:, None]
    y = kinds_of_labels()[kind]
    model = RLSClassifier("rbf").fit(X, y)
    assert LabeledScorer("f1_macro")(model, X, y) == 1.0
    with pytest.warns(UnlabeledClassWarning, match="20 rows to score are unlabelled"):
        assert model.score(X, y) == 0.5
    with pytest.warns(UnlabeledClassWarning, match="20 rows to score are unlabelled"):
        assert model.score(X, y, np.where(np.arange(40) % 2, 1.0, 3.0)) == 0.75


def test_a_search_over_numbers_with_none() -> None:
    X, y = np.arange(40.0)[:, None], kinds_of_labels()["None"]
    cv = SemiSupervisedKFold(2, random_state=0)
    for model in (RLSClassifier("rbf"), TemperatureScaledClassifier(RLSClassifier())):
        assert cross_val_score(model, X, y, cv=cv).min() > 0.8


def test_tables_of_pyarrow_are_split_and_scored() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    X = pyarrow.table({"x": np.arange(40.0)})
    y = np.where(np.arange(40) % 2 == 0, np.arange(40) // 20, -1)
    model = TemperatureScaledClassifier(RLSClassifier("rbf"), random_state=0)
    assert LabeledScorer()(model.fit(X, y), X, y) == 1.0


def test_temperature_recovers_the_scale_of_logits() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20000, 3))
    codes = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    assert fit_temperature(logits * 5, codes) == pytest.approx(5, rel=0.05)
    assert fit_temperature(np.zeros((4, 2)), np.array([0, 1, 0, 1])) == 1.0


def test_temperature_is_finite_when_scores_separate_the_classes() -> None:
    T = fit_temperature(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0, 1]))
    assert 0 < T < 1


class Overconfident(ClassifierMixin, BaseEstimator):
    """Logistic regression on the labelled rows, ten times too sure."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Overconfident":
        known = y != -1
        self.model_ = LogisticRegression(max_iter=1000).fit(X[known], y[known])
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return 10 * self.model_.decision_function(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict(X)


def test_calibration_never_learns_unlabelled_as_a_class(
    digits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, truth = digits
    model = TemperatureScaledClassifier(Overconfident(), random_state=0).fit(X, y)
    assert list(model.classes_) == list(range(10))
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), 10)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    hidden = y == -1
    raw = Overconfident().fit(X, y).decision_function(X)
    raw = np.exp(raw - raw.max(axis=1, keepdims=True))
    raw /= raw.sum(axis=1, keepdims=True)
    classes = model.classes_
    ours = expected_calibration_error(truth[hidden], proba[hidden], classes)
    theirs = expected_calibration_error(truth[hidden], raw[hidden], classes)
    assert ours < theirs / 2


def test_a_column_of_labels_warns_once(
    digits: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, y, _ = digits
    flat = TemperatureScaledClassifier(Overconfident(), random_state=0).fit(X, y)
    model = TemperatureScaledClassifier(Overconfident(), random_state=0)
    with pytest.warns(DataConversionWarning) as caught:
        model.fit(X, y[:, None])
    assert len(caught) == 1
    assert model.temperature_ == flat.temperature_


def moons() -> tuple[np.ndarray, np.ndarray]:
    X, truth = make_moons(60, noise=0.2, random_state=0)
    return X, np.where(np.arange(60) % 2, truth, -1)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_kernel_values_are_split_on_both_sides(kind) -> None:
    X, y = moons()
    by_points = TemperatureScaledClassifier(RLSClassifier(RBF(0.5)), random_state=0)
    by_values = TemperatureScaledClassifier(
        RLSClassifier("precomputed"), random_state=0
    ).fit(kind(RBF(0.5)(X)), y)
    expected = by_points.fit(X, y).temperature_
    assert by_values.temperature_ == pytest.approx(expected)


def test_graphs_are_split_on_both_sides() -> None:
    X, y = moons()
    W = RBF(0.5)(X)
    basis = GraphBasis(9, affinity="precomputed", random_state=0)
    model = TemperatureScaledClassifier(
        RLSClassifier(FilterKernel(basis=basis)), random_state=0
    )
    dense = model.fit(W, y).temperature_
    assert model.fit(csr_array(W), y).temperature_ == pytest.approx(dense)


def test_unlabelled_rows_of_other_folds_are_not_scored() -> None:
    """They counted as rows of the last class."""
    X, y = moons()
    folds = list(StratifiedKFold(3).split(X, y))
    known = [(train, test[y[test] >= 0]) for train, test in folds]
    model = TemperatureScaledClassifier(RLSClassifier("rbf"))
    expected = model.set_params(cv=PredefinedFolds(known)).fit(X, y).temperature_
    assert (
        model.set_params(cv=PredefinedFolds(folds)).fit(X, y).temperature_ == expected
    )


def test_a_fold_without_labels_is_left_out() -> None:
    """It has no row to score."""
    X, y = moons()
    y[40:] = -1
    folds = list(KFold(3).split(X, y))
    model = TemperatureScaledClassifier(RLSClassifier("rbf"))
    expected = model.set_params(cv=PredefinedFolds(folds[:2])).fit(X, y).temperature_
    assert model.set_params(cv=KFold(3)).fit(X, y).temperature_ == expected
    with pytest.raises(ValueError, match="no test fold of cv has a labelled row; give"):
        model.set_params(cv=PredefinedFolds(folds[2:])).fit(X, y)


class PredefinedFolds:
    def __init__(self, folds):
        self.folds = folds

    def split(self, X, y):
        return self.folds


def test_a_fold_without_a_class_is_named() -> None:
    X, y = np.arange(30.0)[:, None], np.repeat([0, 1, 2], 10)
    model = TemperatureScaledClassifier(RLSClassifier("rbf"), cv=KFold(3))
    with pytest.raises(ValueError, match="no label of some class; give cv as a number"):
        model.fit(X, y)


def test_calibration_error_by_hand() -> None:
    proba = np.array([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6]])
    # Bin of 0.8: one of two right; bin of 0.6: one of one right.
    expected = (abs(1 - 1.6) + abs(1 - 0.6)) / 3
    got = expected_calibration_error([0, 1, 1], proba, [0, 1], n_bins=5)
    assert got == pytest.approx(expected)
    # Weights are numbers of rows.
    told = {"n_bins": 5, "sample_weight": [3, 1, 2]}
    got = expected_calibration_error([0, 1, 1], proba, [0, 1], **told)
    assert got == pytest.approx((abs(3 - 4 * 0.8) + 2 * abs(1 - 0.6)) / 6)


@parametrize_with_checks(
    [TemperatureScaledClassifier(RLSClassifier(), cv=2)],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_classes": "-1 marks unlabelled points and is no class",
    },
)
def test_calibrated_classifier_meets_the_contract(estimator, check):
    check(estimator)
