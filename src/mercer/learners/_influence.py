"""The influence of points, by their distances, a similarity or walks on it."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.metrics import pairwise_distances

from mercer._base.checks import check_finite, check_square, check_symmetric
from mercer._base.ranges import far_origin, moved
from mercer._base.typing import ArrayLike, FloatArray, SparseArray
from mercer.graphs.neighbors import Graph
from mercer.kernels.spec import KernelLike
from mercer.kernels.stack import resolve_kernels
from mercer.optim.influence import diffusion_distances, stationary_distances

# A kernel, or a matrix or graph over the rows of X.
Similarity: TypeAlias = KernelLike | ArrayLike | SparseArray | Graph


def influence_of_points(
    X: Any,
    similarity: Similarity | None,
    diffusion_time: int | None,
    *,
    names: NDArray[Any] | None = None,
) -> FloatArray:
    """Return how much each point influences the choice of the kernel.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    similarity : Kernel, str, callable, matrix, Graph or None
        None measures Euclidean distances.
    diffusion_time : int or None
        Measure diffusion distances on the similarity, after this many steps.
    names : ndarray of shape (d,), optional
        Names of the columns.

    Returns
    -------
    ndarray of shape (n,)
        1 - u for distances, u for a similarity.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> influence_of_points(X, None, None).round(3)
    array([0.667, 0.75 , 0.583])
    >>> influence_of_points(X, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], None)
    array([0.25, 0.5 , 0.25])
    """
    if similarity is None and diffusion_time is None:
        return 1 - stationary_distances(pairwise_distances(moved(X, far_origin(X))))
    W = _matrix(similarity, X, names)
    if diffusion_time is None:
        return stationary_distances(W)
    distances = diffusion_distances(W, int(diffusion_time))
    if not distances.any():
        return np.full(len(W), 1 - 1 / len(W))  # all walks have met
    return 1 - stationary_distances(distances)


def _matrix(
    similarity: Similarity | None,
    X: Any,
    names: NDArray[Any] | None,
) -> FloatArray:
    if isinstance(similarity, Graph):
        W: FloatArray = similarity.adjacency.toarray()
    elif issparse(similarity):
        W = np.asarray(csr_array(similarity).toarray(), dtype=np.float64)
    elif isinstance(similarity, np.ndarray | list) or hasattr(similarity, "to_numpy"):
        W = np.asarray(similarity, dtype=np.float64)
    else:
        spec = "rbf" if similarity is None else similarity
        W = resolve_kernels([spec], X, names=names)[0](X)
    check_square(W, "similarity")
    check_finite(W, "similarity")
    if len(W) != X.shape[0]:
        msg = f"similarity joins {len(W)} points, but X has {X.shape[0]} rows."
        raise ValueError(msg)
    check_symmetric(W, "similarity")
    if (W < 0).any():
        i, j = np.argwhere(W < 0)[0]
        msg = (
            f"similarity[{i}, {j}] = {W[i, j]:.3g} is negative, and steps of a walk "
            "are drawn by it; give a similarity that is at least 0."
        )
        raise ValueError(msg)
    if not W.any():
        msg = "similarity is zero everywhere: it joins no two points."
        raise ValueError(msg)
    return W
