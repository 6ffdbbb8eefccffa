"""Votes of trees for points on a device."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.rows import thinned
from mercer._base.tensors import to_numpy, torch
from mercer._base.typing import FloatArray, IntArray
from mercer.backends.torch.scores import TorchScores


@dataclass(frozen=True, slots=True, eq=False)
class TorchColumns:
    """Columns of points in a tensor: `mercer.fewlabels.trees.Columns` on a device."""

    values: Any  # (n, d)

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, rows: IntArray) -> FloatArray:
        """Return some points on the host, (m, d)."""
        some: FloatArray = to_numpy(self.take(rows).values)
        return some

    def take(self, rows: IntArray) -> "TorchColumns":
        """Return some points, where all of them are."""
        at = torch().as_tensor(np.asarray(rows), device=self.values.device)
        return TorchColumns(self.values[at])

    def thinned(self, most: int) -> "TorchColumns":
        """Return at most this many points, evenly spaced."""
        return TorchColumns(thinned(self.values, most))

    def votes(self, trees: Any) -> TorchScores:
        """Return the mean over the trees of the class shares in the leaves, (n, C).

        Parameters
        ----------
        trees : RandomTrees
        """
        t, X = torch(), self.values
        C = trees.mixed.shape[1]

        def moved(values: Any) -> Any:
            return t.as_tensor(np.asarray(values), device=X.device)

        feature, left, leaf = (
            moved(part).long() for part in (trees.feature, trees.left, trees.leaf)
        )
        threshold = moved(trees.threshold)
        shares = t.cat([t.eye(C, dtype=t.float64, device=X.device), moved(trees.mixed)])
        found = t.zeros((len(X), C), dtype=t.float64, device=X.device)
        for root, depth in zip(
            trees.roots.tolist(), trees.depths.tolist(), strict=True
        ):
            node = t.full((len(X),), root, device=X.device)
            for _ in range(depth):
                asked = X.gather(1, feature[node][:, None])[:, 0]
                node = left[node] + (asked > threshold[node]).long()
            found += shares[leaf[node]]
        return TorchScores(found / len(trees.roots))
