"""Folds of labelled points, for the models that choose their own parameters."""

import numpy as np

from mercer._typing import IntArray


def inverted_folds(
    codes: IntArray, n_splits: int, *, rng: np.random.Generator
) -> list[tuple[IntArray, IntArray]]:
    """Deal labelled points into folds; one fold trains, the others validate.

    Mao and Tsang (2010), section 5.2: every fold holds every class, so there are at
    most as many folds as labels in the smallest class.

    Parameters
    ----------
    codes : ndarray of shape (n_labeled,)
        Classes, 0 to n_classes - 1.
    n_splits : int
        Number of folds wanted.
    rng : numpy.random.Generator
        Deals the points.

    Returns
    -------
    list of (train, test)
        Positions in `codes`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> for train, test in inverted_folds(np.array([0, 0, 1, 1, 1]), 5, rng=rng):
    ...     print(len(train), len(test))
    3 2
    2 3
    """
    counts = np.bincount(codes)
    n_folds = min(n_splits, int(counts.min()))
    if n_folds < 2:
        msg = (
            "cross-validation needs two labels of every class, and class number "
            f"{int(counts.argmin())} has {int(counts.min())}; label more points or "
            "use a model with nothing to choose."
        )
        raise ValueError(msg)
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=np.intp)
    # Members of a class stand side by side, so dealing gives every fold one of each.
    fold[order] = np.arange(len(codes)) % n_folds
    return [
        (np.flatnonzero(fold == k), np.flatnonzero(fold != k)) for k in range(n_folds)
    ]
