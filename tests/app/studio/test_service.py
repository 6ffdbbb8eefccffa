"""Questions and answers without a network."""

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.app.studio.classes import rename_class
from mercer.app.studio.engine import Snapshot, Told, wait_until
from mercer.app.studio.items import Items
from mercer.app.studio.pairing import answer_pair
from mercer.app.studio.reasons import why
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import PATIENCE
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from studio_at_hand import FixedEngine, rows, small_studio
from tables_at_hand import two_groups


def test_answer_leads_to_another_question_and_reload_to_the_same(
    tmp_path: Path,
) -> None:
    studio = small_studio(tmp_path)
    first = studio.next("ann")
    assert studio.next("ann") == first
    second = studio.answer("ann", "t1", first["row"], 1)
    assert second["row"] != first["row"]
    codes, closed = studio.labels()
    assert codes[first["row"]] == 1
    assert closed.tolist() == [first["row"]]


def test_same_token_counts_once(tmp_path: Path) -> None:
    studio = small_studio(tmp_path)
    row = studio.next("ann")["row"]
    for _ in range(3):
        studio.answer("ann", "t1", row, 1)
    assert studio.store.ledger.n_answers == 1


def test_no_item_goes_to_two_people(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(6))
    people = ["ann", "ben", "cid"]
    shown = [studio.next(who)["row"] for who in people]
    assert len(set(shown)) == 3
    for k, who in enumerate(people):
        question = studio.answer(who, f"{who}-1", shown[k], 0)
        assert question["row"] not in shown
        shown.append(question["row"])


def test_overlap_asks_two_people_and_not_three(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(1), overlap=2)
    assert studio.next("ann")["row"] == studio.next("ben")["row"] == 0
    assert studio.next("cid") is None
    studio.answer("ann", "t1", 0, 0)
    studio.answer("ben", "t2", 0, 1)
    assert studio.next("cid") is None
    assert studio.labels()[0].tolist() == [-1]  # a tie
    assert len(studio.store.ledger.disagreements()) == 1


def test_skipped_item_comes_back_only_when_wanted(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(1))
    assert studio.skip("ann", "t1", 0) is None
    assert studio.next("ben") is None
    studio.reask("ann", "t2")
    assert studio.next("ben")["row"] == 0


def test_labels_after_each_event_equal_those_of_a_fresh_start(tmp_path: Path) -> None:
    frame = rows(6).assign(label=["cat", None, None, None, None, None])
    studio = small_studio(tmp_path, frame, overlap=3)
    acts = [
        lambda: studio.answer("ann", "t1", 0, 1),
        lambda: studio.answer("ben", "t2", 0, 0),
        lambda: studio.answer("cid", "t3", 0, 0),
        lambda: studio.undo("cid", "t4"),
        lambda: studio.undo("ben", "t5"),
        lambda: studio.undo("ann", "t6"),
        lambda: studio.skip("ann", "t7", 2),
        lambda: answer_pair(studio, "ann", "t8", 3, 0, True),
        lambda: studio.reask("ann", "t9"),
        lambda: studio.undo("ann", "t10"),
    ]
    for act in acts:
        act()
        fresh = small_studio(tmp_path, frame)
        for ours, theirs in zip(studio.labels(), fresh.labels(), strict=True):
            assert ours.tolist() == theirs.tolist()
        fresh.store.close()
    assert studio.labels()[0].tolist() == [0, -1, -1, -1, -1, -1]


def test_undo_shows_the_item_again(tmp_path: Path) -> None:
    studio = small_studio(tmp_path)
    row = studio.next("ann")["row"]
    studio.answer("ann", "t1", row, 1)
    back = studio.undo("ann", "t2")
    assert back["row"] == row
    assert back["label"] is None
    assert studio.next("ann")["row"] == row
    with pytest.raises(RefusedError, match="nothing to undo"):
        studio.undo("ann", "t3")


def test_labels_in_the_file_are_classes_and_are_not_asked(tmp_path: Path) -> None:
    frame = rows(4).assign(label=["bird", None, "", "cat"])
    studio = small_studio(tmp_path, frame)
    names = studio.store.ledger.classes
    assert list(names.values()) == ["cat", "dog", "bird"]
    assert studio.labels()[0].tolist() == [2, -1, -1, 0]
    asked = {studio.next(who)["row"] for who in ("ann", "ben")}
    assert asked == {1, 2}
    assert studio.next("cid") is None


def test_renamed_class_keeps_its_answers_and_its_rows_in_the_file(
    tmp_path: Path,
) -> None:
    frame = rows(3).assign(label=["cat", None, None])
    studio = small_studio(tmp_path, frame)
    rename_class(studio, "ann", "t1", 0, "felid")
    with pytest.raises(RefusedError, match="already"):
        rename_class(studio, "ann", "t2", 1, "felid")
    again = small_studio(tmp_path, frame)
    assert again.store.ledger.classes == {0: "felid", 1: "dog"}
    assert again.labels()[0].tolist() == [0, -1, -1]


def test_one_question_in_eight_is_drawn_at_random(tmp_path: Path) -> None:
    n = 200
    proba = np.tile([0.9, 0.1], (n, 1))
    snapshot = Snapshot(
        stage="", classes=(0, 1), proba=proba, questions=np.arange(n), n_labels=5
    )
    studio = small_studio(tmp_path, rows(n), engine=FixedEngine(snapshot))
    question = studio.next("ann")
    purposes = []
    for k in range(40):
        purposes.append(question["purpose"])
        question = studio.answer("ann", f"t{k}", question["row"], 0)
    assert [k for k, p in enumerate(purposes) if p == "check"] == [7, 15, 23, 31, 39]
    kept = [e for e in studio.store.ledger.events if e.kind == "answer"]
    assert [e.purpose for e in kept] == purposes
    assert {(e.guess, e.n_labels) for e in kept} == {(0, 5)}


class EagerEngine(FixedEngine):
    """Asks about row 20 + l once it has learned from l labels, after a while."""

    def __init__(self, seconds: float, is_trained: bool) -> None:
        first = Snapshot(stage="", classes=(0, 1), questions=np.array([20]))
        proba = np.full((30, 2), 0.5) if is_trained else None
        super().__init__(replace(first, seconds=seconds, proba=proba))
        self.seconds = seconds

    def wake(self) -> None:
        timer = threading.Timer(self.seconds, self._learn)
        timer.daemon = True
        timer.start()

    def _learn(self) -> None:
        codes, _ = self.studio.labels()
        self.snapshot = replace(
            self.snapshot,
            learned_from=Told(codes, np.empty(0, dtype=np.intp), {}).digest(),
            questions=20 + np.array([np.sum(codes >= 0)]),
        )


@pytest.mark.parametrize(
    ("seconds", "patience", "is_trained", "asked"),
    [
        (0.0, 5.0, True, [20, 21, 22, 23]),  # each question knows the answer before
        (0.05, 5.0, True, [20, 21, 22, 23]),
        (600.0, 5.0, True, [20, None, None, None]),  # there is no time to learn
        (0.05, 600.0, False, [20, None]),  # nobody knows how long the first time takes
    ],
)
def test_next_question_knows_the_last_answer_where_learning_is_quick(
    tmp_path: Path,
    seconds: float,
    patience: float,
    is_trained: bool,
    asked: list[int | None],
) -> None:
    engine = EagerEngine(seconds, is_trained)
    studio = small_studio(tmp_path, engine=engine, patience=patience)
    engine.studio = studio
    question, rows_asked = studio.next("ann"), []
    for k in range(len(asked)):
        is_random = question["purpose"] == "random"
        rows_asked.append(None if is_random else question["row"])
        question = studio.answer("ann", f"t{k}", question["row"], 0)
    assert rows_asked == asked
    assert len(studio.store.ledger.answers) == len(asked)


def test_nobody_waits_long_for_a_better_question() -> None:
    assert 0.1 <= PATIENCE <= 0.25


def test_rows_without_ids_are_known_by_their_content() -> None:
    frame = rows(5).drop(columns="code").assign(label="x")
    shuffled = frame.iloc[[3, 1, 4, 0]].assign(label=None)
    before = Items(as_table(frame), Task()).keys
    after = Items(as_table(shuffled), Task()).keys
    assert after == [before[k] for k in (3, 1, 4, 0)]
    doubled = Items(as_table(pd.concat([frame, frame])), Task()).keys
    assert len(set(doubled)) == 10


def test_model_in_its_own_process_learns_forgets_and_may_die(tmp_path: Path) -> None:
    """One scenario, as a process takes seconds to start."""
    studio = small_studio(
        tmp_path,
        two_groups(n=60, n_labels=0),
        engine=None,
        classes=("small", "big"),
        check_every=10**6,
    )
    truth = np.arange(60) % 2
    studio.engine.start()
    assert wait_until(lambda: studio.snapshot.ready, 120)

    question = studio.next("ann")
    labels: list[int] = []
    for k in range(4):
        row = question["row"]
        assert question["purpose"] == "cold" or len(set(labels)) == 2
        labels.append(int(truth[row]))
        question = studio.answer("ann", f"t{k}", row, int(truth[row]))
        assert wait_until(lambda k=k: studio.snapshot.n_labels == k + 1, 60)
    assert set(labels[:2]) == {0, 1}  # typical rows of both groups came first
    assert wait_until(lambda: studio.snapshot.map is not None, 60)
    snapshot = studio.snapshot
    predicted = np.array(snapshot.classes)[snapshot.proba.argmax(axis=1)]
    assert np.mean(predicted == truth) == 1.0
    asked = {int(r) for r in snapshot.questions}
    assert asked.isdisjoint(np.flatnonzero(studio.labels()[0] >= 0))
    row = int(np.flatnonzero(studio.labels()[0] < 0)[0])
    strongest, towards, amount = studio.engine.why(row, 2)[0]
    assert towards == truth[strongest] == truth[row]
    assert amount > 0
    with pytest.raises(RefusedError):  # which had ended the model
        studio.engine.why(60, 2)
    # It still answers; it may have learned in between, and then names another row.
    strongest, towards, _ = studio.engine.why(row, 2)[0]
    assert towards == truth[strongest] == truth[row]
    assert snapshot.map.shape == (60, 2)

    for k in range(3):
        studio.undo("ann", f"u{k}")
    assert wait_until(lambda: studio.snapshot.proba is None, 60)

    os.kill(studio.engine._process.pid, signal.SIGKILL)
    assert wait_until(lambda: bool(studio.snapshot.error), 60)
    assert "answers are kept" in studio.state()["error"]
    row = studio.next("ann")["row"]
    assert studio.answer("ann", "t9", row, 0) is not None
    assert why(studio, row) == {"pulls": [], "words": []}
    assert studio.labels()[0][row] == 0
    studio.engine.stop()
