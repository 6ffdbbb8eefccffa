"""How many threads work, and that results do not depend on it."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from threading import Barrier, Event, Timer, get_ident
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import (
    ThreadpoolController,
    threadpool_info,
    threadpool_limits,
)

from mercer import UnifiedKernelMachine
from mercer._base import threads
from mercer._base.threads import (
    ONE_THREAD,
    in_blocks,
    in_threads,
    row_blocks,
    using_threads,
)
from mercer.fewlabels import AutoKernel, LeaveOneOutRLS
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.base import PoolBase
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.model import questions
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis


def blas_threads() -> int:
    return max(pool["num_threads"] for pool in threadpool_info())


def working() -> int:
    """Return how many threads do tasks that wait for each other for a moment."""
    seen = set()

    def task(_: int) -> None:
        for _ in range(2000):
            seen.add(get_ident())

    in_threads(task, range(12))
    return len(seen)


def test_tasks_are_done_once_and_in_no_more_threads_than_asked_for() -> None:
    done: list[int] = []
    with using_threads(3):
        in_threads(done.append, range(5, 50, 5))
        assert 1 <= working() <= 3
    assert sorted(done) == list(range(5, 50, 5))
    assert working() == 1


@pytest.mark.parametrize(
    ("asked", "threads"), [((None,), 1), ((1,), 1), ((4,), 4), ((4, 2), 2), ((2, 4), 2),
                           ((3, None), 3), ((1, -1), 1), ((None, 4), 4)],
)  # fmt: skip
def test_the_outermost_number_is_the_limit(asked: Any, threads: int) -> None:
    """As for the models in a search over parameters that has threads of its own."""
    outer, *inner = asked
    with using_threads(outer), using_threads(*inner):
        assert size_now() == threads


def size_now() -> int:
    team = threads._TEAM.get()
    return 1 if team is None else team.size


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_what_is_no_number_of_threads_is_said(n_jobs: Any) -> None:
    with pytest.raises(ValueError, match=f"n_jobs must be .* got {n_jobs!r}"):
        UnifiedKernelMachine(n_jobs=n_jobs).fit([[0.0], [1.0]], [0, 1])


def test_minus_one_is_all_cores_and_joblib_may_say_what_none_is() -> None:
    with using_threads(-1):
        assert size_now() == joblib.cpu_count()
    with joblib.parallel_config("threading", n_jobs=3), using_threads():
        assert size_now() == 3


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_task_of_joblib_has_one_thread(backend: str) -> None:
    def of_four() -> int:  # another process need not know this file
        from mercer._base import threads

        with threads.using_threads(4):
            team = threads._TEAM.get()
            return 1 if team is None else team.size

    tasks = [joblib.delayed(of_four)() for _ in range(2)]
    assert joblib.Parallel(n_jobs=2, backend=backend)(tasks) == [1, 1]
    assert joblib.Parallel(n_jobs=1)(tasks) == [4, 4]


@pytest.mark.parametrize("n_jobs", [None, 1, 4])
def test_a_thread_of_a_team_works_alone(n_jobs: int | None) -> None:
    """As bases with `n_jobs` in a model with `n_jobs`: 4 times 4 threads else."""
    seen: list[tuple[int, int]] = []

    def task(_: int) -> None:
        with using_threads(n_jobs):
            seen.append((size_now(), openmp_threads()))

    with threadpool_limits(2), using_threads(4):
        in_threads(task, range(8))
    assert seen == [(1, 1)] * 8


def openmp_threads() -> int:
    """Return how many threads OpenMP starts from this one."""
    return max(
        pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "openmp"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_it_does_not_have() -> None:
    def work() -> None:
        in_threads(lambda _: None, range(4))

    with using_threads(2):
        work()
        process = get_context("fork").Process(target=work)
        process.start()
        process.join(20)
        if process.exitcode is None:
            process.kill()
    assert process.exitcode == 0


def test_an_error_in_a_task_is_raised() -> None:
    def task(start: int) -> None:
        1 / start

    with using_threads(2), pytest.raises(ZeroDivisionError):
        in_threads(task, range(4))
    assert size_now() == 1


def test_the_caller_works_too_and_waits_for_the_others_when_it_fails() -> None:
    done, caller, both, failing = [], get_ident(), Barrier(2), Event()

    def task(start: int) -> None:
        if start < 2:
            both.wait(timeout=60)  # there are two at work
        if get_ident() == caller:
            failing.set()
            raise ZeroDivisionError
        failing.wait(timeout=60)
        np.linalg.inv(np.eye(300))  # takes a moment
        done.append(start)

    with using_threads(2):
        with pytest.raises(ZeroDivisionError):
            in_threads(task, range(9))
        assert done  # what others had begun is at its end


def test_no_task_is_begun_after_a_thread_could_not_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[int] = []
    begun, ready, submit = Event(), Event(), ThreadPoolExecutor.submit

    def task(start: int) -> None:
        begun.set()
        ready.wait(timeout=60)
        done.append(start)

    def second_fails(pool: ThreadPoolExecutor, work: Any) -> Any:
        if begun.is_set():
            Timer(0.2, ready.set).start()
            raise RuntimeError
        found = submit(pool, work)
        begun.wait(timeout=60)
        return found

    monkeypatch.setattr(ThreadPoolExecutor, "submit", second_fails)
    with using_threads(3), pytest.raises(RuntimeError):
        in_threads(task, range(9))
    assert done == [0]


def test_blocks_do_not_depend_on_threads_and_are_at_most_64() -> None:
    for n, least, multiple in [(1, 10, 1), (100_001, 512, 512), (10**7, 512, 512)]:
        blocks = row_blocks(n, least, multiple)
        assert len(blocks) <= 64
        assert blocks.step >= least
        assert blocks.step % multiple == 0
        assert blocks[-1] < n <= blocks[-1] + blocks.step


def decisions(n_jobs: int, X: Any, y: Any, basis: Any) -> list[Any]:
    if not isinstance(basis, PoolBase):
        basis = clone(basis).set_params(n_jobs=n_jobs).fit(X)
        return [basis.vectors_, basis.extend(X[:900] + 0.01)]
    model = UnifiedKernelMachine(basis=basis, n_jobs=n_jobs, random_state=0).fit(X, y)
    asked = model.ask(3)
    proba = model.training_proba()
    return [np.asarray(model.basis_.vectors_[:]), proba, asked, model.predict_proba(X)]


@pytest.mark.parametrize(
    "basis", [KernelPool, AnchorPool, GraphBasis, AnchorBasis, GramBasis]
)
def test_the_same_decisions_for_every_number_of_threads(
    basis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit: blocks are cut and added in the same way."""
    monkeypatch.setattr("mercer.eigen.orthogonal._PER_BLOCK", 512)
    monkeypatch.setattr("mercer.eigen.chebyshev._PER_BLOCK", 100)
    monkeypatch.setattr("mercer.neighbors.cells._TASK", 500)
    monkeypatch.setattr("mercer.neighbors.index._EXACT_UP_TO", 1000)
    monkeypatch.setattr("mercer._base.rows.BATCH", 700)
    monkeypatch.setattr("mercer.fewlabels.pools.anchors._BATCH", 900)
    monkeypatch.setattr("mercer.fewlabels._votes._PER_BLOCK", 600)
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=3000)
    X = rng.normal(size=(3000, 4)) + 2.5 * np.eye(3, 4)[truth]
    y = np.where(np.arange(3000) < 30, truth, -1)
    given = basis(20, random_state=0)
    one = decisions(1, X, y, given)
    for several in (2, 5):
        for a, b in zip(one, decisions(several, X, y, given), strict=True):
            np.testing.assert_array_equal(a, b)


def test_blas_has_one_thread_whatever_is_asked_for() -> None:
    with threadpool_limits(2):
        for n_jobs in (None, 1, 2):
            with using_threads(n_jobs):
                assert blas_threads() == 1
        assert blas_threads() == 2


def test_what_was_there_is_put_back_in_whatever_order_threads_leave() -> None:
    with threadpool_limits(2):
        ONE_THREAD.__enter__()  # of one thread
        ONE_THREAD.__enter__()  # of another
        ONE_THREAD.__exit__()  # the first is done, the second is not
        assert blas_threads() == 1
        ONE_THREAD.__exit__()
        assert blas_threads() == 2


def test_an_error_puts_the_threads_back() -> None:
    with threadpool_limits(2):
        with pytest.raises(ZeroDivisionError), using_threads():
            1 / 0  # noqa: B018
        assert blas_threads() == 2


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_part_of_a_model_has_its_threads(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int | None
) -> None:
    """With two of BLAS, a fit of 1,797 digits took ten times as long."""
    seen: dict[str, tuple[int, int]] = {}

    def watch(owner: Any, name: str) -> None:
        before = getattr(owner, name)

        def look(*args: Any, **options: Any) -> Any:
            seen[name] = blas_threads(), size_now()
            return before(*args, **options)

        monkeypatch.setattr(owner, name, look)

    watch(KernelPool, "fit")
    watch(AutoKernel, "_learn")
    watch(LeaveOneOutRLS, "_solve_all")
    watch(LeaveOneOutRLS, "predict")
    watch(LeaveOneOutRLS, "_training_scores")
    watch(questions, "ask_rows")
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.arange(60)[:, None] // 30
    y = np.full(60, -1)
    y[::10] = np.arange(0, 60, 10) // 30
    with threadpool_limits(2):
        model = UnifiedKernelMachine(n_jobs=n_jobs, random_state=0).fit(X, y)
        model.ask()
        model.predict(X)
        assert model.transduction_.shape == (60,)
        assert blas_threads() == 2
    assert seen == dict.fromkeys(seen, (1, n_jobs or 1))
    assert len(seen) == 6


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
            assert blas_threads() == 1
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "a_module_of_this_test", sys)
    with limit:
        assert len(looked) == 2


def test_blocks_of_rows_are_taken_once_and_cut_alike() -> None:
    seen: dict[int, list[slice]] = {}
    for n_jobs in (1, 3):
        seen[n_jobs] = []
        with using_threads(n_jobs):
            in_blocks(seen[n_jobs].append, 1000, 4, 8)
        seen[n_jobs].sort(key=lambda rows: rows.start)
    assert seen[1] == seen[3]
    assert [rows.stop for rows in seen[1][-2:]] == [992, 1000]
    assert [i for rows in seen[1] for i in range(rows.start, rows.stop)] == [
        *range(1000)
    ]
