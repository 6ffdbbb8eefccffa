"""Votes of trees for points on a device."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.rows import thinned
from mercer._base.tensors import to_numpy, torch
from mercer._base.typing import FloatArray, IntArray
from mercer.backends.torch.scores import TorchScores

_AT_A_TIME = 2**25  # votes


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

        feature, left, leaf, roots = (
            moved(part).long()
            for part in (trees.feature, trees.left, trees.leaf, trees.roots)
        )
        threshold = moved(trees.threshold)
        shares = t.cat([t.eye(C, dtype=t.float64, device=X.device), moved(trees.mixed)])
        found = t.empty((len(X), C), dtype=t.float64, device=X.device)
        # All trees at once: few large steps, which a device does not wait for.
        step = max(1, _AT_A_TIME // (len(roots) * max(C, 1)))
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            node = roots.expand(len(rows), -1)
            for _ in range(int(trees.depths.max(initial=0))):
                asked = rows.gather(1, feature[node])
                node = left[node] + (asked > threshold[node]).long()
            found[start : start + step] = shares[leaf[node]].mean(dim=1)
        return TorchScores(found)
