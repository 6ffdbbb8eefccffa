"""How many threads a table gets, and what the documentation says of it."""

import re
from pathlib import Path

import numpy  # noqa: F401  (its BLAS is what gets threads)
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mercer.tables.threads import threads_for

DECISIONS = Path(__file__).parents[2] / "docs" / "project" / "decisions.md"


def most_threads(n_rows: int) -> int:
    with threadpool_limits(2), threads_for(n_rows):
        return max(pool["num_threads"] for pool in threadpool_info())


def documented_limit() -> int:
    said = re.search(r"One BLAS thread .* up to ([\d,]+) rows", DECISIONS.read_text())
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
