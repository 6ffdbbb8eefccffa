"""How many threads work, and how blocks of rows are shared among them.

BLAS and OpenMP always get one thread: their threads mostly wait for each other where
matrices are narrow. CPU seconds of a fit with two of them and with one: 34 and 11 for
2,000 rows, 93 and 47 for 30,000, 60 and 36 for 697,526. Threads of Mercer share blocks
of rows instead, which are cut the same way however many threads there are.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from numbers import Integral
from threading import Lock
from typing import Any, ParamSpec, Self, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")

# Blocks that many rows are cut into; more would keep more sums in memory.
_BLOCKS = 64


class _OneThread:
    """One thread, until the last of those who asked for it is done.

    The limit holds for the whole process. What was there before is put back, also
    where several threads of Python come and go in any order.
    """

    def __init__(self) -> None:
        self._lock, self._holders = Lock(), 0
        self._limits: Any = None
        self._controller: Any = None
        self._n_modules = 0

    def __enter__(self) -> Self:
        with self._lock:
            if self._holders == 0:
                # Looking for libraries takes milliseconds; modules bring new ones.
                if len(sys.modules) != self._n_modules:
                    self._controller = ThreadpoolController()
                    self._n_modules = len(sys.modules)
                self._limits = self._controller.limit(limits=1)
            self._holders += 1
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limits.restore_original_limits()

    def limit_this_thread(self) -> None:
        """Limit OpenMP in a new thread: it counts threads for each on its own."""
        self._controller.limit(limits=1, user_api="openmp")


ONE_THREAD = _OneThread()


class _Team:
    """Threads that are started when there is work for several."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def run(self, task: Callable[[int], None], starts: range) -> None:
        """Run a task for each start; who is done with one takes the next.

        This thread works as well, and is not woken for every task.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, initializer=_work_alone)
        left = deque(starts)

        def work() -> None:
            with suppress(IndexError):
                while True:
                    start = left.popleft()
                    try:
                        task(start)
                    except BaseException as error:
                        left.clear()
                        failed.append(error)

        failed: list[BaseException] = []
        helpers: list[Future[None]] = []
        token = _TEAM.set(_Team(1))
        try:
            for _ in range(min(self.size, len(starts)) - 1):
                helpers.append(self._pool.submit(work))
            work()
        finally:
            left.clear()  # where something else ends it, such as Ctrl-C
            _TEAM.reset(token)
            for helper in helpers:
                helper.result()
        if failed:
            raise failed[0]

    def leave(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


_TEAM: ContextVar[_Team | None] = ContextVar("team", default=None)


def _work_alone() -> None:
    """Begin a thread of a team: what it calls may ask for no threads of its own."""
    _TEAM.set(_Team(1))
    ONE_THREAD.limit_this_thread()


# The threads of a team do not live on in a forked process, which would wait for them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _TEAM.set(None))


@contextmanager
def using_threads(n_jobs: int | None = None) -> Iterator[None]:
    """Let `in_threads` use some threads, and BLAS and OpenMP one each.

    Parameters
    ----------
    n_jobs : int, optional
        Threads, as in scikit-learn: -1 for one per core, -2 for one less, None for
        those that are in use already, which is one unless joblib was told otherwise.
        Inside of another number there are never more than that; inside a task of
        `in_threads`, joblib or Dask there is one.
    """
    outer = _TEAM.get()
    size = count_threads(n_jobs) if n_jobs is not None or outer is None else outer.size
    with ONE_THREAD:
        if n_jobs is None and (outer is not None or size == 1):
            yield
            return
        team = _Team(size if outer is None else min(size, outer.size))
        token = _TEAM.set(team)
        try:
            yield
        finally:
            _TEAM.reset(token)
            team.leave()


def with_n_jobs(method: Callable[P, T]) -> Callable[P, T]:
    """Run a method in the threads that `n_jobs` of its object asks for."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        owner: Any = args[0]
        with using_threads(owner.n_jobs):
            return method(*args, **kwargs)

    return run


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means here, see `using_threads`."""
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0):
        msg = (
            "n_jobs must be a number of threads, -1 for one per core, or None for one; "
            f"got {n_jobs!r}."
        )
        raise ValueError(msg)
    return 1 if _is_in_task() else int(joblib.effective_n_jobs(n_jobs))


def _is_in_task() -> bool:
    """Tell whether this is one of several tasks of joblib or Dask."""
    backend, _ = joblib.parallel.get_active_backend()
    if backend.nesting_level:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:  # there is none
        return False
    return True


def row_blocks(n: int, least: int, multiple: int = 1) -> range:
    """Return where blocks of n rows start; its step is their size.

    Parameters
    ----------
    n : int
    least : int
        Rows of a block, or more if there would be more than 64 blocks.
    multiple : int, default=1
        Of which the size of a block is one.

    Examples
    --------
    >>> row_blocks(10, 4), row_blocks(1000, 4, 8)
    (range(0, 10, 4), range(0, 1000, 16))
    """
    size = max(least, -(-n // _BLOCKS))
    return range(0, n, -(-size // multiple) * multiple)


def in_threads(task: Callable[[int], None], starts: range) -> None:
    """Run a task for each start, in the threads of `using_threads`.

    Tasks write to places of their own. Which thread runs them changes nothing.

    Parameters
    ----------
    task : callable
    starts : range
        See `row_blocks`.

    Examples
    --------
    >>> squares = [0] * 3
    >>> def task(start: int) -> None:
    ...     squares[start] = start**2
    >>> with using_threads(2):
    ...     in_threads(task, range(3))
    >>> squares
    [0, 1, 4]
    """
    team = _TEAM.get()
    if team is None or team.size == 1 or len(starts) < 2:
        for start in starts:
            task(start)
    else:
        team.run(task, starts)


def in_blocks(
    work: Callable[[slice], None], n: int, least: int, multiple: int = 1
) -> None:
    """Do work on each block of n rows, in the threads of `using_threads`.

    Parameters
    ----------
    work : callable
        Takes the rows of a block, as a slice.
    n, least, multiple : int
        See `row_blocks`.

    Examples
    --------
    >>> in_blocks(print, 5, least=3)
    slice(0, 3, None)
    slice(3, 5, None)
    """
    if 0 < n <= least:  # one block: not worth asking for threads
        work(slice(0, n))
        return
    blocks = row_blocks(n, least, multiple)
    in_threads(lambda i: work(slice(i, min(i + blocks.step, n))), blocks)
