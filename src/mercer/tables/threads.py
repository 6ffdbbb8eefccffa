"""How many threads the numerical libraries get in a process of our own."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from threadpoolctl import threadpool_limits

# Up to this many rows the matrices are so small that threads mostly wait for each
# other. CPU seconds with two threads and with one: 34 and 11 for 2,000 rows, 93 and 47
# for 30,000, 60 and 36 for 697,526 (48 and 43 s on the clock).
MOST_ROWS = 1_000_000


def threads_for(n_rows: int) -> AbstractContextManager[Any]:
    """Give one thread to BLAS and OpenMP for a small table, else all they want.

    The limit holds for the whole process, so it is for a process that does nothing
    else: a command, or the model of the studio.
    """
    return threadpool_limits(1) if n_rows <= MOST_ROWS else nullcontext()
