"""One generator per fit, made from scikit-learn's `random_state`."""

import numpy as np

from mercer._typing import RandomState


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
