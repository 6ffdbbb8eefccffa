"""The walk of fit, ask, tell and predict: modules met, and calls between modules.

    python benchmarks/walk.py

1,797 digits, two labels per class, on one core. Calls inside one module are not
counted, nor what compiled code calls.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from mercer import UnifiedKernelMachine


def walk(work: Callable[[], object]) -> tuple[set[str], Counter[tuple[str, str]]]:
    """Return the modules of the library that work meets, and calls between them."""
    modules: set[str] = set()
    calls: Counter[tuple[str, str]] = Counter()

    def look(frame: Any, event: str, _: object) -> None:
        if event != "call":
            return
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("mercer."):
            return
        modules.add(name)
        caller = frame.f_back.f_globals.get("__name__", "") if frame.f_back else ""
        if caller.startswith("mercer.") and caller != name:
            calls[caller, name] += 1

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return modules, calls


def main() -> None:
    X, truth = load_digits(return_X_y=True)
    y = np.full(len(truth), -1)
    for digit in range(10):
        y[np.flatnonzero(truth == digit)[:2]] = digit
    UnifiedKernelMachine(random_state=0).fit(X[:200], y[:200]).ask()  # compiles
    model = UnifiedKernelMachine(random_state=0)
    rows: list[Any] = []
    steps: dict[str, Callable[[], object]] = {
        "fit": lambda: model.fit(X, y),
        "ask": lambda: rows.extend(model.ask(3)),
        "tell": lambda: model.tell(rows, truth[rows]),
        "predict": lambda: model.predict(X[:100] + 0.1),
    }
    every: set[str] = set()
    total = 0
    for name, work in steps.items():
        modules, calls = walk(work)
        every |= modules
        total += calls.total()
        print(f"{name}: {len(modules)} modules, {calls.total()} calls between them")
    print(f"all: {len(every)} modules, {total} calls between them")


if __name__ == "__main__":
    main()
