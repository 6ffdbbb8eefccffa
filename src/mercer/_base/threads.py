"""How many threads BLAS and OpenMP get."""

import sys
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any, Self

from threadpoolctl import ThreadpoolController

# Up to this many rows the matrices are so small that threads mostly wait for each
# other. CPU seconds with two threads and with one: 34 and 11 for 2,000 rows, 93 and 47
# for 30,000, 60 and 36 for 697,526 (48 and 43 s on the clock).
MOST_ROWS = 1_000_000


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


ONE_THREAD = _OneThread()


def threads_for(n_rows: int) -> AbstractContextManager[Any]:
    """Give one thread to BLAS and OpenMP for few rows, else all they want."""
    return ONE_THREAD if n_rows <= MOST_ROWS else nullcontext()
