"""modAL's own loop around our classifier."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import UnifiedKernelMachine
from mercer.active.pool import PoolClassifier

models = pytest.importorskip("modAL.models", reason="pip install --group interop")

X, TRUTH = load_iris(return_X_y=True)
FEW = np.array([0, 1, 50, 51, 100, 101])


@pytest.fixture(autouse=True)
def accept_withdrawn_argument(monkeypatch):
    """modAL 0.4.2 names an argument that scikit-learn has withdrawn."""
    from modAL.models import learners
    from sklearn.utils import check_X_y

    def check(X, y, *, force_all_finite=True, **settings):
        return check_X_y(X, y, ensure_all_finite=force_all_finite, **settings)

    monkeypatch.setattr(learners, "check_X_y", check)


def loop(estimator, n=6):
    """Ask n questions in modAL's way; return accuracies on all rows."""
    from modAL.uncertainty import margin_sampling

    learner = models.ActiveLearner(
        estimator=estimator,
        query_strategy=margin_sampling,
        X_training=X[FEW],
        y_training=TRUTH[FEW],
    )
    scores = [learner.score(X, TRUTH)]
    free = np.setdiff1d(np.arange(150), FEW)
    for _ in range(n):
        at, _ = learner.query(X[free])
        learner.teach(X[free[at]], TRUTH[free[at]])
        free = np.delete(free, at)
        scores.append(learner.score(X, TRUTH))
    return scores


def test_the_pool_counts_in_their_loop():
    model = UnifiedKernelMachine(random_state=0)
    kept = loop(PoolClassifier(model, X, classes=[0, 1, 2]))
    dropped = loop(PoolClassifier(model, classes=[0, 1, 2]))
    assert kept[0] > dropped[0] + 0.05
    assert kept[-1] > 0.93
    y = np.full(150, -1)
    y[FEW] = TRUTH[FEW]
    direct = model.fit(X, y)
    assert kept[0] == pytest.approx(np.mean(direct.transduction_ == TRUTH), abs=0.02)
