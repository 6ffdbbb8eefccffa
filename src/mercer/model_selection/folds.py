"""Folds of the labelled rows, in which every unlabelled row trains."""

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import indexable

from mercer._base.random import as_generator
from mercer._base.typing import ArrayLike, IntArray, RandomState
from mercer.evidence.labels import Labels


class SemiSupervisedKFold(BaseEstimator):
    """K folds of the labelled rows; the unlabelled rows train in every fold.

    Each labelled row is tested once per repeat, except a row that is alone in its
    class: it always trains, since no model could name a class it never saw. Classes
    are spread over the folds, so every training fold holds every class.

    Parameters
    ----------
    n_splits : int, default=5
        Folds; at least 2. With fewer testable labels than folds there is one fold
        per label.
    n_repeats : int, default=1
        How often to split the labels again.
    random_state : int, Generator, RandomState or None, default=None
        Deals the labels.

    See Also
    --------
    LabeledScorer : A score of the labelled rows.
    PairKFold : Folds of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> for train, test in SemiSupervisedKFold(2, random_state=0).split(y, y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_repeats: int = 1,
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: object = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield training and test rows.

        Parameters
        ----------
        X : array-like of shape (n, ...)
            Only its length is used.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark unlabelled rows.
        groups : object
            Ignored.

        Yields
        ------
        train : ndarray
            All unlabelled rows and the labelled rows of the other folds.
        test : ndarray
            Labelled rows only.
        """
        check_scalar(self.n_splits, "n_splits", Integral, min_val=2)
        check_scalar(self.n_repeats, "n_repeats", Integral, min_val=1)
        if y is None:
            msg = "SemiSupervisedKFold needs y to know which rows are labelled."
            raise ValueError(msg)
        indexable(X, y)
        labels = Labels.read(y, min_classes=1)
        testable = _not_alone(labels)
        if len(testable) < 2:
            msg = (
                "every class has a single label, so none can be left out; "
                "label two points of some class."
            )
            raise ValueError(msg)
        n_splits = min(self.n_splits, len(testable))
        rows = np.arange(len(labels.codes))
        rng = as_generator(self.random_state)
        for _ in range(self.n_repeats):
            # Members of a class stand side by side here, so dealing them out in turn
            # never puts a whole class into one fold.
            order = rng.permutation(testable)
            order = order[np.argsort(labels.codes[order], kind="stable")]
            for fold in range(n_splits):
                test = np.sort(order[fold::n_splits])
                yield np.setdiff1d(rows, test, assume_unique=True), test

    def get_n_splits(
        self, X: object = None, y: ArrayLike | None = None, groups: object = None
    ) -> int:
        """Return the number of splits; fewer than asked for when labels are few.

        Parameters
        ----------
        X : ignored
        y : array-like of shape (n,), optional
            Classes; -1, None and NaN are unlabelled.
        groups : ignored
        """
        if y is None:
            return self.n_splits * self.n_repeats
        testable = _not_alone(Labels.read(y, min_classes=1))
        return min(self.n_splits, len(testable)) * self.n_repeats


def _not_alone(labels: Labels) -> IntArray:
    return labels.labeled[labels.counts()[labels.codes[labels.labeled]] > 1]
