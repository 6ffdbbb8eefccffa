"""Classifying pairs: the contract of metric-learn, held-out thresholds, folds."""

import pickle

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import fbeta_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier

from mercer._base.ranges import unit_rows
from mercer.evidence.pairs import Pairs
from mercer.evidence.pairs.thresholds import best_cut
from mercer.learners._pair_blend import PairMetric, calibrate, similarity
from mercer.learners.pair_classifier import PairClassifier
from mercer.learners.pairwise import PairwiseKernel
from mercer.model_selection import PairKFold
from mercer.spectrum.graph import GraphBasis

X, TRUTH = load_iris(return_X_y=True)


def some_pairs(m, seed=0, rows=None):
    rng = np.random.default_rng(seed)
    rows = np.arange(len(X)) if rows is None else rows
    ends = rng.choice(rows, (m, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    return ends, np.where(TRUTH[ends[:, 0]] == TRUTH[ends[:, 1]], 1, -1)


ENDS, Y = some_pairs(120)
FAST = PairwiseKernel(basis=GraphBasis(20, random_state=0))


@pytest.fixture(scope="module")
def fitted():
    return PairClassifier(preprocessor=X, random_state=0).fit(ENDS, Y)


def test_unseen_pairs_of_unseen_points_are_told_apart():
    seen = np.arange(150) % 2 == 0
    ends, y = some_pairs(200, rows=np.flatnonzero(seen))
    model = PairClassifier(random_state=0).fit(X[ends], y)
    new, truth = some_pairs(400, seed=1, rows=np.flatnonzero(~seen))
    assert roc_auc_score(truth, model.decision_function(X[new])) > 0.93
    assert model.score(X[new], truth) > 0.85
    P = model.predict_proba(X[new])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    loss = -np.log(P[np.arange(len(new)), (truth > 0).astype(int)]).mean()
    assert loss < 0.5
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[new])), P)


def test_predictions_are_a_threshold_of_the_distance_of_the_kernel(fitted):
    new, _ = some_pairs(50, seed=2)
    K, d = fitted.kernel_(X), fitted.kernel_.diag(X)
    left, right = new.T
    squares = d[left] + d[right] - 2 * K[left, right]
    scores = fitted.decision_function(new)
    np.testing.assert_allclose(scores, 1 - squares / 2, atol=1e-6)
    Phi = fitted.learner_.kernel_.features(X)
    Phi /= np.linalg.norm(Phi, axis=1, keepdims=True)
    cosine = np.einsum("ij,ij->i", Phi[left], Phi[right])
    basis = fitted.learner_.basis_
    free = basis.extend(X) * np.exp(-5 * basis.values_ / 2)
    free /= np.linalg.norm(free, axis=1, keepdims=True)
    walk = np.einsum("ij,ij->i", free[left], free[right])
    # The metric of the pairs: three plain differences beside theirs.
    plain = 3 * X.var(axis=0).mean() * np.eye(4)
    apart = X[ENDS[:, 0]] - X[ENDS[:, 1]]
    S, B = (plain + D.T @ D / 2 for D in (apart[Y > 0], apart[Y < 0]))
    ratio, R = eigh(B, S)  # R' S R = I and R' B R = ratio
    A = (R * np.sqrt(ratio)) @ R.T
    difference = X[:, None] - X
    far = np.einsum("ijk,kl,ijl->ij", difference, A, difference)
    columns = 1 - far[left, right] / (4 * np.median(far[far > 0]))
    w = fitted.shares_
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1)
    blended = w[0] * cosine + w[1] * walk + w[2] * columns
    np.testing.assert_allclose(scores, blended, atol=1e-6)
    np.testing.assert_array_equal(
        fitted.predict(new), np.where(-scores <= fitted.threshold_, 1, -1)
    )
    np.testing.assert_array_equal(fitted.pair_score(new), scores)


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 1), (False, True)])
def test_classes_are_those_given(low, high):
    y = np.where(Y > 0, high, low)
    model = PairClassifier(FAST, X, random_state=0).fit(ENDS, y)
    assert set(model.predict(ENDS).tolist()) == {low, high}
    assert model.score(ENDS, y) > 0.9


def test_row_names_are_as_good_as_numbers(fitted):
    pandas = pytest.importorskip("pandas")
    names = np.array([f"flower {i}" for i in range(150)])
    frame = pandas.DataFrame(X, index=names)
    named = PairClassifier(preprocessor=frame, random_state=0).fit(names[ENDS], Y)
    np.testing.assert_allclose(
        named.decision_function(names[ENDS]), fitted.decision_function(ENDS)
    )
    np.testing.assert_allclose(named.transform(names[:3]), fitted.transform(X[:3]))


@pytest.mark.filterwarnings("ignore::mercer.evidence.pairs.ContradictionWarning")
def test_threshold_and_probabilities_come_from_held_out_pairs():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], len(ENDS))  # nothing to learn
    model = PairClassifier(FAST, X, random_state=0)
    P = model.fit(ENDS, y).predict_proba(ENDS)
    own = clone(model).set_params(cv=None).fit(ENDS, y).predict_proba(ENDS)
    # Fitted to noise, training pairs look right; held-out ones tell nothing, and all
    # pairs get the share of pairs that are the same.
    share = (np.sum(y > 0) + 1) / (len(y) + 2)
    assert np.abs(own[:, 1] - share).mean() > 0.08
    assert np.abs(own[:, 1] - share).mean() > 3 * np.abs(P[:, 1] - share).mean()


def test_metric_is_one_of_features_and_stays(fitted):
    metric = fitted.get_metric()
    Phi = fitted.transform(X[:2])
    wanted = np.linalg.norm(Phi[0] - Phi[1])
    assert metric(X[0], X[1]) == pytest.approx(wanted)
    assert metric(X[0], X[1], squared=True) == pytest.approx(wanted**2)
    assert fitted.pair_distance([[0, 1]])[0] == pytest.approx(wanted)
    again = pickle.loads(pickle.dumps(metric))
    assert again(X[0], X[1]) == pytest.approx(wanted)
    few = np.arange(0, 150, 5)
    knn = KNeighborsClassifier(3, metric=metric).fit(X[few], TRUTH[few])
    assert knn.score(X[1::5], TRUTH[1::5]) > 0.85
    found = DBSCAN(eps=float(np.median(fitted.pair_distance(ENDS))), metric=metric)
    assert len(found.fit(X[few]).labels_) == len(few)


@pytest.mark.parametrize("strategy", ["max_tpr", "max_tnr"])
@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9, 1.0])
def test_rates_are_kept_on_the_pairs_of_the_calibration(fitted, strategy, rate):
    ends, y = some_pairs(80, seed=3)
    model = pickle.loads(pickle.dumps(fitted))
    called = model.calibrate_threshold(ends, y, strategy, rate).predict(ends) > 0
    tpr, tnr = called[y > 0].mean(), 1 - called[y < 0].mean()
    assert (tnr if strategy == "max_tpr" else tpr) >= rate
    if rate == 0.0:
        assert (tpr if strategy == "max_tpr" else tnr) == 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 2.0])
def test_no_cut_has_a_larger_f_beta(seed, beta):
    rng = np.random.default_rng(seed)
    scores, same = rng.integers(0, 12, 40) * 1.0, rng.random(40) < 0.4

    def value(cut):
        return fbeta_score(same, scores >= cut, beta=beta, zero_division=0.0)

    best = value(best_cut(scores, same, strategy="f_beta", beta=beta))
    assert best == pytest.approx(max(value(c) for c in np.arange(-1, 14) - 0.5))


@pytest.mark.parametrize("seed", range(5))
def test_no_cut_is_right_more_often(seed):
    rng = np.random.default_rng(seed)
    scores, same = rng.integers(0, 12, 40) * 1.0, rng.random(40) < 0.4
    rights = [(same == (scores >= c)).sum() for c in np.arange(-1, 14) - 0.5]
    assert (same == (scores >= best_cut(scores, same))).sum() == max(rights)


def test_search_and_cross_validation_over_pairs():
    model = PairClassifier(FAST, X, cv=None, random_state=0)
    folds = PairKFold(3, random_state=0)
    found = cross_validate(model, ENDS, Y, cv=folds, scoring=["accuracy", "roc_auc"])
    assert (found["test_roc_auc"] > 0.8).all()
    assert (cross_val_score(model, ENDS, Y, cv=KFold(3)) > 0.8).all()
    grid = {"learner__C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, cv=folds).fit(ENDS, Y)
    assert search.best_params_["learner__C"] in grid["learner__C"]


@pytest.mark.parametrize("by", ["numbers", "points"])
def test_folds_of_points_share_none(by):
    pairs = ENDS if by == "numbers" else X[ENDS]
    points = np.unique(X, axis=0, return_inverse=True)[1]
    ends = ENDS if by == "numbers" else points[ENDS].reshape(-1, 2)
    tested = 0
    for train, test in PairKFold(3, random_state=0).split(pairs):
        assert not set(ends[train].ravel()) & set(ends[test].ravel())
        tested += len(test)
    assert 0 < tested < len(ENDS)


def test_folds_need_points():
    with pytest.raises(ValueError, match="3 points, and 2 folds"):
        next(PairKFold(2).split(np.array([[0, 1], [1, 2]])))


def test_subset_keeps_pairs_within_the_rows():
    pairs = Pairs.from_index([(0, 1), (2, 3)], [(1, 3)], n_points=5)
    part = pairs.subset([3, 1, 0])
    assert part.n_points == 3
    assert part.must_link.tolist() == [[1, 2]]
    assert part.cannot_link.tolist() == [[0, 1]]


def test_pairs_of_names():
    names = ["a", "b", "c"]
    pairs = Pairs.from_index([("c", "a")], [("b", "c")], names=names)
    assert pairs.n_points == 3
    assert pairs.must_link.tolist() == [[0, 2]]
    frame = {"first": ["c", "b"], "second": ["a", "c"], "same": [1, 0]}
    again = Pairs.from_frame(frame, names=names)
    np.testing.assert_array_equal(again.signs, pairs.signs)
    np.testing.assert_array_equal(again.first, pairs.first)
    with pytest.raises(
        ValueError, match="no row 'z'; the row ids are 'a', 'b', 'c'\\."
    ):
        Pairs.from_index([("z", "a")], names=names)
    with pytest.raises(ValueError, match="give n_points"):
        Pairs.from_index([(0, 1)])


@pytest.mark.parametrize(
    ("pairs", "y", "message"),
    [
        (X[ENDS][:, 0], Y, "for pairs of row numbers"),
        (np.repeat(X[ENDS], 2, axis=1), Y, "a pair has two ends"),
        (X[ENDS], np.full(len(Y), 1), "two values"),
        (X[ENDS], np.arange(len(Y)), "two values"),
        (X[ENDS], Y[:-1], "answers in y"),
    ],
)
def test_bad_pairs_are_refused(pairs, y, message):
    with pytest.raises(ValueError, match=message):
        PairClassifier().fit(pairs, y)


def test_before_and_after_fit():
    model = PairClassifier(FAST)
    for call in ("predict", "decision_function", "pair_distance", "transform"):
        with pytest.raises(NotFittedError):
            getattr(model, call)(X[ENDS])
    with pytest.raises(NotFittedError):
        model.get_metric()
    model.fit(X[ENDS], Y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(X[ENDS][:, :, :3])
    with pytest.raises(ValueError, match="real number"):
        model.set_threshold("ABC")
    assert (model.set_threshold(-np.inf).predict(X[ENDS]) == -1).all()
    with pytest.raises(ValueError, match="strategy must be"):
        model.fit(X[ENDS], Y, calibration_params={"strategy": "weird"})
    with pytest.raises(TypeError, match="foo is not a valid key of the threshold rule"):
        model.fit(X[ENDS], Y, calibration_params={"foo": 1})
    with pytest.raises(ValueError, match="min_rate"):
        model.calibrate_threshold(X[ENDS], Y, "max_tpr", 1.2)


def digits_pairs(m, seed):
    """Return 400 digits of 8 x 8 pixels, m pairs of them, and 3,000 other pairs."""
    points, truth = load_digits(return_X_y=True)
    points, truth = points[:400], truth[:400]
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 400, (40 * m, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    same = truth[ends[:, 0]] == truth[ends[:, 1]]
    chosen = np.r_[np.flatnonzero(same)[: m // 2], np.flatnonzero(~same)[: m // 2]]
    new = rng.integers(0, 400, (3000, 2))
    return points, ends[chosen], same[chosen], new, truth[new[:, 0]] == truth[new[:, 1]]


def test_few_pairs_are_better_than_the_plain_distance():
    """The learned kernel alone was not: .57 with ten pairs, the distance has .85."""
    leads = []
    for seed in range(3):
        points, ends, same, new, truth = digits_pairs(10, seed)
        model = PairClassifier(preprocessor=points, random_state=0).fit(ends, same)
        plain = -np.linalg.norm(points[new[:, 0]] - points[new[:, 1]], axis=1)
        ours = roc_auc_score(truth, model.decision_function(new))
        leads.append(ours - roc_auc_score(truth, plain))
    assert np.mean(leads) >= 0.02


def test_many_pairs_are_far_better_than_the_plain_distance():
    points, ends, same, new, truth = digits_pairs(200, 0)
    model = PairClassifier(preprocessor=points, random_state=0).fit(ends, same)
    plain = -np.linalg.norm(points[new[:, 0]] - points[new[:, 1]], axis=1)
    ours = roc_auc_score(truth, model.decision_function(new))
    assert ours > roc_auc_score(truth, plain) + 0.08


@pytest.mark.parametrize(("n_same", "is_held_out"), [(1, False), (2, True)])
def test_shares_are_equal_where_no_pair_can_be_held_out(n_same, is_held_out):
    same, other = np.flatnonzero(Y > 0)[:n_same], np.flatnonzero(Y < 0)[:8]
    rows = np.r_[same, other]
    model = PairClassifier(FAST, X, random_state=0).fit(ENDS[rows], Y[rows])
    assert (np.ptp(model.shares_) > 1e-3) == is_held_out
    without = PairClassifier(FAST, X, cv=None, random_state=0).fit(ENDS, Y)
    np.testing.assert_allclose(without.shares_, 1 / 3)


def test_shares_are_the_mean_of_all_divisions_weighed_by_their_likelihood():
    """By its fourth power."""
    model = PairClassifier(FAST, X, cv=3, random_state=0).fit(ENDS, Y)
    points, same = X, Y > 0
    folds = StratifiedKFold(3, shuffle=True, random_state=_seed(0))
    parts = np.empty((3, len(ENDS)))
    basis = model.learner_.basis_
    for train, test in folds.split(ENDS, same):
        pairs = Pairs(ENDS[train, 0], ENDS[train, 1], 1.0 * np.sign(Y[train]), len(X))
        kernel = clone(model.learner_).learn(basis, pairs=pairs).kernel_
        metric = PairMetric.of(points, ENDS[train], same[train])
        for j, F in enumerate(
            (
                unit_rows(kernel.features()),
                unit_rows(basis.vectors_ * np.exp(-2.5 * basis.values_)),
                metric.features(points),
            )
        ):
            parts[j, test] = similarity(F, ENDS[test])
    total, shares = 0.0, np.zeros(3)
    for a in range(5):
        for b in range(5 - a):
            w = np.array([a, b, 4 - a - b]) / 4
            likelihood = np.exp(-4 * calibrate(w @ parts, same)[2])
            total, shares = total + likelihood, shares + likelihood * w
    np.testing.assert_allclose(model.shares_, shares / total, atol=1e-8)


def _seed(random_state):
    return int(np.random.default_rng(random_state).integers(2**31))
