"""The rows most similar to one, as the learned kernel sees them."""

from collections.abc import Callable

import numpy as np

from mercer._base.typing import FloatArray, IntArray

_AT_ONCE = 20_000


def similar_rows(
    features: Callable[[IntArray], FloatArray], n_rows: int, row: int, n: int
) -> list[int]:
    """Return the n rows with the largest cosine to one in the kernel, itself first.

    Inner products of the features of rows are the kernel.
    """
    target = features(np.array([row]))[0]
    cosines = np.empty(n_rows)
    for start in range(0, n_rows, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, n_rows))
        F = features(rows)
        length = np.linalg.norm(F, axis=1)
        cosines[rows] = F @ target / np.where(length > 0, length, 1.0)
    cosines[row] = np.inf
    return [int(i) for i in np.argsort(-cosines, kind="stable")[:n]]
