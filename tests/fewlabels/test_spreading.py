"""Spreading a decision: dense algebra, brute force, and clusters crosswise."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.exceptions import NearlyConstantKernelWarning
from mercer.fewlabels.gain import matching_slope, spreading_gain, sureness
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.partition import (
    ScoredPoints,
    missed_labels,
    resplit,
    ridge_smoother,
    split_pair,
    unexplained,
)
from mercer.fewlabels.rule import DEFAULT
from mercer.fewlabels.sizes import candidate_sizes, match_sizes
from mercer.fewlabels.spreading import spread_decision as spread_features
from mercer.machines._sizes import ToldSizes
from mercer.spectrum.features import DenseFeatures
from mercer.spectrum.scores import ArrayScores


def smoother(Phi, dof):
    return ridge_smoother(Phi.T @ Phi / len(Phi), dof)


def scored(Phi, base, *rest):
    return ScoredPoints(DenseFeatures.plain(Phi), ArrayScores(base), *rest)


def spread_decision(Phi, *rest, sizes=None, **options):
    told = None if sizes is None else ToldSizes(sizes, sizes)
    return spread_features(DenseFeatures.plain(Phi), *rest, sizes=told, **options)


def split_again(points, B, decision, rule=DEFAULT):
    """Split pairs again; nothing is spread between."""
    found, n_resplits = resplit(points, B, points.divided(decision), lambda d: d, rule)
    return found.decision, n_resplits


def standardised(Phi):
    Phi = Phi - Phi.mean(axis=0)
    return Phi / np.sqrt((Phi**2).sum() / len(Phi))


def blobs(counts, centers, *, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = np.repeat(np.asarray(centers, float), counts, axis=0)
    Phi = standardised(X + noise * rng.standard_normal(X.shape))
    return Phi, np.repeat(np.arange(len(counts)), counts)


def smoother_by_hand(Phi, dof):
    """Solve for the ridge at which K (K + n ridge)^-1 has the trace, by bisection."""
    n = len(Phi)
    K = Phi @ Phi.T
    values = np.linalg.eigvalsh(K)
    low, high = 1e-9, 1e9
    for _ in range(200):
        ridge = np.sqrt(low * high)
        trace = (values / (values + n * ridge)).sum()
        low, high = (ridge, high) if trace > dof else (low, ridge)
    return K @ np.linalg.inv(K + n * ridge * np.eye(n))


def confidence(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return float(np.mean(p.max(axis=1) / p.sum(axis=1)))


def unexplained_by_hand(R, decision, C):
    H = np.eye(C)[decision]
    return 1 - sum(h @ R @ h / h.sum() for h in H.T) / (C - 1)


@pytest.mark.parametrize("n_changed", [0, 3, 40])
def test_sums_follow_the_points_that_changed_class(n_changed) -> None:
    rng = np.random.default_rng(0)
    points = scored(rng.standard_normal((60, 4)), np.zeros((60, 3)), [], [])
    before = rng.integers(-1, 3, 60)
    now = before.copy()
    now[:n_changed] = (before[:n_changed] + 2) % 4 - 1  # the next one; ties, too
    sums = points.sums_after(points.sums(before), before, now)
    np.testing.assert_allclose(sums, points.sums(now), atol=1e-13)


@pytest.mark.parametrize("dof", [0.5, 2.0, 4.5])
def test_smoother_is_ridge_regression_with_that_trace(dof) -> None:
    rng = np.random.default_rng(0)
    Phi = standardised(rng.standard_normal((40, 6)) * np.arange(1, 7))
    R = Phi @ smoother(Phi, dof) @ Phi.T / 40
    np.testing.assert_allclose(R, smoother_by_hand(Phi, dof), atol=1e-8)


def test_the_smoother_of_a_moment_with_rounding_errors_is_positive_definite():
    """Features in single precision: the smallest eigenvalue is -1e-5 of the largest."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    w = np.linspace(-1e-5, 1.0, 40)
    B = ridge_smoother((turn * w) @ turn.T, 40.0)
    assert np.isfinite(B).all()
    assert np.linalg.eigvalsh(B).min() > 0


def test_smoother_of_fewer_directions_is_a_projection() -> None:
    rng = np.random.default_rng(0)
    Phi = standardised(rng.standard_normal((40, 3)))
    R = Phi @ smoother(Phi, 20.0) @ Phi.T / 40
    np.testing.assert_allclose(R, Phi @ np.linalg.pinv(Phi), atol=1e-5)
    assert not smoother(np.zeros((5, 2)), 1.0).any()


def test_unexplained_share_is_what_the_regression_leaves() -> None:
    rng = np.random.default_rng(1)
    Phi = standardised(rng.standard_normal((30, 4)))
    decision = rng.integers(0, 3, 30)
    points = scored(Phi, np.zeros((30, 3)), np.arange(3), decision[:3])
    R = smoother_by_hand(Phi, 2.0)
    got = unexplained(points.divided(decision), smoother(Phi, 2.0))
    assert got == pytest.approx(unexplained_by_hand(R, decision, 3), abs=1e-8)


def test_explained_wholly_by_its_own_indicators() -> None:
    decision = np.repeat(np.arange(3), [10, 20, 30])
    Phi = standardised(np.eye(3)[decision])
    points = scored(Phi, np.zeros((60, 3)), np.array([0, 10, 30]), np.arange(3))
    assert unexplained(points.divided(decision), smoother(Phi, 3.0)) < 1e-5


def test_missed_labels_are_those_the_other_points_outvote() -> None:
    rng = np.random.default_rng(2)
    Phi = standardised(rng.standard_normal((25, 5)))
    decision = rng.integers(0, 3, 25)
    rows = np.arange(12)
    points = scored(Phi, np.zeros((25, 3)), rows, decision[:12])
    R = smoother_by_hand(Phi, 2.5)
    by_hand = 0
    for i in rows:
        V = np.eye(3)[decision]
        V[i] = 0
        by_hand += int((R[i] @ V).argmax() != decision[i])
    assert 0 < by_hand < 12
    division = points.divided(decision)
    assert missed_labels(points, division, smoother(Phi, 2.5)) == by_hand


def spread_by_hand(Phi, base, rows, codes, sizes, fading):
    """Iterate as it is written, with matrices of all points."""
    C = base.shape[1]
    base = base / np.sqrt(np.mean(base**2))
    b = match_sizes(ArrayScores(base), sizes)

    def decide(F):
        now = F.argmax(axis=1)
        now[rows] = codes
        return now

    def settle(R, gain, now, b, n_rounds):
        before = None
        for _ in range(n_rounds):
            V = np.eye(C)[now]
            S = R @ (V - V.mean(axis=1, keepdims=True))
            F = base + gain * S / np.sqrt(np.mean(S**2))
            b = match_sizes(ArrayScores(F), sizes, start=b)
            before, last, now = now, before, decide(F + b)
            if last is not None and np.mean(now != before) < 1e-3:
                break
        return now, F, b

    R = smoother_by_hand(Phi, min(10 * C, len(Phi) / 10))

    def gain_of(division):  # all of six labels right
        return 4 * (1 - 2 * unexplained_by_hand(R, division, C) / 8) ** 4 * fading

    gain = gain_of(decide(base))
    now = decide(base + b)
    now, _, b = settle(R, gain, now, b, 10)
    rested = now
    now, F, b = settle(R, gain_of(rested), now, b, 3)
    left = unexplained_by_hand(R, rested, C)
    return F + b, left, 0.7 + 0.3 * (1 - 2 * left / 8)


@pytest.mark.parametrize("n", [200, 600])  # n / 10 and 10 C degrees of freedom
@pytest.mark.parametrize("seed", range(3))
def test_spreading_is_its_formula(seed, n) -> None:
    rng = np.random.default_rng(seed)
    Phi = standardised(rng.standard_normal((n, 60)) / np.sqrt(np.arange(1, 61)))
    rows, codes = np.arange(6), np.array([0, 0, 1, 1, 2, 2])
    coef, offset = rng.standard_normal((60, 3)), np.array([0.1, 0.0, -0.1])
    sizes = np.array([0.5, 0.3, 0.2])
    got = spread_decision(Phi, coef, offset, rows, codes, sizes=sizes, n_held_out=6)
    fading = n / (n + 100 * 6)
    expected, left, sure = spread_by_hand(
        Phi, Phi @ coef + offset, rows, codes, sizes, fading
    )
    assert got.n_resplits == 0
    assert got.unexplained == pytest.approx(left, abs=1e-6)
    assert left > DEFAULT.clear
    scores = Phi @ got.coef + got.offset
    slope = np.linalg.norm(scores) / np.linalg.norm(expected)
    np.testing.assert_allclose(scores, slope * expected, atol=1e-6)
    wanted = confidence(sure * (Phi @ coef + offset))
    assert confidence(scores) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("shift", "n_first", "noise"), [(0.0, 60, 0.05), (1.2, 200, 0.3)]
)
def test_class_sizes_are_those_that_leave_least_unexplained(
    shift, n_first, noise
) -> None:
    Phi, truth = blobs([n_first, 400 - n_first], [[1, 0], [-1, 0]], noise=noise)
    rows, codes = np.array([0, n_first]), np.array([0, 1])
    coef, offset = np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([shift, 0.0])
    got = spread_decision(Phi, coef, offset, rows, codes)
    left = [
        spread_decision(Phi, coef, offset, rows, codes, sizes=sizes).unexplained
        for sizes in candidate_sizes(ArrayScores(Phi @ coef + offset), codes).values()
    ]
    assert got.unexplained == min(left) < max(left)
    np.testing.assert_allclose(got.sizes[0], n_first / 400, atol=0.02)
    decided = (Phi @ got.coef + got.offset).argmax(axis=1)
    assert np.mean(decided == truth) > 0.98


def test_even_sizes_are_considered_unless_labels_contradict_them() -> None:
    base = ArrayScores(np.eye(3)[np.repeat(np.arange(3), [60, 30, 10])])
    nearly, uneven = np.array([0, 1, 2, 1]), np.array([0, 1, 2, 1, 1, 1, 1])
    found = candidate_sizes(base, nearly)
    assert list(found) == ["predicted", "even"]
    far = found["even"] - found["predicted"]
    even = 1 / 3 - found["predicted"]
    np.testing.assert_allclose(far, 0.08 / (np.abs(even).sum() / 2) * even)
    assert list(candidate_sizes(base, uneven)) == ["predicted", "labels"]
    level = ArrayScores(np.eye(3)[np.repeat(np.arange(3), [40, 33, 27])])
    np.testing.assert_allclose(candidate_sizes(level, np.arange(3))["labels"], 1 / 3)


@pytest.mark.parametrize(("shares", "far"), [((56, 44), 0.06), ((63, 37), 0.08)])
def test_sizes_move_at_most_eight_points_in_a_hundred(shares, far) -> None:
    base = ArrayScores(np.eye(2)[np.repeat([0, 1], [100 * s - 1 for s in shares])])
    found = candidate_sizes(base, np.array([0, 1]))
    moved = found["predicted"] - found["labels"]
    np.testing.assert_allclose(moved, [far, -far], atol=1e-9)


@pytest.mark.parametrize("share", [0.01, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_equal_labels_of_a_rare_class_do_not_cut_the_other_in_two(share, seed) -> None:
    rng = np.random.default_rng(seed)
    X, rare = rng.standard_normal((600, 2)), np.arange(600) < 600 * share
    X[rare, 0] += 4.0
    y = np.full(600, -1)
    for c in (0, 1):
        y[rng.choice(np.flatnonzero(rare == c), 2, replace=False)] = c
    kernel = AutoKernel(random_state=0).fit(X, y).kernel_
    right = [
        (LeaveOneOutRLS(kernel, class_sizes=sizes).fit(X, y).transduction_ == rare)
        for sizes in ("estimate", None)
    ]
    assert right[0].mean() >= right[1].mean() - 0.1


def test_how_labels_were_drawn_settles_the_sizes() -> None:
    base = ArrayScores(np.eye(3)[np.repeat(np.arange(3), [60, 30, 10])])
    codes = np.array([0, 1, 2, 1])
    every = candidate_sizes(base, np.array([0, 1, 2, 1, 1, 1, 1]))
    random = candidate_sizes(
        base, np.array([0, 1, 2, 1, 1, 1, 1]), labels_drawn="at random"
    )
    assert list(random) == ["labels"]
    shares = (61 / 103, 31 / 103, 11 / 103), (0.2, 0.6, 0.2)
    mixed = np.prod(np.power(shares, [[1 / 7], [6 / 7]]), axis=0)
    np.testing.assert_allclose(random["labels"], mixed / mixed.sum())
    far = random["labels"] - every["predicted"]
    assert np.abs(far).sum() / 2 > 0.08  # only what nobody said is bounded
    told = candidate_sizes(base, codes, labels_drawn="per class")
    assert list(told) == ["predicted"]
    np.testing.assert_allclose(told["predicted"], np.array([61, 31, 11]) / 103)


def test_sizes_stay_the_predicted_ones_where_classes_are_no_clear_clusters() -> None:
    """The collapse: one label per class, uneven classes, no gap between them."""
    rng = np.random.default_rng(0)
    Phi = standardised(rng.standard_normal((400, 8)))
    coef = np.zeros((8, 2))
    coef[0] = 1.0, -1.0
    offset = np.array([0.15, -0.15])
    before = (Phi @ coef + offset).argmax(axis=1)
    rows = np.array([np.flatnonzero(before == c)[0] for c in (0, 1)])
    got = spread_decision(Phi, coef, offset, rows, np.array([0, 1]))
    predicted = candidate_sizes(ArrayScores(Phi @ coef + offset), np.array([0, 1]))[
        "predicted"
    ]
    assert got.unexplained > DEFAULT.clear
    np.testing.assert_array_equal(got.sizes, predicted)
    lenient = replace(DEFAULT, clear=1.0, worth=2.0)
    moved = spread_decision(Phi, coef, offset, rows, np.array([0, 1]), rule=lenient)
    assert abs(moved.sizes[0] - 0.5) < abs(got.sizes[0] - 0.5)


def test_some_points_stand_for_all() -> None:
    Phi, truth = blobs([5_000, 25_000], [[1, 0], [-1, 0]], noise=0.05)
    coef = np.array([[1.0, -1.0], [0.0, 0.0]])
    got = spread_decision(Phi, coef, np.zeros(2), np.array([0, 29_999]), np.arange(2))
    np.testing.assert_allclose(got.sizes, [1 / 6, 5 / 6], atol=0.01)
    decided = (Phi @ got.coef + got.offset).argmax(axis=1)
    assert np.mean(decided == truth) > 0.99


def test_where_held_out_labels_are_missed_nothing_is_spread() -> None:
    rng = np.random.default_rng(0)
    Phi = standardised(rng.standard_normal((40, 3)))
    rows, codes = np.arange(6), np.array([0, 0, 0, 1, 1, 1])
    coef, offset = rng.standard_normal((3, 2)), np.zeros(2)
    half = np.array([0.5, 0.5])
    got = spread_decision(
        Phi, coef, offset, rows, codes, sizes=half, n_errors=6, n_held_out=6
    )
    # Only offsets moved; one slope for all keeps the mean confidence.
    np.testing.assert_allclose(got.coef / got.coef[0, 0], coef / coef[0, 0], rtol=1e-12)


def crosswise():
    """Return three clusters, and a decision that cuts two of them the wrong way."""
    Phi, truth = blobs([60, 60, 60], [[4, 0, 0], [0, 2, 0], [0, -2, 0]])
    wrong = truth.copy()
    other = Phi[:, 2] > np.median(Phi[60:, 2])
    wrong[60:] = np.where(other[60:], 1, 2)
    return Phi, truth, wrong


def test_classes_that_share_clusters_crosswise_are_split_again() -> None:
    Phi, truth, wrong = crosswise()
    rows = np.array([0, 60, 121])
    points = scored(Phi, np.zeros((180, 3)), rows, np.arange(3))
    B = smoother(Phi, 18.0)
    new = split_pair(points, B, wrong, 1, 2)
    assert np.mean(new == truth) > 0.98 > np.mean(wrong == truth)
    np.testing.assert_array_equal(np.bincount(new), np.bincount(wrong))
    assert unexplained(points.divided(new), B) < unexplained(points.divided(wrong), B)


def test_only_clear_clusters_are_split_again() -> None:
    Phi, truth, wrong = crosswise()
    rows = np.array([0, 60, 121])
    B = smoother(Phi, 18.0)
    points = scored(Phi, np.zeros((180, 3)), rows, np.arange(3))
    assert unexplained(points.divided(wrong), B) > DEFAULT.clear
    assert split_again(points, B, wrong) == (pytest.approx(wrong), 0)

    nearly = truth.copy()  # clear enough, and 4 points of each class in the other
    swapped = np.r_[61:65, 122:126]
    nearly[swapped] = 3 - nearly[swapped]
    assert unexplained(points.divided(nearly), B) < DEFAULT.clear
    new, n_resplits = split_again(points, B, nearly)
    assert n_resplits == 1
    assert np.mean(new == truth) > 0.98


def test_no_division_is_taken_that_contradicts_more_labels() -> None:
    Phi, _, wrong = crosswise()
    B = smoother(Phi, 18.0)
    rows = np.r_[0, 60:180:10]
    said = scored(Phi, np.zeros((180, 3)), rows, wrong[rows])
    better = split_pair(said, B, wrong, 1, 2)
    old, new = said.divided(wrong), said.divided(better)
    assert unexplained(new, B) < 0.97 * unexplained(old, B)
    assert missed_labels(said, new, B) > missed_labels(said, old, B)
    rule = replace(DEFAULT, clear=1.0)
    kept, n_resplits = split_again(said, B, wrong, rule)
    np.testing.assert_array_equal(kept, wrong)
    assert n_resplits == 0


def test_the_pair_that_is_confused_is_found_among_small_classes() -> None:
    Phi, truth = blobs([400, 400, 20, 20, 20], 4 * np.eye(5), noise=0.15)
    rows = np.array([0, 400, 800, 820, 840])
    points = scored(Phi, np.zeros((860, 5)), rows, np.arange(5))
    nearly = truth.copy()
    swapped = np.r_[1:31, 401:431]
    nearly[swapped] = 1 - nearly[swapped]
    new, n_resplits = split_again(points, smoother(Phi, 50.0), nearly)
    assert n_resplits == 1
    np.testing.assert_array_equal(new, truth)


def test_a_new_division_keeps_sizes_and_labels() -> None:
    rng = np.random.default_rng(0)
    Phi = standardised(rng.standard_normal((100, 4)))
    decision = np.repeat([0, 1], [30, 70])
    rows = rng.permutation(100)[:40]  # labels that no direction agrees with
    points = scored(Phi, np.zeros((100, 2)), rows, decision[rows])
    new = split_pair(points, smoother(Phi, 3.0), decision, 0, 1)
    np.testing.assert_array_equal(new[rows], decision[rows])
    np.testing.assert_array_equal(np.bincount(new), [30, 70])


@pytest.mark.parametrize("small", [0, 5])
def test_labels_that_mislead_along_a_cluster_are_overcome(small) -> None:
    """Two long clusters, labelled at opposite ends: scores that cut both crosswise."""
    rng = np.random.default_rng(0)
    counts = [1000] * 3 + [300] * small
    centers = np.zeros((3 + small, 4 + small))
    centers[[0, 1, 2], [0, 1, 1]] = 4.0, 2.0, -2.0
    centers[np.arange(3, 3 + small), np.arange(4, 4 + small)] = 4.0
    truth = np.repeat(np.arange(3 + small), counts)
    X = centers[truth] + 0.1 * rng.standard_normal((len(truth), 4 + small))
    long = (truth == 1) | (truth == 2)
    X[long, 2] += rng.uniform(-1.2, 1.2, long.sum())
    Phi = standardised(X)
    rows = np.array([np.flatnonzero(truth == c)[0] for c in range(3 + small)])
    rows[1] = 1000 + X[truth == 1, 2].argmax()
    rows[2] = 2000 + X[truth == 2, 2].argmin()
    coef = centers.T.copy()
    coef[1] *= 0.05
    coef[2, 1:3] = 12.0, -12.0
    coef -= coef.mean(axis=1, keepdims=True)
    codes, sizes = np.arange(3 + small), np.bincount(truth) / len(truth)
    before = (Phi @ coef).argmax(axis=1)
    got = spread_decision(Phi, coef, np.zeros(3 + small), rows, codes, sizes=sizes)
    decided = (Phi @ got.coef + got.offset).argmax(axis=1)
    assert got.n_resplits == 1
    assert np.mean(decided == truth) > 0.99 > 0.9 > np.mean(before == truth)


def test_rows_in_turn_are_looked_at_alike() -> None:
    truth = (np.arange(30_000) % 3 == 1) * 1
    rng = np.random.default_rng(0)
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])[truth] + 0.3 * rng.standard_normal(
        (30_000, 2)
    )
    coef = np.array([[1.0, -1.0], [0.0, 0.0]])
    got = spread_decision(
        standardised(X), coef, np.zeros(2), np.arange(2), truth[np.arange(2)]
    )
    np.testing.assert_allclose(got.sizes, [2 / 3, 1 / 3], atol=0.02)


def test_labelled_points_without_features_leave_the_offsets() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:2] = 0
    y = np.full(50, -1)
    y[:2] = [0, 1]
    with pytest.warns(NearlyConstantKernelWarning):
        scores = LeaveOneOutRLS("linear").fit(X, y).decision_function(X)
    assert np.isfinite(scores).all()


def test_gain_fades_among_few_points_with_many_labels_and_without_skill() -> None:
    two = np.ones(2)
    assert spreading_gain(10**9, two, 0, 0, 0.0) == pytest.approx(4, abs=1e-5)
    assert spreading_gain(10**9, 20 * two, 21, 40, 0.0) == 0.0
    among = [spreading_gain(n, 10 * two, 2, 20, 0.0) for n in (100, 1000, 10000)]
    given_labels = [spreading_gain(1000, k * two, 0, 50, 0.0) for k in (25, 50, 100)]
    assert sorted(among) == among
    assert sorted(given_labels, reverse=True) == given_labels
    assert spreading_gain(2000, 10 * two, 0, 0, 0.0) == pytest.approx(2.0)


def test_gain_is_the_fourth_power_of_the_skill() -> None:
    many, even = 10**12, np.ones(4)
    # Without a held-out label the skill is what the kernel explains.
    assert spreading_gain(many, even, 0, 0, 0.5) == pytest.approx(4 * 0.5**4)
    assert spreading_gain(many, even, 0, 0, -0.1) == pytest.approx(4)
    # 3 of 8 missed where a guess misses three quarters, two labels more for the prior.
    skill = 1 - (3 / 0.75 + 2 * 0.1) / 10
    assert spreading_gain(many, 2 * even, 3, 8, 0.1) == pytest.approx(4 * skill**4)
    # Nine labels in ten are of one class: who misses one in ten might as well guess.
    uneven = np.array([90.0, 10.0])
    assert spreading_gain(many, uneven, 10, 98, 1.0) == 0.0
    assert spreading_gain(many, 50 * np.ones(2), 10, 98, 1.0) > 1.0


def test_scores_are_the_less_sure_the_less_is_known() -> None:
    assert [sureness(s) for s in (0.0, 0.5, 1.0)] == pytest.approx([0.7, 0.85, 1.0])
    assert sureness(0.0, replace(DEFAULT, sureness=0.4)) == 0.4
    Phi, _ = blobs([150, 150], [[1, 0], [-1, 0]], noise=0.05)
    rows, codes = np.array([0, 299]), np.array([0, 1])
    coef = np.array([[0.5, -0.5], [0.0, 0.0]])
    # Of 20 labels 8 are missed, where guessing misses half of them.
    for n_errors, n_held_out, known in ((0, 0, 1.0), (8, 20, 1 - 16 / 22)):
        got = spread_decision(
            Phi,
            coef,
            np.zeros(2),
            rows,
            codes,
            n_errors=n_errors,
            n_held_out=n_held_out,
        )
        assert got.unexplained < 0.02
        wanted = confidence((0.7 + 0.3 * known) * Phi @ coef)
        found = confidence(Phi @ got.coef + got.offset)
        assert found == pytest.approx(wanted, abs=0.01)


def test_overlapping_classes_are_not_spread_and_clusters_are() -> None:
    """Many points: a border through the middle of a cloud stays where labels put it."""
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(3000, 2))
    truth = (cloud[:, 0] > 0.7).astype(int)
    noisy = np.where(rng.random(3000) < 0.3, 1 - truth, truth)
    apart = rng.normal(size=(3000, 2)) + 8.0 * truth[:, None]
    rows = rng.choice(3000, 60, replace=False)

    def moved(X, names) -> float:
        y = np.full(3000, -1)
        y[rows] = names[rows]
        kernel = AutoKernel(random_state=0).fit(X, y)
        with_sizes, without = (
            LeaveOneOutRLS(kernel, class_sizes=sizes).fit(X, y).transduction_
            for sizes in ("estimate", None)
        )
        return float(np.mean(with_sizes != without))

    assert moved(cloud, noisy) < 0.02
    assert moved(apart, truth) < 0.001


def test_spreading_keeps_the_confidence_that_held_out_labels_justified() -> None:
    rng = np.random.default_rng(0)
    calibrated = rng.normal(size=(500, 3))
    sharper = 7 * calibrated + rng.normal(size=(500, 3))
    slope = matching_slope(sharper, calibrated)

    assert confidence(slope * sharper) == pytest.approx(confidence(calibrated))
    assert matching_slope(np.zeros((4, 2)), np.ones((4, 2)) * [1, 0]) == 1.0
