"""One cell in this process: time, memory and score, printed as one line of JSON.

``python -m mercer_studies.bench.measure CELL FILE``; what it needs of other packages is
NumPy, SciPy and the package of the method.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer_studies.bench.cells import NEIGHBORS, RECALL, Cell

_REPEATED_BELOW = 0.2  # seconds; shorter calls are repeated
_NAMES = {"sklearn": "scikit-learn", "faiss": "faiss-cpu"}


def measure(cell: Cell, path: str) -> dict[str, Any]:
    """Run a method on saved data; the score and what it cost."""
    with np.load(path) as file:
        arrays = dict(file)
    module, name = cell.how().function.split(":")
    function = getattr(import_module(f"mercer_studies.bench.{module}"), name)
    found = _RUNS[cell.task](function, arrays, cell.how().warm_up)
    return {**found, "version": _version(cell.how().package)}


def timed(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what a call returns, its seconds and the peak of memory; best of three."""
    cpu, wall = [], []
    for _ in range(3):
        spent, started = _cpu(), time.perf_counter()
        result = call()
        cpu.append(_cpu() - spent)
        wall.append(time.perf_counter() - started)
        if cpu[-1] > _REPEATED_BELOW:
            break
    return result, {"cpu": min(cpu), "wall": min(wall), "gigabytes": _peak()}


def _cpu() -> float:
    """Return the CPU seconds of this process and of those it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _peak() -> float:
    """Return the largest memory of this process so far, in GB."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says may be that of the parent
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 2**20
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _learn(function: Any, arrays: dict[str, Any], warm_up: int) -> dict[str, Any]:
    X, y, truth = arrays["X"], arrays["y"], arrays["truth"]
    known = np.flatnonzero(y >= 0)
    some = np.union1d(known, np.arange(min(len(X), warm_up)))
    function(X[some], y[some])
    codes, cost = timed(lambda: function(X, y))
    right = (np.asarray(codes) == truth)[y < 0]
    return {**cost, "score": 100 * float(right.mean()), "setting": ""}


def _neighbors(function: Any, arrays: dict[str, Any], warm_up: int) -> dict[str, Any]:
    X, rows, limits = arrays["X"], arrays["rows"], arrays["limits"]

    def recall(indices: Any) -> float:
        found = np.asarray(indices)[rows]
        difference = X[found].astype(np.float64) - X[rows][:, None].astype(np.float64)
        squares = np.einsum("ijk,ijk->ij", difference, difference)
        good = (squares <= limits[:, None] * (1 + 1e-9)) & (found != rows[:, None])
        return float(np.minimum(good.sum(axis=1), NEIGHBORS).mean() / NEIGHBORS)

    function(X[:warm_up], lambda _: 1.0, RECALL)[1]()  # compiles
    setting, run = function(X, recall, RECALL)
    indices, cost = timed(run)
    return {**cost, "score": recall(indices), "setting": setting}


def _eigenpairs(function: Any, arrays: dict[str, Any], warm_up: int) -> dict[str, Any]:
    n = len(arrays["indptr"]) - 1
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    L = sparse.csr_array(parts, shape=(n, n))
    null = arrays["null"]
    function(L, null)  # compiles
    (values, U), cost = timed(lambda: function(L, null))
    residual = float(np.linalg.norm(L @ U - U * values, axis=0).max())
    return {**cost, "score": residual, "setting": f"sum {np.sum(values):.10f}"}


def _solvers(function: Any, arrays: dict[str, Any], warm_up: int) -> dict[str, Any]:
    G, b = arrays["G"], arrays["b"]
    function(G, b)  # compiles
    mu, cost = timed(lambda: function(G, b))
    aligned = float(b @ mu / np.sqrt(mu @ G @ mu))
    return {**cost, "score": aligned, "setting": ""}


_RUNS = {
    "learn": _learn,
    "neighbors": _neighbors,
    "eigenpairs": _eigenpairs,
    "solvers": _solvers,
}


def _version(package: str) -> str:
    try:
        return version(_NAMES.get(package, package))
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(Cell(**json.loads(sys.argv[1])), sys.argv[2])))
