"""Distances given by a function or a matrix: exact search, all pairs, small n."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from mercer._base.typing import FloatArray
from mercer.neighbors.exact import Int32Array
from mercer.neighbors.interface import Found, Neighbors
from mercer.neighbors.select import BLOCK, merge

_ROWS = 256


@dataclass(frozen=True, eq=False)
class PairwisePoints:
    """Points known by their distances alone."""

    X: Any  # (n, d) points; (n, n) distances for "precomputed"
    metric: Any  # callable of two rows, or "precomputed"

    @property
    def points(self) -> "PairwisePoints":
        """The points are ready as they are."""
        return self

    def neighbors(self, k: int) -> Neighbors:
        """Find the k nearest neighbours of every point but itself."""
        own = np.arange(self.X.shape[0], dtype=np.int32)
        return Neighbors(*self.search(self.X, k, own), 1.0, "exact")

    def query(self, Q: Any, k: int) -> Found:
        """Find the k nearest points of each row of Q."""
        return self.search(Q, k, np.full(Q.shape[0], -1, dtype=np.int32))

    def search(self, Q: Any, k: int, own: Int32Array) -> tuple[Int32Array, FloatArray]:
        """Find the k nearest points of each row of Q, leaving out `own[row]`.

        Equal distances are ordered by index. Returns indices and distances, (m, k).
        """
        m = Q.shape[0]
        indices = np.full((m, k), -1, dtype=np.int32)
        distances = np.full((m, k), np.inf)
        lanes = np.empty(BLOCK)
        for start in range(0, m, _ROWS):
            part = slice(start, min(start + _ROWS, m))
            D = Q[part]
            if self.metric != "precomputed":
                # Image metrics do all pairs at once; other callables take two rows.
                if hasattr(self.metric, "pairwise"):
                    D = self.metric.pairwise(D, self.X)
                else:
                    D = pairwise_distances(D, self.X, metric=self.metric)
            D = np.ascontiguousarray(D, dtype=np.float64)
            check_distances(D)
            rows = np.arange(len(D), dtype=np.int32)
            merge(D, rows, 0, own[part], distances[part], indices[part], lanes)
        return indices, distances


def check_distances(D: FloatArray) -> None:
    """Raise unless distances are finite and non-negative."""
    if not np.isfinite(D).all() or D.min(initial=0.0) < 0:
        msg = f"distances must be finite and >= 0, got {D.min()} to {D.max()}."
        raise ValueError(msg)
