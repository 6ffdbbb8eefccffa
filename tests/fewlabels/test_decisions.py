"""Decisions of the default, written out by hand: each changed constant is noticed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_moons

from mercer.active.batches import error_batch, reducing_batch
from mercer.active.strategies import choose_rows, entropy, least_confidence
from mercer.evidence.labels import Labels
from mercer.fewlabels.centred import fit_centred
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.ridge import held_out_loss
from mercer.fewlabels.rule import DEFAULT
from mercer.fewlabels.weigh import pool_members, weigh_pool
from mercer.spectrum.features import DenseFeatures


def ridge_with_offset(K, Y, ridge):
    """Solve the bordered system of ridge regression with a free offset."""
    n = len(K)
    A = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    x = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return x[:n], x[n]


def uneven_moons():
    X, truth = make_moons(60, noise=0.05, random_state=0)
    y = np.full(60, -1)
    for c, n in ((0, 5), (1, 2)):
        y[np.flatnonzero(truth == c)[:n]] = c
    return X, Labels.read(y, min_classes=2)


def test_the_pool_is_weighed_by_refits_without_each_label() -> None:
    """Held-out scores lose the offset of their own refit and have unit deviation."""
    X, labels = uneven_moons()
    pool = KernelPool(6, random_state=0).fit(X)
    U, rows = pool.vectors_.astype(float), labels.labeled
    Y = labels.one_hot()
    counts = Y.sum(axis=0)
    shift = np.log((counts + 1) / (counts + 1).sum())
    shift -= shift.mean()
    evidence = []
    for member in pool_members(pool.blocks_, 2):
        Phi = U[:, member.block.columns] * np.sqrt(member.core)
        K = Phi[rows] @ Phi[rows].T
        total = 0.0
        for ridge in DEFAULT.ridges:
            alpha, _ = ridge_with_offset(K, Y, np.full(len(rows), ridge))
            everywhere = Phi @ (Phi[rows].T @ alpha)
            deviation = np.sqrt(np.mean(everywhere**2))
            scores = np.empty_like(Y)
            for i in range(len(rows)):
                rest = np.arange(len(rows)) != i
                a, _ = ridge_with_offset(
                    K[np.ix_(rest, rest)], Y[rest], np.full(len(rows) - 1, ridge)
                )
                scores[i] = K[i, rest] @ a / deviation
            loss, _ = held_out_loss(scores, Y, shift)
            total += np.exp(-loss)
        evidence.append(np.log(member.prior * total))
    _, found = weigh_pool(pool.vectors_[rows], labels, pool.blocks_)
    np.testing.assert_allclose(found.weights, softmax(evidence), rtol=1e-5)


def test_every_label_counts_alike_however_many_its_class_has() -> None:
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((50, 4))
    Phi -= Phi.mean(axis=0)
    Phi /= np.sqrt((Phi**2).sum() / 50)
    rows, codes = np.arange(9), np.array([0, 0, 0, 0, 0, 0, 1, 1, 2])
    y, rule = np.r_[codes, np.full(41, -1)], replace(DEFAULT, ridges=(1.0,))
    fit = fit_centred(DenseFeatures.plain(Phi), Labels.read(y), rule)
    alpha, _ = ridge_with_offset(Phi[rows] @ Phi[rows].T, np.eye(3)[codes], np.ones(9))
    alpha -= alpha.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(
        fit.dual / np.linalg.norm(fit.dual), alpha / np.linalg.norm(alpha), atol=1e-10
    )


@pytest.mark.parametrize(
    ("query", "share"), [("reduction", 1.0), ("fill", 0.1), ("fill_new", 0.1)]
)
def test_questions_take_labels_to_be_this_noisy(query, share) -> None:
    different = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((40, 3)) * [3.0, 1.0, 0.3]
        proba = rng.dirichlet([1.0, 1.0], 40)
        labeled, free = np.arange(4), np.arange(4, 40)

        def chosen(ridge, rows=free, seen=labeled, F=features, P=proba):
            given = (F, seen, rows, rows, 5)
            if query != "reduction":
                wrong = least_confidence(P)
                return error_batch(wrong, *given, ridge=ridge, own=query == "fill")
            return reducing_batch(entropy(P), *given, ridge=ridge)

        noise = share * float((features**2).sum()) / 40
        found = choose_rows(
            query,
            5,
            proba=proba,
            features=features,
            labeled=labeled,
            candidates=free,
            rng=np.random.default_rng(0),
        )
        np.testing.assert_array_equal(found, chosen(noise))
        different += not np.array_equal(found, chosen(100 * noise))
    assert different >= 2
