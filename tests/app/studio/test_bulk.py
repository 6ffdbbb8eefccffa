"""Acts on many rows: what is said before, what is written, what one undo takes back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.app.studio import bulk
from mercer.app.studio.engine import Snapshot
from mercer.app.studio.exports import EXPORTS
from mercer.app.studio.ledger import Ledger
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import Where, table_page
from mercer.app.studio.views import accuracy, review
from studio_at_hand import FixedEngine, acting, rows, serving, small_studio, trained

PROBA = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.5, 0.5], [0.05, 0.95]])


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    snapshot = Snapshot(
        stage="", classes=(0, 1), proba=PROBA, n_labels=2, suspicious=((0, 1, 0.1),)
    )
    return small_studio(tmp_path, rows(5), engine=FixedEngine(snapshot))


def said(studio: Studio, **more: Any) -> dict[str, Any]:
    return {"who": "ann", "token": "t", "data": studio.items.fingerprint, **more}


def codes(studio: Studio) -> list[int]:
    return studio.labels()[0].tolist()


def fresh(studio: Studio) -> dict[str, int | None]:
    """Fold the history again from its beginning."""
    ledger = Ledger()
    for event in studio.store.ledger.events:
        ledger.add(event)
    return {item: ledger.label_of(item) for item in ledger.answers}


def test_labels_that_exist_are_kept_unless_said_otherwise(studio: Studio) -> None:
    studio.answer("ann", "t1", 0, 1)
    studio.answer("ben", "t2", 1, 0)
    ask = said(studio, action="label", label=0, rows=[0, 1, 2])
    told = bulk.look(studio, ask)
    assert (told["chosen"], told["changes"], told["given"]) == (3, 1, 1)
    assert codes(studio) == [1, 0, -1, -1, -1]  # looking changes nothing
    assert bulk.act(studio, ask) == {"changed": 1}
    assert codes(studio) == [1, 0, 0, -1, -1]
    ask = said(studio, token="u", action="label", label=0, rows=[0, 1, 2], replace=True)
    assert bulk.look(studio, ask)["changes"] == 1
    bulk.act(studio, ask)
    assert codes(studio) == [0, 0, 0, -1, -1]


def test_one_undo_takes_all_back_and_nothing_else(studio: Studio) -> None:
    studio.answer("ann", "t1", 0, 1)
    ask = said(studio, action="label", label=0, rows=[0, 1, 2, 3], replace=True)
    bulk.act(studio, ask)
    assert bulk.act(studio, ask) == {"changed": 0}  # sent twice
    assert codes(studio) == [0, 0, 0, 0, -1]
    studio.undo("ann", "u1")
    assert codes(studio) == [1, -1, -1, -1, -1]
    assert fresh(studio) == {"r0": 1}
    studio.undo("ann", "u2")
    assert codes(studio) == [-1] * 5


def test_what_the_model_is_sure_of_comes_with_its_expected_errors(
    studio: Studio,
) -> None:
    studio.answer("ann", "t1", 0, 1)
    ask = said(studio, action="accept", where={"low": "0.7"})
    told = bulk.look(studio, ask)
    assert told["chosen"] == 4
    assert told["given"] == 1
    assert told["changes"] == 3
    assert told["errors"] == pytest.approx(0.2 + 0.3 + 0.05)
    assert told["classes"] == [{"label": 0, "count": 1}, {"label": 1, "count": 2}]
    bulk.act(studio, ask)
    assert codes(studio) == [1, 0, 1, -1, 1]
    assert {e.purpose for e in studio.store.ledger.events[-3:]} == {"accepted"}
    studio.undo("ann", "u")
    assert codes(studio) == [1, -1, -1, -1, -1]


def test_accepted_predictions_are_no_evidence(studio: Studio) -> None:
    """The model does not learn from them, and its accuracy does not rise by them."""
    for token, row, label in (("t1", 0, 1), ("t2", 3, 0)):
        with studio.writing() as transaction:
            transaction.claim(studio.items.keys[row], "ann", "check")
        studio.answer("ann", token, row, label)
    before, digest, told = accuracy(studio), studio.told().digest(), studio.told().codes
    assert before["now"]["mean"] < 0.95
    bulk.act(studio, said(studio, action="accept", where={}))
    assert codes(studio) == [1, 0, 1, 0, 1]
    assert studio.told().codes.tolist() == told.tolist() == [1, -1, -1, 0, -1]
    assert studio.told().digest() == digest
    assert accuracy(studio) == before
    assert 1 in studio.told().closed  # and nobody is asked about them again
    studio.answer("ann", "t3", 1, 0)  # said by a person, it counts
    assert studio.told().codes.tolist() == [1, 0, -1, 0, -1]


def test_a_model_that_comes_late_is_checked_first(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(30), check_every=8)
    question = studio.next("ann")
    for k in range(10):  # eight and more answers without a model
        question = studio.answer("ann", f"t{k}", question["row"], k % 2)
    assert question["purpose"] != "check"
    studio.engine.snapshot = trained(30).snapshot
    question = studio.answer("ann", "t10", question["row"], 0)
    assert question["purpose"] == "check"
    question = studio.answer("ann", "t11", question["row"], 0)
    assert question["purpose"] == "model"


def test_without_a_model_nothing_is_accepted(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(5))
    told = bulk.look(studio, said(studio, action="accept", where={}))
    assert (told["changes"], told["lacking"], told["errors"]) == (0, 5, 0.0)


def test_answers_are_cleared_and_come_back(tmp_path: Path) -> None:
    frame = rows(4).assign(label=["cat", None, None, None])
    studio = small_studio(tmp_path, frame)
    studio.answer("ann", "t1", 1, 1)
    studio.answer("ben", "t2", 1, 0)
    studio.skip("ann", "t3", 2)
    ask = said(studio, action="clear", rows=[0, 1, 2, 3])
    told = bulk.look(studio, ask)
    assert (told["changes"], told["lacking"]) == (2, 2)  # that of the file stays
    bulk.act(studio, ask)
    assert codes(studio) == [0, -1, -1, -1]
    assert studio.labels()[1].tolist() == []
    assert studio.store.ledger.skips == {}
    studio.undo("ann", "u")
    assert studio.store.ledger.answers["r1"].keys() == {"ann", "ben"}
    assert studio.store.ledger.skips.keys() == {"r2"}


def test_a_label_that_is_confirmed_looks_wrong_no_more(studio: Studio) -> None:
    studio.answer("ann", "t1", 0, 0)
    assert [line["row"] for line in review(studio)["suspicious"]] == [0]
    assert studio.state()["doubts"] == 1
    bulk.act(studio, said(studio, action="confirm", rows=[0]))
    assert review(studio)["suspicious"] == []
    assert studio.state()["doubts"] == 0
    assert codes(studio)[0] == 0
    studio.undo("ann", "u")
    assert len(review(studio)["suspicious"]) == 1
    studio.answer("ann", "t3", 0, 1)
    assert len(review(studio)["suspicious"]) == 1


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        ({"action": "burn", "rows": [0]}, "action is one of"),
        ({"action": "label", "rows": [0], "label": 7}, "no class number 7"),
        ({"action": "label", "rows": 5, "label": 0}, "rows must be a list"),
        ({"action": "label", "rows": [9], "label": 0}, "row must be a number"),
        ({"action": "clear", "where": {"low": "2"}}, "between 0 and 1"),
        ({"action": "clear", "rows": [0], "data": "other"}, "has changed"),
    ],
)
def test_what_makes_no_sense_is_refused(
    studio: Studio, ask: dict[str, Any], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        bulk.act(studio, {**said(studio), **ask})
    assert studio.store.ledger.n_answers == 0


def test_twelve_thousand_rows_are_one_act_over_http(tmp_path: Path) -> None:
    """More than the lasso of 5,000 rows and requests of 64 KiB allowed."""
    n = 12_000
    studio = small_studio(tmp_path, rows(n))
    with serving(studio) as client:
        act = acting(client)
        every = list(range(n))
        assert act("bulk", action="label", rows=every, label=1).status_code == 200
        assert client.get("/api/state").json()["labelled"] == n
        assert act("undo").status_code == 200
        assert client.get("/api/state").json()["labelled"] == 0


def test_assigned_rows_come_first_and_to_nobody_else(tmp_path: Path) -> None:
    studio = small_studio(tmp_path, rows(12), engine=trained(12))
    ask = said(studio, action="assign", person=" ben ", rows=[9, 10, 11])
    assert bulk.look(studio, ask)["changes"] == 3
    assert bulk.act(studio, ask) == {"changed": 3}
    for k, row in enumerate((9, 10, 11)):
        assert studio.next("ben")["row"] == row
        studio.answer("ben", f"b{k}", row, 0)
    assert studio.next("ben")["row"] < 9  # his are done: he helps the others
    seen = set()
    question = studio.next("ann")
    while question is not None:
        seen.add(question["row"])
        question = studio.skip("ann", f"a{len(seen)}", question["row"])
    assert seen.isdisjoint({9, 10, 11})


def test_one_undo_takes_an_assignment_back(studio: Studio) -> None:
    ask = said(studio, action="assign", person="ben", rows=[1, 2])
    bulk.act(studio, ask)
    where = {"show": "assigned", "person": "ben"}
    shown = table_page(studio, Where.read(where, studio.items.columns))["rows"]
    assert [(line["row"], line["assigned"]) for line in shown] == [
        (1, "ben"),
        (2, "ben"),
    ]
    assert bulk.look(studio, ask)["changes"] == 0
    again = said(studio, token="u", action="assign", person="", rows=[1])
    bulk.act(studio, again)
    assert studio.store.ledger.assigned == {"r2": "ben"}
    studio.undo("ann", "z1")
    studio.undo("ann", "z2")
    assert studio.store.ledger.assigned == {}
    with pytest.raises(RefusedError, match="person must be a name"):
        bulk.look(studio, said(studio, action="assign", person="b" * 65, rows=[1]))


@pytest.mark.parametrize("kind", ["people", "label_studio", "prodigy"])
def test_a_class_that_was_just_removed_does_not_stop_an_export(
    studio: Studio, kind: str
) -> None:
    """The model still predicts it, and the answers keep its name."""
    studio.answer("ann", "t1", 0, 1)
    studio.answer("ann", "t2", 2, 0)
    studio.append("ann", "drop", "d", label=1)
    _, _, write = EXPORTS[kind]
    assert b"dog" in write(studio)
