"""Rows in half precision."""

import numpy as np

from mercer._base.rows import in_half
from mercer._base.threads import using_threads


def test_half_precision_is_that_of_numpy() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4)) * 10.0 ** rng.uniform(-12, 3, (9000, 4))
    X[0] = 0.0, 2.0**-14, 2.0**-25, 3 * 2.0**-25  # two ties
    with using_threads(2):
        assert np.array_equal(in_half(X), X.astype(np.float16))
