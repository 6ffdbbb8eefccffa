"""What the Laplacian machines share: ambient kernel, graph, and the grid search."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.checks import check_number, check_several
from mercer._base.random import as_generator
from mercer._base.typing import BoolArray, ClassShares, FloatArray, RandomState
from mercer.evidence.labels import Labels
from mercer.exceptions import DisconnectedGraphWarning
from mercer.graphs.laplacians import laplacian
from mercer.graphs.neighbors import Graph, neighbor_graph
from mercer.kernels.parametric import RBF
from mercer.kernels.spec import KernelLike
from mercer.machines._maps import (
    FeatureMap,
    is_learner,
    is_precomputed,
)
from mercer.machines.base import KernelMachine
from mercer.optim.manifold import Deformation, deform, inverted_folds
from mercer.spectrum.gram import GramBasis

GRID = (1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)


@dataclass(frozen=True, eq=False)
class DeformedKernel:
    r"""The kernel :math:`(K^{-1} + \rho L^p)^{-1}`, extended to new points.

    A function in its span is an expansion in the ambient kernel over all training
    points, which is how it extends to new ones.
    """

    basis: GramBasis  # of the ambient kernel
    readout: FloatArray  # (r, r), from values of the basis to features

    def features(self, X: Any = None) -> FloatArray:
        """Return features whose inner products are the kernel, (m, r)."""
        U = self.basis.vectors_ if X is None else self.basis.extend(X)
        return U @ self.readout

    def __call__(self, X: Any = None, Z: Any = None) -> FloatArray:
        """Return the Gram matrix between X and Z (or X); None is the training rows."""
        left = self.features(X)
        return left @ (left if Z is None else self.features(Z)).T

    def __sklearn_clone__(self) -> Self:
        return self


class LaplacianMachine(KernelMachine):
    """Base of LapRLS, LapSVM and their versions with a grid.

    Subclasses write `_solve` and `_weights_of_norms`.
    """

    degree: int
    n_neighbors: int
    graph: Any
    n_components: int | None
    random_state: RandomState
    graph_: Graph
    _ambient: float  # gamma_A in use

    def _weights_of_norms(
        self, B: FloatArray, deformation: Deformation, labels: Labels
    ) -> tuple[float, float]:
        """Return gamma_A and gamma_I, from the labelled rows of B if they must be."""
        raise NotImplementedError

    def solve(self, *args: Any, **options: Any) -> NoReturn:
        """Raise: the graph is of points, and features alone do not show them.

        Parameters
        ----------
        *args, **options : object
            Not used.
        """
        raise TypeError(self._not_on_a_learned_kernel())

    def _not_on_a_learned_kernel(self) -> str:
        return (
            f"{type(self).__name__} deforms a given kernel by a graph; a learner "
            "brings a kernel that knows the graph already. Use "
            "machine=RLSClassifier() or KernelSVC() instead."
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.degree, "degree", Integral, min_val=1)
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        if is_precomputed(self.kernel) and self.graph is None:
            msg = (
                "kernel='precomputed' says nothing about neighbours: give graph= too, "
                "a Graph or an adjacency over the same points."
            )
            raise ValueError(msg)
        if is_learner(self.kernel):
            raise TypeError(self._not_on_a_learned_kernel())

    def _make_map(self, X: Any, labels: Labels) -> tuple[FeatureMap, FloatArray]:
        if isinstance(X, Graph):
            msg = (
                f"{type(self).__name__} compares points by its kernel: give them as X, "
                "and a ready-made Graph as graph=."
            )
            raise TypeError(msg)
        rng = as_generator(self.random_state)
        ambient = RBF(gamma="mean_norm") if self.kernel is None else self.kernel
        basis = GramBasis(self.n_components, kernel=ambient, random_state=rng).fit(X)
        self.graph_ = self._make_graph(X, rng)
        root = np.sqrt(basis.values_)
        L = laplacian(self.graph_.adjacency)
        deformation = deform(basis.vectors_ * root, L, degree=self.degree)
        rotation = root[:, None] * deformation.rotation
        B = basis.vectors_[labels.labeled] @ rotation
        gamma_A, gamma_I = self._weights_of_norms(B, deformation, labels)
        self._ambient = gamma_A
        scaling = deformation.scaling(gamma_I / gamma_A)
        kernel = DeformedKernel(basis, rotation * scaling)
        kernel_map, training = FeatureMap(kernel, B * scaling), kernel.features()
        self._warn_of_islands(labels, kernel_map.unreached(training))
        return kernel_map, training

    def _warn_of_islands(self, labels: Labels, unreached: BoolArray) -> None:
        """Tell how many points only the ambient kernel joins to a label."""
        component = self.graph_.component_labels
        islands = ~np.isin(component, component[labels.labeled]) & ~unreached
        if islands.any():
            msg = (
                f"{islands.sum()} of {len(islands)} points are in components of the "
                "graph without a label, where the ambient kernel alone decides. Label "
                "one of them, or raise n_neighbors."
            )
            warnings.warn(msg, DisconnectedGraphWarning, stacklevel=5)

    def _make_graph(self, X: Any, rng: np.random.Generator) -> Graph:
        n = X.shape[0]
        if self.graph is None:
            return neighbor_graph(X, min(self.n_neighbors, n - 1), rng=rng)
        graph = self.graph
        if not isinstance(graph, Graph):
            graph = Graph.from_adjacency(graph)
        if graph.n_points != n:
            msg = (
                f"graph= has {graph.n_points} points and X has {n} rows; they must be "
                "the same points in the same order."
            )
            raise ValueError(msg)
        return graph


class FixedWeights(LaplacianMachine):
    """Both weights as given."""

    def __init__(
        self,
        kernel: KernelLike | None = None,
        *,
        gamma_A: float = 1e-2,
        gamma_I: float = 1e-2,
        degree: int = 2,
        n_neighbors: int = 10,
        graph: Any = None,
        n_components: int | None = None,
        class_sizes: ClassShares | None = None,
        unreached: ClassShares = "prior",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.gamma_A = gamma_A
        self.gamma_I = gamma_I
        self.degree = degree
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.n_components = n_components
        self.class_sizes = class_sizes
        self.unreached = unreached
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_weights([self.gamma_A], [self.gamma_I])

    def _weights_of_norms(
        self, B: FloatArray, deformation: Deformation, labels: Labels
    ) -> tuple[float, float]:
        return self.gamma_A, self.gamma_I


class WeightsByGrid(LaplacianMachine):
    """Both weights by the paper's inverted cross-validation.

    One deformation serves the whole grid, and every pair of weights costs one Gram
    matrix of the labelled points.
    """

    cv_scores_: FloatArray  # (n_gammas_A, n_gammas_I)

    def __init__(
        self,
        kernel: KernelLike | None = None,
        *,
        gammas_A: Sequence[float] = GRID,
        gammas_I: Sequence[float] = GRID,
        cv: int = 5,
        degree: int = 2,
        n_neighbors: int = 10,
        graph: Any = None,
        n_components: int | None = None,
        class_sizes: ClassShares | None = None,
        unreached: ClassShares = "prior",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.gammas_A = gammas_A
        self.gammas_I = gammas_I
        self.cv = cv
        self.degree = degree
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.n_components = n_components
        self.class_sizes = class_sizes
        self.unreached = unreached
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_scalar(self.cv, "cv", Integral, min_val=2)
        check_several(self.gammas_A, "gammas_A")
        check_several(self.gammas_I, "gammas_I")
        _check_weights(self.gammas_A, self.gammas_I)

    def _weights_of_norms(
        self, B: FloatArray, deformation: Deformation, labels: Labels
    ) -> tuple[float, float]:
        codes = labels.codes[labels.labeled]
        known = labels.take(labels.labeled)
        folds = [f for f in inverted_folds(codes, self.cv) if len(f[1])]
        gammas_A, gammas_I = list(self.gammas_A), list(self.gammas_I)
        scores = np.zeros((len(gammas_A), len(gammas_I)))
        for i, gamma_A in enumerate(gammas_A):
            for j, gamma_I in enumerate(gammas_I):
                Phi = B * deformation.scaling(gamma_I / gamma_A)
                K = Phi @ Phi.T
                for train, held in folds:
                    f = self._decide(
                        K[held][:, train],
                        K[train][:, train],
                        known.take(train),
                        gamma_A,
                    )
                    found = self._codes_of(f)
                    scores[i, j] += np.mean(found == codes[held]) / len(folds)
        self.cv_scores_ = scores
        tied = np.argwhere(scores >= scores.max() - 1e-12).tolist()
        i, j = min(tied, key=lambda t: (gammas_A[t[0]], -gammas_I[t[1]]))
        self.gamma_A_, self.gamma_I_ = gammas_A[i], gammas_I[j]
        return self.gamma_A_, self.gamma_I_

    def _decide(
        self,
        K_held: FloatArray,
        K: FloatArray,
        labels: Labels,
        gamma_A: float,
    ) -> FloatArray:
        """Return decisions at held-out points of a machine trained on the others."""
        raise NotImplementedError


def _check_weights(gammas_A: Sequence[float], gammas_I: Sequence[float]) -> None:
    for value in gammas_A:
        check_number(value, "gamma_A", above=0)
    for value in gammas_I:
        check_number(value, "gamma_I", at_least=0)
