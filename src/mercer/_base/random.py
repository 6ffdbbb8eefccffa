"""One generator per fit, made from scikit-learn's `random_state`."""

import numpy as np

from mercer._base.typing import IntArray, RandomState


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator; equal integers give equal generators.

    Examples
    --------
    >>> as_generator(-1)
    Traceback (most recent call last):
    ValueError: random_state must be None, a whole number from 0 on, a Generator or a
    RandomState; got -1.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        msg = (
            "random_state must be None, a whole number from 0 on, a Generator or a "
            f"RandomState; got {random_state!r}."
        )
        raise type(error)(msg) from error


def draw_rows(rows: IntArray | int, most: int, rng: np.random.Generator) -> IntArray:
    """Return at most this many of the rows, drawn at random; all where they are few.

    Parameters
    ----------
    rows : int ndarray or int
        Rows, or how many there are.
    most : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> draw_rows(3, 5, np.random.default_rng(0))
    array([0, 1, 2])
    >>> len(draw_rows(np.array([4, 7, 9]), 2, np.random.default_rng(0)))
    2
    """
    n = len(rows) if isinstance(rows, np.ndarray) else rows
    if n > most:
        return rng.choice(rows, most, replace=False)
    return rows if isinstance(rows, np.ndarray) else np.arange(rows)
