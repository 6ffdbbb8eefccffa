"""Small studios for tests, with and without a model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd

from mercer.app.studio import bulk
from mercer.app.studio.engine import Snapshot
from mercer.app.studio.items import Items
from mercer.app.studio.service import Studio
from mercer.app.studio.serving import Running
from mercer.app.studio.store import Store, sqlite_url
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task


class FixedEngine:
    """A model that predicts what it is told and never trains."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self.snapshot = snapshot or Snapshot(stage="")
        self.session, self.woken = None, 0

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def wake(self) -> None:
        self.woken += 1

    def why(self, row: int, n: int) -> list[tuple[int, int, float]]:
        return []

    def similar(self, row: int, n: int) -> list[int]:
        alike = sorted(range(n), key=lambda other: abs(other - row))
        return alike[: len(self.snapshot.questions)]


def rows(n: int = 30) -> pd.DataFrame:
    return pd.DataFrame({"code": [f"r{k}" for k in range(n)], "size": np.arange(n)})


def small_studio(
    folder: Path, frame: pd.DataFrame | None = None, **more: Any
) -> Studio:
    table = as_table(rows() if frame is None else frame, "rows.csv")
    more.setdefault("engine", FixedEngine())
    more.setdefault("classes", ("cat", "dog"))
    store = more.pop("store", None) or Store(sqlite_url(folder / "labels.db"))
    said = {
        name: more.pop(name) for name in ("drop", "keep", "class_sizes") if name in more
    }
    task = Task("label", id=more.pop("id", "code"), **said)
    return Studio(Items(table, task), store, **more)


def trained(n: int) -> FixedEngine:
    """Return a model that knows two groups and where they are."""
    rng = np.random.default_rng(0)
    side = np.arange(n) % 2
    proba = np.where(side[:, None] == [0, 1], 0.9, 0.1)
    xy = (0.5 * (2 * side[:, None] - 1) + 0.2 * rng.standard_normal((n, 2))).clip(-1, 1)
    return FixedEngine(
        Snapshot(
            version=5,
            stage="",
            classes=(0, 1),
            proba=proba,
            questions=np.arange(n),
            n_labels=4,
            map=xy.astype(np.float32),
            map_version=1,
            suspicious=((2, 1, 0.05),) if n > 2 else (),
        )
    )


def labels(studio: Studio) -> dict[str, int]:
    studio.store.sync()
    ledger = studio.store.ledger
    return {item: ledger.label_of(item) for item in ledger.answers}


def answered(page: Any, n: int) -> None:
    page.wait_for_function(
        "n => document.getElementById('n-labelled').textContent === String(n)", arg=n
    )


def label_rows(
    studio: Studio, who: str, token: str, rows: list[int], label: int
) -> None:
    """Give rows the same label in one act."""
    said = {"who": who, "token": token, "action": "label", "label": label}
    bulk.act(studio, {**said, "rows": rows, "data": studio.items.fingerprint})


@contextmanager
def serving(studio: Studio, **more: Any) -> Iterator[httpx.Client]:
    running = Running(studio, token="secret", **more)
    running.start()
    headers = {"Authorization": "Bearer secret"}
    try:
        with httpx.Client(base_url=running.address, headers=headers) as client:
            yield client
    finally:
        running.stop()


def acting(client: httpx.Client) -> Callable[..., httpx.Response]:
    """Return what posts an act with a token of its own."""
    count = iter(range(10**9))
    data = client.get("/api/state").json()["data"]

    def act(act: str, who: str = "ann", **said: Any) -> httpx.Response:
        body = {"who": who, "token": f"{who}-{next(count)}", "data": data, **said}
        return client.post(f"/api/{act}", json=body)

    return act


def serve_until_killed(folder: str, n_rows: int, pipe: Connection) -> None:
    """Run a studio in a process of its own; its address goes through the pipe."""
    running = Running(small_studio(Path(folder), rows(n_rows)), token="secret")
    running.serve(lambda: pipe.send(running.address))
