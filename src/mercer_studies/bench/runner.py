"""Running cells one after the other, each in a process of its own; results are kept."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from mercer_studies.bench.cells import Cell
from mercer_studies.bench.data import saved

Row = dict[str, Any]
_SOURCE = Path(__file__).parents[2]
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)


def read(path: Path) -> list[Row]:
    """Return the results of a file; a line that an interrupt cut off is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def results_of(cells: list[Cell], folder: Path) -> list[Row]:
    """Return the results of these cells that are there, in the order of the cells."""
    found = {_cell_of(row).key(): row for row in read(folder / "results.jsonl")}
    return [found[cell.key()] for cell in cells if cell.key() in found]


def run_cells(
    cells: list[Cell],
    folder: Path,
    *,
    pythons: Mapping[str, str] | None = None,
    limit: float = 600.0,
) -> Iterator[tuple[int, int, str]]:
    """Run what has no result yet, and yield cells done, cells in all, and what is next.

    The folder gets ``results.jsonl``, one line per finished cell, and the folder
    ``data``. `pythons` takes a package to the interpreter of the environment that holds
    it. A cell is given up after `limit` seconds; larger sizes of the same method and
    data are not tried then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    done = {_cell_of(row).key(): row for row in read(results)}
    missing = [cell for cell in cells if cell.key() not in done]
    n_done = len(cells) - len(missing)
    for cell in missing:
        yield n_done, len(cells), f"{cell.task}, {cell.data} {cell.n:,}, {cell.method}"
        if any(_gave_up(row, cell) for row in done.values()):
            found: Row = {"status": "not tried: a smaller size took too long"}
        else:
            found = _run_one(cell, folder, pythons or {}, limit)
        row = {**asdict(cell), **found}
        done[cell.key()] = row
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        n_done += 1
    yield n_done, len(cells), ""


def _run_one(cell: Cell, folder: Path, pythons: Mapping[str, str], limit: float) -> Row:
    package = cell.how().package
    python = pythons.get(package, sys.executable)
    environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": _paths()}
    if not _is_installed(package, python):
        return {"status": f"{package} is not installed"}
    path = saved(cell.task, cell.data, cell.n, folder / "data")
    command = [python, "-m", "mercer_studies.bench.measure", cell.key(), str(path)]
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"status": f"over {limit:g} s"}
    if ended.returncode:
        said = ended.stderr.strip().splitlines() or ["no message"]
        return {"status": f"failed: {said[-1][:200]}"}
    measured: Row = json.loads(ended.stdout.splitlines()[-1])
    return {"status": "ok", **measured}


@cache
def _is_installed(package: str, python: str) -> bool:
    look = (
        f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    )
    return subprocess.run([python, "-c", look], capture_output=True).returncode == 0


def _paths() -> str:
    given = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(path for path in (str(_SOURCE), given) if path)


def _cell_of(row: Row) -> Cell:
    return Cell(row["task"], row["data"], row["n"], row["method"])


def _gave_up(row: Row, cell: Cell) -> bool:
    """Tell whether a row is a smaller cell of this kind that took too long."""
    return (
        str(row["status"]).startswith("over")
        and (row["task"], row["data"], row["method"])
        == (cell.task, cell.data, cell.method)
        and row["n"] < cell.n
    )
