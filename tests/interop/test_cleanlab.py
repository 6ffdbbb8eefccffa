"""cleanlab's own filter on our held-out probabilities, beside our own list."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import UnifiedKernelMachine
from mercer.model_selection import SemiSupervisedKFold

cleanlab = pytest.importorskip("cleanlab.filter", reason="pip install --group interop")


def test_their_filter_takes_our_probabilities_and_our_list_is_precise() -> None:
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:700] / 16, truth[:700]
    y = np.where(np.arange(700) < 300, truth, -1)
    rng = np.random.default_rng(0)
    wrong = rng.choice(300, 30, replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, 10, 30)) % 10
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    proba = np.zeros((300, 10))
    for _, test in SemiSupervisedKFold(5, random_state=0).split(y[:300], y[:300]):
        proba[test] = model.held_out_proba(test)
    theirs = np.flatnonzero(cleanlab.find_label_issues(y[:300], proba))
    ranked = model.suspicious_labels()
    ours = ranked.ids[ranked.looks_wrong]
    assert np.isin(theirs, wrong).mean() >= 0.6
    assert np.isin(ours, wrong).mean() >= 0.8
    assert len(ours) >= 15
    assert ranked.false_alarms <= 0.2
