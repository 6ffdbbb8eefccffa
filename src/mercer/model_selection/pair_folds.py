"""Folds of pairs, dealt out by their points."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar

from mercer._base.random import as_generator
from mercer._base.typing import ArrayLike, IntArray, RandomState


class PairKFold(BaseEstimator):
    """K folds of pairs, in which test pairs are of points that no training pair holds.

    Splits that deal out the pairs alone, as `KFold` does, test pairs of known points.
    Here the *points* are dealt out: a fold is tested on the pairs within its points and
    trained on those within the other points; pairs across are in neither.

    Parameters
    ----------
    n_splits : int, default=5
        Folds; at least 2. Few are better: of all pairs each fold tests a share of
        1 / n_splits squared.
    random_state : int, Generator, RandomState or None, default=None
        Deals the points.

    See Also
    --------
    SemiSupervisedKFold : Folds of labels.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.array([[0, 1], [2, 3], [0, 2], [1, 3]])
    >>> for train, test in PairKFold(2, random_state=1).split(pairs):
    ...     print(pairs[train].tolist(), pairs[test].tolist())
    [[1, 3]] [[0, 2]]
    [[0, 2]] [[1, 3]]
    """

    def __init__(self, n_splits: int = 5, *, random_state: RandomState = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(
        self, X: ArrayLike, y: object = None, groups: object = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test pairs.

        Parameters
        ----------
        X : array-like of shape (m, 2) or (m, 2, n_features)
            Pairs of row numbers, of names, or of points.
        y, groups : object
            Ignored.
        """
        check_scalar(self.n_splits, "n_splits", Integral, min_val=2)
        ends = _ends_of(np.asarray(X))
        n = int(ends.max(initial=-1)) + 1
        if n < 2 * self.n_splits:
            msg = (
                f"the pairs are of {n} points, and {self.n_splits} folds need two "
                "points each."
            )
            raise ValueError(msg)
        fold = as_generator(self.random_state).permutation(n) % self.n_splits
        left, right = fold[ends].T
        for k in range(self.n_splits):
            train = np.flatnonzero((left != k) & (right != k))
            yield train, np.flatnonzero((left == k) & (right == k))

    def get_n_splits(
        self, X: object = None, y: object = None, groups: object = None
    ) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : ignored
        """
        return self.n_splits


def _ends_of(pairs: Any) -> IntArray:
    """Return the ends of pairs as numbers of distinct points, (m, 2)."""
    if pairs.ndim == 3:
        rows = pairs.reshape(-1, pairs.shape[2])
        found = np.unique(rows, axis=0, return_inverse=True)[1]
    else:
        found = np.unique(pairs, return_inverse=True)[1]
    return np.asarray(found).reshape(-1, 2)
