"""The adapter both ways with scikit-activeml."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mercer.active.skactiveml import from_skactiveml, to_skactiveml
from mercer.unified import UnifiedKernelMachine

pool = pytest.importorskip("skactiveml.pool")


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


def test_our_queries_are_their_strategy(blobs) -> None:
    X, y, _ = blobs
    model = UnifiedKernelMachine(random_state=0)
    partly = np.where(y == -1, np.nan, y)
    rows = to_skactiveml(model).query(X, partly, batch_size=3)
    np.testing.assert_array_equal(rows, model.fit(X, y).ask(3))
    with pytest.raises(ValueError, match="not supported"):
        to_skactiveml(model).query(X, partly, return_utilities=True)
