"""What an afternoon with the studio showed, one test for each."""

import socket
import time
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from mercer import Session
from mercer.app.studio import serving as serving_module
from mercer.app.studio.engine import Told, wait_until
from mercer.app.studio.model_engine import ModelEngine
from mercer.app.studio.serving import Running
from mercer.app.studio.store import Store, sqlite_url
from studio_at_hand import acting, rows, serving, small_studio


def test_a_page_finds_the_studio_again_after_a_restart(tmp_path: Path) -> None:
    """The token was drawn at every start, so the page never recovered."""
    first = Running(small_studio(tmp_path))
    first.start()
    url, port = first.url, first.port
    first.stop()
    second = Running(small_studio(tmp_path), port=port)
    second.start()
    try:
        assert second.url == url
        headers = {"Authorization": f"Bearer {first.token}"}
        assert httpx.get(f"{second.address}/api/state", headers=headers).is_success
    finally:
        second.stop()
    (tmp_path / "other").mkdir()
    other = Store(sqlite_url(tmp_path / "other" / "labels.db"))
    assert other.token != first.token
    assert (tmp_path / "labels.db").stat().st_mode & 0o077 == 0  # for its owner only


def test_a_studio_for_other_machines_prints_a_link_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It printed http://0.0.0.0, and refused the machine's own address with 421."""
    own = ("127.0.0.2", "myhost")
    monkeypatch.setattr(serving_module, "own_addresses", lambda: own)
    running = Running(small_studio(tmp_path), host="0.0.0.0")
    running.start()
    try:
        assert running.url.startswith(f"http://127.0.0.2:{running.port}/#token=")
        assert httpx.get(running.url).is_success
        for name, status in (("myhost", 200), ("elsewhere", 421)):
            said = {"Host": f"{name}:{running.port}"}
            address = f"http://127.0.0.1:{running.port}"
            assert httpx.get(address, headers=said).status_code == status
    finally:
        running.stop()


def test_the_addresses_of_this_machine_are_named() -> None:
    found = serving_module.own_addresses()
    assert socket.gethostname() in found
    assert "0.0.0.0" not in found


def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with serving(small_studio(tmp_path), patience=0.3) as client:
        place = client.base_url.host, client.base_url.port or 80
        with socket.create_connection(place, timeout=20) as half:
            head = (
                f"POST /api/next HTTP/1.1\r\nHost: 127.0.0.1:{place[1]}\r\n"
                "Authorization: Bearer secret\r\nContent-Type: application/json\r\n"
                'Content-Length: 100\r\n\r\n{"who": '
            )
            half.sendall(head.encode())
            assert half.recv(1000).startswith(b"HTTP/1.1 408")
        assert client.get("/api/state").is_success


def test_equal_rows_are_asked_about_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"code": [f"r{k}" for k in range(8)], "size": [1, 2] * 4})
    with serving(small_studio(tmp_path, frame)) as client:
        act = acting(client)
        first = act("next").json()["question"]
        second = act("answer", row=first["row"], label=0).json()["question"]
        assert first["row"] % 2 != second["row"] % 2
        third = act("answer", row=second["row"], label=1).json()["question"]
        assert third is not None  # the others come when nothing new is left


def test_search_finds_words_in_any_cell_and_ids(tmp_path: Path) -> None:
    frame = rows(4).assign(colour=["Red", "blue", None, "RED wine"])
    items = small_studio(tmp_path, frame).items
    assert np.flatnonzero(items.search("red")).tolist() == [0, 3]
    assert np.flatnonzero(items.search("R2")).tolist() == [2]
    assert not items.search("red\nblue").any()


def test_an_answer_from_python_is_taken_before_the_model_is_there(
    tmp_path: Path,
) -> None:
    """`tell` in the first seconds after `label` said: call fit() first."""
    frame = pd.DataFrame({"code": [f"r{k}" for k in range(40)]})
    frame["place"] = np.repeat([0.0, 5.0], 20) + np.linspace(0, 1, 40)
    session = Session.open(frame, id="code")
    with session.label(store=tmp_path / "labels.db") as page:
        session.tell([0, 39], ["low", "high"])
        assert page.labels == {"r0": "low", "r39": "high"}
        assert session.predictions.tolist() == ["low"] * 20 + ["high"] * 20


def test_learning_goes_on_while_the_map_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slowly(features: object, n: int, rng: object) -> np.ndarray:
        while engine.snapshot.n_labels < 4:
            time.sleep(0.01)
        return np.zeros((n, 2))

    monkeypatch.setattr("mercer.app.studio.model_engine.place_points", slowly)
    codes = np.full(40, -1)
    codes[[0, 39]] = 0, 1
    frame = pd.DataFrame({"size": np.repeat([0.0, 5.0], 20) + np.linspace(0, 1, 40)})
    session = Session.open(frame)
    nothing = np.empty(0, dtype=np.intp)
    engine = ModelEngine(lambda: session, lambda: Told(codes.copy(), nothing, {}))
    engine.start()
    try:
        assert wait_until(lambda: engine.snapshot.n_labels == 2, 60)
        codes[[1, 38]] = 0, 1
        engine.wake()
        assert wait_until(lambda: engine.snapshot.map_version == 1, 60)
    finally:
        engine.stop()


def test_the_map_is_drawn_before_labels_and_with_20_and_100(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def at_once(features: object, n: int, rng: object) -> np.ndarray:
        return np.zeros((n, 2))

    monkeypatch.setattr("mercer.app.studio.model_engine.place_points", at_once)
    codes, half = np.full(120, -1), np.arange(120) % 2
    frame = pd.DataFrame({"size": 5.0 * half + np.linspace(0, 1, 120)})
    session = Session.open(frame)
    nothing = np.empty(0, dtype=np.intp)
    engine = ModelEngine(lambda: session, lambda: Told(codes.copy(), nothing, {}))
    engine.start()
    try:
        assert wait_until(lambda: engine.snapshot.map_version == 1, 60)
        for n_labels, version in ((19, 1), (20, 2), (99, 2), (100, 3)):
            codes[:n_labels] = half[:n_labels]
            engine.wake()
            assert wait_until(lambda n=n_labels: engine.snapshot.n_labels == n, 60)
            wait_until(lambda v=version: engine.snapshot.map_version > v, 0.5)
            assert engine.snapshot.map_version == version
    finally:
        engine.stop()


def test_search_narrows_while_a_person_types_and_widens_again(tmp_path: Path) -> None:
    items = small_studio(tmp_path, rows(200)).items
    for words in ("r", "r1", "r19", "r1", "", "r2", "zz", "r"):
        found = np.flatnonzero(items.search(words))
        every = [k for k in range(200) if words in f"r{k}" or words in str(k)]
        assert found.tolist() == every


def test_an_export_shows_seconds_and_can_be_given_up(tmp_path, start, visit) -> None:
    page = visit(start(small_studio(tmp_path, rows(5))))
    page.click("[data-view=export]")
    held = []
    page.route("**/api/export/report", lambda route: held.append(route))
    page.click("text=Report")
    said = "() => document.getElementById('exporting').textContent"
    page.wait_for_function(f"{said} === 'Preparing report.html … 1 s'")
    page.click("#give-up")
    page.wait_for_function(f"{said} === 'report.html was given up.'")
    assert page.is_hidden("#give-up")
    with page.expect_download() as saved:
        page.click("text=Parquet")
    assert saved.value.suggested_filename == "labelled.parquet"
    page.wait_for_function(f"{said}.startsWith('labelled.parquet was saved')")
