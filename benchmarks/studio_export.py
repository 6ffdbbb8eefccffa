"""What an export costs, and the memory of a studio.

Starts `mercer label` on a table of 15 columns, gives 40 answers over HTTP, and makes
the files of the export page, as somebody would in the middle of the work. Seconds are
those of CPU, of the server and the model together; memory is what both use alone and
what they share, once.

    python benchmarks/studio_export.py --rows 100000
    python benchmarks/studio_export.py --python LEAN/bin/python

LEAN is an environment that holds `mercer[studio]` alone, as a user's does.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
import pandas as pd

CLASSES = ("low", "middle", "high", "other")
WORDS = np.array(
    [
        f"{which} {what}"
        for which in ("late", "full", "clean")
        for what in ("tram", "bus")
    ]
    + ["rain", "fare", "seat", "noise", "stop", "map"]
)
KINDS = ("model", "report", "excel", "csv", "parquet")


def table(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, categories and texts that follow the classes, and these."""
    rng = np.random.default_rng(0)
    y = rng.integers(len(CLASSES), size=n)
    frame = pd.DataFrame({"id": [f"r{k}" for k in range(n)]})
    for k in range(8):
        frame[f"number {k}"] = (rng.normal(2.0 * (y == k % 4), 1.5)).round(3)
    for k in range(6):
        shift = y * (rng.random(n) < 0.4)
        frame[f"choice {k}"] = WORDS[(rng.integers(6, size=n) + shift) % 12]
    drawn = rng.integers(12, size=(n, 12)) * (rng.random((n, 12)) < 0.6) + y[:, None]
    frame["text"] = [" ".join(line) for line in WORDS[drawn % 12]]
    return frame, y


def processes(server: int) -> list[int]:
    """Return the numbers of the server and of what it has started."""
    command = ["ps", "-o", "pid=", "--ppid", str(server)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return [server, *map(int, found.stdout.split())]


def seconds(server: int) -> float:
    """Return the CPU seconds so far."""
    ticks = 0
    for pid in processes(server):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def megabytes(server: int) -> float:
    """Return the memory of all processes; what they share counts once."""
    own, shared = 0.0, 0.0
    for pid in processes(server):
        said = Path(f"/proc/{pid}/smaps_rollup").read_text()
        size = dict(re.findall(r"^(\w+):\s+(\d+) kB", said, re.MULTILINE))
        own += int(size["Private_Clean"]) + int(size["Private_Dirty"])
        shared = max(shared, int(size["Shared_Clean"]) + int(size["Shared_Dirty"]))
    return (own + shared) / 1e3


def use(url: str, token: str, y: np.ndarray, server: int) -> None:
    """Answer 40 questions and make every file."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=900) as client:

        def state() -> dict:
            return client.get("/api/state").json()

        while state()["stage"]:
            time.sleep(1)
        print(f"ready: {seconds(server):.0f} CPU s, {megabytes(server):.0f} MB")
        who = {"who": "me", "data": state()["data"]}
        question = client.post("/api/next", json=who).json()["question"]
        for k in range(40):
            row = question["row"]
            act = {**who, "token": f"t{k}", "row": row, "label": int(y[row])}
            question = client.post("/api/answer", json=act).json()["question"]
        while state()["model_labels"] < 40:
            time.sleep(1)
        print(f"40 answers: {megabytes(server):.0f} MB")
        for kind in KINDS:
            before, began = seconds(server), time.monotonic()
            made = client.get(f"/api/export/{kind}").raise_for_status().content
            taken, clock = seconds(server) - before, time.monotonic() - began
            print(
                f"{kind}: {taken:.1f} CPU s, {clock:.0f} s on the clock, "
                f"{len(made) / 1e6:.1f} MB; memory {megabytes(server):.0f} MB",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--python", default=sys.executable, help="runs the studio")
    given = parser.parse_args()
    frame, y = table(given.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        command = [given.python, "-m", "mercer", "label", str(path), "--no-open"]
        options = ["--id", "id", "--classes", ",".join(CLASSES)]
        server = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            line = ""
            while (link := re.search(r"(http\S+)/#token=(\S+)", line)) is None:
                line = server.stdout.readline()
            use(link[1], link[2], y, server.pid)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
