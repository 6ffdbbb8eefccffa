"""The methods of graphlearning, whose loops are bounded: some never end otherwise."""

from importlib import import_module
from typing import Any

import numpy as np

_STEPS = 1000  # of conjugate gradients
_TOL = 1e-8
_PROJECTIONS = 2000  # steps towards the class sizes


def run(X: Any, y: Any, name: str) -> Any:
    """Label all points by a method of `graphlearning.ssl`.

    The graph has the ten nearest of each point, the point itself counted.
    """
    gl: Any = import_module("graphlearning")
    from sklearn.neighbors import NearestNeighbors

    _bound(gl)
    search = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(X)
    distances, near = search.kneighbors(X)
    graph = gl.graph(gl.weightmatrix.knn(None, 10, knn_data=(near, distances)))
    rows = np.flatnonzero(y >= 0)
    if name == "poisson_mbo":
        model = gl.ssl.poisson_mbo(graph, np.bincount(y[rows]) / len(rows))
    else:
        model = getattr(gl.ssl, name)(graph)
    return model.fit_predict(rows, y[rows])


def _bound(gl: Any) -> None:
    solve = gl.utils.conjgrad
    if getattr(solve, "is_bounded", False):
        return

    def bounded(
        A: Any, b: Any, x0: Any = None, max_iter: int = 0, tol: float = 0.0
    ) -> Any:
        return solve(A, b, x0=x0, max_iter=_STEPS, tol=max(tol, _TOL))

    bounded.is_bounded = True  # type: ignore[attr-defined]
    gl.utils.conjgrad = bounded
    gl.ssl.ssl.volume_label_projection = _projected
    gl.ssl.poisson_mbo.volume_label_projection = _projected


def _projected(self: Any) -> Any:
    """Weigh the classes until they have the sizes given, to one or two points."""
    n, C = self.prob.shape
    scores = self.prob - self.prob.min()
    scores = scores / scores.max()
    self.weights = np.ones(C) if isinstance(self.weights, int) else self.weights
    for _ in range(_PROJECTIONS):
        shares = np.bincount((scores * self.weights).argmax(1), minlength=C) / n
        if np.abs(shares - self.class_priors).max() <= max(1e-3, 2 / n):
            break
        self.weights = self.weights - 0.1 * (shares - self.class_priors)
        self.weights /= self.weights[0]
    return self.predict()
