"""Annealed machines that choose among graph Laplacian kernels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._base.random import as_generator
from mercer._base.typing import ArrayLike, ClassShares, RandomState
from mercer.graphs.neighbors import Weights
from mercer.machines._annealed_parts import FeatureView
from mercer.machines.annealed import AnnealedKernelMachine
from mercer.neighbors.index import Metric
from mercer.optim.convex_losses import Loss
from mercer.spectrum.graph_kernels import laplacian_kernels
from mercer.spectrum.kernel import SpectralKernel


class GraphAnnealedKernelMachine(AnnealedKernelMachine):
    r"""`AnnealedKernelMachine` on graph Laplacian kernels (GLKS-SSKM).

    The kernels are pseudo-inverses :math:`L^+` of the Laplacians of neighbour graphs,
    one for each number of neighbours and metric.

    Parameters
    ----------
    n_neighbors : sequence of int, default=1..10
        Numbers of neighbours, one graph for each.
    metrics : sequence, default=("euclidean",)
        Metrics of the neighbour graphs. For square grey images
        `mercer.spectrum.graph_kernels.IMAGE_METRICS` gives the 30 kernels of the
        paper.
    n_components : int or None, default=None
        Directions kept of each Laplacian, its null space aside; None for all. With
        n_components and the squared loss the kernels live in their bases and no n x n
        matrix is made.
    edge_weights : {"gaussian", "binary", "self_tuning"}, default="gaussian"
        How edges are weighed.
    gamma : float, default=0.1
        Weight of the norm of the function.
    beta : float, default=0.01
        With 0 the machine is GLKS-SSL (Argyriou, Herbster and Pontil 2006).
    loss, class_ratio, trace_normalized : as in `AnnealedKernelMachine`
    final_temperature, tol, unreached : as in `AnnealedKernelMachine`
    random_state : int, Generator, RandomState or None, default=None
        For the search and the eigensolver.

    Attributes
    ----------
    weights_, scales_ : ndarray of shape (n_kernels,)
        Metric by metric.
    classes_, kernel_, kernels_, class_ratio_, transduction_
        As in `AnnealedKernelMachine`.
    threshold_, annealing_, certificate_
        As in `AnnealedKernelMachine`.

    See Also
    --------
    AnnealedKernelMachine : Without a graph.
    LapRLS : A graph with one given kernel.

    Notes
    -----
    Dai and Yeung (2007), section 3.3. The kernels are taken as they are: a graph with
    light edges has a large :math:`L^+`, and kernel selection prefers it for that
    alone; `scales_` shows by how much, `trace_normalized` takes it away. Functions in
    the space of :math:`L^+` have mean zero on each component of the graph, so a graph
    that falls apart along the classes says little about them: let the larger of
    `n_neighbors` join the points.

    Examples
    --------
    >>> X = np.array([[0.0], [0.4], [0.9], [5.0], [5.5], [6.1]])
    >>> machine = GraphAnnealedKernelMachine(n_neighbors=(3, 4, 5))
    >>> machine.fit(X, [0, -1, -1, -1, -1, 1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        *,
        n_neighbors: Sequence[int] = tuple(range(1, 11)),
        metrics: Sequence[Metric] = ("euclidean",),
        n_components: int | None = None,
        edge_weights: Weights = "gaussian",
        gamma: float = 0.1,
        beta: float = 0.01,
        loss: Loss = "squared",
        class_ratio: float | ArrayLike | None = None,
        trace_normalized: bool = False,
        final_temperature: float = 1e-7,
        tol: float = 1e-7,
        unreached: ClassShares = "prior",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            gamma=gamma,
            beta=beta,
            loss=loss,
            class_ratio=class_ratio,
            trace_normalized=trace_normalized,
            final_temperature=final_temperature,
            tol=tol,
            unreached=unreached,
        )
        self.n_neighbors = n_neighbors
        self.metrics = metrics
        self.n_components = n_components
        self.edge_weights = edge_weights
        self.random_state = random_state

    def _view(self, X: Any) -> FeatureView:
        kernels = laplacian_kernels(
            X,
            n_neighbors=self.n_neighbors,
            metrics=self.metrics,
            weights=self.edge_weights,
            n_components=self.n_components,
            rng=as_generator(self.random_state),
        )
        self.scales_ = np.array([kernel.diag().mean() for kernel in kernels])
        if self.trace_normalized:
            kernels = [
                SpectralKernel(kernel.basis, kernel.core / scale)
                for kernel, scale in zip(kernels, self.scales_, strict=True)
            ]
        return FeatureView(kernels, [kernel.features() for kernel in kernels])
