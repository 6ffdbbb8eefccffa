"""The studio over HTTP on loopback."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from studio_at_hand import acting, serving, small_studio, trained


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return small_studio(tmp_path)


@pytest.fixture
def client(studio: Studio) -> Iterator[httpx.Client]:
    with serving(studio) as client:
        yield client


def test_page_and_answers(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "unsafe" not in page.headers["content-security-policy"]
    act = acting(client)
    question = act("next").json()["question"]
    following = act("answer", row=question["row"], label=1).json()["question"]
    assert following["row"] != question["row"]
    state = client.get("/api/state").json()
    assert state["labelled"] == 1
    assert [c["count"] for c in state["classes"]] == [0, 1]
    assert act("undo").json()["question"]["row"] == question["row"]
    assert client.get("/api/state").json()["labelled"] == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer secre"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_strangers_are_refused(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    body = {"who": "ann", "token": "t"}
    assert client.post("/api/next", json=body, headers=headers).status_code == status
    assert client.post("/api/next", json=body).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        {"row": "0"},
        {"row": -1},
        {"row": 30},
        {"row": True},
        {"row": 0, "label": 7},
        {"row": 0, "label": "0"},
        {"row": 0, "label": None},
        {"row": 0, "label": 0, "who": ""},
        {"row": 0, "label": 0, "who": "x" * 65},
        {"row": 0, "label": 0, "token": ""},
        {"row": 0, "label": 0, "token": 5},
    ],
)
def test_nonsense_is_refused_and_leaves_no_trace(
    client: httpx.Client, studio: Studio, said: dict[str, object]
) -> None:
    data = studio.items.fingerprint
    body = {"who": "ann", "token": "t", "data": data, "label": 0, **said}
    response = client.post("/api/answer", json=body)
    assert response.status_code == 400
    assert "error" in response.json()
    assert studio.store.ledger.n_answers == 0


def test_answers_for_another_table_are_refused(client: httpx.Client) -> None:
    response = acting(client)("answer", row=0, label=0, data="0" * 16)
    assert response.status_code == 409


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 60_000, b'"x"'])
def test_bodies_that_are_no_object(client: httpx.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    response = client.post("/api/answer", content=body, headers=headers)
    assert response.status_code == 400


def test_large_bodies_are_refused(client: httpx.Client) -> None:
    response = acting(client)("class", name="x" * 100_000)
    assert response.status_code == 413


@pytest.mark.parametrize("path", ["/../server.py", "/%2e%2e/server.py", "/style.css/x"])
def test_only_the_files_of_the_page_are_served(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_wrong_tokens_are_slowed_down(client: httpx.Client) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    codes = [client.get("/api/state", headers=wrong).status_code for _ in range(25)]
    assert codes[0] == 401
    assert codes[-1] == 429
    assert client.get("/api/state").status_code == 200


def test_fast_senders_are_slowed_down(studio: Studio) -> None:
    with serving(studio, rate=1.0) as client:
        codes = [client.get("/api/state").status_code for _ in range(6)]
        assert codes[3:] == [200, 429, 429]
        other = client.get("/api/state", headers={"X-Mercer-Who": "ben"})
        assert other.status_code == 200


def test_script_stays_text_everywhere() -> None:
    static = Path(small_studio.__code__.co_filename).parents[1] / "src/mercer/studio"
    for file in (static / "static").glob("*.js"):
        text = file.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write"):
            assert way not in text, (file, way)
        assert "eval(" not in text


def test_events_tell_of_changes(client: httpx.Client, studio: Studio) -> None:
    with client.stream("GET", "/api/events") as stream:
        lines = stream.iter_lines()
        seq = studio.store.ledger.seq
        assert next(lines) == f"data: {studio.snapshot.version} {seq}"
        assert acting(client)("skip", row=0).status_code == 200
        assert next(line for line in lines if line) != f"data: 0 {seq}"


def test_a_check_stays_blind_when_it_is_opened_or_taken_back(tmp_path: Path) -> None:
    """Opened from the table it showed the prediction, and was counted as blind."""
    studio = small_studio(tmp_path, engine=trained(30), check_every=1)
    with serving(studio) as client:
        act = acting(client)
        question = act("next").json()["question"]
        assert question["purpose"] == "check"
        item = f"/api/item/{question['row']}?data={studio.items.fingerprint}"
        assert client.get(item).json()["purpose"] == "check"
        act("answer", row=question["row"], label=0)
        assert client.get(item).json()["purpose"] == "picked"
        back = act("undo").json()["question"]
        assert (back["row"], back["purpose"]) == (question["row"], "check")


def test_a_studio_stops_while_pages_listen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C cut the streams of open pages off, with a page of errors."""
    running = Running(small_studio(tmp_path), token="secret")
    running.start()
    headers = {"Authorization": "Bearer secret"}
    with httpx.stream("GET", f"{running.address}/api/events", headers=headers) as page:
        lines = page.iter_lines()
        assert next(lines).startswith("data: ")
        running.stop()
        assert all(line == "" or line.startswith("data: ") for line in lines)
    assert capfd.readouterr().err == ""


def test_the_server_leaves_the_code_that_learns_to_the_other_process() -> None:
    learns = {"sklearn", "numba", "torch", "matplotlib", "mercer.model", "mercer.optim"}
    load = "import mercer.app.studio.from_file, mercer.app.studio.serving, sys"
    said = f"{load}; print(sorted({learns!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
