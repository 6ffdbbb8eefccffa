"""Weighted and soft labels of the default, against repeated rows."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_iris

from mercer.evidence.labels import Labels
from mercer.fewlabels.centred import fit_centred, log_shares
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.machine import LeaveOneOutRLS
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.ridge import calibrate, held_out_loss
from mercer.fewlabels.rule import DEFAULT
from mercer.fewlabels.weigh import pool_members, weigh_pool
from mercer.spectrum.features import DenseFeatures


def ridge_with_offset(K, Y, ridge):
    n = len(K)
    A = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    found = np.linalg.solve(A, np.vstack([Y, np.zeros(Y.shape[1])]))
    return found[:-1], found[-1]


def given_labels(seed=0, n=9, C=3):
    """Rows, numbers of votes of every class at each, and the votes as rows."""
    rng = np.random.default_rng(seed)
    counts = 2 * np.eye(C, dtype=int)[np.arange(n) % C] + rng.integers(0, 2, (n, C))
    place = np.repeat(np.arange(n), counts.sum(axis=1))
    votes = np.concatenate([np.repeat(np.arange(C), row) for row in counts])
    return counts, place, votes


def test_the_regression_is_that_of_repeated_rows_with_points_left_out_whole() -> None:
    rng = np.random.default_rng(1)
    Phi = rng.normal(size=(40, 5)) * np.array([2.0, 1.0, 1.0, 0.5, 0.2])
    Phi -= Phi.mean(axis=0)
    rows = np.sort(rng.permutation(40)[:9])
    counts, place, votes = given_labels()
    total = counts.sum(axis=1)
    shares, weights = np.zeros((40, 3)), np.zeros(40)
    shares[rows], weights[rows] = counts / total[:, None], total
    found = fit_centred(DenseFeatures.plain(Phi), Labels.read(shares, weights=weights))
    # By hand: one row per vote.
    Y, F = np.eye(3)[votes], Phi[rows[place]]
    K, shift = F @ F.T, log_shares(Y.sum(axis=0))
    losses, values, held = [], [], []
    for ridge in DEFAULT.ridges:
        alpha, _ = ridge_with_offset(K, Y, np.full(len(Y), ridge))
        value = Phi @ (F.T @ alpha)
        scale = np.sqrt(np.mean(value**2))
        out = np.empty_like(Y)
        for i in range(len(Y)):
            rest = place != place[i]
            a, _ = ridge_with_offset(
                K[np.ix_(rest, rest)], Y[rest], np.full(rest.sum(), ridge)
            )
            out[i] = K[i, rest] @ a / scale
        loss, slope = held_out_loss(out, Y, shift)
        losses.append(loss)
        values.append(slope * value / scale)
        held.append(slope * out)
    mix = softmax(-np.array(losses))
    value, out = (np.tensordot(mix, parts, axes=1) for parts in (values, held))
    line = calibrate(out, Y, shift)
    expected = line.slope * (value - value.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(found.losses, losses)
    np.testing.assert_allclose(Phi @ found.coef, expected, atol=1e-8)
    np.testing.assert_allclose(found.scores[place], line.slope * out + line.offset)


def test_kernels_are_weighed_by_repeated_rows_with_points_left_out_whole() -> None:
    X, _ = load_iris(return_X_y=True)
    pool = KernelPool(10, random_state=0).fit(X)
    counts, place, votes = given_labels(seed=2)
    total = counts.sum(axis=1)
    rows = np.arange(0, 150, 17)[:9]
    codes, shares, weights = np.full(150, -1), np.zeros((150, 3)), np.zeros(150)
    codes[rows], weights[rows] = counts.argmax(axis=1), total
    shares[rows] = counts / total[:, None]
    labels = Labels(codes, np.arange(3), shares, weights)
    _, found = weigh_pool(pool.vectors_[rows], labels, pool.blocks_)
    Y, n_c = np.eye(3)[votes], counts.sum(axis=0).astype(float)
    evidence = []
    for member in pool_members(pool.blocks_, 3):
        U = np.asarray(pool.vectors_)[:, member.block.columns]
        F = (U * np.sqrt(member.core))[rows[place]]
        K, everywhere = F @ F.T, U * np.sqrt(member.core)
        at = []
        for ridge in DEFAULT.ridges:
            alpha, _ = ridge_with_offset(K, Y, np.full(len(Y), ridge))
            value = everywhere @ (F.T @ alpha)
            scale = np.sqrt(np.mean((value - value.mean(axis=0)) ** 2))
            out = np.empty_like(Y)
            for i in range(len(Y)):
                rest = place != place[i]
                a, _ = ridge_with_offset(
                    K[np.ix_(rest, rest)], Y[rest], np.full(rest.sum(), ridge)
                )
                out[i] = K[i, rest] @ a / scale
            at.append(held_out_loss(out, Y, log_shares(n_c))[0])
        evidence.append(np.log(member.prior * np.exp(-np.array(at)).sum()))
    np.testing.assert_allclose(found.weights, softmax(evidence), rtol=1e-4)


def test_unit_weights_and_certain_shares_change_nothing() -> None:
    X, truth = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 10 == 0, truth, -1)
    shares = np.where(y[:, None] >= 0, np.eye(3)[truth], 0.0)
    kernel = AutoKernel(random_state=0).fit(X, y).kernel_
    plain = LeaveOneOutRLS(kernel).solve(kernel, y)
    for soft in (
        LeaveOneOutRLS(kernel).solve(kernel, y, sample_weight=np.ones(150)),
        LeaveOneOutRLS(kernel).solve(kernel, shares),
    ):
        np.testing.assert_allclose(soft.training_proba_, plain.training_proba_)


@pytest.mark.parametrize("sizes", ["estimate", None])
def test_a_doubtful_label_pulls_less(sizes) -> None:
    X, truth = load_iris(return_X_y=True)
    y = np.where(np.arange(150) % 10 == 0, truth, -1)
    shares = np.where(y[:, None] >= 0, np.eye(3)[truth], 0.0)
    wrong = 60
    kernel = AutoKernel(random_state=0).fit(X, y).kernel_
    sure, doubtful = shares.copy(), shares.copy()
    sure[wrong] = [0, 0, 1]
    doubtful[wrong] = [0, 0.45, 0.55]
    machine = LeaveOneOutRLS(kernel, class_sizes=sizes)
    P, Q = (machine.solve(kernel, s).training_proba_[wrong] for s in (sure, doubtful))
    assert Q[1] > P[1] + 0.02


def test_a_class_that_is_likeliest_nowhere_has_its_probability() -> None:
    X, _ = load_iris(return_X_y=True)
    shares = np.zeros((150, 3))
    shares[[0, 1, 50, 51]] = [[1, 0, 0], [1, 0, 0], [0, 0.6, 0.4], [0, 0.6, 0.4]]
    machine = LeaveOneOutRLS("rbf").fit(X, shares)
    assert machine.predict_proba(X[50:60])[:, 2].mean() > 0.2
