"""Many rows that are never all in memory: seconds and memory of fit and predictions.

    python benchmarks/dask_rows.py 50000000 [--workers 0 1 2] [--predict 5000000]

Rows are drawn block by block, 250,000 at a time, when a block is looked at: five
Gaussians in 10 dimensions, which are the classes, turned into `--columns` columns with
a little noise; five labels of each. They overlap: `best` is the accuracy of the rule
that knows their means. `tell` is one round of five questions.

With 0 workers Dask works in this process, in one thread; with more, in as many
processes, and this one holds the client and the scheduler. CPU seconds and memory are
those of this process, then of each worker; memory is the most that it held in a stage
(VmHWM of Linux). On cores that other jobs share, CPU seconds tell what more workers
cost and how evenly they work, and wall seconds do not.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import psutil

from mercer import UnifiedKernelMachine

DIMENSIONS, CLASSES, BLOCK, LABELS, NOISE = 10, 5, 250_000, 5, 0.1
CENTERS = np.random.default_rng(7).normal(size=(CLASSES, DIMENSIONS))


def classes(block: int, n: int) -> np.ndarray:
    return np.random.default_rng([block, 1]).integers(CLASSES, size=n)


def turn(d: int) -> np.ndarray:
    """Return orthonormal columns, (d, DIMENSIONS)."""
    return np.linalg.qr(np.random.default_rng(3).normal(size=(d, DIMENSIONS)))[0]


def draw(block: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng([block, 2])
    latent = CENTERS[classes(block, n)] + rng.normal(size=(n, DIMENSIONS))
    points = rng.standard_normal((n, d), dtype=np.float32)
    points *= NOISE
    points += latent.astype(np.float32) @ turn(d).T.astype(np.float32)
    return points


def best_accuracy(d: int) -> float:
    """Return the accuracy of the nearest mean on the first block."""
    means = CENTERS @ turn(d).T
    scores = draw(0, BLOCK, d) @ means.T - (means**2).sum(axis=1) / 2
    return 100 * float(np.mean(scores.argmax(axis=1) == classes(0, BLOCK)))


def rows(n: int, d: int) -> da.Array:
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    blocks = [
        da.from_delayed(dask.delayed(draw)(i, size, d), (size, d), dtype=np.float32)
        for i, size in enumerate(sizes)
    ]
    return da.concatenate(blocks)


def known(block: int, n: int) -> np.ndarray:
    """Return labels of a block: a few in the first, none in the others."""
    y = np.full(n, -1)
    for c in range(CLASSES if block == 0 else 0):
        y[np.flatnonzero(classes(block, n) == c)[:LABELS]] = c
    return y


def labels(n: int) -> da.Array:
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    blocks = [
        da.from_delayed(dask.delayed(known)(i, size), (size,), dtype=int)
        for i, size in enumerate(sizes)
    ]
    return da.concatenate(blocks)


def right(block: np.ndarray, block_info: dict | None = None) -> np.ndarray:
    """Return how many predictions of a block are right."""
    number = block_info[0]["chunk-location"][0] if block_info else 0
    return np.array([np.sum(block == classes(number, len(block)))])


class Spent:
    """Seconds and memory of this process and of each worker from now on."""

    def __init__(self, client: Any) -> None:
        pids = client.run(os.getpid).values() if client else []
        self.processes = [psutil.Process(pid) for pid in (os.getpid(), *pids)]
        for process in self.processes:
            Path(f"/proc/{process.pid}/clear_refs").write_text("5")
        self.cpu, self.start = self._cpu(), time.perf_counter()

    def _cpu(self) -> np.ndarray:
        times = [process.cpu_times() for process in self.processes]
        return np.array([t.user + t.system for t in times])

    def so_far(self) -> dict:
        """Return wall seconds; CPU seconds and GB of this process and the workers."""
        return {
            "wall": round(time.perf_counter() - self.start, 1),
            "cpu": (self._cpu() - self.cpu).round(1).tolist(),
            "GB": [_most_memory(process.pid) for process in self.processes],
        }


def _most_memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return round(int(kilobytes) / 2**20, 2)


def measure(n: int, d: int, workers: int, n_predicted: int) -> dict:
    X, y = rows(n, d), labels(n)
    found: dict = {"n": n, "columns": d, "workers": workers}
    client = None
    with ExitStack() as stack:
        if workers:
            from distributed import Client, LocalCluster

            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    memory_limit="4GB",
                )
            )
            client = stack.enter_context(Client(cluster))
        else:
            stack.enter_context(dask.config.set(scheduler="synchronous"))
        UnifiedKernelMachine(random_state=0).fit(X[:20_000], y[:20_000])  # compiles
        model = UnifiedKernelMachine(random_state=0)

        def fit() -> None:
            model.fit(X, y)

        def tell() -> None:
            ids = model.ask(5)
            blocks, places = np.divmod(ids, BLOCK)
            model.tell(
                ids,
                [
                    classes(block, min(BLOCK, n - block * BLOCK))[place]
                    for block, place in zip(blocks, places, strict=True)
                ],
            )

        def predict() -> None:
            some = X[:n_predicted]
            counts = model.predict(some).map_blocks(right, dtype=int, chunks=(1,))
            found["predicted"] = len(some)
            found["accuracy"] = 100 * int(counts.sum().compute()) / len(some)

        for stage in (fit, tell, predict):
            spent = Spent(client)
            stage()
            found[stage.__name__] = spent.so_far()
            print(stage.__name__, found[stage.__name__], flush=True)
        found["best"] = best_accuracy(d)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="+")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[0])
    parser.add_argument("--predict", type=int, help="rows to predict; all if left out")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    for n in args.n:
        for workers in args.workers:
            line = json.dumps(measure(n, args.columns, workers, args.predict or n))
            print(line, flush=True)
            if args.out:
                with args.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
