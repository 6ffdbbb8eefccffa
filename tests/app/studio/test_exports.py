"""The labelled table as a file, and answers of other programs."""

import io
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from mercer import persist
from mercer.app.studio.engine import wait_until
from mercer.app.studio.exports import EXPORTS, labelled_frame
from mercer.app.studio.interop import from_label_studio, from_prodigy, take_in
from mercer.app.studio.learned_files import learned_file
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.written_files import written
from mercer.app.tables.session import Session
from mercer.app.tables.table import as_table
from studio_at_hand import serving, small_studio
from tables_at_hand import two_groups

EVIL = ["=1+1", "<script>alert(1)</script>", "plain text", "+cmd|'/c calc'!A0"]


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    frame = pd.DataFrame({"code": ["a", "b", "c", "d"], "said": EVIL})
    studio = small_studio(tmp_path, frame)
    studio.answer("ann", "t1", 0, 0)
    studio.answer("ben", "t2", 1, 1)
    studio.skip("ann", "t3", 2)
    return studio


def test_frame_tells_label_person_and_skip(studio: Studio) -> None:
    frame = labelled_frame(studio)
    assert frame["label"].fillna("").tolist() == ["cat", "dog", "", ""]
    assert frame["label by"].fillna("").tolist() == ["ann", "ben", "", ""]
    assert frame["label skipped"].tolist() == [False, False, True, False]


def test_files_hold_the_same_and_run_nothing(studio: Studio) -> None:
    made = {kind: EXPORTS[kind][2](studio) for kind in ("csv", "parquet", "excel")}
    text = pd.read_csv(io.BytesIO(made["csv"]))
    sheet = pd.read_excel(io.BytesIO(made["excel"]), engine="openpyxl")
    exact = pd.read_parquet(io.BytesIO(made["parquet"]))
    assert exact["said"].tolist() == EVIL
    for frame in (text, sheet):
        assert frame["said"].tolist() == ["'" + EVIL[0], *EVIL[1:3], "'" + EVIL[3]]
        assert frame["label"].fillna("").tolist() == ["cat", "dog", "", ""]


@pytest.mark.parametrize("in_process", [True, False])
def test_model_and_report_are_those_of_the_page(
    tmp_path: Path, in_process: bool
) -> None:
    table = two_groups(n=40, n_labels=0)
    session = Session.open(table, "label", id="code") if in_process else None
    studio = small_studio(tmp_path, table, engine=None, session=session)
    studio.engine.start()
    with pytest.raises(RefusedError, match="two classes"):
        learned_file(studio, "report")
    for row in range(8):
        studio.answer("ann", f"t{row}", row, row % 2)
    stages: list[str] = []
    studio.listeners.add(lambda: stages.append(studio.exporting))
    report = learned_file(studio, "report").decode()
    assert [one for one in stages if one.startswith("checks with hidden labels")]
    assert [one for one in stages if "neighbours" in one] == []  # it had learned
    assert studio.exporting == ""
    assert "<html" in report
    assert "cat" in report  # classes by their names, not their numbers
    path = tmp_path / "model.skops"
    path.write_bytes(learned_file(studio, "model"))
    model = persist.load(path)
    proba = model.predict_proba(as_table(table))
    assert model.classes_.tolist() == ["cat", "dog"]
    assert wait_until(lambda: studio.snapshot.n_labels == 8, 60)
    unlabelled = np.arange(8, 40)
    shown = studio.snapshot.proba[unlabelled]
    assert proba[unlabelled] == pytest.approx(shown, abs=0.05)
    studio.engine.stop()


@pytest.mark.parametrize("kind", ["label_studio", "prodigy"])
def test_round_trip_keeps_answers_and_skips(
    studio: Studio, tmp_path: Path, kind: str
) -> None:
    body = EXPORTS[kind][2](studio)
    read = from_label_studio if kind == "label_studio" else from_prodigy
    (tmp_path / "new").mkdir()
    frame = pd.DataFrame({"code": ["d", "c", "b", "a"], "said": EVIL[::-1]})
    other = small_studio(tmp_path / "new", frame, classes=())
    assert take_in(other, read(body)) == {"taken": 3, "known": 0, "not_found": 0}
    codes, _ = other.labels()
    names = other.store.ledger.classes
    assert [names.get(int(c)) for c in codes] == [None, None, "dog", "cat"]
    assert set(other.store.ledger.skips) == {"c"}
    people = [
        {who for given in one.store.ledger.answers.values() for who in given}
        for one in (studio, other)
    ]
    assert {who.removeprefix("Prodigy ") for who in people[1]} == people[0]
    again = take_in(other, read(body))
    assert again == {"taken": 0, "known": 3, "not_found": 0}


def test_a_file_that_nobody_waits_for_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went on for a minute after the page had given up."""
    studio = small_studio(tmp_path, two_groups(n=40, n_labels=0), engine=None)
    studio.engine.start()
    for row in range(4):
        studio.answer("ann", f"t{row}", row, row % 2)
    with pytest.raises(RefusedError, match="given up"):
        learned_file(studio, "report", lambda: False)  # before there is a model
    assert wait_until(lambda: studio.snapshot.ready, 120)
    waits = 2

    def few_looks() -> bool:
        nonlocal waits
        waits -= 1
        return waits > 0

    with pytest.raises(RefusedError, match="given up"):
        learned_file(studio, "report", few_looks)
    studio.is_over = True  # Ctrl-C would wait for it
    with pytest.raises(RefusedError, match="given up"):
        learned_file(studio, "report")
    studio.is_over = False
    assert studio.exporting == ""
    assert learned_file(studio, "report").startswith(b"<!doctype html")
    studio.engine.stop()
    ended = threading.Event()

    def endless(studio: Studio, kind: str, is_wanted: Callable[[], bool]) -> bytes:
        while is_wanted():
            time.sleep(0.01)
        ended.set()
        return b""

    monkeypatch.setattr("mercer.app.studio.server.learned_file", endless)
    with serving(studio) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.get("/api/export/report", timeout=0.5)
        assert ended.wait(20)


def test_a_file_ends_with_its_stage_when_given_up() -> None:
    """Whoever makes it hears of it at the next stage."""
    frame = two_groups(n=40, n_labels=8)
    session = Session.open(frame, "label", id="code").fit()
    heard: list[str] = []

    def tell(stage: str) -> None:
        heard.append(stage)
        if stage.startswith("checks"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        written("report", session, None, tell)
    assert heard == ["checks with hidden labels"]


def test_label_studio_gets_long_texts_whole(tmp_path: Path) -> None:
    """They ended after 20,000 characters, as on the page, without a word."""
    frame = pd.DataFrame({"code": ["a", "b"], "said": ["x" * 30_000, "short"]})
    studio = small_studio(tmp_path, frame)
    first, second = json.loads(EXPORTS["label_studio"][2](studio))
    assert len(first["data"]["said"]) == 30_000
    assert second["data"] == {"said": "short", "mercer_id": "b"}


def test_foreign_texts_are_matched_by_content(studio: Studio) -> None:
    task = {
        "data": {"text": "plain text"},
        "annotations": [
            {
                "completed_by": 7,
                "result": [{"type": "choices", "value": {"choices": ["bird"]}}],
            }
        ],
    }
    strange = {"data": {"text": "elsewhere"}, "annotations": task["annotations"]}
    body = json.dumps([task, strange]).encode()
    found = take_in(studio, from_label_studio(body))
    assert found == {"taken": 1, "known": 0, "not_found": 1}
    assert studio.store.ledger.classes[2] == "bird"
    assert studio.labels()[0].tolist() == [0, 1, 2, -1]


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"nonsense", b'[{"data": 5}]'])
def test_files_that_are_no_export_are_refused(studio: Studio, body: bytes) -> None:
    with serving(studio) as client:
        response = client.post(
            "/api/import/label_studio",
            content=body,
            headers={"Content-Type": "application/json"},
        )
    assert response.status_code == 400
    assert studio.store.ledger.n_answers == 2


CONFIG = """<View><Text name="text" value="$said"/>
<Choices name="kind" toName="text"><Choice value="cat"/></Choices></View>"""


def test_backend_answers_what_label_studio_asks(studio: Studio) -> None:
    """Requests as in Label Studio's guide to writing a backend."""
    import numpy as np

    from mercer.app.studio.engine import Snapshot
    from studio_at_hand import FixedEngine

    proba = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    studio.engine = FixedEngine(
        Snapshot(stage="", classes=(0, 1), proba=proba, n_labels=2)
    )
    setup = {"project": "1.17", "schema": CONFIG, "hostname": "", "access_token": "x"}
    tasks = [{"id": 1, "data": {"said": "=1+1", "code": "d"}}, {"id": 2, "data": {}}]
    asked = {"tasks": tasks, "project": "1.17", "label_config": CONFIG, "params": {}}
    with serving(studio) as client:
        client.headers.pop("Authorization")
        assert client.get("/ml/health").status_code == 401
        client.auth = httpx.BasicAuth("mercer", "secret")
        assert client.get("/ml/health").json()["status"] == "UP"
        assert client.post("/ml/setup", json=setup).json() == {
            "model_version": "mercer-2"
        }
        first, second = client.post("/ml/predict", json=asked).json()["results"]
        hook = {
            "action": "ANNOTATION_CREATED",
            "task": tasks[0],
            "annotation": {
                "completed_by": 3,
                "result": [
                    {
                        "from_name": "kind",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": ["cat"]},
                    }
                ],
            },
        }
        taken = client.post("/ml/webhook", json=hook).json()
    assert first == {
        "model_version": "mercer-2",
        "score": 0.8,
        "result": [
            {
                "from_name": "kind",
                "to_name": "text",
                "type": "choices",
                "value": {"choices": ["dog"]},
            }
        ],
    }
    assert second["result"] == []
    assert taken["taken"] == 1
    assert studio.labels()[0][3] == 0
