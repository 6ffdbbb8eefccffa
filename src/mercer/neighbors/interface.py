"""What every way of searching offers: prepared points, their neighbours, queries."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import FloatArray

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
