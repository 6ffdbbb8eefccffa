"""The page in a cell."""

from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from mercer import Session
from mercer.app.studio.engine import wait_until
from mercer.app.studio.items import Items
from mercer.app.studio.notebook import LabelPage, label
from mercer.app.studio.service import Studio
from mercer.app.studio.state import notices_of
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task
from studio_at_hand import FixedEngine, rows


def test_answers_reach_python_at_once(tmp_path: Path) -> None:
    heard: list[dict[str, str]] = []
    with label(
        rows(5),
        id="code",
        store=tmp_path / "labels.db",
        classes=("cat", "dog"),
        engine=FixedEngine(),
        changed=heard.append,
    ) as page:
        said = {
            "who": "me",
            "token": "t1",
            "data": page.studio.items.fingerprint,
            "row": 3,
            "label": 1,
        }
        headers = {"Authorization": f"Bearer {page.running.token}"}
        address = page.running.address
        response = httpx.post(f"{address}/api/answer", json=said, headers=headers)
        assert response.status_code == 200
        assert page.labels == {"r3": "dog"}
        assert heard[-1] == {"r3": "dog"}
        assert page.frame["label"].tolist()[3] == "dog"
        policy = httpx.get(address).headers["content-security-policy"]
        assert "frame-ancestors http://localhost:*" in policy
        assert f'src="{address}/#token={page.running.token}"' in page._repr_html_()


def two_groups(labels: list[object]) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    place = np.repeat([0.0, 5.0], 20) + rng.normal(size=40)
    frame = pd.DataFrame({"code": [f"r{k}" for k in range(40)], "place": place})
    frame["kind"] = pd.Series([*labels, *[None] * (40 - len(labels))], dtype=object)
    return frame


def post(page: LabelPage, act: str, **said: object) -> None:
    body = {"who": "me", "data": page.studio.items.fingerprint, **said}
    headers = {"Authorization": f"Bearer {page.running.token}"}
    url = f"{page.running.address}/api/{act}"
    httpx.post(url, json=body, headers=headers).raise_for_status()


def test_page_and_session_are_one_model(tmp_path: Path) -> None:
    frame = two_groups([])
    session = Session.open(frame, "kind", id="code")
    store = tmp_path / "labels.db"
    with session.label(store=store, classes=("low", "high")) as page:
        post(page, "answer", token="a", row=0, label=0)
        assert session.y[0] == "low"  # at once, whatever the model does
        post(page, "answer", token="b", row=39, label=1)
        assert page.wait()
        assert session.predictions.tolist() == ["low"] * 20 + ["high"] * 20
        assert page.studio.snapshot.classes == (0, 1)  # numbers of the ledger
        shown = page.studio.prediction(20)[0]
        assert page.studio.store.ledger.classes[shown["label"]] == "high"
        session.tell([1], ["odd"])  # a new class, from Python
        assert page.labels == {"r0": "low", "r1": "odd", "r39": "high"}
        post(page, "undo", token="c")  # of what was answered on the page
        assert session.y[39] is None
        assert session.y[1] == "odd"
        assert page.wait()
        assert set(session.predictions) == {"low", "odd"}
    session.tell([2], ["low"])  # after the page: nobody else hears of it
    assert session.y[2] == "low"
    assert session.labels.labeled.size == 3


def test_numbers_in_a_session_stay_numbers(tmp_path: Path) -> None:
    frame = two_groups([1, 1, *[None] * 36, 2, 2])
    session = Session.open(frame, "kind", id="code").fit()
    with session.label(store=tmp_path / "labels.db") as page:
        assert page.labels == {"r0": "1", "r1": "1", "r38": "2", "r39": "2"}
        post(page, "answer", token="a", row=2, label=0)
        assert session.y[2] == 1
        assert page.wait()
        assert session.predictions.tolist() == [1] * 20 + [2] * 20
        assert page.studio.engine.why(20, 2)[0][1] == 1  # number of the class 2
    with pytest.raises(ValueError, match="its own target"):
        session.label(target="other")


def test_the_page_learns_from_the_columns_that_learn_does(tmp_path: Path) -> None:
    """An id column that nobody named is left out, and the page says so."""
    frame = two_groups([]).drop(columns="kind")
    table, store = as_table(frame), Store(sqlite_url(tmp_path / "labels.db"))
    studio = Studio(Items(table, Task("kind")), store, classes=("low", "high"))
    studio.engine.start()
    assert wait_until(lambda: studio.snapshot.ready, 60)
    assert any("'code' was left out" in note for note in notices_of(studio))
    studio.engine.stop()
    store.close()
