"""A pool of anchor graphs: the default of few labels in time linear in the points."""

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_several
from mercer._base.random import as_generator
from mercer._base.threads import in_threads, with_n_jobs
from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.fewlabels.pools import base
from mercer.fewlabels.pools.anchor_features import AnchorColumns, AnchorFeatures
from mercer.fewlabels.pools.anchor_number import (
    MOST_PRODUCTS,
    POINTS_PER_ANCHOR,
    number_of_anchors,
)
from mercer.fewlabels.pools.anchor_rows import MOST_SUMMED, say_summed, summed_rows
from mercer.fewlabels.pools.anchor_solving import solve_sums
from mercer.fewlabels.pools.anchor_sums import PoolSums
from mercer.fewlabels.pools.base import Member, PoolBase
from mercer.fewlabels.pools.plain_kernels import linear_map
from mercer.fewlabels.pools.units import Scaling, say_units
from mercer.fewlabels.rule import Rule
from mercer.fewlabels.trees import ArrayColumns, Columns
from mercer.graphs.points import refuse_graph
from mercer.spectrum.anchor import anchor_index, anchor_ties, choose_anchors

ANCHORS = 20_000  # limit of work and memory
_BATCH = 65_536


class AnchorPool(PoolBase):
    r"""Anchor graphs of several sizes, a linear kernel and the density, side by side.

    What `KernelPool` is for neighbour graphs, for any number of points: every point is
    tied to its s nearest anchors, and points that share anchors are joined (see
    `AnchorBasis`). One search for the nearest anchors serves all sizes s, the
    eigenvectors are those of m x m matrices, and every point is looked at once.

    Parameters
    ----------
    n_components : int, optional
        Directions at most of each graph and kernel; by default `Rule.directions`, 150.
    n_anchors : int, default=20_000
        Anchors m; at most one for three points. There are fewer where a million
        points would have to be compared with all of them, see `number_of_anchors`.
    n_nearest : tuple of int, optional
        Anchors per point in each graph; by default `Rule.nearest_anchors`, 3 and 10.
    scaling : {"auto", "always", "never"}, default="auto"
        Whether columns are divided by their standard deviations, as in `KernelPool`.
    most_summed : int, default=5_000_000
        With more points than this, about this many determine the directions
        (`summed_rows`); all others join by extension. There is at most one anchor per
        three of them.
    rule : Rule, optional
        Graphs, directions and units.
    n_jobs : int, optional
        Threads, as in scikit-learn: -1 for one per core; one by default. No result
        depends on it.
    random_state : int, Generator, RandomState or None, default=None
        Chooses anchors.

    Attributes
    ----------
    vectors_ : AnchorColumns
        Shape (n, r), centred at the mean of the points that were summed. Rows can be
        taken; they are computed on the way.
    values_ : ndarray of shape (r,)
        Values of the blocks, one after the other.
    blocks_ : tuple of Block
        Which columns come from where.
    anchors_ : ndarray of shape (m, n_features)
    scales_ : ndarray of shape (n_features,) or None
        What columns were divided by; None where they were left as they are.
    certificate_ : BasisCertificate
        The worst residual of the graphs.

    See Also
    --------
    KernelPool : Exact graphs, for up to 100,000 points.
    choose_pool : Chooses between them.
    AnchorBasis : One anchor graph.

    Notes
    -----
    The linear kernel has the principal directions of a sample of 10,000 points, kept in
    single precision; directions whose value is below a hundredth of the largest are
    left out. The density at a point is minus the logarithm of the distance to the
    anchor after the s-th, s the largest size.

    Anchors that stand for fewer than three points are joined to the nearest other one
    (`light_anchors_joined`), and the eigenvectors of one graph take at most 2e10
    multiplications: where values crowd so much that this is not enough, they are less
    exact, and `certificate_.note` says so.

    On 70,000 rows of MNIST, Covertype and Fashion-MNIST the accuracy differs from that
    with neighbour graphs by -2.2 (MNIST, two labels per class) to +2.2 points
    (Covertype, five), +0.2 on average (`benchmarks/anchors.py`).

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((90, 2))
    >>> pool = AnchorPool(n_nearest=(2, 4), random_state=0).fit(X)
    >>> [block.name for block in pool.blocks_]
    ['anchors 2', 'anchors 4', 'linear', 'density']
    >>> bool(np.allclose(pool.extend(X), pool.vectors_, atol=1e-5))
    True
    """

    vectors_: AnchorColumns

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_anchors: int = ANCHORS,
        n_nearest: tuple[int, ...] | None = None,
        scaling: Scaling = "auto",
        most_summed: int = MOST_SUMMED,
        rule: Rule | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.scaling = scaling
        self.most_summed = most_summed
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_n_jobs
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Choose anchors, tie every point to them, and compute all directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Points, dense.
        y : ignored
        """
        check_scalar(self._directions, "n_components", Integral, min_val=1)
        check_scalar(self.n_anchors, "n_anchors", Integral, min_val=1)
        check_several(self._nearest, "n_nearest", above=0, whole=True)
        check_scalar(self.most_summed, "most_summed", Integral, min_val=1)
        refuse_graph(X, "AnchorPool", "use GraphBasis()")
        points = self._checked(X, reset=True)
        n, rng = points.shape[0], as_generator(self.random_state)
        usual = self.find_units(points)
        m, fewer = number_of_anchors(
            usual,
            n,
            self.most_anchors(n),
            n_nearest=max(self._nearest) + 1,
            rng=rng,
            most_products=MOST_PRODUCTS,
        )
        self.prepare(usual, m, rng)
        ties, dense = self.place(points)
        rows = summed_rows(0, n, n=n, most=int(self.most_summed))
        self.solve(PoolSums.of(ties, dense, rows), rng, n_rows=n, fewer=fewer)
        self._limit_density(dense)
        return self.keep(points, ties, dense)

    def most_anchors(self, n: int) -> int:
        """Return how many anchors n points may have."""
        n_summed = min(n, int(self.most_summed))
        return min(int(self.n_anchors), max(n_summed // POINTS_PER_ANCHOR, 2))

    def prepare(self, points: Any, m: int, rng: np.random.Generator) -> None:
        """Choose anchors and the linear kernel.

        Parameters
        ----------
        points : array of shape (s, d)
            Scaled points, as `find_units` returned them.
        m : int
            Anchors.
        rng : numpy.random.Generator
            Draws anchors and points.
        """
        anchors = choose_anchors(points, m, rng=rng)
        whole = anchors if self._origin is None else anchors + self._origin
        self.anchors_ = np.ldexp(whole, -self._exponent)
        if self.as_roots_:
            self.anchors_ = self.anchors_**2
        if self.scales_ is not None:
            self.anchors_ = self.anchors_ * self.scales_
        self._index = anchor_index(anchors, rng=rng)
        most = max(len(self.anchors_) - 1, 1)
        self.sizes_ = sorted({min(int(s), most) for s in self._nearest})
        self._width = min(self.sizes_[-1] + 1, len(self.anchors_))
        n = points.shape[0]
        drawn = np.sort(rng.choice(n, min(n, base.SAMPLED_ABOVE), replace=False))
        sample = np.asarray(points[drawn], dtype=np.float64)
        far = self._index.query(sample, self._width)[1][:, -1]
        # Stands for the distance 0 to an anchor, where all points are equal.
        self._smallest = float(far[far > 0].min()) if (far > 0).any() else 1.0
        self._linear = linear_map(points, self._directions, rng)

    def place(self, points: Any) -> tuple[list[SparseArray], FloatArray]:
        """Return the ties of points to anchors, and the columns of the linear kernel.

        The last column is the density.
        """
        n = points.shape[0]
        near = np.empty((n, self._width), dtype=np.int32)
        far = np.empty((n, self._width), dtype=np.float32)
        dense = self._room_for(n)

        def task(start: int) -> None:
            rows = slice(start, start + _BATCH)
            some = self._usual(points[rows])
            near[rows], far[rows] = self._index.query(some, self._width)
            self._fill_linear(some, dense[rows])

        in_threads(task, range(0, n, _BATCH))
        dense[:, -1] = -np.log(np.maximum(far[:, -1], self._smallest))
        m = len(self.anchors_)
        return [anchor_ties(near, far, s, m) for s in self.sizes_], dense

    def _room_for(self, n: int) -> FloatArray:
        """Return an array for the columns of the linear kernel and the density."""
        q = 0 if self._linear is None else len(self._linear.values)
        return np.empty((n, q + 1), dtype=np.float32)

    def _fill_linear(self, points: Any, dense: FloatArray) -> None:
        """Write the columns of the linear kernel at points that `_usual` returned."""
        if self._linear is not None:
            dense[:, :-1] = self._linear.at(points)

    def solve(
        self,
        sums: PoolSums,
        rng: np.random.Generator,
        *,
        n_rows: int,
        fewer: str = "",
    ) -> None:
        """Compute all directions from the sums over points, which are used up.

        Parameters
        ----------
        sums : PoolSums
        rng : numpy.random.Generator
        n_rows : int
            Points in all, summed or not.
        fewer : str, default=""
            Why there are fewer anchors than wanted.
        """
        anchors = self._usual(self.anchors_)
        solved = solve_sums(sums, anchors, self._directions, rng=rng)
        self._maps, self._mean = solved.maps, solved.mean
        members = [
            Member(f"anchors {s}", "laplacian", None, values, None, proof, s)
            for s, values, proof in zip(
                self.sizes_, solved.values, solved.proofs, strict=True
            )
        ]
        if self._linear is not None:
            values = self._linear.values
            members.append(Member("linear", "kernel", None, values, self._linear))
        members.append(Member("density", "density", None, np.ones(1), None))
        self._range = (sums.low, sums.high)
        self._keep_members(members, lambda at: solved.moment[at, at])
        units = say_units(self.scales_, self.as_roots_)
        said = (units, fewer, say_summed(sums.n, n_rows))
        reason = "; ".join(filter(None, said))
        self.certificate_ = replace(self.certificate_, reason=reason)

    def keep(self, points: Any, ties: list[SparseArray], dense: FloatArray) -> Self:
        """Keep points as they are, and `ties` and `dense` of `place` as `vectors_`."""
        self._own, self._density = points, dense[:, -1:]
        self.vectors_ = AnchorColumns(tuple(ties), self._maps, dense, self._mean)
        return self

    @with_n_jobs
    def extend(self, X: ArrayLike) -> FloatArray:
        """Return the values of all directions at new points, (m, r).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        ties, dense = self.place_within(self._checked(X, reset=False))
        return AnchorColumns(tuple(ties), self._maps, dense, self._mean)[:]

    def place_within(self, points: Any) -> tuple[list[SparseArray], FloatArray]:
        """Place points that need not be in the sums, once these are solved."""
        ties, dense = self.place(points)
        self._limit_density(dense)
        return ties, dense

    def _limit_density(self, dense: FloatArray) -> None:
        """Clip the density to the range of the summed points."""
        dense[:, -1] = np.clip(dense[:, -1], *self._range)

    def columns(self, X: ArrayLike | None = None) -> Columns:
        """Return points as they were given: trees need no scale.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points; all of its own when left out.
        """
        check_is_fitted(self, "vectors_")
        return ArrayColumns(self._own if X is None else self._checked(X, reset=False))

    @with_n_jobs
    def grown(self, X: ArrayLike) -> Self:
        """Return the pool with further rows, which join by extension.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        more_points = self._checked(X, reset=False)
        ties, dense = self.place_within(more_points)
        larger, old = copy(self), self.vectors_
        both = [
            sparse.csr_array(sparse.vstack([Z, more]))
            for Z, more in zip(old.ties, ties, strict=True)
        ]
        points = np.vstack([self._own, more_points])
        return larger.keep(points, both, np.vstack([old.dense, dense]))

    @with_n_jobs
    def log_density(self, X: ArrayLike | None = None) -> FloatArray:
        """Return the logarithm of the density, but for a constant, (m,).

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points; all of its own when left out.
        """
        if X is None:
            return np.asarray(self.vectors_.dense[:, -1], dtype=np.float64)
        _, dense = self.place(self._checked(X, reset=False))
        return np.asarray(dense[:, -1], dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds: columns of the linear kernel are computed again.

        Ties are plain arrays, which skops writes once, not once per reference.
        """
        state = dict(super().__getstate__())
        if "vectors_" in state:
            ties = state.pop("vectors_").ties
            state["_ties"] = [(Z.data, Z.indices, Z.indptr, Z.shape) for Z in ties]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a file holds, and compute the rest."""
        rest = {name: value for name, value in state.items() if name != "_ties"}
        super().__setstate__(rest)
        if "_ties" not in state:
            return
        ties = [
            sparse.csr_array((data, indices, indptr), shape=shape)
            for data, indices, indptr, shape in state["_ties"]
        ]
        n = len(self._own)
        dense = self._room_for(n)
        for start in range(0, n, _BATCH):  # there may be no rows
            rows = slice(start, start + _BATCH)
            self._fill_linear(self._usual(self._own[rows]), dense[rows])
        dense[:, -1:] = self._density
        self.keep(self._own, ties, dense)

    @property
    def _nearest(self) -> tuple[int, ...]:
        return self._rule.nearest_anchors if self.n_nearest is None else self.n_nearest

    def without_rows(self) -> Self:
        """Return the pool without its training points; `extend` needs none of them."""
        none = self.vectors_.take(np.arange(0))
        return copy(self).keep(self._own[:0], list(none.ties), none.dense)

    def weighted(self, root: FloatArray) -> AnchorFeatures:
        """Return the features U R of the training points, without U; R is `root`."""
        squares = np.concatenate([np.diag(block.covariance) for block in self.blocks_])
        known = (np.zeros(len(squares)), squares)
        return AnchorFeatures(self.vectors_, root, known)

    def fit_transform(self, X: ArrayLike, y: object = None) -> FloatArray:
        """Fit to X, whatever y is, and return all rows of `vectors_`, computed."""
        return np.asarray(self.fit(X, y).vectors_)
