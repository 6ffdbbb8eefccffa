"""Random trees grown on the labelled points alone: a second opinion from the columns.

The kernels of a pool see distances. Where single columns decide, in whatever units,
trees see it sooner.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from mercer._base.rows import thinned
from mercer._base.threads import in_threads
from mercer._base.typing import FloatArray, IntArray
from mercer.fewlabels._column_order import order_columns
from mercer.fewlabels._grow import grow_some
from mercer.fewlabels._votes import count_votes
from mercer.spectrum.scores import ArrayScores, Scores

_PER_TASK = 10  # trees that a thread grows at a time


@dataclass(frozen=True, slots=True, eq=False)
class RandomTrees:
    """Extremely randomised trees, one after the other in the same arrays."""

    roots: IntArray  # (n_trees,) first node of each tree
    depths: IntArray  # (n_trees,) steps to its last leaf
    feature: IntArray  # (n_nodes,) column that a node asks about
    threshold: FloatArray  # (n_nodes,) infinite at a leaf
    left: IntArray  # (n_nodes,) child for values up to the threshold, the other one is
    # next; a leaf is its own child
    leaf: IntArray  # (n_nodes,) class of a leaf, or C and more for a row of `mixed`
    mixed: FloatArray  # (m, C) class shares of leaves that hold several classes

    def votes(self, X: FloatArray) -> FloatArray:
        """Return the mean over the trees of the class shares in the leaves, (m, C)."""
        votes: FloatArray = count_votes(self, X)
        votes /= len(self.roots)
        return votes


class Columns(Protocol):
    """Columns of points that trees ask about, wherever the points are."""

    def __len__(self) -> int:
        """Return the number of points."""

    def rows(self, rows: IntArray) -> FloatArray:
        """Return some points, (m, d)."""

    def take(self, rows: IntArray) -> Self:
        """Return some points, where all of them are."""

    def thinned(self, most: int) -> Self:
        """Return at most this many points, evenly spaced."""

    def votes(self, trees: RandomTrees) -> Scores:
        """Return the votes of trees for all points."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayColumns:
    """Columns of points in an array."""

    values: FloatArray  # (n, d)

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, rows: IntArray) -> FloatArray:
        """Return some points, (m, d)."""
        some: FloatArray = self.values[rows]
        return some

    def take(self, rows: IntArray) -> "ArrayColumns":
        """Return some points."""
        return ArrayColumns(self.values[rows])

    def thinned(self, most: int) -> "ArrayColumns":
        """Return at most this many points, evenly spaced."""
        return ArrayColumns(thinned(self.values, most))

    def votes(self, trees: RandomTrees) -> ArrayScores:
        """Return the votes of trees for all points."""
        return ArrayScores(trees.votes(self.values))


def grow_trees(
    X: FloatArray,
    Y: FloatArray,
    others: FloatArray | None = None,
    *,
    n_trees: int,
    tries: float = 0.5,
) -> RandomTrees:
    r"""Grow trees until every leaf holds one class or equal points.

    At a node a threshold is drawn between the extremes of each of
    :math:`d^t` columns that vary there, and the split that leaves the classes
    least mixed is taken (Geurts, Ernst and Wehenkel, Machine Learning 2006). No point
    is left out of any tree.

    Parameters
    ----------
    X : ndarray of shape (l, d)
        Labelled points.
    Y : ndarray of shape (l, C)
        Weights of the classes at each point, >= 0, not all 0.
    others : ndarray of shape (m, d), optional
        Points without a class, which tell columns apart that are equal at the labelled
        ones.
    n_trees : int
        About how many. Trees come in pairs, and each column that varies begins as many
        pairs as any other.
    tries : float, default=0.5
        The power t.

    Notes
    -----
    What is drawn depends on the place in the tree and on the values of the columns, not
    on the order of points or columns, nor on the units or the sign of a column
    (`order_columns`). The two trees of a pair draw u and 1 - u.

    Examples
    --------
    >>> trees = grow_trees(np.array([[0.0], [1.0]]), np.eye(2), n_trees=100)
    >>> trees.votes(np.array([[-1.0], [0.25], [0.5], [2.0]])).round(1)
    array([[1. , 0. ],
           [0.8, 0.2],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    columns = np.ascontiguousarray(X.T, dtype=np.float64)
    point, classes = np.nonzero(Y)
    starts = np.searchsorted(point, np.arange(len(Y) + 1))
    labels = starts, classes, Y[point, classes].astype(np.float64)
    C = Y.shape[1]
    order, is_turned = order_columns(columns.T, Y, X if others is None else others)
    v = int((columns.min(axis=1) < columns.max(axis=1)).sum())
    pairs = max(n_trees // 2, 1)
    if 0 < v < pairs:
        pairs = v * round(pairs / v)
    n_tried = max(int(len(columns) ** tries), 1)
    grown: list[Any] = [None] * (2 * pairs)

    def task(first: int) -> None:
        some = range(first, min(first + _PER_TASK, len(grown)))
        grown[first : some.stop] = grow_some(
            some, columns, labels, C, order, v, is_turned, n_tried
        )

    in_threads(task, range(0, len(grown), _PER_TASK))
    feature, threshold, left, leaf, mixed, depths = zip(*grown, strict=True)
    roots = np.cumsum([0, *map(len, feature[:-1])])
    rows = np.cumsum([0, *map(len, mixed[:-1])])
    return RandomTrees(
        roots.astype(np.int32),
        np.array(depths, np.int32),
        np.concatenate(feature).astype(np.int32),
        np.concatenate(threshold),
        np.concatenate(
            [at + root for at, root in zip(left, roots, strict=True)]
        ).astype(np.int32),
        np.concatenate(
            [np.where(at < C, at, at + row) for at, row in zip(leaf, rows, strict=True)]
        ).astype(np.int32),
        np.concatenate(mixed),
    )
