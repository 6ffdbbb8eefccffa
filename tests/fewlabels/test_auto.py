"""The default for few labels: closed forms, invariances, and hard cases."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.evidence.labels import Labels
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.fewlabels.centred import fit_centred
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.ridge import calibrate, held_out_loss, solve_loo_ridge
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.sizes import estimated_sizes, match_sizes
from mercer.fewlabels.spreading import spread_decision
from mercer.fewlabels.weigh import pool_members, steep
from mercer.machines._sizes import ToldSizes
from mercer.spectrum.features import DenseFeatures
from mercer.spectrum.graph import GraphBasis
from mercer.spectrum.scores import ArrayScores

MINUS_ONE = "y holds -1 as a class; here -1 means unlabelled"
REPEATED = "repeated rows are further points of the table; see test_weights.py"
WAIVED = {
    "check_classifiers_classes": MINUS_ONE,
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED,
}


@parametrize_with_checks(
    [KernelPool(random_state=0), AutoKernel(random_state=0), LeaveOneOutRLS()],
    expected_failed_checks=lambda e: {} if isinstance(e, KernelPool) else WAIVED,
)
def test_scikit_learn_contract(estimator, check) -> None:
    check(estimator)


def ridge_by_gram(K, Y, ridge):
    """Solve the bordered system of ridge regression with a free offset."""
    n = len(K)
    A = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    x = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return x[:n], x[n]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 9), st.integers(2, 4), st.floats(0.01, 10), st.integers(0, 2**32 - 1)
)
def test_leave_one_out_equals_refits(n, C, ridge, seed) -> None:
    rng = np.random.default_rng(seed)
    U, Y = rng.standard_normal((n, 3)), np.eye(C)[rng.integers(C, size=n)]
    K = U @ U.T
    ridge = ridge * rng.choice([0.5, 1.0, 3.0], size=n)
    fit = solve_loo_ridge(K, Y, ridge=ridge)
    alpha, offset = ridge_by_gram(K, Y, ridge)
    np.testing.assert_allclose(fit.alpha, alpha, atol=1e-8)
    np.testing.assert_allclose(fit.offset, offset, atol=1e-8)
    for i in range(n):
        rest = np.arange(n) != i
        alpha, offset = ridge_by_gram(K[np.ix_(rest, rest)], Y[rest], ridge[rest])
        np.testing.assert_allclose(
            fit.held_out[i], K[i, rest] @ alpha + offset, atol=1e-7
        )
        np.testing.assert_allclose(fit.held_out_offset[i], offset, atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0, 2), min_size=2, max_size=30),
    st.floats(0.05, 1.2),
    st.sampled_from([1.0, 2.0, 5.0]),
)
def test_steep_weights_have_the_rank_asked_for(values, share, power) -> None:
    values = np.sort([0.0, *values])
    rank = share * len(values)
    weights = steep(values, rank=rank, power=power)
    n_null = int((values <= 1e-10 * values.max()).sum())
    if rank >= len(values) or n_null == len(values):
        assert (weights == 1).all()
    else:
        assert weights.sum() == pytest.approx(max(rank, n_null), rel=1e-6)
        assert (np.diff(weights) <= 1e-12).all()
        assert weights[0] == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(30, 60), st.integers(0, 2**32 - 1))
def test_offsets_give_the_sizes_asked_for(C, n, seed) -> None:
    rng = np.random.default_rng(seed)
    counts = 3 + rng.multinomial(n - 3 * C, np.ones(C) / C)
    scores = rng.standard_normal((n, C))
    b = match_sizes(ArrayScores(scores), counts / n, max_iter=500)
    found = np.bincount((scores + b).argmax(axis=1), minlength=C)
    np.testing.assert_array_equal(found, counts)


@settings(max_examples=20, deadline=None)
@example(7, 4, 277)  # rounding of the objective once stopped it short
@given(st.integers(0, 12), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_calibration_is_stationary_and_a_minimum(m, C, seed) -> None:
    rng = np.random.default_rng(seed)
    scores, codes = 3 * rng.standard_normal((m, C)), rng.integers(C, size=m)
    start = rng.standard_normal(C)
    line = calibrate(scores, np.eye(C)[codes], start)
    assert line.residual <= 1e-9 * (1 + m)

    def objective(a, c):
        z = a * scores + c
        losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(m), codes]
        return losses.sum() + 2 * (a - 1) ** 2 + ((c - start) ** 2).sum() / 8

    best = objective(line.slope, line.offset)
    for _ in range(20):
        a, c = 0.1 * rng.standard_normal(), 0.1 * rng.standard_normal(C)
        assert objective(line.slope + a, line.offset + c) >= best - 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_calibration_of_huge_scores_that_are_all_wrong(seed: int) -> None:
    """So are those of points that have copies with opposite labels."""
    rng = np.random.default_rng(seed)
    Y = np.eye(2)[rng.integers(2, size=8)]
    scores = -1e12 * (2 * Y - 1) * rng.random((8, 1))
    line = calibrate(scores, Y, np.zeros(2))
    assert -1e-6 < line.slope < 0  # scores of a usual size then say nothing
    assert np.abs(line.offset).max() < 1e-6
    assert line.residual < 1e-15 * np.abs(scores).sum()  # rounding of the gradient


def test_calibration_of_many_classes_takes_little_memory() -> None:
    rng = np.random.default_rng(0)
    m, C = 300, 120
    scores, codes = rng.standard_normal((m, C)), rng.integers(C, size=m)
    tracemalloc.start()
    try:
        calibrate(scores, np.eye(C)[codes], np.zeros(C))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * scores.nbytes  # a Jacobian of each point would take C + 1


def test_held_out_loss_is_the_best_of_the_slopes_and_never_above_guessing() -> None:
    votes = np.eye(2)[[0, 1, 1]]
    wrong = np.array([[-1.0, 1.0], [1.0, -1.0], [1.0, -1.0]])
    assert held_out_loss(wrong, votes, np.zeros(2))[0] == pytest.approx(3 * np.log(2))
    # The usual slope of two classes is 0.45 log 2; with m labels q times as much costs
    # 36 / (12 + m) log^2 q.
    first = 0.45 * np.log(2)
    for times, usual in ((1, True), (6, False)):
        scores, m = np.tile(-wrong, (times, 1)), 3 * times
        loss, slope = held_out_loss(scores, np.tile(votes, (times, 1)), np.zeros(2))
        costs = [
            m * np.log1p(np.exp(-2 * first * q)) + 36 / (12 + m) * np.log(q) ** 2
            for q in DEFAULT.slopes
        ]
        assert slope == pytest.approx(first * DEFAULT.slopes[np.argmin(costs)])
        assert (slope == first) == usual
        assert loss == pytest.approx(min(costs))
    doubting = Rule(slope_doubt=0.1)
    _, slope = held_out_loss(-wrong, votes, np.zeros(2), rule=doubting)
    assert slope == pytest.approx(8 * first)
    none = held_out_loss(wrong, 0 * votes, np.zeros(2))
    assert none == (0.0, first)  # nothing left out: no evidence, the usual slope
    _, of_ten = held_out_loss(np.zeros((1, 10)), np.zeros((1, 10)), np.zeros(10))
    assert of_ten == pytest.approx(0.45 * np.log(10))


def test_sizes_are_the_predicted_ones_or_those_of_the_labels() -> None:
    predicted, counts = np.array([8, 2]), np.array([1, 2])
    np.testing.assert_allclose(
        estimated_sizes(predicted, counts, 0.0), [9 / 12, 3 / 12]
    )
    np.testing.assert_allclose(estimated_sizes(predicted, counts, 1.0), [2 / 5, 3 / 5])


def moons(n_each=3, n=200, seed=0):
    X, truth = make_moons(n, noise=0.05, random_state=seed)
    y = np.full(n, -1)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:n_each]] = c
    return X, y, truth


def default(**options):
    return LeaveOneOutRLS(AutoKernel(random_state=0), **options)


@pytest.mark.parametrize("n_each", [1, 2, 5])
def test_two_moons(n_each) -> None:
    X, y, truth = moons(n_each)
    assert np.mean(default().fit(X, y).transduction_ == truth) > 0.95


def test_the_kernel_is_the_weighted_sum_of_the_pool() -> None:
    X, y, _ = moons()
    learner = AutoKernel(random_state=0).fit(X, y)
    evidence, basis = learner.certificate_, learner.basis_
    members = pool_members(basis.blocks_, 2)
    assert evidence.names == tuple(member.name for member in members)
    assert evidence.weights.sum() == pytest.approx(1)
    total = np.zeros((len(X), len(X)))
    for weight, member in zip(evidence.weights, members, strict=True):
        U = basis.vectors_[:, member.block.columns]
        K = (U * member.core) @ U.T
        assert np.trace(K) / len(X) == pytest.approx(1)  # of unit variance
        total += weight * K
    np.testing.assert_allclose(learner.kernel_(), total, atol=1e-10)


def test_without_evidence_the_prior_decides() -> None:
    X, y, _ = moons(1)
    learner = AutoKernel(random_state=0).fit(X, y)
    assert learner.certificate_.n_held_out == 0
    priors = np.array([m.prior for m in pool_members(learner.basis_.blocks_, 2)])
    np.testing.assert_allclose(learner.certificate_.weights, priors / priors.sum())


def test_many_labels_decide_for_the_kernel_that_predicts_them() -> None:
    rng = np.random.default_rng(0)  # a dense and a scattered class at one place
    X = np.r_[0.1 * rng.standard_normal((100, 6)), rng.standard_normal((100, 6))]
    truth = np.repeat([0, 1], 100)
    y = np.where(rng.random(200) < 0.2, truth, -1)
    evidence = AutoKernel(random_state=0).fit(X, y).certificate_
    best = np.argmin(evidence.losses)
    losses = dict(zip(evidence.names, evidence.losses, strict=True))
    assert losses["density"] < 0.7 * losses["linear, power 2"]
    assert evidence.weights[best] > 1 / len(evidence.names)


def scores_of(X, y, **options):
    return default(**options).fit(X, y).decision_function(X)


def test_row_order_class_names_and_scale_of_x_change_nothing() -> None:
    X, y, _ = moons(3)
    scores = scores_of(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(scores_of(X[order], y[order]), scores[order], atol=1e-5)
    np.testing.assert_allclose(scores_of(1e3 * X, y), scores, atol=1e-5)
    names = np.array(["b", "a", None], dtype=object)  # swaps the order of the classes
    np.testing.assert_allclose(scores_of(X, names[y]), -scores, atol=1e-8)


def test_sparse_equals_dense_without_trees() -> None:
    X, y, _ = moons(3)
    dense = LeaveOneOutRLS(AutoKernel(random_state=0), rule=Rule(trees=0)).fit(X, y)
    np.testing.assert_allclose(
        scores_of(sparse.csr_array(X), y), dense.decision_function(X), atol=1e-6
    )


def test_training_points_as_new_points_get_their_own_scores() -> None:
    X, y, _ = moons(3)
    machine = default().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = machine.decision_function(X)
    P = 1 / (1 + np.exp(-again))
    np.testing.assert_allclose(machine.training_proba_[:, 1], P, atol=1e-10)
    unlabeled = y < 0
    np.testing.assert_array_equal(
        machine.predict(X)[unlabeled], machine.transduction_[unlabeled]
    )


def test_new_points_follow_their_neighbours() -> None:
    X, truth = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    y = np.full(200, -1)
    for c in range(3):
        y[np.flatnonzero(truth[:200] == c)[:2]] = c
    machine = default().fit(X[:200], y)
    assert np.mean(machine.predict(X[200:]) == truth[200:]) > 0.98
    P = machine.predict_proba(X[200:])
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize("n", range(2, 11))
def test_new_points_among_few_get_the_label_of_the_point_they_almost_equal(n) -> None:
    rng = np.random.default_rng(n)
    for n_features in (1, 2, 5):
        X = rng.normal(size=(n, n_features))
        near = X + 1e-6 * rng.normal(size=X.shape) / n_features
        machine = LeaveOneOutRLS(AutoKernel()).fit(X, [0, 1] + (n - 2) * [-1])
        np.testing.assert_array_equal(machine.predict(near), machine.transduction_)


@pytest.mark.parametrize("n_each", [1, 2, 3])
def test_new_points_beside_few_take_their_side(n_each) -> None:
    rng = np.random.default_rng(n_each)
    y = np.full(2 * n_each, -1)
    y[[0, -1]] = 0, 1
    sides = np.repeat([0, 1], n_each)
    for _ in range(10):
        X, new = (rng.normal(scale=0.3, size=(len(y), 2)) for _ in range(2))
        X[n_each:] += 5
        new[n_each:] += 5
        machine = LeaveOneOutRLS(AutoKernel()).fit(X, y)
        np.testing.assert_array_equal(machine.predict(new), sides)


def test_new_points_are_no_denser_and_no_lonelier_than_the_known() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    basis = KernelPool(random_state=0).fit(X)
    known = basis.vectors_[:, -1]
    new = basis.extend(np.array([[1e6, 0.0], [0.01, 0.01]]))[:, -1]
    assert new[0] == known.min()
    assert known.min() < new[1] <= known.max()


def test_components_without_labels_are_defined() -> None:
    rng = np.random.default_rng(4)
    centers = 100.0 * rng.standard_normal((6, 2))
    X = np.concatenate([c + rng.standard_normal((120, 2)) for c in centers])
    truth = np.repeat(np.arange(6), 120)
    y = np.full(720, -1)
    y[[0, 120, 240]] = [0, 1, 2]  # three of six far clusters have a label
    answer = default().fit(X, y).transduction_
    for c in range(3):
        assert (answer[truth == c] == c).all()
    for c in range(3, 6):
        assert len(np.unique(answer[truth == c])) == 1


@pytest.mark.parametrize("n", [3, 6, 12])
def test_tiny_and_repeated_points(n) -> None:
    X = np.repeat([[0.0], [1.0], [1.1]], n // 3, axis=0)
    y = np.full(n, -1)
    y[0], y[-1] = 0, 1
    machine = default().fit(X, y)
    assert machine.transduction_[0] == 0
    assert machine.transduction_[-1] == 1
    assert np.isfinite(machine.decision_function(X)).all()


def test_equal_points_leave_the_prior() -> None:
    with pytest.warns(NearlyConstantKernelWarning, match="points are equal"):
        machine = default().fit(np.zeros((6, 2)), [0, 0, 1, -1, -1, -1])
    with pytest.warns(NearlyConstantKernelWarning):
        P = machine.predict_proba(np.zeros((1, 2)))
    np.testing.assert_allclose(P, [[2 / 3, 1 / 3]])


def test_told_sizes_are_kept() -> None:
    X, _ = make_blobs([150, 50], centers=[[0, 0], [3, 0]], random_state=0)
    y = np.full(200, -1)
    y[[0, 1, 150, 151]] = [0, 0, 1, 1]
    machine = default(class_sizes=[0.75, 0.25]).fit(X, y)
    assert abs(np.sum(machine.predict(X) == 1) - 50) <= 2
    machine = default(class_sizes=[0.5, 0.5]).fit(X, y)
    assert abs(np.sum(machine.predict(X) == 1) - 100) <= 2
    with pytest.raises(ValueError, match="2 positive shares"):
        default(class_sizes=[0.5, 0.3, 0.2]).fit(X, y)
    with pytest.raises(ValueError, match="2 positive shares"):
        default(class_sizes=[0.5, np.inf]).fit(X, y)
    with pytest.raises(ValueError, match="an order of classes"):
        default(class_sizes="known").fit(X, y)


def test_told_sizes_may_name_the_classes() -> None:
    X, _ = make_blobs([150, 50], centers=[[0, 0], [3, 0]], random_state=0)
    y = np.array(["few", "many"] + 198 * [None], dtype=object)
    named = default(class_sizes={"many": 3, "few": 1}).fit(X, y)
    listed = default(class_sizes=[0.25, 0.75]).fit(X, y)
    np.testing.assert_array_equal(named.predict_proba(X), listed.predict_proba(X))
    counted = default(class_sizes=pd.Series({"many": 3, "few": 1})).fit(X, y)
    np.testing.assert_array_equal(counted.predict_proba(X), listed.predict_proba(X))
    for sizes in ({"many": 1}, {"many": 1, "few": 1, "none": 1}, {0: 1, 1: 1}):
        with pytest.raises(ValueError, match=r"labels are of \['few', 'many'\]"):
            default(class_sizes=sizes).fit(X, y)
    with pytest.raises(ValueError, match="2 positive shares"):
        default(class_sizes={"many": 0, "few": 1}).fit(X, y)


def test_without_sizes_labelled_points_explain_the_decision() -> None:
    X, y, _ = moons(3)
    for kernel in (AutoKernel(random_state=0), "rbf"):
        machine = LeaveOneOutRLS(kernel, class_sizes=None, rule=Rule(trees=0))
        machine.fit(X, y)
        by_hand = machine.similarity(X) @ machine.dual_coef_ + machine.intercept_
        np.testing.assert_allclose(by_hand.ravel(), machine.decision_function(X))


def test_a_kernel_without_features_gives_the_same_as_its_features() -> None:
    X, y, _ = moons(4)
    linear = LeaveOneOutRLS("linear", class_sizes=None).fit(X, y)
    gram = LeaveOneOutRLS("precomputed", class_sizes=None).fit(X @ X.T, y)
    np.testing.assert_allclose(
        linear.decision_function(X), gram.decision_function(X @ X.T), atol=1e-8
    )


def test_centred_scores_have_mean_zero_but_for_their_offset() -> None:
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((50, 4))
    Phi -= Phi.mean(axis=0)
    Phi /= np.sqrt((Phi**2).sum() / 50)
    rows, codes = np.arange(6), np.array([0, 0, 1, 1, 2, 2])
    features = DenseFeatures.plain(Phi)
    fit = fit_centred(features, Labels.read(np.r_[codes, np.full(44, -1)]))
    np.testing.assert_allclose((Phi @ fit.coef).mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(fit.coef, Phi[rows].T @ fit.dual, atol=1e-12)
    sizes = np.array([0.5, 0.3, 0.2])
    spread = spread_decision(
        features, fit.coef, fit.offset, rows, codes, sizes=ToldSizes(sizes, sizes)
    )
    np.testing.assert_array_equal(spread.sizes, sizes)
    decided = (Phi @ spread.coef + spread.offset).argmax(axis=1)
    found = np.bincount(decided, minlength=3) / 50
    np.testing.assert_allclose(found, sizes, atol=0.05)


def test_a_second_label_of_one_class_does_not_take_the_others_points() -> None:
    X, truth = make_blobs(500, centers=3.0 * np.eye(5), random_state=0)
    rows = [int(np.flatnonzero(truth == c)[0]) for c in range(5)]
    more = [int(np.flatnonzero(truth == c)[1]) for c in (0, 1)]
    pool = KernelPool(random_state=0).fit(X)
    right = []
    for labeled in (rows, rows + more):
        y = np.full(500, -1)
        y[labeled] = truth[labeled]
        labels = Labels.read(y, min_classes=2)
        kernel = AutoKernel().learn(pool, labels).kernel_
        machine = LeaveOneOutRLS(class_sizes=None).solve(kernel, labels)
        right.append(np.mean(machine.transduction_ == truth))
    assert right[1] > right[0]


def test_new_labels_on_a_kept_basis_equal_a_fresh_fit() -> None:
    X, y, truth = moons(2)
    learner = AutoKernel(random_state=0).fit(X, y)
    y[50] = truth[50]
    fresh = AutoKernel(random_state=0).fit(X, y)
    kept = AutoKernel().learn(learner.basis_, Labels.read(y, min_classes=2))
    np.testing.assert_allclose(kept.weights_, fresh.weights_, rtol=1e-8)


def test_bad_input_is_named() -> None:
    X, y, _ = moons()
    with pytest.raises(TypeError, match="KernelPool"):
        AutoKernel(GraphBasis()).fit(X, y)
    with pytest.raises(TypeError, match="KernelPool"):
        AutoKernel().learn(GraphBasis().fit(X), Labels.read(y, min_classes=2))
    with pytest.raises(TypeError, match="use GraphBasis"):
        KernelPool().fit(GraphBasis().fit(X).graph_)
