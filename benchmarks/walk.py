"""Walks through the library: modules met, and calls between modules.

    python benchmarks/walk.py

Fit, ask, tell and predict on 1,797 digits with two labels per class; `mercer.learn`
and the report on 178 wines with ten labels per class; and one answer through the
studio, until the model has learned from it. On one core. Calls inside one module are
not counted, nor what compiled code calls. Other threads are counted as well.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine

from mercer import Session, UnifiedKernelMachine, learn

Calls = Counter[tuple[str, str]]
_modules: set[str] = set()
_calls: Calls = Counter()
_counts = False


def look(frame: Any, event: str, _: object) -> None:
    """Count a call from one module of the library to another."""
    if event != "call" or not _counts:
        return
    name = frame.f_globals.get("__name__", "")
    if not name.startswith("mercer."):
        return
    _modules.add(name)
    caller = frame.f_back.f_globals.get("__name__", "") if frame.f_back else ""
    if caller.startswith("mercer.") and caller != name:
        _calls[caller, name] += 1


def walk(work: Callable[[], object]) -> tuple[set[str], Calls]:
    """Return the modules of the library that work meets, and calls between them."""
    global _counts
    _modules.clear()
    _calls.clear()
    sys.setprofile(look)
    _counts = True
    try:
        work()
    finally:
        _counts = False
        sys.setprofile(None)
    return set(_modules), Counter(_calls)


def say(steps: dict[str, Callable[[], object]]) -> None:
    """Walk step by step, and print what was met."""
    every: set[str] = set()
    total = 0
    for name, work in steps.items():
        modules, calls = walk(work)
        every |= modules
        total += calls.total()
        print(f"{name}: {len(modules)} modules, {calls.total()} calls between them")
        if "--most" in sys.argv:
            for (caller, called), n in calls.most_common(12):
                print(f"    {n:6} {caller} -> {called}")
    if len(steps) > 1:
        print(f"all: {len(every)} modules, {total} calls between them")


def main() -> None:
    X, truth = load_digits(return_X_y=True)
    y = np.full(len(truth), -1)
    for digit in range(10):
        y[np.flatnonzero(truth == digit)[:2]] = digit
    UnifiedKernelMachine(random_state=0).fit(X[:200], y[:200]).ask()  # compiles
    model = UnifiedKernelMachine(random_state=0)
    rows: list[Any] = []
    say(
        {
            "fit": lambda: model.fit(X, y),
            "ask": lambda: rows.extend(model.ask(3)),
            "tell": lambda: model.tell(rows, truth[rows]),
            "predict": lambda: model.predict(X[:100] + 0.1),
        }
    )
    wine = load_wine(as_frame=True).frame.rename(columns={"target": "label"})
    names = np.array(["a", "b", "c"])[wine["label"]]
    known = np.isin(
        np.arange(len(wine)), [k + c for k in range(10) for c in (0, 60, 140)]
    )
    wine["label"] = np.where(known, names, None)
    learn(wine)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        say({"learn": lambda: learn(wine).save(folder + "/out")})
    threading.setprofile(look)
    session = Session.open(wine).fit()
    with session.label() as page:
        page.wait()
        question = page.studio.next("anna")
        assert question is not None
        page.studio.answer("anna", "first", question["row"], 0)  # starts what waits
        page.wait()
        row = next(k for k in range(len(wine)) if not known[k] and k != question["row"])

        def answer() -> None:
            page.studio.answer("anna", "second", row, 1)
            page.wait()

        say({"answer": answer})
    threading.setprofile(None)


if __name__ == "__main__":
    main()
