"""Sources of labels in the studio: shown beside the row, and learned from."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.app.studio.engine import ModelEngine, wait_until
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.session import Session
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task

N = 60
TRUTH = np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    names = np.array(["no", "yes"])
    anna = names[np.where(rng.random(N) < 0.9, TRUTH, 1 - TRUTH)].astype(object)
    anna[3] = None
    return pd.DataFrame(
        {
            "size": TRUTH * 3 + rng.standard_normal(N),
            "anna": anna,
            "rule": np.where(np.arange(N) == 3, "maybe", None),
        }
    )


def studio_of(frame: pd.DataFrame, folder: Path) -> Studio:
    task = Task.of("kind", sources=["anna", "rule"])
    items = Items(as_table(frame, "rows.csv"), task)
    session = Session.open(frame, "kind", sources=["anna", "rule"])
    store = Store(sqlite_url(folder / "labels.db"))
    return Studio(items, store, session=session)


def test_sources_suggest_classes_and_the_model_learns_from_them(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    studio = studio_of(frame, tmp_path)
    classes = studio.store.ledger.classes
    assert sorted(classes.values()) == ["maybe", "no", "yes"]
    of = {name: number for number, name in classes.items()}
    assert studio.question(0, "ask")["sources"] == [
        {"source": "anna", "label": of[frame["anna"][0]], "denied": False, "share": 1.0}
    ]
    [said] = studio.question(3, "ask")["sources"]
    assert (said["source"], said["label"]) == ("rule", of["maybe"])
    engine = studio.engine
    assert isinstance(engine, ModelEngine)
    engine.start()
    try:
        # without a single answer, the votes have taught it
        assert wait_until(lambda: engine.snapshot.proba is not None, 120)
        snapshot = engine.snapshot
        assert snapshot.proba is not None
        assert snapshot.n_labels == 0
        codes = np.array(snapshot.classes)[snapshot.proba.argmax(axis=1)]
        names = np.array([classes[int(c)] for c in codes])
        assert np.mean(names == np.array(["no", "yes"])[TRUTH]) > 0.9
    finally:
        engine.stop()


def test_votes_of_a_class_that_was_removed_are_left_out(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    studio = studio_of(frame, tmp_path)
    told = studio.told()
    ledger = studio.store.ledger
    [number] = [c for c, name in ledger.classes.items() if name == "maybe"]
    with studio.writing() as transaction:
        transaction.append("me", "drop", "t1", label=number)
    assert studio.question(3, "ask")["sources"] == []
    assert studio.told().digest() != told.digest()
    session = Session.open(frame, "kind", sources=["anna", "rule"])
    assert number in told.votes(session).classes
    assert number not in studio.told().votes(session).classes


def test_without_sources_nothing_is_suggested(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    items = Items(as_table(frame[["size"]], "rows.csv"), Task("kind"))
    store = Store(sqlite_url(tmp_path / "labels.db"))
    session = Session.open(frame[["size"]], "kind")
    studio = Studio(items, store, classes=("a", "b"), session=session)
    assert studio.question(0, "ask")["sources"] == []
    assert dict(studio.told().numbers) == {}
