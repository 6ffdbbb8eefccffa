"""A pool of neighbour graphs, a linear kernel and the density of points."""

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import checked_points
from mercer._base.mixins import TakesSparse
from mercer._base.random import as_generator
from mercer._base.rows import distinct_rows, in_batches, in_half
from mercer._base.threads import with_n_jobs
from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.eigen.smallest import DENSE_UP_TO
from mercer.fewlabels.pools import base
from mercer.fewlabels.pools.base import Block, Member, PoolBase, smallest_positive
from mercer.fewlabels.pools.plain_kernels import linear_kernel
from mercer.fewlabels.pools.units import Scaling
from mercer.fewlabels.rule import Rule
from mercer.fewlabels.trees import ArrayColumns, Columns
from mercer.graphs.laplacians import LaplacianKind
from mercer.graphs.neighbors import (
    Graph,
    graph_from_neighbors,
    self_tuning_edges,
)
from mercer.neighbors.index import NeighborIndex
from mercer.spectrum.base import check_n_components
from mercer.spectrum.directions import (
    damped_inverse,
    equal_training_points,
    extend_vectors,
    graph_directions,
)
from mercer.spectrum.gram import KernelMap

# Limit of memory: the columns of more points are kept in single precision.
SINGLE_ABOVE = 20_000
_WALK: LaplacianKind = "random_walk"
# Limit of memory: graphs of more points are saved in half precision: their directions
# are exact to a part in a thousand. Those of fewer points are exact, so that the order
# of points decides nothing even where eigenvalues are equal, and stay so in single
# precision.
HALF_ABOVE = DENSE_UP_TO


class KernelPool(TakesSparse, PoolBase):
    r"""Graphs of several sizes, a linear kernel and the density, side by side.

    Which graph suits the data matters more than what is learned on it, and before
    there are labels nobody knows. This basis holds the smoothest directions of
    self-tuning neighbour graphs of several sizes, the principal directions of the
    points, and one direction that all of these leave out: how dense the data are at a
    point, :math:`-\log s(x)`, s the distance to the tenth neighbour.
    One neighbour search serves all of them. Equal rows are one point of the graphs, as
    dense as they are many, and get the same columns.

    Columns in mixed units are put on one scale first (`column_scales`): where few
    columns hold most of the variance, distances would see these columns alone.

    Parameters
    ----------
    n_components : int, optional
        Directions at most of each graph and kernel; by default `Rule.directions`, 150.
    n_neighbors : tuple of int, optional
        Sizes of the graphs; by default `Rule.graphs`, 3 and 20.
    scaling : {"auto", "always", "never"}, default="auto"
        Whether columns are divided by their standard deviations. "auto" does it where
        they share the variance less evenly than `Rule.even_columns`; sparse points and
        columns of 0 and 1 are left as they are, and many shares of a whole are replaced
        by their square roots (`as_roots_`).
    rule : Rule, optional
        Graphs, directions, density and units.
    n_jobs : int, optional
        Threads, as in scikit-learn: -1 for one per core; one by default. No result
        depends on it.
    random_state : int, Generator, RandomState or None, default=None
        For approximate searches, samples and the starts of the eigensolver.

    Attributes
    ----------
    scales_ : ndarray of shape (n_features,) or None
        What columns were divided by; None where they were left as they are.
    vectors_ : ndarray of shape (n, r)
        Centred columns, in single precision above 20,000 points; orthogonal to each
        other within a Gram block only.
    values_ : ndarray of shape (r,)
        Values of the bases, one after the other.
    blocks_ : tuple of Block
        Which columns come from where.
    certificate_ : BasisCertificate
        The worst residual and the worst recall of the bases.

    See Also
    --------
    AnchorPool : The same for many rows.
    TorchPool : The same on a GPU.
    choose_pool : Chooses between them.

    Notes
    -----
    Graph directions are those of the random walk, :math:`D^{-1/2} u` scaled to the
    mean degree: they are constant on components, and hubs do not stand out. The
    density of a new point is clipped to the range of the training points. Where the
    eigenvalues of a graph crowd, its directions are less exact than a thousandth of the
    last value (6 hundredths above 20,000 points), and `certificate_.note` says so.

    Examples
    --------
    >>> X = np.r_[np.zeros((4, 1)), np.ones((4, 1))] + 0.01 * np.arange(8)[:, None]
    >>> basis = KernelPool(n_neighbors=(2, 3)).fit(X)
    >>> [block.name for block in basis.blocks_]
    ['graph 2', 'graph 3', 'linear', 'density']
    >>> bool(np.allclose(basis.extend(X), basis.vectors_))
    True
    """

    _is_sparse: bool
    _mean: FloatArray  # (r,) of the columns of the fit; they are centred
    _n_fitted: int
    _first: Any  # of the rows that are equal, (m,), or a slice where all differ
    _group: Any  # (n,) the point of the graphs that a row is, or a slice
    _counts: Any  # (m,) rows that a point of the graphs stands for
    _joined: tuple[FloatArray, ...]  # points that came after the fit
    _later: FloatArray  # rows of `vectors_` that came after the fit
    _saved: list[tuple[slice, Any]]  # columns of the fit, as files hold them

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: tuple[int, ...] | None = None,
        scaling: Scaling = "auto",
        rule: Rule | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_n_jobs
    def fit(self, X: ArrayLike | SparseArray, y: object = None) -> Self:
        """Search the neighbours once and compute every basis.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features)
            Points.
        y : ignored
        """
        if isinstance(X, Graph):
            msg = (
                "KernelPool builds its own graphs of points; "
                "for a Graph use GraphBasis."
            )
            raise TypeError(msg)
        rng = as_generator(self.random_state)
        X = self._checked(X, reset=True)
        self._is_sparse, self._joined = issparse(X), ()
        X = self.find_units(X)
        self._n_fitted = X.shape[0]
        self._first, self._group, self._counts = distinct_rows(X)
        points = X[self._first]
        n, r = points.shape[0], check_n_components(self._directions, points.shape[0])
        sizes = sorted({min(int(k), n - 1) for k in self._graphs})
        plain_rng = rng.spawn(1)[0]  # whatever the graphs draw, as on a device
        self.index_ = NeighborIndex.fit(points, rng=rng)
        self._width = min(max(sizes[-1], self._rule.density_neighbor), n - 1)
        neighbors = self.index_.neighbors_and_ties(self._width)
        members = []
        for k in sizes:
            graph = graph_from_neighbors(neighbors, k, weights="self_tuning")
            found = graph_directions(
                graph,
                r,
                kind=_WALK,
                tol=base.tolerance(n),
                on_failure="rough",
                most_work=base.WORK_PER_EDGE * graph.adjacency.nnz,
                rng=rng,
            )
            values, proof = found.values, found.certificate
            members.append(
                Member(f"graph {k}", "laplacian", found.vectors, values, graph.scales,
                       proof, k)
            )  # fmt: skip
        if linear := linear_kernel(X, r, plain_rng):
            part, values, proof = linear
            columns = in_batches(part.at, points)
            members.append(Member("linear", "kernel", columns, values, part, proof))
        self._smallest = smallest_positive(neighbors.distances)
        density = self._log_density(
            neighbors.indices, neighbors.distances, self._counts - 1
        )
        members.append(Member("density", "density", density, np.ones(1), None))
        self._assemble(members)
        return self

    @with_n_jobs
    def extend(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the values of all directions at new points, (m, r).

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            New points; a training point gets its row of `vectors_`.
        """
        check_is_fitted(self, "vectors_")
        X = self._usual(self._checked(X, reset=False))
        n, m = self._n_fitted, X.shape[0]
        first, own = np.arange(n)[self._first], self.vectors_[:n]
        width = min(self._width, len(first))
        found, distances = self.index_.query_and_ties(X, width)
        indices = found.astype(np.intp)
        extended = np.empty((X.shape[0], self.vectors_.shape[1]))
        for block, part in zip(self.blocks_, self._parts, strict=True):
            if block.kind == "laplacian":
                k = block.n_neighbors
                rows = self_tuning_edges(indices, distances, k, part)
                at = (rows.data, first[rows.indices], rows.indptr)
                rows = csr_array(at, shape=(m, n))
                values = self._walked(rows, own[:, block.columns], block)
            elif block.kind == "density":
                column = own[:, block.columns]
                density = self._log_density(
                    indices, distances, np.zeros(len(indices), int)
                )
                values = density - self._mean[block.columns]
                values = np.clip(values, column.min(), column.max())
            else:
                values = in_batches(part.at, X) - self._mean[block.columns]
            extended[:, block.columns] = values
        known, shares = equal_training_points(first[indices], distances, width, n)
        extended[known] = shares @ own
        return extended

    def columns(self, X: ArrayLike | SparseArray | None = None) -> Columns | None:
        """Return points as the graphs see them, columns on one scale.

        None where the pool is of sparse points, whose columns are too many to ask one
        by one.

        Parameters
        ----------
        X : array-like of shape (m, n_features), optional
            New points; the training points when left out.
        """
        check_is_fitted(self, "vectors_")
        if self._is_sparse:
            return None
        if X is not None:
            return ArrayColumns(self._usual(self._checked(X, reset=False)))
        own = self.index_.points.X[self._group]
        return ArrayColumns(np.vstack([own, *self._joined]) if self._joined else own)

    def grown(self, X: ArrayLike | SparseArray) -> Self:
        """Return the pool with further rows, which join by extension.

        Graphs, kernels and their means stay those of the points it was fitted to.

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        larger = copy(self)
        more = self.extend(X).astype(self.vectors_.dtype)
        if not self._is_sparse:
            points = self._usual(self._checked(X, reset=False))
            larger._joined = (*self._joined, points)
        larger._set_vectors(np.vstack([self.vectors_, more]))
        if hasattr(larger, "_moments"):
            del larger._moments
        return larger

    @with_n_jobs
    def log_density(self, X: ArrayLike | SparseArray | None = None) -> FloatArray:
        """Return the logarithm of the density, but for a constant, (m,).

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features), optional
            New points; those it was fitted to when left out.
        """
        if X is None:
            column = self.vectors_[: self._n_fitted, -1]
            return np.asarray(column + self._mean[-1], dtype=np.float64)
        X = self._usual(self._checked(X, reset=False))
        width = min(self._width, self.index_.points.X.shape[0])
        found, distances = self.index_.query_and_ties(X, width)
        return self._log_density(found, distances)[:, 0]

    def _log_density(
        self, indices: Any, distances: FloatArray, equal: Any = 0
    ) -> FloatArray:
        """Return the density of points with this many equal others, (m, 1)."""
        k = min(self._rule.density_neighbor, self._n_fitted - 1)
        counts = self._counts[indices[:, :k]]
        scale = base.distance_to(k, distances, counts, equal)
        density: FloatArray = -np.log(np.maximum(scale, self._smallest))[:, None]
        return density

    def _walked(self, rows: SparseArray, U: FloatArray, block: Block) -> FloatArray:
        """Extend columns of a graph whose means were taken off after they were found.

        The walk moves u, not u - m: u(x) = f P u = f P (u - m) + f m for rows of P
        that sum to 1.
        """
        mean = self._mean[block.columns]
        moved = extend_vectors(rows, U, block.values, None, _WALK)
        reached = np.asarray(rows.sum(axis=1)).reshape(-1, 1) > 0
        moved += (reached * damped_inverse(1.0 - block.values) - 1.0) * mean
        return moved

    def _assemble(self, members: list[Member]) -> None:
        """Put the columns of all members into one array, centred.

        Files hold the columns of graphs, in half precision where points are many, and
        the density in single precision. What a file holds is rounded before it is used,
        so that the pool that is read equals the one that was saved.
        """
        n = self._n_fitted
        r = sum(len(member.values) for member in members)
        U = np.empty((n, r), np.float32 if n > SINGLE_ABOVE else np.float64)
        self._saved, start = [], 0
        for i, member in enumerate(members):
            at = slice(start, start + len(member.values))
            kept, start = member.vectors, at.stop
            members[i] = replace(member, vectors=None)  # they are large
            if member.kind != "kernel":
                is_half = member.kind == "laplacian" and n > HALF_ABOVE
                kept = in_half(kept) if is_half else kept.astype(np.float32)
                self._saved.append((at, kept))
            U[:, at] = kept[self._group]
        self._mean = U.mean(axis=0, dtype=np.float64)
        U -= self._mean.astype(U.dtype)
        self._set_vectors(U)
        self._keep_members(members, lambda at: _covariance(U[:, at]))

    def _set_vectors(self, U: FloatArray) -> None:
        """Keep the centred columns of all rows."""
        self.vectors_, self._later = U, U[self._n_fitted :]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds; columns of kernels are computed again."""
        state = dict(super().__getstate__())
        if "_saved" in state:
            del state["vectors_"]
            state["_parts"] = [
                replace(part, points=None) if isinstance(part, KernelMap) else part
                for part in self._parts
            ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a file holds, and compute the rest."""
        super().__setstate__(state)
        if "_saved" not in state:
            return
        n, X = self._n_fitted, self.index_.points.X
        X = csr_array(X) if self._is_sparse else X
        U = np.empty((n + len(self._later), len(self.values_)), self._later.dtype)
        for at, columns in self._saved:
            U[:n, at] = columns[self._group]
        for i, (block, part) in enumerate(zip(self.blocks_, self._parts, strict=True)):
            if isinstance(part, KernelMap):
                points = X[self._group][part.landmarks]
                part = self._parts[i] = replace(part, points=points)
            if block.kind == "kernel":
                U[:n, block.columns] = in_batches(part.at, X)[self._group]
        U[:n] -= self._mean.astype(U.dtype)
        U[n:] = self._later
        self._set_vectors(U)

    def _checked(self, X: ArrayLike | SparseArray, *, reset: bool) -> Any:
        return checked_points(X, self, reset=reset, at_least=2)


def _covariance(U: FloatArray) -> FloatArray:
    covariance: FloatArray = (U.T @ U).astype(np.float64) / len(U)
    return covariance
