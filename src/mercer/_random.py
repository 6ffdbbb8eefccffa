"""One generator per fit, made from scikit-learn's `random_state`."""

import numpy as np

from mercer._typing import RandomState


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator; equal integers give equal generators."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    return np.random.default_rng(random_state)
