"""How many threads BLAS gets, and what the documentation says of it."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import (
    ThreadpoolController,
    threadpool_info,
    threadpool_limits,
)

from mercer import UnifiedKernelMachine
from mercer._base.threads import ONE_THREAD, threads_for
from mercer.fewlabels import AutoKernel, LeaveOneOutRLS
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.model import questions

DECISIONS = Path(__file__).parents[2] / "docs" / "project" / "decisions.md"


def threads_now() -> int:
    return max(pool["num_threads"] for pool in threadpool_info())


def most_threads(n_rows: int) -> int:
    with threadpool_limits(2), threads_for(n_rows):
        return threads_now()


def documented_limit() -> int:
    said = re.search(r"One BLAS thread up to ([\d,]+) rows", DECISIONS.read_text())
    assert said is not None
    return int(said[1].replace(",", ""))


@pytest.mark.skipif(not DECISIONS.exists(), reason="the documentation is not here")
def test_one_thread_up_to_the_limit_that_the_documentation_names() -> None:
    limit = documented_limit()
    assert most_threads(limit) == 1
    assert most_threads(limit + 1) == 2


@pytest.mark.parametrize(("n_rows", "threads"), [(2_000, 1), (697_526, 1)])
def test_tables_that_were_faster_with_one_thread_get_one(n_rows, threads) -> None:
    """34 and 11 CPU seconds with two threads and with one, and 60 and 36."""
    assert most_threads(n_rows) == threads


def test_what_was_there_is_put_back_in_whatever_order_threads_leave() -> None:
    with threadpool_limits(2):
        ONE_THREAD.__enter__()  # of one thread
        ONE_THREAD.__enter__()  # of another
        ONE_THREAD.__exit__()  # the first is done, the second is not
        assert threads_now() == 1
        ONE_THREAD.__exit__()
        assert threads_now() == 2


def test_an_error_puts_the_threads_back() -> None:
    with threadpool_limits(2):
        with pytest.raises(ZeroDivisionError), threads_for(10):
            1 / 0  # noqa: B018
        assert threads_now() == 2


@pytest.mark.parametrize(("most", "threads"), [(60, 1), (59, 2)])
def test_a_model_of_few_rows_works_in_one_thread(
    monkeypatch: pytest.MonkeyPatch, most: int, threads: int
) -> None:
    """With two, a fit of 1,797 digits took ten times as long on a busy machine."""
    monkeypatch.setattr("mercer._base.threads.MOST_ROWS", most)
    seen: dict[str, int] = {}

    def watch(owner: Any, name: str) -> None:
        before = getattr(owner, name)

        def look(*args: Any, **options: Any) -> Any:
            seen[name] = threads_now()
            return before(*args, **options)

        monkeypatch.setattr(owner, name, look)

    watch(KernelPool, "fit")
    watch(AutoKernel, "_learn")
    watch(LeaveOneOutRLS, "_solve_all")
    watch(LeaveOneOutRLS, "predict")
    watch(questions, "ask_rows")
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.arange(60)[:, None] // 30
    y = np.full(60, -1)
    y[::10] = np.arange(0, 60, 10) // 30
    with threadpool_limits(2):
        model = UnifiedKernelMachine(random_state=0).fit(X, y)
        model.ask()
        model.predict(X)
        assert threads_now() == 2
    assert seen == dict.fromkeys(seen, threads)
    assert len(seen) == 5


def test_libraries_are_looked_for_when_modules_were_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking for them takes longer than the prediction of a row."""
    looked = []

    def look() -> ThreadpoolController:
        looked.append(1)
        return ThreadpoolController()

    monkeypatch.setattr("mercer._base.threads.ThreadpoolController", look)
    limit = type(ONE_THREAD)()
    for _ in range(2):
        with limit:
            assert threads_now() == 1
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "a_module_of_this_test", sys)
    with limit:
        assert len(looked) == 2
