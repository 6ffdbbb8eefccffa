"""The default model on five kinds of points, by device and by threads.

Points of 64 columns in 20 classes that five labels each do not tell apart wholly:
isotropic Gaussians and Gaussians of 10 dimensions that overlap, rolled sheets and rings
with noise, heavy tails.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from mercer import UnifiedKernelMachine
from mercer._base.tensors import torch
from mercer._base.typing import IntArray

COLUMNS, CLASSES, PER_CLASS = 64, 20, 5
KINDS = ("isotropic", "flat", "sheets", "rings", "tails")
SIZES = (10_000, 100_000)
_COMPILED_WITH = 9_000  # points that use the compiled code of many


class Draw:
    """Points of five kinds, drawn on a device."""

    def __init__(self, n: int, device: str, seed: int = 0) -> None:
        self.n, self.device = n, device
        self.generator = torch().Generator(device=device)
        self.generator.manual_seed(seed)
        self.y = self.whole(CLASSES, n)

    def normal(self, *shape: int) -> Any:
        """Return standard normal numbers."""
        return torch().randn(*shape, generator=self.generator, device=self.device)

    def uniform(self, *shape: int) -> Any:
        """Return numbers in [0, 1)."""
        return torch().rand(*shape, generator=self.generator, device=self.device)

    def whole(self, most: int, n: int) -> Any:
        """Return whole numbers below `most`."""
        return torch().randint(most, (n,), generator=self.generator, device=self.device)

    def isotropic(self) -> Any:
        """Return Gaussians whose centres are 0.4 deviations apart in each column."""
        centres = 0.4 * self.normal(CLASSES, COLUMNS)
        return self.normal(self.n, COLUMNS).add_(centres[self.y])

    def flat(self) -> Any:
        """Return Gaussians of 10 dimensions, each along its own."""
        X = 0.1 * self.normal(self.n, COLUMNS)
        X += 0.3 * self.normal(CLASSES, COLUMNS)[self.y]
        axes = self.normal(CLASSES, 10, COLUMNS) / 10**0.5
        for c in range(CLASSES):
            rows = (self.y == c).nonzero()[:, 0]
            X[rows] += self.normal(len(rows), 10) @ axes[c]
        return X

    def sheets(self) -> Any:
        """Return rolled sheets, one beside the other."""
        X, t = 0.3 * self.normal(self.n, COLUMNS), 4.7 + 9.4 * self.uniform(self.n)
        X[:, 0] += t * t.cos() + 4 * self.y
        X[:, 1] += t * t.sin()
        X[:, 2] += 10 * self.uniform(self.n)
        return X

    def rings(self) -> Any:
        """Return rings around each other."""
        X, t = 0.15 * self.normal(self.n, COLUMNS), 6.2832 * self.uniform(self.n)
        X[:, 0] += (1 + self.y) * t.cos()
        X[:, 1] += (1 + self.y) * t.sin()
        return X

    def tails(self) -> Any:
        """Return clouds with points far away."""
        X = self.normal(self.n, COLUMNS) / self.uniform(self.n, 1).clamp(min=1e-3)
        return X.add_(self.normal(CLASSES, COLUMNS)[self.y])


def drawn(kind: str, n: int, device: str, seed: int = 0) -> tuple[Any, IntArray]:
    """Return points of a kind on a device, and their classes."""
    draw = Draw(n, device, seed)
    return getattr(draw, kind)(), draw.y.cpu().numpy()


def partly(truth: IntArray, per_class: int = PER_CLASS) -> IntArray:
    """Return some labels of each class, drawn at random, and -1 for the others."""
    rng, y = np.random.default_rng(0), np.full(len(truth), -1)
    for c in np.unique(truth):
        y[rng.choice(np.flatnonzero(truth == c), per_class, replace=False)] = c
    return y


def timed(act: Callable[[], Any], device: str = "cpu") -> tuple[float, float, Any]:
    """Return seconds on the clock, CPU seconds, and what was returned."""
    wait = torch().cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()
    clock, spent = time.perf_counter(), time.process_time()
    found = act()
    wait()
    return time.perf_counter() - clock, time.process_time() - spent, found


@dataclass(frozen=True)
class Row:
    """What one fit took."""

    kind: str
    points: int
    device: str
    threads: int
    clock: float
    cpu: float
    answer: float  # seconds on the clock of one `tell`
    right: float  # percent


def measured(
    kinds: Sequence[str], sizes: Sequence[int], threads: Sequence[int]
) -> Iterator[Row]:
    """Yield the second fit of each kind and size, with each number of threads.

    Fits with different numbers of threads follow each other, so that other work on the
    machine hits all of them. A GPU comes last, where there is one.
    """
    _fitted(*_warm("cpu"), max(threads))
    gpu = torch().cuda.is_available()
    if gpu:
        _fitted(*_warm("cuda"), 1)
    for n in sizes:
        for kind in kinds:
            for device in ("cpu", "cuda") if gpu else ("cpu",):
                X, truth = drawn(kind, n, device)
                points, y = X if device == "cuda" else X.numpy(), partly(truth)
                for n_jobs in threads if device == "cpu" else (1,):
                    yield _row(kind, points, y, truth, device, n_jobs)


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown."""
    lines = [
        "| data | points | device | threads | fit, s | CPU s | `tell`, s | right, % |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        kind, n, device, threads, *seconds, right = astuple(row)
        said = " | ".join(f"{s:.2f}" for s in seconds)
        lines.append(
            f"| {kind} | {n:,} | {device} | {threads} | {said} | {right:.1f} |"
        )
    return "\n".join(lines)


def _warm(device: str) -> tuple[Any, IntArray]:
    X, truth = drawn("flat", _COMPILED_WITH, device)
    return X if device == "cuda" else X.numpy(), partly(truth)


def _fitted(X: Any, y: IntArray, n_jobs: int) -> UnifiedKernelMachine:
    return UnifiedKernelMachine(random_state=0, n_jobs=n_jobs).fit(X, y)


def _row(
    kind: str, X: Any, y: IntArray, truth: IntArray, device: str, n_jobs: int
) -> Row:
    clock, spent, model = timed(lambda: _fitted(X, y, n_jobs), device)
    right = 100 * float(np.mean(model.transduction_ == truth))
    rows = model.ask(1)
    answer, _, _ = timed(lambda: model.tell(rows, truth[rows]), device)
    return Row(kind, len(truth), device, n_jobs, clock, spent, answer, right)
