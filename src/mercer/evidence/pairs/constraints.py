"""Must-link and cannot-link pairs: what a person said about two points at a time."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from mercer._base.random import as_generator
from mercer._base.typing import (
    ArrayLike,
    FloatArray,
    IntArray,
    RandomState,
    SparseArray,
)
from mercer.evidence.labels import Labels
from mercer.evidence.pairs.draw import draw_by_components, unrank
from mercer.evidence.pairs.ends import as_ends, check_ends
from mercer.evidence.pairs.implied import (
    Contradiction,
    close,
    describe,
    find_contradictions,
)
from mercer.evidence.row_names import positions_of


@dataclass(frozen=True, eq=False)
class Pairs:
    r"""Unordered pairs of points, each a must-link or a cannot-link.

    Pair p joins points :math:`i_p < j_p` and carries :math:`T_p = +1` (same class) or
    :math:`-1` (different classes). A pair is kept once, however often and in whichever
    order it was given, and the pairs are sorted, so equal evidence gives equal objects.
    The same two points may be linked both ways; `contradictions` finds that.

    Parameters
    ----------
    first, second : ndarray of shape (n_pairs,)
        Row numbers of the two ends.
    signs : ndarray of shape (n_pairs,)
        +1.0 for a must-link, -1.0 for a cannot-link.
    n_points : int
        Number of points the row numbers refer to.

    See Also
    --------
    PairwiseKernel : Learns a kernel from pairs.
    next_pairs : Which pairs to ask about.

    Examples
    --------
    >>> pairs = Pairs.from_index([(0, 1), (2, 1)], [(3, 0)], n_points=5)
    >>> len(pairs), pairs.n_components
    (3, 3)
    >>> pairs.closure().cannot_link.tolist()
    [[0, 3], [1, 3], [2, 3]]
    """

    first: IntArray
    second: IntArray
    signs: FloatArray
    n_points: int

    def __post_init__(self) -> None:
        ends = np.column_stack([self.first, self.second])
        check_ends(ends, self.n_points)
        if not np.isin(self.signs, (-1.0, 1.0)).all():
            msg = "signs must be +1 (must-link) or -1 (cannot-link)."
            raise ValueError(msg)
        rows = np.column_stack([np.sort(ends, axis=1), self.signs.astype(np.intp)])
        rows = np.unique(rows.reshape(-1, 3), axis=0)
        object.__setattr__(self, "first", rows[:, 0])
        object.__setattr__(self, "second", rows[:, 1])
        object.__setattr__(self, "signs", rows[:, 2].astype(np.float64))

    @classmethod
    def from_index(
        cls,
        must_link: ArrayLike = (),
        cannot_link: ArrayLike = (),
        *,
        n_points: int | None = None,
        names: ArrayLike | None = None,
    ) -> Self:
        """Pairs from two lists of row numbers, or of names of rows.

        Parameters
        ----------
        must_link, cannot_link : array-like of shape (m, 2)
            The two ends of each pair.
        n_points : int, optional
            Number of points; that of the names if these are given.
        names : array-like of shape (n_points,), optional
            Names of all rows, as ``frame.index``; the ends are then such names.

        Examples
        --------
        >>> Pairs.from_index([("b", "c")], names=["a", "b", "c"]).must_link.tolist()
        [[1, 2]]
        """
        if names is not None:
            known = np.asarray(names)
            n_points = len(known)
            must_link, cannot_link = (
                positions_of(np.asarray(ends).ravel(), known).reshape(-1, 2)
                for ends in (must_link, cannot_link)
            )
        if n_points is None:
            msg = "give n_points, the number of points, or the names of all rows."
            raise ValueError(msg)
        must = as_ends(must_link, "must_link")
        cannot = as_ends(cannot_link, "cannot_link")
        ends = np.concatenate([must, cannot])
        signs = np.repeat([1.0, -1.0], [len(must), len(cannot)])
        return cls(ends[:, 0], ends[:, 1], signs, int(n_points))

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        n_pairs: int | None = None,
        random_state: RandomState = None,
    ) -> Self:
        """Pairs between labelled points: all of them, or `n_pairs` drawn at random.

        Parameters
        ----------
        y : array-like of shape (n,)
            Classes; -1, None and NaN are unlabelled and enter no pair.
        n_pairs : int, optional
        random_state : int, Generator or RandomState, optional

        Examples
        --------
        >>> Pairs.from_labels([0, 1, -1, 0]).must_link.tolist()
        [[0, 3]]
        """
        labels = Labels.read(y, min_classes=1)
        points = labels.labeled
        total = len(points) * (len(points) - 1) // 2
        if n_pairs is None:
            chosen = np.arange(total)
        elif 0 <= n_pairs <= total:
            chosen = as_generator(random_state).choice(total, n_pairs, replace=False)
        else:
            msg = (
                f"n_pairs={n_pairs}, but {len(points)} labelled points have {total} "
                "pairs; pass n_pairs=None for all of them."
            )
            raise ValueError(msg)
        return cls._labelled(*unrank(chosen), points, labels.codes)

    @classmethod
    def by_components(
        cls,
        y: ArrayLike,
        ratio: float = 0.7,
        *,
        random_state: RandomState = None,
    ) -> Self:
        r"""Random pairs until the must-link graph has `ratio` · n components.

        The experiments of Zhuang, Tsang and Hoi (ICML 2009, section 6.1) count
        constraints this way, after Xing et al. (2002). Pairs are drawn uniformly from
        the labelled points; cannot-links met on the way are kept. The constraint
        counts of the paper's Table 4 need `closure` on top.

        Parameters
        ----------
        y : array-like of shape (n,)
            Classes; -1, None and NaN are unlabelled.
        ratio : float, default=0.7
            Number of components over n, in (0, 1].
        random_state : int, Generator or RandomState, optional

        Examples
        --------
        >>> y = [0, 1] * 50
        >>> Pairs.by_components(y, 0.7, random_state=0).n_components
        70
        """
        labels = Labels.read(y, min_classes=1)
        points, codes = labels.labeled, labels.codes
        goal = int(np.ceil(ratio * len(points)))
        least = len(np.unique(codes[points]))
        if not least <= goal <= len(points):
            msg = (
                f"ratio={ratio} asks for {goal} components of {len(points)} labelled "
                f"points in {least} classes; take {least / len(points):.3g} to 1."
            )
            raise ValueError(msg)
        drawn = draw_by_components(codes[points], goal, as_generator(random_state))
        return cls._labelled(*drawn, points, codes)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        n_points: int | None = None,
        names: ArrayLike | None = None,
        first: str = "first",
        second: str = "second",
        same: str = "same",
    ) -> Self:
        """Pairs from a data frame with two columns of row numbers and one of answers.

        Parameters
        ----------
        frame : data frame or dict of lists
            One pair per row; anything whose columns are ``frame[name]``.
        n_points : int, optional
            Number of rows of X; not needed with `names`.
        names : array-like of shape (n,), optional
            Name of each row of X; the two columns then hold names.
        first, second, same : str
            Columns: two rows, and the answer (True/False, 1/0 or 1/-1).

        Examples
        --------
        >>> answers = {"first": [0, 2], "second": [1, 0], "same": [True, False]}
        >>> Pairs.from_frame(answers, n_points=3).signs.tolist()
        [1.0, -1.0]
        """
        columns = list(frame.keys() if hasattr(frame, "keys") else frame.columns)
        missing = [name for name in (first, second, same) if name not in columns]
        if missing:
            msg = (
                f"the frame has the columns {columns}, and {missing} are missing. Name "
                "yours: Pairs.from_frame(frame, n_points=..., first=..., second=..., "
                "same=...)."
            )
            raise ValueError(msg)
        ends = np.column_stack([np.asarray(frame[first]), np.asarray(frame[second])])
        answers = np.asarray(frame[same])
        if answers.dtype.kind not in "biuf" or not np.isin(answers, (-1, 0, 1)).all():
            msg = f"column {same!r} must hold True/False, 1/0 or 1/-1."
            raise ValueError(msg)
        linked = answers > 0
        return cls.from_index(
            ends[linked], ends[~linked], n_points=n_points, names=names
        )

    @classmethod
    def from_matrix(cls, T: ArrayLike | SparseArray) -> Self:
        """Pairs from a symmetric matrix of +1, -1 and 0 (eq. 1), dense or sparse.

        Parameters
        ----------
        T : array-like or sparse array of shape (n, n)
            1 for a must-link, -1 for a cannot-link, 0 for neither.
        """
        T = sparse.coo_array(T)
        if T.shape[0] != T.shape[1]:
            msg = f"T must be square, got shape {T.shape}."
            raise ValueError(msg)
        if (T != T.T).nnz:
            msg = "T must be symmetric: a pair has one answer."
            raise ValueError(msg)
        T.eliminate_zeros()
        upper = T.row <= T.col
        return cls(
            T.row[upper].astype(np.intp),
            T.col[upper].astype(np.intp),
            T.data[upper].astype(np.float64),
            T.shape[0],
        )

    @classmethod
    def _labelled(
        cls, a: IntArray, b: IntArray, points: IntArray, codes: IntArray
    ) -> Self:
        first, second = points[a], points[b]
        signs = np.where(codes[first] == codes[second], 1.0, -1.0)
        return cls(first, second, signs, len(codes))

    def __len__(self) -> int:
        return len(self.signs)

    def __add__(self, other: "Pairs") -> "Pairs":
        """Join the evidence of two sets of pairs over the same points."""
        if self.n_points != other.n_points:
            msg = f"pairs over {self.n_points} and over {other.n_points} points."
            raise ValueError(msg)
        return Pairs(
            np.concatenate([self.first, other.first]),
            np.concatenate([self.second, other.second]),
            np.concatenate([self.signs, other.signs]),
            self.n_points,
        )

    def __getitem__(self, which: Any) -> "Pairs":
        """Keep some of the pairs, by position or by a boolean mask."""
        return Pairs(
            np.atleast_1d(self.first[which]),
            np.atleast_1d(self.second[which]),
            np.atleast_1d(self.signs[which]),
            self.n_points,
        )

    def subset(self, rows: ArrayLike) -> "Pairs":
        """Return the pairs within some rows, numbered as these are.

        Parameters
        ----------
        rows : array-like of int
            Rows that are kept, in their new order. Pairs that lose an end are left out.

        Examples
        --------
        >>> pairs = Pairs.from_index([(0, 1), (1, 3)], n_points=4)
        >>> pairs.subset([3, 1]).must_link.tolist()
        [[0, 1]]
        """
        kept = np.asarray(rows)
        place = np.full(self.n_points, -1)
        place[kept] = np.arange(len(kept))
        first, second = place[self.first], place[self.second]
        inside = (first >= 0) & (second >= 0)
        return Pairs(first[inside], second[inside], self.signs[inside], len(kept))

    @property
    def must_link(self) -> IntArray:
        """Ends of the must-link pairs, (m, 2)."""
        return self._ends()[self.signs > 0]

    @property
    def cannot_link(self) -> IntArray:
        """Ends of the cannot-link pairs, (m, 2)."""
        return self._ends()[self.signs < 0]

    @property
    def n_components(self) -> int:
        """Number of connected components of the must-link graph."""
        return int(self.component_labels.max(initial=-1)) + 1

    @property
    def component_labels(self) -> IntArray:
        """Component of each point in the must-link graph, (n_points,)."""
        labels = csgraph.connected_components(self._must_graph(), directed=False)[1]
        return np.asarray(labels, dtype=np.intp)

    def matrix(self) -> SparseArray:
        """Return T (eq. 1): symmetric, zero diagonal, csr."""
        i, j = self.first, self.second
        twice = np.flatnonzero((i[1:] == i[:-1]) & (j[1:] == j[:-1]))
        if len(twice):
            msg = (
                f"points {(int(i[twice[0]]), int(j[twice[0]]))} are linked both ways; "
                "drop one of the two answers."
            )
            raise ValueError(msg)
        return sparse.csr_array(
            (
                np.tile(self.signs, 2),
                (np.concatenate([i, j]), np.concatenate([j, i])),
            ),
            shape=(self.n_points, self.n_points),
        )

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Find the cannot-links that the must-links rule out, each with its chain.

        Examples
        --------
        >>> pairs = Pairs.from_index([(0, 1), (1, 2)], [(0, 2)], n_points=3)
        >>> print(pairs.contradictions()[0])
        cannot-link (0, 2) against the must-links 0 -> 1 -> 2
        """
        return find_contradictions(
            self._must_graph(), self.component_labels, self.cannot_link
        )

    def closure(self) -> "Pairs":
        """Add every pair that follows from these.

        Must-links are transitive; a cannot-link holds between all points of the two
        components it joins. Contradictory pairs have no closure and raise ValueError.
        """
        if wrong := self.contradictions():
            raise ValueError(describe(wrong))
        closed = close(self.component_labels, self.cannot_link)
        return Pairs(*closed, self.n_points)

    def _ends(self) -> IntArray:
        return np.column_stack([self.first, self.second])

    def _must_graph(self) -> SparseArray:
        ends = self.must_link
        return sparse.csr_array(
            (np.ones(len(ends)), (ends[:, 0], ends[:, 1])),
            shape=(self.n_points, self.n_points),
        )
