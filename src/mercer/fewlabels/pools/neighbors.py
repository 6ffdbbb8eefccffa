"""Several bases of one set of points, side by side."""

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_several, checked_points
from mercer._base.random import as_generator
from mercer._base.ranges import (
    all_equal,
    far_origin,
    moved,
    times_power,
    usual_exponent,
)
from mercer._base.rows import thinned
from mercer._base.tensors import as_tensor, is_tensor, to_numpy
from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.backends.torch.trees import TorchColumns
from mercer.backends.torch.vectors import DeviceVectors
from mercer.eigen.smallest import DENSE_UP_TO
from mercer.fewlabels.pools.device import DevicePool, Kind
from mercer.fewlabels.pools.files import SmallFiles
from mercer.fewlabels.pools.plain_kernels import (
    LANDMARKS,
    SampledBasis,
    linear_landmarks,
    plain_kernels,
)
from mercer.fewlabels.pools.units import SCALED_BY, Scaling, say_units, scales_for
from mercer.fewlabels.rule import DEFAULT, Rule
from mercer.fewlabels.trees import ArrayColumns, Columns
from mercer.graphs.laplacians import LaplacianKind
from mercer.graphs.neighbors import (
    Graph,
    graph_from_neighbors,
    self_tuning_edges,
)
from mercer.kernels.parametric import RBF, Linear
from mercer.neighbors.index import NeighborIndex
from mercer.spectrum.base import BasisCertificate, BasisMixin
from mercer.spectrum.extension import (
    damped_inverse,
    equal_training_points,
    extend_vectors,
)
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.graph import GraphBasis

# Limit of work: the plain kernels of more points are known from this many.
SAMPLED_ABOVE = 10_000
# Limit of memory: the columns of more points are kept in single precision.
SINGLE_ABOVE = 20_000
_WALK: LaplacianKind = "random_walk"
# Limit of memory: graphs of more points are saved in half precision: their directions
# are exact to a part in a thousand. Those of fewer points are exact, so that the order
# of points decides nothing even where eigenvalues are equal, and stay so in single
# precision.
HALF_ABOVE = DENSE_UP_TO
# Limit of precision: residuals of the graphs, as a share of the last eigenvalue. They
# mix directions of nearly equal eigenvalues, which the learners weigh alike.
_TOL = 1e-3
# Limit of work: multiplications per edge, counted both ways, for the eigenvectors of a
# graph. Most graphs take 1,000 to 10,000. Where groups of points are all but separate,
# their small values would take a hundred times that, and make no difference to the
# learners.
WORK_PER_EDGE = 2e4


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Columns of a `KernelPool` that come from one basis."""

    name: str  # "graph 5", "linear", "gaussian" or "density"
    kind: Kind
    columns: slice
    values: FloatArray  # (r,) Laplacian values ascending, or kernel values descending
    n_neighbors: int  # 0 for kernels
    covariance: FloatArray  # (r, r) of the columns over the training points


class KernelPool(SmallFiles):
    r"""Graphs of several sizes, plain kernels and the density, side by side.

    Which graph suits the data matters more than what is learned on it, and before
    there are labels nobody knows. This basis holds the smoothest directions of
    self-tuning neighbour graphs of several sizes, the principal directions of a linear
    and a Gaussian kernel, and one direction that all of these leave out: how dense the
    data are at a point, :math:`-\log s(x)`, s the distance to the tenth neighbour.
    One neighbour search serves all of them.

    Columns in mixed units are put on one scale first (`column_scales`): where few
    columns hold most of the variance, distances would see these columns alone.

    Parameters
    ----------
    n_components : int, optional
        Directions at most of each graph and kernel; by default `Rule.directions`, 150.
    n_neighbors : tuple of int, optional
        Sizes of the graphs; by default `Rule.graphs`, 3, 10 and 50.
    scaling : {"auto", "always", "never"}, default="auto"
        Whether columns are divided by their standard deviations. "auto" does it where
        they share the variance less evenly than `Rule.even_columns`; sparse points are
        left as they are.
    device : str, optional
        Where PyTorch computes the pool, such as "cuda"; a tensor as X is used where it
        is. The vectors stay there, in single precision (`DeviceVectors`).
    rule : Rule, optional
        Graphs, directions, density and units.
    random_state : int, Generator, RandomState or None, default=None
        For approximate searches, landmarks and the starts of the eigensolver.

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

    Notes
    -----
    Graph directions are those of the random walk, :math:`D^{-1/2} u` scaled to the
    mean degree: they are constant on components, and hubs do not stand out. The
    density of a new point is clipped to the range of the training points. Where the
    eigenvalues of a graph crowd, its directions are less exact than a thousandth of the
    last value, and `certificate_.note` says so.

    Examples
    --------
    >>> X = np.r_[np.zeros((4, 1)), np.ones((4, 1))] + 0.01 * np.arange(8)[:, None]
    >>> basis = KernelPool(n_neighbors=(2, 3)).fit(X)
    >>> [block.name for block in basis.blocks_]
    ['graph 2', 'graph 3', 'linear', 'gaussian', 'density']
    >>> bool(np.allclose(basis.extend(X), basis.vectors_))
    True
    """

    _exponent = 0  # of two, by which points are multiplied
    _origin: FloatArray | None = None  # from which they are seen then

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: tuple[int, ...] | None = None,
        scaling: Scaling = "auto",
        device: str | None = None,
        rule: Rule | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.device = device
        self.rule = rule
        self.random_state = random_state

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
        self._on_device: DevicePool | None = None
        if self.device is not None or is_tensor(X):
            return self._fit_on_device(X, rng)
        X = self._checked(X, reset=True)
        self._is_sparse = issparse(X)
        self._joined: tuple[Any, ...] = ()  # rows that came after the fit
        self.scales_ = scales_for(X, self.scaling, self._rule)
        self._exponent = 0 if self.scales_ is not None else usual_exponent(X)
        self._origin = None
        X = self._scaled(X)
        self._origin = far_origin(X)
        X = moved(X, self._origin)
        n = X.shape[0]
        plain_rng = rng.spawn(1)[0]  # whatever the graphs draw, as on a device
        sizes = sorted({min(int(k), n - 1) for k in self._graphs})
        self.index_ = NeighborIndex.fit(X, rng=rng)
        most = min(max(sizes[-1], self._rule.density_neighbor), n - 1)
        neighbors = self.index_.neighbors_and_ties(most)
        self._width = most
        bases: list[tuple[str, Any, int]] = []
        for k in sizes:
            graph = graph_from_neighbors(neighbors, k, weights="self_tuning")
            basis = GraphBasis(
                self._directions,
                laplacian=_WALK,
                tol=_TOL,
                on_failure="rough",
                most_work=WORK_PER_EDGE * graph.adjacency.nnz,
                random_state=rng,
            )
            bases.append((f"graph {k}", basis.fit(graph), k))
        bases += [(name, basis, 0) for name, basis in self._plain(X, plain_rng)]
        self._smallest = _smallest_scale(neighbors.distances)
        self._assemble(bases, self._log_density(neighbors.distances))
        return self

    def _plain(self, X: Any, rng: np.random.Generator) -> list[tuple[str, BasisMixin]]:
        """Return the linear and the Gaussian kernel; of many points by a sample."""
        n = X.shape[0]
        if n > SAMPLED_ABOVE and not issparse(X):
            drawn = np.sort(rng.choice(n, SAMPLED_ABOVE, replace=False))
            kernels = plain_kernels(
                X[drawn], self._directions, n_landmarks=LANDMARKS, rng=rng
            )
            return [(kernel.name, SampledBasis(kernel).fit(X)) for kernel in kernels]
        if all_equal(X):
            return []
        bases: list[tuple[str, BasisMixin]] = []
        for name, kernel, count in (
            ("linear", Linear(), linear_landmarks(*X.shape)),
            ("gaussian", RBF(_RULE), min(LANDMARKS, n)),
        ):
            basis = GramBasis(
                self._directions,
                kernel=kernel,
                centered=True,
                n_landmarks=count,
                random_state=rng,
            ).fit(X)
            basis.vectors_ = basis.extend(X)  # as one computes them who reads a file
            bases.append((name, basis))
        return bases

    def extend(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the values of all directions at new points, (m, r).

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            New points; a training point gets its row of `vectors_`.
        """
        check_is_fitted(self, "vectors_")
        if self._on_device is not None:
            return self._on_device.extend(self._on_one_scale(X))
        X = self._scaled(self._checked(X, reset=False))
        n = self._n_fitted
        width = min(self._width, n)
        found, distances = self.index_.query_and_ties(X, width)
        indices = found.astype(np.intp)
        extended = np.empty((X.shape[0], self.vectors_.shape[1]))
        for block, part in zip(self.blocks_, self._parts, strict=True):
            if block.kind == "laplacian":
                k = block.n_neighbors
                rows = self_tuning_edges(indices, distances, k, part)
                values = self._walked(rows, block)
            elif part is None:
                column = self.vectors_[:n, block.columns]
                values = self._log_density(distances) - self._mean[block.columns]
                values = np.clip(values, column.min(), column.max())
            else:
                values = part.extend(X) - self._mean[block.columns]
            extended[:, block.columns] = values
        known, shares = equal_training_points(indices, distances, width, n)
        extended[known] = shares @ self.vectors_[:n]
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
        if self._on_device is not None:
            own = self._on_device.search.points.X
            return TorchColumns(own if X is None else self._on_one_scale(X))
        if self._is_sparse:
            return None
        if X is not None:
            return ArrayColumns(self._scaled(self._checked(X, reset=False)))
        own = self.index_.points.X
        return ArrayColumns(np.vstack([own, *self._joined]) if self._joined else own)

    def grown(self, X: ArrayLike | SparseArray) -> Self:
        """Return the pool with further rows, which join by extension.

        Graphs, kernels and their means stay those of the points it was fitted to.

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
        """
        check_is_fitted(self, "vectors_")
        if self._on_device is not None:
            msg = (
                "rows can be added to a pool on the CPU only; fit again with all rows."
            )
            raise TypeError(msg)
        larger = copy(self)
        more = self.extend(X).astype(self.vectors_.dtype)
        if not self._is_sparse:
            more_points = self._scaled(self._checked(X, reset=False))
            larger._joined = (*self._joined, more_points)
        larger._set_vectors(np.vstack([self.vectors_, more]))
        if hasattr(larger, "_moments"):
            del larger._moments
        return larger

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
        X = self._scaled(self._checked(X, reset=False))
        _, distances = self.index_.query_and_ties(X, min(self._width, self._n_fitted))
        return self._log_density(distances)[:, 0]

    def _fit_on_device(self, X: Any, rng: np.random.Generator) -> Self:
        X = as_tensor(X, self.device)
        self.n_features_in_ = X.shape[1]
        some = to_numpy(thinned(X, SCALED_BY))
        self.scales_ = scales_for(some, self.scaling, self._rule)
        pool = DevicePool.of(
            self._on_one_scale(X),
            self._graphs,
            self._directions,
            self._rule.density_neighbor,
            sampled_above=SAMPLED_ABOVE,
            tol=_TOL,
            # Rough directions serve as well: over rings and sheets of 12,000 points a
            # tenth of the work costs 0.3 points.
            work_per_edge=WORK_PER_EDGE / 4,
            device=self.device,
            rng=rng,
        )
        self._on_device = pool
        self.vectors_ = DeviceVectors(pool.vectors)
        self.blocks_ = tuple(
            Block(name, kind, at, values, k, pool.covariance(at))
            for name, kind, at, values, k in pool.columns()
        )
        self.values_ = np.concatenate([block.values for block in self.blocks_])
        graphs = [graph for _, graph in pool.graphs]
        self.certificate_ = BasisCertificate(
            method=", ".join(dict.fromkeys(graph.pairs.method for graph in graphs)),
            reason=say_units(self.scales_),
            residual=max(graph.pairs.residual for graph in graphs),
            orthogonality=max(graph.orthogonality for graph in graphs),
            gap=min(graph.gap for graph in graphs),
            cuts_repeated_value=any(graph.gap <= 2e-6 for graph in graphs),
            n_null=max(graph.n_null for graph in graphs),
            recall=min(graph.graph.recall for graph in graphs),
            lost_trace=max((gram.lost_trace for _, gram in pool.grams), default=0.0),
            floor=min(graph.pairs.floor for graph in graphs),
            failure=sum(graph.pairs.failure for graph in graphs),
            note="; ".join(
                f"graph {k}: {graph.pairs.note}"
                for k, graph in pool.graphs
                if graph.pairs.note
            ),
        )
        return self

    @property
    def _rule(self) -> Rule:
        return DEFAULT if self.rule is None else self.rule

    @property
    def _directions(self) -> int:
        return self._rule.directions if self.n_components is None else self.n_components

    @property
    def _graphs(self) -> tuple[int, ...]:
        sizes = self._rule.graphs if self.n_neighbors is None else self.n_neighbors
        check_several(sizes, "n_neighbors", above=0, whole=True)
        return sizes

    @property
    def is_orthonormal(self) -> bool:
        """False: columns of different kernels overlap."""
        return False

    def _on_one_scale(self, X: Any) -> Any:
        """Return rows as a tensor on the device, columns divided by their scales."""
        X = as_tensor(X, self.device)
        if self.scales_ is None:
            return X
        return X / as_tensor(self.scales_, str(X.device)).to(X.dtype)

    def _scaled(self, X: Any) -> Any:
        if self.scales_ is not None:
            X = X / self.scales_
        return moved(times_power(X, self._exponent), self._origin)

    def _log_density(self, distances: FloatArray) -> FloatArray:
        k = min(self._rule.density_neighbor, distances.shape[1])
        scale = np.maximum(distances[:, k - 1], self._smallest)
        return -np.log(scale)[:, None]

    def _walked(self, rows: SparseArray, block: Block) -> FloatArray:
        """Extend columns of a graph whose means were taken off after they were found.

        The walk moves u, not u - m: u(x) = f P u = f P (u - m) + f m for rows of P
        that sum to 1.
        """
        U = self.vectors_[: self._n_fitted, block.columns]
        mean = self._mean[block.columns]
        moved = extend_vectors(rows, U, block.values, None, _WALK)
        reached = np.asarray(rows.sum(axis=1)).reshape(-1, 1) > 0
        moved += (reached * damped_inverse(1.0 - block.values) - 1.0) * mean
        return moved

    def _assemble(
        self, bases: list[tuple[str, Any, int]], log_density: FloatArray
    ) -> None:
        """Move the vectors of the bases into one array: they are large.

        Of a graph the scales are kept, which is what a new point needs.
        """
        n = len(log_density)
        r = 1 + sum(basis.vectors_.shape[1] for _, basis, _ in bases)
        U = np.empty((n, r), np.float32 if n > SINGLE_ABOVE else np.float64)
        self._parts = []
        found: list[tuple[str, Kind, slice, FloatArray, int]] = []
        start = 0
        for name, basis, k in bases:
            columns = slice(start, start + basis.vectors_.shape[1])
            U[:, columns] = basis.vectors_
            basis.vectors_ = np.empty((0, basis.vectors_.shape[1]))
            self._parts.append(basis.graph_.scales if k else basis)
            kind: Kind = "laplacian" if k else "kernel"
            found.append((name, kind, columns, basis.values_, k))
            start = columns.stop
        U[:, start:] = log_density
        self._parts.append(None)
        found.append(("density", "density", slice(start, start + 1), np.ones(1), 0))
        of_graphs = np.float16 if n > HALF_ABOVE else np.float32
        precision = {"laplacian": of_graphs, "density": np.float32}
        self._set_columns(
            U,
            [(at, precision[kind]) for _, kind, at, _, _ in found if kind in precision],
        )
        self.blocks_ = tuple(
            Block(name, kind, at, values, k, _covariance(U[:, at]))
            for name, kind, at, values, k in found
        )
        self.values_ = np.concatenate([block.values for block in self.blocks_])
        proofs = [basis.certificate_ for _, basis, _ in bases]
        self.certificate_ = BasisCertificate(
            method=", ".join(dict.fromkeys(proof.method for proof in proofs)),
            reason=say_units(self.scales_),
            residual=max(proof.residual for proof in proofs),
            orthogonality=max(proof.orthogonality for proof in proofs),
            gap=min(proof.gap for proof in proofs),
            cuts_repeated_value=any(proof.cuts_repeated_value for proof in proofs),
            n_null=max(proof.n_null for proof in proofs),
            recall=min(proof.recall for proof in proofs),
            floor=min(basis.certificate_.floor for _, basis, k in bases if k),
            failure=sum(proof.failure for proof in proofs),
            note="; ".join(
                f"{name}: {basis.certificate_.note}"
                for name, basis, _ in bases
                if basis.certificate_.note
            ),
        )

    def _checked(self, X: ArrayLike | SparseArray, *, reset: bool) -> Any:
        return checked_points(X, self, reset=reset, at_least=2)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


_RULE = "mean_distance"


def _covariance(U: FloatArray) -> FloatArray:
    covariance: FloatArray = (U.T @ U).astype(np.float64) / len(U)
    return covariance


def _smallest_scale(distances: FloatArray) -> float:
    """Return what stands for the distance 0 between equal points."""
    positive = distances[distances > 0]
    return float(positive.min()) if len(positive) else 1.0
