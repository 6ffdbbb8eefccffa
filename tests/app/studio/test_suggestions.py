"""Sources of labels in the studio: shown beside the row, and learned from."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mercer.app.studio import bulk
from mercer.app.studio.engine import wait_until
from mercer.app.studio.items import Items
from mercer.app.studio.learned_files import learned_file
from mercer.app.studio.model_engine import ModelEngine
from mercer.app.studio.service import Studio
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.session import Session
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from mercer.evidence.sources import Not
from studio_at_hand import rows, small_studio, trained

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
        | {"right": 0, "given": 0}
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
        voted = frame["anna"].notna().to_numpy()
        assert (
            np.mean(names[voted] == frame["anna"][voted]) > 0.9
        )  # it says what she says
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


def sourced_studio(folder: Path) -> Studio:
    """Return a studio of 30 rows with a column of guesses and a rule."""
    table = rows(30)
    table["llm"] = [None if k == 3 else ("cat", "dog")[k % 2] for k in range(30)]
    rule = {"llm": None, "large": lambda row: Not("cat") if row["size"] > 9 else None}
    task = Task.of("label", id="code", sources=rule)
    items = Items(as_table(table, "rows.csv"), task)
    store = Store(sqlite_url(folder / "labels.db"))
    return Studio(items, store, engine=trained(30), check_every=1000)


def test_sources_stand_with_how_often_people_agreed_and_not_in_checks(
    tmp_path: Path,
) -> None:
    studio = sourced_studio(tmp_path)
    assert studio.items.columns == ["size"]  # votes are no cells of the row

    def said(row: int) -> list[tuple[str, int, bool, int, int]]:
        found = studio.question(row, "picked")["sources"]
        names = ("source", "label", "denied", "right", "given")
        return [tuple(one[name] for name in names) for one in found]

    for row, label in ((0, 0), (1, 0), (11, 1), (12, 0)):
        studio.answer("ann", f"t{row}", row, label)
    # llm: right on 0, 11 and 12, wrong on 1; "not cat": right on 11, wrong on 12.
    assert said(2) == [("llm", 0, False, 3, 4)]
    assert said(3) == []
    assert said(13) == [("llm", 1, False, 3, 4), ("large", 0, True, 1, 2)]
    studio.append("ann", "rename", "r", label=1, text="hound")
    assert said(5) == [("llm", 1, False, 3, 4)]
    assert studio.question(2, "check")["sources"] == []  # judged without help


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_has_a_line_for_each_source(
    width: int, tmp_path: Path, start: Any, visit: Any
) -> None:
    page = visit(
        start(sourced_studio(tmp_path)), viewport={"width": width, "height": 860}
    )

    def lines() -> list[str]:
        found = page.locator("#sources li").all_inner_texts()
        return [" ".join(one.split()) for one in found]

    assert lines() == ["llm: cat", ""]
    place = page.locator("#classes button").first.bounding_box()
    page.keyboard.press("1")
    page.wait_for_selector("#sources li:has-text('dog')")
    assert page.locator("#classes button").first.bounding_box() == place
    page.evaluate("mercer.question.open(13)")
    page.wait_for_function("() => mercer.question.shown.row === 13")
    assert lines() == ["llm: dog · right in 1 of 1", "large: not cat"]
    assert page.locator("#classes button").first.bounding_box() == place
    page.keyboard.press("p")
    page.wait_for_selector("#item .both")
    assert page.is_hidden("#sources")


def said_of(studio: Studio, action: str, row: int) -> dict[str, Any]:
    about = {"who": "ann", "token": "bulk", "action": action, "rows": [row]}
    return {**about, "data": studio.items.fingerprint}


def test_rows_that_people_label_differently_are_votes_of_each(tmp_path: Path) -> None:
    """The majority counted as a true label, a tie as nothing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": TRUTH * 3 + rng.standard_normal(N)})
    session = Session.open(frame, "kind")
    given = {"session": session, "engine": None, "id": None, "overlap": 3}
    studio = small_studio(tmp_path, frame, **given, classes=("0", "1"))
    for row in range(30):
        wrong = row % 3 == 0  # of ben
        said = {"ann": TRUTH[row], "ben": TRUTH[row] ^ wrong, "cid": TRUTH[row]}
        for who, label in said.items():
            studio.answer(who, f"{who}-{row}", row, int(label))
        if row == 0:  # differing for the first time
            told = studio.told()
            assert told.codes[0] == TRUTH[0]  # as it is shown
            assert told.labels().labeled.tolist() == []
            assert told.votes(session).names == ("ann", "ben", "cid")
    for row in range(30, 40):  # one person alone is believed
        studio.answer("ann", f"ann-{row}", row, int(TRUTH[row]))
    told = studio.told()
    given = [row for row in range(40) if row % 3 or row >= 30]
    assert told.labels().labeled.tolist() == given
    votes = told.votes(session)
    assert votes.n_votes.tolist() == [30, 30, 30]
    before = told.digest()
    judged = session.with_labels(told.labels(), sources=votes).source_report().sources
    assert judged[1].accuracy < 0.75 < 0.9 < min(judged[0].accuracy, judged[2].accuracy)
    studio.answer("ben", "again", 0, int(TRUTH[0]))  # ben looks again
    assert 0 in studio.told().labels().labeled
    assert studio.told().digest() != before
    bulk.act(studio, said_of(studio, "confirm", 3))
    assert 3 in studio.told().labels().labeled  # somebody has looked at it


def test_the_report_is_of_the_labels_that_the_model_has(tmp_path: Path) -> None:
    """A row that people label differently counted as the majority's there alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": TRUTH * 3 + rng.standard_normal(N)})
    given = {"session": Session.open(frame, "kind"), "engine": None, "id": None}
    studio = small_studio(tmp_path, frame, **given, overlap=3, classes=("0", "1"))
    for row in range(12):
        for who in ("ann", "ben", "cid") if row < 3 else ("ann",):
            said = int(TRUTH[row]) ^ (who == "ben")
            studio.answer(who, f"{who}-{row}", row, said)
    engine = studio.engine
    engine.start()
    try:
        digest = studio.told().digest()
        assert wait_until(lambda: engine.snapshot.learned_from == digest, 120)
        assert engine.snapshot.n_labels == 9
        report = learned_file(studio, "report").decode()
        assert re.findall(r"(\d+) of 60", report)[0] == "9"
    finally:
        engine.stop()


def test_a_model_of_sources_alone_is_exported(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    studio = studio_of(frame, tmp_path)
    studio.engine.start()
    try:
        assert wait_until(lambda: studio.snapshot.proba is not None, 120)
        assert studio.snapshot.n_labels == 0
        assert "<html" in learned_file(studio, "report").decode()
        assert learned_file(studio, "model")
    finally:
        studio.engine.stop()
