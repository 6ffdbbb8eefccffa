"""A server of PostgreSQL on loopback for tests, started from Debian's package."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _server() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


BIN = _server()
ABSENT = "PostgreSQL is not installed (apt-get install postgresql)"


@contextmanager
def postgres() -> Iterator[str]:
    """Give the URL of a new server, which is stopped and removed at the end."""
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
