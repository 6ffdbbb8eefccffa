"""The smoothest directions of a neighbour graph, and their values at new points."""

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_scalar
from sklearn.utils.validation import check_is_fitted

from mercer._base.checks import check_choice, check_number, checked_points
from mercer._base.random import as_generator
from mercer._base.tensors import as_tensor, is_for_torch, told_memory
from mercer._base.threads import with_n_jobs
from mercer._base.typing import ArrayLike, FloatArray, RandomState, SparseArray
from mercer.backends.torch.basis import DeviceBasis, fit_on_device
from mercer.backends.torch.vectors import DeviceVectors
from mercer.eigen.policy import OnFailure
from mercer.graphs.laplacians import LaplacianKind
from mercer.graphs.neighbors import Graph, Symmetry, Weights, graph_from_neighbors
from mercer.neighbors.index import Metric, NeighborIndex
from mercer.spectrum.base import (
    BasisMixin,
    check_n_components,
)
from mercer.spectrum.directions import (
    certificate_on_device,
    equal_training_points,
    equal_training_rows,
    extend_vectors,
    graph_directions,
)


class GraphBasis(BasisMixin):
    r"""The r smallest eigenpairs of the Laplacian of a neighbour graph.

    :math:`L u_i = \gamma_i u_i`, :math:`0 = \gamma_1 \le \gamma_2 \le \dots`

    Parameters
    ----------
    n_components : int or None, default=50
        At most this many directions r; None for as many as there are points.
    n_neighbors : int, default=10
        Edges a point sends out; the n - 1 others where n is smaller.
    metric : {"euclidean", "cosine", "precomputed"} or callable, default="euclidean"
        See `mercer.neighbors.index.nearest_neighbors`.
    weights : {"gaussian", "binary", "self_tuning"}, default="gaussian"
        See `mercer.graphs.neighbors.neighbor_graph`, also for the next two.
    sigma : float, optional
        Width of the Gaussian weights.
    symmetry : {"union", "mutual"}, default="union"
        How neighbour lists become edges.
    laplacian : {"normalized", "combinatorial", "random_walk"}, default="normalized"
        Which Laplacian. That of the random walk is not symmetric: its values are
        those of the normalised one and its vectors, :math:`D^{-1/2} u_i` scaled to
        the mean degree, are orthonormal with the weights :math:`d_j / \bar d` in
        place of 1.
    affinity : {"neighbors", "precomputed"}, default="neighbors"
        With "precomputed" X is a symmetric adjacency, sparse or dense. A `Graph` is
        taken in place of X with either.
    tol : float, default=1e-7
        Residuals are at most this share of the last eigenvalue, or as small as
        rounding allows.
    on_failure : {"rough", "fewer", "raise"}, default="rough"
        Where the eigenvalues lie so close together that `n_components` directions
        cannot be certified: keep all as they are, keep those that can be, both with
        the reason in `certificate_.note`, or raise `EigenpairError`.
    most_work : float, default=inf
        Multiplications with entries of the Laplacian that the eigenvectors may take,
        about. With less than they need, they are not certified: see `on_failure`.
    device : str, optional
        Where PyTorch computes the basis, such as "cuda"; a tensor as X is used where
        it is. The vectors stay there, in single precision (`DeviceVectors`).
    n_jobs : int, optional
        Threads, as in scikit-learn: -1 for one per core; one by default. No result
        depends on it.
    random_state : int, Generator, RandomState or None, default=None
        For the approximate search and the start of the eigensolver.

    Attributes
    ----------
    vectors_ : ndarray of shape (n, r)
        Orthonormal columns. On a disconnected graph the null vectors belong to one
        component each, large components first.
    values_ : ndarray of shape (r,)
        Laplacian eigenvalues, ascending. For a power or function of L take that of
        `values_`: the vectors are the same.
    certificate_ : BasisCertificate
        Residuals, the gap after the last value, the recall of the search.
    graph_ : Graph
        The graph of the training points.

    See Also
    --------
    AnchorBasis : Linear time, for many points.
    GramBasis : The directions of a given kernel.
    KernelPool : Several graphs side by side.

    Notes
    -----
    Mao and Tsang (UAI 2010), sections 3 and 5.2, for the graph and the normalised
    Laplacian. An isolated point has :math:`L_{ii} = 1` there (0 in the combinatorial
    one).

    A new point x with weights :math:`w_j` to its neighbours among the training points
    and degree :math:`d = \sum_j w_j` takes the value

    .. math:: u_i(x) = \frac{1}{|1 - \gamma_i|} \sum_j \frac{w_j}{\sqrt{d\, d_j}} u_{ij}

    For :math:`\gamma_i < 1` this makes the eigenvector equation hold at x (Nyström's
    formula for :math:`I - L`). For :math:`\gamma_i > 1`, when neighbours differ in
    sign, the equation would give x the sign opposite to that of the training point it
    almost equals; a handful of points have no other directions. Near
    :math:`\gamma_i = 1`, where a direction says nothing about neighbours, the factor is
    :math:`|1 - \gamma_i| / \delta^2` for :math:`|1 - \gamma_i| < \delta = 0.1` instead:
    continuous, at most 10, and 0 at 1.

    Points farther out than any training point count with the smallest degree seen in
    training. A point equal to a training point takes its row (the first of several).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2], [5.3]])
    >>> basis = GraphBasis(n_components=3, n_neighbors=2).fit(X)
    >>> basis.values_[:2]  # two components
    array([0., 0.])
    >>> bool(np.all(basis.extend(X) == basis.vectors_))
    True
    """

    def __init__(
        self,
        n_components: int | None = 50,
        *,
        n_neighbors: int = 10,
        metric: Metric = "euclidean",
        weights: Weights = "gaussian",
        sigma: float | None = None,
        symmetry: Symmetry = "union",
        laplacian: LaplacianKind = "normalized",
        affinity: Literal["neighbors", "precomputed"] = "neighbors",
        device: str | None = None,
        tol: float = 1e-7,
        on_failure: OnFailure = "rough",
        most_work: float = np.inf,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.sigma = sigma
        self.symmetry = symmetry
        self.laplacian = laplacian
        self.affinity = affinity
        self.device = device
        self.tol = tol
        self.on_failure = on_failure
        self.most_work = most_work
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_n_jobs
    def fit(self, X: ArrayLike | SparseArray | Graph, y: object = None) -> Self:
        """Build the graph and compute its smoothest directions.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, n_features), or Graph
            Points, or an adjacency with ``affinity="precomputed"``.
        y : ignored
        """
        check_number(self.tol, "tol", above=0)
        rng = as_generator(self.random_state)
        self._on_device: DeviceBasis | None = None
        if is_for_torch(X, self.device):
            return self._fit_on_device(X, rng)
        self.index_: NeighborIndex | None = None
        self.graph_: Any = self._build_graph(X, rng)
        directions = graph_directions(
            self.graph_,
            check_n_components(self.n_components, self.graph_.n_points),
            kind=self.laplacian,
            tol=self.tol,
            on_failure=self.on_failure,
            most_work=self.most_work,
            rng=rng,
        )
        self.vectors_, self.values_ = directions.vectors, directions.values
        self.certificate_ = directions.certificate
        return self

    @with_n_jobs
    def extend(self, X: ArrayLike | SparseArray) -> FloatArray:
        """Return the values of the directions at new points.

        Parameters
        ----------
        X : array-like or sparse array of shape (m, n_features)
            New points; if the basis was fitted to a graph, their weights to the
            training points, (m, n).

        Returns
        -------
        ndarray of shape (m, r)
        """
        check_is_fitted(self, "vectors_")
        if isinstance(X, Graph):
            msg = (
                "X is a Graph, which has no new points: give rows of weights to the "
                "training points. Results for the training points are in "
                "vectors_ of a basis and in transduction_ of a machine."
            )
            raise TypeError(msg)
        if self._on_device is not None:
            k = min(self.n_neighbors, len(self.vectors_))
            return self._on_device.extend(X, k)
        W = self.graph_.adjacency
        if self.index_ is None:
            weights = self._checked_weights(X)
            known, shares = equal_training_rows(W, weights)
        else:
            X = self._checked_points(X, reset=False)
            k = min(self.n_neighbors, W.shape[0])
            found, distances = self.index_.query_and_ties(X, k)
            indices = found.astype(np.intp)
            weights = self.graph_.weigh(indices, distances, k)
            known, shares = equal_training_points(indices, distances, k, W.shape[0])
        extended = extend_vectors(
            weights, self.vectors_, self.values_, W, self.laplacian
        )
        extended[known] = shares @ self.vectors_
        return extended

    @property
    def is_orthonormal(self) -> bool:
        """Whether the columns of `vectors_` are orthonormal."""
        return self.laplacian != "random_walk"

    def _fit_on_device(self, X: Any, rng: np.random.Generator) -> Self:
        if self.metric != "euclidean" or self.affinity != "neighbors":
            msg = (
                "on a device GraphBasis takes metric='euclidean' and affinity="
                f"'neighbors' only; got {self.metric!r} and {self.affinity!r}."
            )
            raise ValueError(msg)
        if self.laplacian == "combinatorial":
            msg = (
                "on a device GraphBasis takes laplacian='normalized' or 'random_walk'; "
                "got 'combinatorial'."
            )
            raise ValueError(msg)
        X = as_tensor(X, self.device)
        with told_memory(X):
            found = fit_on_device(
                X,
                check_n_components(self.n_components, len(X)),
                self.n_neighbors,
                weights=self.weights,
                sigma=self.sigma,
                mutual=self.symmetry == "mutual",
                walk=self.laplacian == "random_walk",
                tol=self.tol,
                on_failure=self.on_failure,
                most_work=self.most_work,
                rng=rng,
            )
        self._on_device = found
        self.n_features_in_ = X.shape[1]
        self.graph_ = found.graph
        self.values_ = found.pairs.values
        self.vectors_ = DeviceVectors(found.vectors)
        self.certificate_ = certificate_on_device(found)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds; of a device, each tensor once."""
        state = dict(super().__getstate__())
        if state.get("_on_device") is not None:
            del state["vectors_"], state["graph_"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        found = state.get("_on_device")
        if found is not None:
            self.vectors_, self.graph_ = DeviceVectors(found.vectors), found.graph

    def _build_graph(
        self, X: ArrayLike | SparseArray | Graph, rng: np.random.Generator
    ) -> Graph:
        if isinstance(X, Graph):
            self.n_features_in_ = X.n_points
            return X
        if self.affinity == "precomputed":
            graph = Graph.from_adjacency(X)
            self.n_features_in_ = graph.n_points
            return graph
        check_choice(self.affinity, "affinity", ("neighbors", "precomputed"))
        X = self._checked_points(X, reset=True)
        self.index_ = NeighborIndex.fit(X, metric=self.metric, rng=rng)
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        k = min(int(self.n_neighbors), X.shape[0] - 1)
        return graph_from_neighbors(
            self.index_.neighbors_and_ties(k),
            k,
            weights=self.weights,
            sigma=self.sigma,
            symmetry=self.symmetry,
        )

    def _checked_points(
        self, X: ArrayLike | SparseArray, *, reset: bool
    ) -> SparseArray:
        # The index keeps small integers small.
        return checked_points(X, self, reset=reset, dtype="numeric", at_least=2)

    def _checked_weights(self, X: ArrayLike | SparseArray) -> SparseArray:
        weights = sparse.csr_array(X, dtype=np.float64, copy=True)
        n = self.graph_.n_points
        if weights.ndim != 2 or weights.shape[1] != n:
            msg = (
                f"X has shape {np.shape(X)}; a basis fitted to a graph extends to rows "
                f"of weights to its {n} points."
            )
            raise ValueError(msg)
        if weights.nnz and not (np.isfinite(weights.data) & (weights.data >= 0)).all():
            msg = "weights to the training points must be finite and >= 0."
            raise ValueError(msg)
        weights.sum_duplicates()
        weights.eliminate_zeros()
        return weights

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags
