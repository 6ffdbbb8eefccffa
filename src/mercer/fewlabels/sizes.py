"""Offsets that make classes as large as they should be."""

import numpy as np

from mercer._typing import FloatArray


def match_sizes(
    scores: FloatArray,
    sizes: FloatArray,
    *,
    start: FloatArray | None = None,
    max_iter: int = 15,
) -> FloatArray:
    r"""Return offsets b so that :math:`\arg\max_c (s_c + b_c)` has the given shares.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Of points against classes.
    sizes : ndarray of shape (C,)
        Shares of the classes, > 0, summing to 1.
    start : ndarray of shape (C,), optional
        Offsets to begin with.
    max_iter : int, default=15
        Sweeps over the classes.

    Returns
    -------
    ndarray of shape (C,)
        Summing to 0.

    Notes
    -----
    Coordinate descent on the dual of the assignment problem: each class in turn takes
    the offset at which exactly its share of the points prefers it to the others.

    Examples
    --------
    >>> scores = np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    >>> b = match_sizes(scores, np.array([0.5, 0.5]))
    >>> np.argmax(scores + b, axis=1)
    array([0, 0, 1, 1])
    """
    n, C = scores.shape
    b = np.zeros(C) if start is None else start - start.mean()
    wanted = np.clip(np.rint(sizes * n).astype(int), 1, max(n - 1, 1))
    columns = np.ascontiguousarray(scores.T)  # (C, n): classes one after the other
    for _ in range(max_iter):
        before = b.copy()
        after = columns + b[:, None]  # row c: the best of the classes from c on
        for c in range(C - 2, -1, -1):
            np.maximum(after[c], after[c + 1], out=after[c])
        best = np.full(n, -np.inf)  # of the classes up to c
        for c in range(C):
            others = np.maximum(best, after[c + 1]) if c + 1 < C else best
            place = n - wanted[c]  # of the last point let in, by its lead
            ends = sorted({max(place - 1, 0), place})
            lead = np.partition(columns[c] - others, ends)
            b[c] = -lead[ends].mean()  # half way to the first point left out
            np.maximum(best, columns[c] + b[c], out=best)
        b -= b.mean()
        if np.abs(b - before).max() <= 1e-6 * (1 + np.abs(b).max()):
            break
    return b
