"""Honest numbers: what cross-validation, intervals and calibration claim."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_blobs

from mercer._labels import encode_labels
from mercer.machines.klr import KernelLogisticRegression
from mercer.spectrum.graph import GraphBasis
from mercer.tables.calibration import cautious_temperature, tempered
from mercer.tables.checking import (
    RowsOfBasis,
    check_by_hiding,
    doubtful_labels,
    paired_interval,
    wilson_interval,
)
from mercer.tables.fitting import learn_kernel
from mercer.tables.model import FeatureKernel


def nothing(_: float) -> None:
    """Take no note of progress."""


def check(X: Any, y: Any, basis: Any | None = None) -> Any:
    basis = basis or GraphBasis(30, random_state=0).fit(X)
    return check_by_hiding(
        X,
        encode_labels(y),
        basis,
        lambda part, codes, rows: learn_kernel(part, codes, None, X[rows]),
        KernelLogisticRegression(FeatureKernel(), C=10.0),
        rng=np.random.default_rng(0),
        advance=nothing,
    )


@pytest.fixture(scope="module")
def blobs() -> tuple[Any, Any]:
    return make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)


def some_labels(truth: Any, n: int) -> Any:
    y = np.full(len(truth), -1)
    y[:n] = truth[:n]
    return y


def test_random_labels_score_at_chance(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    shuffled = np.random.default_rng(1).permutation(truth)
    found = check(X, some_labels(shuffled, 150))
    for score in found.scores:
        assert score.low < 1 / 3 < score.high + 0.1
        assert score.accuracy < 0.5


def test_every_label_is_hidden_once_a_repeat_and_the_shares_add_up(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    found = check(X, some_labels(truth, 30))
    assert found.rows.tolist() == list(range(30))
    np.testing.assert_allclose(found.proba.sum(axis=1), 1)
    np.testing.assert_allclose(
        found.confusion.sum(axis=1), np.bincount(truth[:30]), atol=1e-9
    )
    assert np.trace(found.confusion) / 30 == pytest.approx(found.scores[0].accuracy)
    assert found.scores[0].accuracy > 0.9


def test_a_hidden_label_does_not_reach_its_own_prediction() -> None:
    """Of two equal rows with unlike labels, only the other one's label is seen."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((60, 2)), 2, axis=0)
    y = np.tile([0, 1], 60)
    found = check(X, y)
    assert found.scores[0].high < 0.5


def test_a_wrong_label_is_found(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    y = some_labels(truth, 60)
    y[7] = (y[7] + 1) % 3
    found = check(X, y)
    doubtful = found.rows[doubtful_labels(found)]
    assert doubtful[0] == 7
    assert len(doubtful) < 6


def test_nothing_to_check_with_one_label_a_class(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    y = np.full(300, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[0]] = c
    assert check(X, y) is None


def test_some_rows_of_a_basis_give_nearly_the_kernel_of_all(
    blobs: tuple[Any, Any],
) -> None:
    X, truth = blobs
    basis = GraphBasis(10, random_state=0).fit(X)
    codes = some_labels(truth, 60)
    rows = np.sort(np.random.default_rng(0).choice(300, 250, replace=False))
    rows = np.union1d(rows, np.arange(60))
    part = RowsOfBasis(basis, rows)
    some = learn_kernel(part, codes[rows], None, X[rows]).kernel_.features()
    full = learn_kernel(basis, codes, None, X).kernel_.features()[rows]
    np.testing.assert_allclose(some @ some.T, full @ full.T, atol=0.25)
    np.testing.assert_allclose(
        np.corrcoef((some @ some.T).ravel(), (full @ full.T).ravel())[0, 1],
        1,
        atol=1e-6,
    )


@pytest.mark.parametrize(("k", "n"), [(18, 20), (0, 5), (5, 5), (300, 1000)])
def test_wilson_interval_against_scipy(k: int, n: int) -> None:
    reference = binomtest(k, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(
        wilson_interval(k / n, n), (reference.low, reference.high), atol=1e-12
    )


def test_paired_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        gains = rng.choice([-1.0, 0.0, 1.0], size=25, p=[0.1, 0.6, 0.3])
        _, low, high = paired_interval(gains)
        hits += low <= 0.2 <= high
    assert 0.92 <= hits / 400 <= 0.99


def test_no_difference_on_few_rows_is_not_certainty() -> None:
    lead, low, high = paired_interval(np.zeros(5))
    assert lead == 0
    assert low < -0.2 < 0.2 < high


def test_temperature_undoes_overconfidence() -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((4000, 3))
    p = tempered(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), 1.0)
    codes = (p.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    loud = tempered(p, 0.25)
    assert cautious_temperature(loud, codes, 4000) == pytest.approx(4.0, rel=0.1)


def test_right_answers_alone_do_not_make_certainty() -> None:
    p = np.tile([0.99, 0.01], (10, 1))
    T = cautious_temperature(p, np.zeros(10, dtype=int), 10)
    assert tempered(p, T)[0, 0] == pytest.approx(11 / 12, abs=1e-3)


def test_the_check_warns_of_nothing(blobs: tuple[Any, Any]) -> None:
    X, truth = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(X, some_labels(truth, 12))
