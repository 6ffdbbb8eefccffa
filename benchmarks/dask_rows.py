"""Many rows that are never all in memory: seconds and memory of fit and predictions.

    python benchmarks/dask_rows.py 50000000 [--workers 0 1 2] [--predict 5000000]

Rows of 10 columns are drawn block by block, 250,000 at a time, when a block is looked
at: five Gaussians, which are the classes, five labels of each. With 0 workers Dask
works in this process, in one thread; with more, in as many processes. Memory is the
largest of each process, looked at every half second, and its growth from a tenth of
the blocks on. CPU seconds are those of all processes together: on cores that other
jobs share, they tell what more workers cost, and wall seconds do not.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import psutil

from mercer import UnifiedKernelMachine

D, CLASSES, BLOCK, LABELS = 10, 5, 250_000, 5
CENTERS = 4 * np.random.default_rng(7).normal(size=(CLASSES, D))


def classes(block: int, n: int) -> np.ndarray:
    return np.random.default_rng([block, 1]).integers(CLASSES, size=n)


def draw(block: int, n: int) -> np.ndarray:
    rng = np.random.default_rng([block, 2])
    return (CENTERS[classes(block, n)] + rng.normal(size=(n, D))).astype(np.float32)


def rows(n: int) -> da.Array:
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    blocks = [
        da.from_delayed(dask.delayed(draw)(i, size), (size, D), dtype=np.float32)
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


def cpu() -> float:
    """Return the CPU seconds of this process and of those it started."""
    me = psutil.Process()
    times = [p.cpu_times() for p in (me, *me.children(recursive=True))]
    return sum(t.user + t.system for t in times)


class Memory(threading.Thread):
    """Looks at the memory of this process and of those it started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seen: list[list[float]] = []
        self.done = threading.Event()

    def run(self) -> None:
        """Look until it is done."""
        while not self.done.wait(0.5):
            me = psutil.Process()
            sizes = []
            for process in (me, *me.children(recursive=True)):
                try:
                    sizes.append(process.memory_info().rss / 2**30)
                except psutil.NoSuchProcess:
                    continue
            self.seen.append(sizes)

    def largest(self) -> float:
        """Return the largest memory of one process, in GB."""
        return max(max(sizes) for sizes in self.seen)

    def growth(self) -> float:
        """Return by how much the largest process grew after a tenth of the time."""
        peaks = [max(sizes) for sizes in self.seen]
        early = max(peaks[: max(len(peaks) // 10, 1)])
        return max(peaks) - early


def measure(n: int, workers: int, n_predicted: int) -> dict:
    X, y = rows(n), labels(n)
    found: dict = {"n": n, "workers": workers}
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
            stack.enter_context(Client(cluster))
        else:
            stack.enter_context(dask.config.set(scheduler="synchronous"))
        UnifiedKernelMachine(random_state=0).fit(X[:20_000], y[:20_000])  # compiles
        for stage in ("fit", "predict"):
            memory = Memory()
            memory.start()
            spent, start = cpu(), time.perf_counter()
            if stage == "fit":
                model = UnifiedKernelMachine(random_state=0).fit(X, y)
            else:
                some = X[:n_predicted]
                counts = model.predict(some).map_blocks(right, dtype=int, chunks=(1,))
                found["predicted"] = len(some)
                found["accuracy"] = 100 * int(counts.sum().compute()) / len(some)
            memory.done.set()
            memory.join()
            found[stage] = {
                "wall": round(time.perf_counter() - start, 1),
                "cpu": round(cpu() - spent, 1),
                "largest GB": round(memory.largest(), 2),
                "growth GB": round(memory.growth(), 2),
            }
            print(stage, found[stage], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="+")
    parser.add_argument("--workers", type=int, nargs="+", default=[0])
    parser.add_argument("--predict", type=int, help="rows to predict; all if left out")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    for n in args.n:
        for workers in args.workers:
            line = json.dumps(measure(n, workers, args.predict or n))
            print(line, flush=True)
            if args.out:
                with args.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
