"""Which rows the sums of a pool are taken over, where there are very many."""

import numpy as np

from mercer._base.typing import IntArray

MOST_SUMMED = 5_000_000  # limit of work: 250 for each of 20,000 anchors
# 2⁶⁴ divided by the golden ratio; products with it are taken modulo 2⁶⁴.
_STEP = np.uint64(0x9E3779B97F4A7C15)


def summed_rows(start: int, stop: int, *, n: int, most: int) -> IntArray | None:
    r"""Return which rows of a block are summed, counted from its first; None for all.

    Of more than `most` rows in all, row i is summed if the fraction of
    :math:`i (\sqrt 5 - 1) / 2` is below most / n.

    Parameters
    ----------
    start, stop : int
        Rows of the block, by their positions in the whole table.
    n : int
        Rows of the whole table.
    most : int
        How many are summed, give or take a few.

    Notes
    -----
    The position alone decides, so the rows are the same however a table is cut into
    blocks. Multiples of the golden ratio are spread evenly (Weyl 1916): every stretch
    of rows has its share, and so has every place in a pattern that repeats. Exceptions
    are patterns as long as a Fibonacci number above some :math:`\sqrt n / 5`.

    Examples
    --------
    >>> summed_rows(0, 20, n=20, most=5)
    array([ 0,  2,  5, 10, 13, 18])
    >>> summed_rows(10, 20, n=20, most=5)
    array([0, 3, 8])
    """
    if n <= most:
        return None
    below = np.uint64((most << 64) // n)
    return np.flatnonzero(np.arange(start, stop, dtype=np.uint64) * _STEP < below)


def say_summed(n_summed: int, n: int) -> str:
    """Return over how many of n rows the sums are; nothing if over all.

    Examples
    --------
    >>> say_summed(5_000_001, 50_000_000)
    'sums over 5,000,001 of 50,000,000 rows'
    """
    return f"sums over {n_summed:,} of {n:,} rows" if n_summed < n else ""
