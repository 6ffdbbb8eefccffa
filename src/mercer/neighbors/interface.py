"""What every way of searching takes and offers: points, their neighbours, queries."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer._base.checks import FLOATS, checked_points
from mercer._base.typing import ArrayLike, FloatArray, SparseArray

_FARTHEST = 1e30  # entries of new points, those of the points being about 1
Found: TypeAlias = tuple[NDArray[np.int32], FloatArray]  # indices and distances, (m, k)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The k nearest neighbours of each of n points, the point itself left out.

    See Also
    --------
    nearest_neighbors : Returns them.
    graph_from_neighbors : Makes a graph of them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.graphs import nearest_neighbors
    >>> rng = np.random.default_rng(0)
    >>> found = nearest_neighbors([[0.0], [1.0], [3.0]], 1, rng=rng)
    >>> found.indices.ravel(), found.distances.ravel(), found.method
    (array([1, 0, 1], dtype=int32), array([1., 1., 2.]), 'exact')
    """

    indices: NDArray[np.int32]  # (n, k)
    distances: FloatArray  # (n, k) ascending
    recall: float  # share of true neighbours found, estimated; 1.0 when exact
    method: str  # what was used: "exact" or "cells"


class Search(Protocol):
    """Points that one way of searching has made ready; each has its own `prepare`."""

    @property
    def points(self) -> Any:
        """The points, as prepared; ``points.X`` are the rows that were given."""

    def neighbors(self, k: int) -> Neighbors:
        """Find the k nearest neighbours of every point but itself."""

    def query(self, Q: Any, k: int) -> Found:
        """Find the k nearest points of each row of Q."""


def checked_array(X: ArrayLike | SparseArray) -> Any:
    """Return X as floats, dense or csr."""
    if not sparse.issparse(X) and not np.ma.is_masked(X):
        array = np.asarray(X)
        # Small integers, pixels say, are exact in single precision.
        if array.dtype.kind in "iub" and array.dtype.itemsize <= 2:
            X = array.astype(np.float32)
    checked = checked_points(X, dtype=FLOATS, input_name="X")
    if sparse.issparse(checked):
        checked = sparse.csr_array(checked)
        checked.sum_duplicates()
    return checked


def unit_rows(X: Any) -> Any:
    """Scale rows to length one; a last column makes rows of zeros one more direction.

    Rows are divided by their largest entry first: squares neither overflow nor vanish.
    """
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
        zero = largest == 0
        Y = sparse.csr_array(X, copy=True)
        # Divided, for 1 / 1e-40 is infinite in single precision.
        Y.data /= np.repeat(np.where(zero, 1, largest), np.diff(Y.indptr))
        norms = np.sqrt((Y * Y).sum(axis=1))
        Y = sparse.diags_array(1 / np.where(zero, 1, norms)) @ Y
        return sparse.hstack([Y, sparse.csr_array(zero[:, None] * 1.0)], format="csr")
    largest = np.abs(X).max(axis=1, keepdims=True)
    zero = largest == 0
    Y = np.hstack([X / np.where(zero, 1, largest), zero.astype(X.dtype)])
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def check_far(Q: Any, scale: float) -> None:
    """Refuse new points that are so far away that all distances round to one."""
    largest = max(-float(Q.min()), float(Q.max()))
    if largest > _FARTHEST / scale:
        msg = (
            f"X_new has an entry of size {largest:.1g}, more than {_FARTHEST:g} times "
            "the largest of the points; all points are equally far from there."
        )
        raise ValueError(msg)
