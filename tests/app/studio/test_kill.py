"""kill -9 at any moment: what was acknowledged is there, once, and work goes on."""

import os
import signal
import sqlite3
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import httpx
import numpy as np
import pytest

from mercer.app.studio.engine import wait_until
from studio_at_hand import rows, serve_until_killed, small_studio

N_ROWS = 4_000


class Person:
    """Answers as fast as the studio lets them, and never gives up an answer."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.pending: dict[str, object] | None = None
        self.shown: int | None = None
        self.data = ""

    def work(self, address: str) -> None:
        headers = {"Authorization": "Bearer secret"}
        try:
            with httpx.Client(base_url=address, headers=headers) as client:
                self.data = client.get("/api/state").json()["data"]
                while True:
                    if self.pending is None:
                        self.look(client)
                    self.send(client)
        except httpx.HTTPError:
            return  # killed

    def look(self, client: httpx.Client) -> None:
        said = client.post("/api/next", json={"who": "ann"}).json()["question"]
        if self.shown is not None:
            assert said["row"] == self.shown  # the work goes on where it was
        self.pending = {
            "who": "ann",
            "token": f"t{len(self.acknowledged)}",
            "data": self.data,
            "row": said["row"],
            "label": said["row"] % 2,
        }

    def send(self, client: httpx.Client) -> None:
        response = client.post("/api/answer", json=self.pending)
        if response.status_code == 429:
            time.sleep(0.05)
            return
        assert response.status_code == 200
        self.acknowledged.append(str(self.pending["token"]))
        self.shown = response.json()["question"]["row"]
        self.pending = None


def kill_again_and_again(folder: Path, n_kills: int) -> Person:
    context = get_context("forkserver")
    context.set_forkserver_preload(["httpx", "pandas", "mercer.app.studio.serving"])
    rng, person = np.random.default_rng(0), Person()
    for _ in range(n_kills):
        ours, theirs = context.Pipe()
        process = context.Process(
            target=serve_until_killed, args=(str(folder), N_ROWS, theirs)
        )
        process.start()
        theirs.close()
        address = ours.recv()
        worker = threading.Thread(target=person.work, args=(address,))
        worker.start()
        # Any moment: while starting, or some answers later, in the midst of one.
        wanted = len(person.acknowledged) + int(rng.integers(0, 12))
        wait_until(lambda n=wanted: len(person.acknowledged) >= n, 60)
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        worker.join()
        ours.close()
    return person


def check(folder: Path, person: Person) -> None:
    connection = sqlite3.connect(folder / "labels.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    query = "SELECT token, item, label FROM mercer_events WHERE kind = 'answer'"
    kept = connection.execute(query).fetchall()
    connection.close()
    tokens = [token for token, _, _ in kept]
    assert len(set(tokens)) == len(tokens)
    assert set(person.acknowledged) <= set(tokens)
    unknown = set(tokens) - set(person.acknowledged)
    assert len(unknown) <= 1  # kept, and killed before it could be acknowledged
    assert len({item for _, item, _ in kept}) == len(kept)
    assert all(int(item[1:]) % 2 == label for _, item, label in kept)
    assert small_studio(folder, rows(N_ROWS)).store.ledger.n_answers == len(kept)


def test_a_few_kills(tmp_path: Path) -> None:
    person = kill_again_and_again(tmp_path, 4)
    check(tmp_path, person)
    assert person.acknowledged


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    person = kill_again_and_again(tmp_path, 220)
    check(tmp_path, person)
    print(f"{len(person.acknowledged):,} acknowledged answers, none lost or doubled")
    assert len(person.acknowledged) > 220
