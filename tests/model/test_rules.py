import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from mercer import UnifiedKernelMachine
from mercer.evidence.sources import Sources
from mercer.evidence.weighing import are_rules


def rules_on_columns(X, y, seed):
    """Return ten rules, right for 55 to 80% of their rows, and twenty labels."""
    rng, rules, C = np.random.default_rng(seed), [], int(y.max()) + 1
    while len(rules) < 10:
        column = X[:, rng.integers(X.shape[1])]
        low, high = np.quantile(column, np.sort(rng.random(2)))
        fires = (column >= low) & (column <= high)
        shares = np.bincount(y[fires], minlength=C) / max(fires.sum(), 1)
        if 0.05 < fires.mean() < 0.35 and 0.55 < shares.max() < 0.8:
            rules.append(np.where(fires, shares.argmax(), -1))
    labels = np.full(len(y), -1)
    rows = rng.permutation(len(y))[:20]
    labels[rows] = y[rows]
    return np.column_stack(rules), labels


def test_the_intervals_of_rules_hold():
    """What they err on, their neighbours confirmed: 5 of 10 held."""
    X, y = make_blobs(300, n_features=6, centers=4, cluster_std=4.0, random_state=1)
    held = []
    for seed in (1, 2):
        rules, labels = rules_on_columns(X, y, seed)
        told = UnifiedKernelMachine(random_state=0).fit(X, labels, sources=rules)
        for s, votes in zip(told.source_report().sources, rules.T, strict=True):
            held.append(s.low <= (votes == y)[votes >= 0].mean() <= s.high)
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("n_labels", [0, 20])
def test_rules_on_columns_teach_the_kernel(n_labels):
    """What most of them say, smoothed by the kernel, is more than true labels tell."""
    X, y = make_blobs(300, n_features=6, centers=4, cluster_std=4.0, random_state=1)
    now, before = [], []
    for seed in (1, 2, 3):
        rules, labels = rules_on_columns(X, y, seed)
        labels = np.where(np.cumsum(labels >= 0) <= n_labels, labels, -1)
        told = UnifiedKernelMachine(random_state=0).fit(X, labels, sources=rules)
        named = [(rules == c).sum(axis=1) for c in range(4)]
        most = np.where(labels >= 0, labels, np.argmax(named, axis=0))
        most[(labels < 0) & (rules < 0).all(axis=1)] = -1
        learned = UnifiedKernelMachine(random_state=0).fit(X, most)
        rest = labels < 0
        now.append((told.transduction_ == y)[rest].mean())
        before.append((learned.transduction_ == y)[rest].mean())
    assert np.mean(now) > np.mean(before) - 0.02


def test_where_labels_suffice_rules_do_little_harm():
    """Four clear groups: rules that err together cost 3 to 11 points."""
    X, y = make_blobs(300, n_features=6, centers=4, cluster_std=2.0, random_state=7)
    told, plain = [], []
    for seed in (1, 2):
        rules, labels = rules_on_columns(X, y, seed)
        model = UnifiedKernelMachine(random_state=0).fit(X, labels)
        plain.append((model.transduction_ == y)[labels < 0].mean())
        model = model.with_labels(labels, sources=rules)
        told.append((model.transduction_ == y)[labels < 0].mean())
        # All that rules say counts as 20 labels, beside the 20 that are true.
        weights = model.believed_.taught.weights
        assert weights[labels >= 0].sum() == 20
        assert weights[labels < 0].sum() == pytest.approx(20.0)
    assert np.mean(plain) > 0.99
    assert np.mean(told) > 0.98


@pytest.mark.parametrize(("n_labels", "least"), [(5, 0.78), (20, 0.86)])
def test_a_kernel_that_knows_nothing_does_not_overrule_a_good_source(n_labels, least):
    """It was believed for its own sake: 61 and 79% were right."""
    right = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((200, 5)), rng.integers(0, 3, 200)
        wrong = (y + rng.integers(1, 3, (6, 200))) % 3
        rates = np.array([0.9, 0.4, 0.4, 0.4, 0.4, 0.4])[:, None]
        votes = np.where(rng.random((6, 200)) < rates, y, wrong).T
        labels = np.where(np.arange(200) < n_labels, y, -1)
        model = UnifiedKernelMachine(random_state=0).fit(X, labels, sources=votes)
        right.append((model.transduction_ == y)[n_labels:].mean())
    assert np.mean(right) > least


def test_a_source_with_one_answer_is_a_rule_if_it_gives_it_often():
    columns = {"nine": 9, "ten": 10, "both": 20}
    votes = {k: np.where(np.arange(30) < n, 1, -1) for k, n in columns.items()}
    votes["both"][0] = 0
    assert are_rules(Sources.read(votes)).tolist() == [False, True, False]


def test_slow_convergence_on_rules_is_no_reason_to_warn():
    """Beliefs changed by 1e-5 to 2e-4 in the last round of three of these fits."""
    for C, seed, known in ((2, 0, 4), (2, 2, 4), (3, 1, 0)):
        rng, y = np.random.default_rng(seed), np.arange(200) % C
        X = rng.normal(size=(200, C + 1)) + 2 * np.eye(C, C + 1)[y]
        rules = np.where(X[:, :C] > 1, np.arange(C), -1)
        labels = np.where(np.arange(200) < known, y, -1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            model = UnifiedKernelMachine(random_state=0).fit(X, labels, sources=rules)
        assert (model.transduction_ == y)[known:].mean() > 0.8
