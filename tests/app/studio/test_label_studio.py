"""With a real Label Studio server on loopback: predictions, annotations, files.

It lives in an environment of its own: pip install label-studio==1.23.2 there and name
its command in MERCER_LABEL_STUDIO. It needs some two minutes to start.
"""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from mercer.app.studio.engine import Snapshot, wait_until
from mercer.app.studio.serving import Running
from studio_at_hand import FixedEngine, rows, small_studio

COMMAND = os.environ.get("MERCER_LABEL_STUDIO")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMMAND is None, reason="MERCER_LABEL_STUDIO is not set"),
]
EMAIL, PASSWORD = "somebody@example.org", "not-a-secret-1"
CONFIG = """<View><Text name="item" value="$words"/><Choices name="label" toName="item">
<Choice value="cat"/><Choice value="dog"/></Choices></View>"""
N = 400  # tasks, in one request of more than 64 KiB


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client that is logged in."""
    folder = tmp_path_factory.mktemp("label_studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "ML_BLOCK_LOCAL_IP": "false",  # it refuses loopback otherwise
        "SSRF_PROTECTION_ENABLED": "false",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    options = f"start --no-browser --port {port} --internal-host 127.0.0.1".split()
    user = ["--username", EMAIL, "--password", PASSWORD]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(COMMAND), *options, *user],
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | settings,
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    client = httpx.Client(base_url=address, timeout=120, follow_redirects=True)

    def is_up() -> bool:
        try:
            return client.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    try:
        assert wait_until(is_up, 900), (folder / "log").read_text()[-2000:]
        page = f"{address}/user/login/"
        client.get(page)
        form = {"email": EMAIL, "password": PASSWORD}
        form["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
        client.post(page, data=form, headers={"Referer": page})
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        client.headers["Referer"] = address
        yield client
    finally:
        client.close()
        process.terminate()
        process.wait(60)


def project_of(server: httpx.Client, title: str) -> int:
    said = {"title": title, "label_config": CONFIG}
    return int(server.post("/api/projects/", json=said).raise_for_status().json()["id"])


def ours(tmp_path: Path) -> Any:
    proba = np.where(np.arange(N)[:, None] % 2 == [0, 1], 0.9, 0.1)
    engine = FixedEngine(Snapshot(stage="", classes=(0, 1), proba=proba, n_labels=2))
    frame = rows(N)
    frame["words"] = "many words, so that the request is a large one. " * 4
    return small_studio(tmp_path, frame, engine=engine)


def test_predictions_go_there_and_annotations_come_back(
    server: httpx.Client, tmp_path: Path
) -> None:
    studio = ours(tmp_path)
    ids = [str(id) for id in studio.items.ids]
    project = project_of(server, "predictions")
    tasks = [{"data": {"code": id, "words": "many words " * 20}} for id in ids]
    server.post(f"/api/projects/{project}/import", json=tasks).raise_for_status()
    running = Running(studio, token="secret", rate=1000.0)
    running.start()
    try:
        address = running.address.replace("//", "//me:secret@") + "/ml"
        said = {"project": project, "url": address, "title": "Mercer"}
        backend = server.post("/api/ml", json=said).raise_for_status().json()
        assert (backend["state"], backend["model_version"]) == ("CO", "mercer-2")
        server.post(
            "/api/dm/actions",
            params={"id": "retrieve_tasks_predictions", "project": project},
            json={"selectedItems": {"all": True, "excluded": []}},
        ).raise_for_status()
        asked = {"project": project, "page_size": N, "fields": "all"}
        there = server.get("/api/tasks", params=asked).json()["tasks"]
        found = {
            task["data"]["code"]: task["predictions"][0]["result"][0]["value"]
            for task in there
        }
        wanted = [{"choices": [("cat", "dog")[k % 2]]} for k in range(N)]
        assert found == dict(zip(ids, wanted, strict=True))
        annotation = {
            "result": [
                {
                    "from_name": "label",
                    "to_name": "item",
                    "type": "choices",
                    "value": {"choices": ["dog"]},
                }
            ]
        }
        task = next(task for task in there if task["data"]["code"] == ids[4])
        server.post(
            f"/api/tasks/{task['id']}/annotations", json=annotation
        ).raise_for_status()
        assert wait_until(lambda: studio.store.ledger.n_answers == 1, 60)
        assert studio.store.ledger.label_of(studio.items.ids[4]) == 1
    finally:
        running.stop()


def test_files_of_either_are_read_by_the_other(
    server: httpx.Client, tmp_path: Path
) -> None:
    studio = ours(tmp_path)
    running = Running(studio, token="secret", rate=1000.0)
    running.start()
    headers = {"Authorization": "Bearer secret"}
    project = project_of(server, "files")
    try:
        with httpx.Client(base_url=running.address, headers=headers) as client:
            data = client.get("/api/state").json()["data"]
            for k, row in enumerate((3, 8)):
                act = {"who": "me", "data": data, "token": f"t{k}", "row": row}
                client.post("/api/answer", json={**act, "label": k}).raise_for_status()
            file = client.get("/api/export/label_studio").raise_for_status()
        given = server.post(f"/api/projects/{project}/import", json=file.json())
        assert given.raise_for_status().json()["annotation_count"] == 2
        back = server.get(
            f"/api/projects/{project}/export", params={"exportType": "JSON"}
        ).raise_for_status()
        (tmp_path / "other").mkdir()
        other = ours(tmp_path / "other")
        second = Running(other, token="secret", rate=1000.0)
        second.start()
        try:
            with httpx.Client(base_url=second.address, headers=headers) as client:
                client.post(
                    "/api/import/label_studio",
                    content=back.content,
                    headers={"Content-Type": "application/json"},
                ).raise_for_status()
        finally:
            second.stop()
        ledger = other.store.ledger
        ids = other.items.ids
        assert {id: ledger.label_of(id) for id in ledger.answers} == {
            ids[3]: 0,
            ids[8]: 1,
        }
        assert set(ledger.answers[ids[3]]) == {"me"}
    finally:
        running.stop()
