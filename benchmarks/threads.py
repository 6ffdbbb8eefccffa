"""One BLAS thread next to all of them: seconds on the clock, and of CPU.

    python benchmarks/threads.py [--rows 30000 150000 600000]

Digits of scikit-learn, and ten Gaussians in 30 columns, five labels of each. Every fit
is run once before, so that nothing is compiled on the clock. Do not set
OMP_NUM_THREADS: the second line of each size is what the libraries take by themselves.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info

import mercer._base.threads
from mercer import UnifiedKernelMachine

Problem = tuple[str, np.ndarray, np.ndarray]


def problems(sizes: list[int]) -> Iterator[Problem]:
    X, truth = load_digits(return_X_y=True)
    yield "digits", X, truth
    for n in sizes:
        rng = np.random.default_rng(n)
        truth = rng.integers(10, size=n)
        centers = 1.5 * rng.normal(size=(10, 30))
        yield f"{n:,} points", centers[truth] + rng.normal(size=(n, 30)), truth


def seconds(X: np.ndarray, truth: np.ndarray) -> list[float]:
    y = np.full(len(truth), -1)
    for c in range(10):
        y[np.flatnonzero(truth == c)[:5]] = c
    row = int(np.flatnonzero(y < 0)[0])
    model = UnifiedKernelMachine(random_state=0)
    times = [(time.perf_counter(), time.process_time())]
    model.fit(X, y)
    times.append((time.perf_counter(), time.process_time()))
    model.tell([row], [truth[row]])
    times.append((time.perf_counter(), time.process_time()))
    return np.diff(times, axis=0).ravel().tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[30_000, 150_000])
    warnings.simplefilter("ignore")
    pools = {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}
    print(f"threads: {pools}")
    print("| points | threads | fit, clock | CPU | tell, clock | CPU |")
    print("|---|---|---|---|---|---|")
    limit = mercer._base.threads.MOST_ROWS
    for name, X, truth in problems(parser.parse_args().rows):
        seconds(X, truth)
        for most, threads in ((limit, "one"), (0, "all")):
            mercer._base.threads.MOST_ROWS = most
            figures = " | ".join(f"{s:.2f}" for s in seconds(X, truth))
            print(f"| {name} | {threads} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
