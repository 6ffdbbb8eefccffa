"""The adapter both ways with scikit-activeml."""

import pickle
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from mercer.model.estimator import UnifiedKernelMachine

pool = pytest.importorskip("skactiveml.pool")

from skactiveml.base import SingleAnnotatorPoolQueryStrategy as Strategy  # noqa: E402
from skactiveml.classifier import (  # noqa: E402
    MixtureModelClassifier,
    ParzenWindowClassifier,
)

from mercer.active.skactiveml import (  # noqa: E402
    FeatureClassifier,
    PoolSkactivemlClassifier,
    from_skactiveml,
    to_skactiveml,
)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, truth = make_blobs(90, centers=3, random_state=0)
    y = np.full(90, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:2]] = c
    return X, y, truth


def test_their_strategies_choose_our_rows(blobs) -> None:
    X, y, truth = blobs
    for strategy in (pool.CoreSet(), pool.UncertaintySampling(method="entropy")):
        model = UnifiedKernelMachine(query=from_skactiveml(strategy), random_state=0)
        rows = model.fit(X, y).ask(3)
        assert len(set(rows)) == 3
        assert (y[rows] == -1).all()
        model.tell(rows, truth[rows])


def test_entropy_sampling_is_our_entropy_query(blobs) -> None:
    X, y, _ = blobs
    theirs = from_skactiveml(pool.UncertaintySampling(method="entropy"))
    ours = UnifiedKernelMachine(query="entropy", random_state=0).fit(X, y).ask(4)
    same = UnifiedKernelMachine(query=theirs, random_state=0).fit(X, y).ask(4)
    assert set(ours) == set(same)


def classifying_strategies():
    """Return all strategies for one annotator and classes, with what they ask for."""
    found = []
    for name in pool.__all__:
        kind = getattr(pool, name)
        if not (isinstance(kind, type) and issubclass(kind, Strategy)):
            continue
        settings = {}
        if "classes" in signature(kind.__init__).parameters:
            settings["classes"] = [0, 1, 2]
        if name.endswith("Wrapper") or name == "ExpectedErrorReduction":
            continue  # made of another strategy; a base class
        if "reg" in signature(kind.query).parameters:
            continue  # for numbers, not classes
        if name == "EpistemicUncertaintySampling":
            continue  # for two classes: below
        found.append(pytest.param(kind(**settings), id=name))
    return found


# Strategies that work with a classifier of one kind only: it is trained on features.
PARZEN = {"clf": ParzenWindowClassifier(classes=[0, 1, 2]), "fit_clf": True}
MIXTURE = MixtureModelClassifier(classes=[0, 1, 2], random_state=0)
SPECIAL = {
    "ProbabilisticAL": PARZEN,
    "FourDs": {"clf": MIXTURE, "fit_clf": True},
}


@pytest.fixture(scope="module")
def small():
    X, truth = make_blobs(24, centers=3, random_state=0)
    y = np.full(24, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:2]] = c
    return X, y, truth


@pytest.mark.parametrize("strategy", classifying_strategies())
@pytest.mark.filterwarnings("ignore")
def test_every_strategy_asks_in_our_loop(strategy, small) -> None:
    X, y, truth = small
    query = from_skactiveml(strategy, **SPECIAL.get(type(strategy).__name__, {}))
    model = UnifiedKernelMachine(query=query, random_state=0).fit(X, y)
    rows = model.ask(2)
    assert len(set(rows.tolist())) == 2
    assert (y[rows] == -1).all()
    model.tell(rows, truth[rows])
    assert len(model.labeled_) == 8


@pytest.mark.filterwarnings("ignore")
def test_a_strategy_for_two_classes_asks_in_our_loop(small) -> None:
    X, y, _ = small
    two = np.where(y == 2, 1, y)
    clf = ParzenWindowClassifier(classes=[0, 1])
    query = from_skactiveml(pool.EpistemicUncertaintySampling(), clf=clf)
    rows = UnifiedKernelMachine(query=query, random_state=0).fit(X, two).ask(2)
    assert (two[rows] == -1).all()


def test_arguments_are_handed_on(small) -> None:
    X, y, _ = small
    seen = {}

    class Spy(pool.UncertaintySampling):
        def query(self, X, y, clf, utility_weight=None, batch_size=1, **rest):
            seen.update(weight=utility_weight, clf=clf)
            return super().query(X, y, clf, fit_clf=False, batch_size=batch_size)

    weight = np.ones(len(X))
    query = from_skactiveml(Spy(), utility_weight=weight)
    UnifiedKernelMachine(query=query, random_state=0).fit(X, y).ask()
    assert seen["weight"] is weight


def test_the_classifier_knows_which_rows_it_is_asked_about(small) -> None:
    X, y, _ = small
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    F, P = model.kernel_.features(), model.training_proba()
    codes = np.where(y < 0, np.nan, y)
    clf = FeatureClassifier.of(model, F, codes)
    np.testing.assert_allclose(clf.predict_proba(F[::-1]), P[::-1])
    np.testing.assert_allclose(clf.predict_proba(F[[7, 3, 3]]), P[[7, 3, 3]])
    # Between two rows the decision is between theirs: features are judged, not rows.
    middle = clf.predict_proba((F[:1] + F[-1:]) / 2)
    logs = np.log(P) - np.log(P).mean(axis=1, keepdims=True)
    wanted = np.exp((logs[0] + logs[-1]) / 2)
    np.testing.assert_allclose(middle[0], wanted / wanted.sum(), atol=1e-6)


def test_the_classifier_learns_labels_that_a_strategy_tries(small) -> None:
    X, y, _ = small
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    F = model.kernel_.features()
    clf = FeatureClassifier.of(model, F, np.where(y < 0, np.nan, y))
    row = np.flatnonzero(y < 0)[0]
    tried = np.where(y < 0, np.nan, y)
    tried[row] = 2
    told = model.with_labels(np.where(np.arange(len(y)) == row, 2, y))
    np.testing.assert_allclose(
        clone(clf).fit(F, tried).predict_proba(F), told.training_proba()
    )


def test_our_queries_are_their_strategy(blobs) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(random_state=0)
    partly = np.where(y == -1, np.nan, y)
    strategy = to_skactiveml(model)
    rows, utilities = strategy.query(X, partly, batch_size=3, return_utilities=True)
    np.testing.assert_array_equal(rows, model.fit(X, y).ask(3))
    np.testing.assert_array_equal(np.nanargmax(utilities, axis=1), rows)
    assert np.isnan(utilities[:, y >= 0]).all()
    assert np.isnan(utilities[1, rows[0]])


def test_our_strategy_keeps_to_candidates(blobs) -> None:
    X, y, _ = blobs
    partly = np.where(y == -1, np.nan, y)
    strategy = to_skactiveml(UnifiedKernelMachine(random_state=0))
    few = np.flatnonzero(y == -1)[5:9]
    assert set(strategy.query(X, partly, candidates=few, batch_size=4)) == set(few)
    others = X[few] + 0.1
    rows, utilities = strategy.query(
        X, partly, candidates=others, batch_size=2, return_utilities=True
    )
    assert set(rows) <= set(range(4))
    assert utilities.shape == (2, 4)


def test_our_strategy_is_pickled_and_takes_their_labels(blobs) -> None:
    X, y, _ = blobs
    X, y = X[::3], y[::3]
    strategy = to_skactiveml(UnifiedKernelMachine(), missing_label=-1, random_state=3)
    again = pickle.loads(pickle.dumps(strategy))
    np.testing.assert_array_equal(again.query(X, y), strategy.query(X, y))
    names = np.array(["a", "b", "c", None], dtype=object)[y]
    same = to_skactiveml(UnifiedKernelMachine(), missing_label=None, random_state=3)
    np.testing.assert_array_equal(same.query(X, names), strategy.query(X, y))


def test_random_state_decides_random_queries(blobs) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(query="random")
    asked = {
        seed: to_skactiveml(model, missing_label=-1, random_state=seed).query(X, y)[0]
        for seed in range(6)
    }
    assert len(set(asked.values())) > 2
    again = to_skactiveml(model, missing_label=-1, random_state=0).query(X, y)[0]
    assert again == asked[0]


@pytest.mark.parametrize("n_labels", [0, 1])
def test_our_strategy_asks_before_there_are_two_classes(blobs, n_labels) -> None:
    X, _, truth = blobs
    y = np.full(90, np.nan)
    y[:n_labels] = truth[:n_labels]
    rows = to_skactiveml(UnifiedKernelMachine(random_state=0)).query(X, y, batch_size=6)
    assert len(set(rows.tolist())) == 6
    assert not set(rows.tolist()) & set(range(n_labels))
    assert set(truth[rows]) | set(truth[:n_labels]) == {0, 1, 2}


def test_their_loop_trains_on_all_rows(blobs) -> None:
    X, y, _ = blobs
    partly = np.where(y == -1, np.nan, y)
    clf = PoolSkactivemlClassifier(UnifiedKernelMachine(random_state=0))
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    np.testing.assert_array_equal(clf.fit(X, partly).predict(X), model.transduction_)
    few = np.flatnonzero(y >= 0)
    kept = PoolSkactivemlClassifier(UnifiedKernelMachine(random_state=0), X)
    kept.fit(X[few], y[few])
    np.testing.assert_allclose(kept.predict_proba(X), model.training_proba())
    strategy = pool.UncertaintySampling(random_state=0)
    row = strategy.query(X, partly, clf=clf)
    assert np.isnan(partly[row]).all()
