"""A team's store: PostgreSQL on loopback, started from Debian's package."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mercer.app.studio.store import Store
from studio_at_hand import rows, small_studio


def _server() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


BIN = _server()
pytestmark = pytest.mark.skipif(
    BIN is None, reason="PostgreSQL is not installed (apt-get install postgresql)"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("psycopg")
    assert BIN is not None
    folder = Path("/tmp") / f"mercer-postgres-{os.getpid()}"  # sockets want short paths
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        as_user = ["runuser", "-u", "postgres", "--"]
    folder.mkdir()
    try:
        if as_user:
            shutil.chown(folder, "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = folder / "data"
        make = [BIN / "initdb", "-D", data, "-A", "trust", "-U", "mercer", "-N"]
        subprocess.run([*as_user, *make], check=True, capture_output=True)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder}"
        control = [*as_user, BIN / "pg_ctl", "-D", data, "-w"]
        start = [*control, "-o", options, "-l", folder / "log", "start"]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL)
        try:
            yield f"postgresql+psycopg://mercer@127.0.0.1:{port}/postgres"
        finally:
            stop = [*control, "-m", "immediate", "stop"]
            subprocess.run(stop, check=True, stdout=subprocess.DEVNULL)
    finally:
        shutil.rmtree(folder)


def test_people_on_several_studios_share_a_database(url: str, tmp_path: Path) -> None:
    """Four studios answer at once; each item goes to one of them, none is lost."""
    n, people = 80, ["ann", "ben", "cid", "dea"]
    studios = [small_studio(tmp_path, rows(n), store=Store(url)) for _ in people]
    asked: dict[str, list[int]] = {who: [] for who in people}

    def work(studio, who: str) -> None:
        question = studio.next(who)
        while question is not None:
            asked[who].append(question["row"])
            token = f"{who}-{question['row']}"
            question = studio.answer(who, token, question["row"], question["row"] % 2)

    threads = [
        threading.Thread(target=work, args=pair)
        for pair in zip(studios, people, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = [row for rows_of in asked.values() for row in rows_of]
    assert len(every) == len(set(every))
    # The last items may be before one person while another finds nothing left.
    assert len(every) >= n - len(people)
    fresh = Store(url)
    assert fresh.ledger.n_answers == len(every)
    assert all(fresh.ledger.label_of(f"r{row}") == row % 2 for row in every)
    seqs = [event.seq for event in fresh.ledger.events]
    assert seqs == sorted(set(seqs))
    studios[0].undo("ann", "u1")
    studios[1].store.sync()
    assert studios[1].store.ledger.events[-1].kind == "undo"
    for studio in studios:
        studio.store.close()
    fresh.close()
