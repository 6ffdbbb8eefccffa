"""Votes of trees for points on a device."""

from typing import Any

import numpy as np

from mercer._base.tensors import torch


def votes(trees: Any, X: Any) -> Any:
    """Return the mean over the trees of the class shares in the leaves, (m, C).

    Parameters
    ----------
    trees : RandomTrees
    X : tensor of shape (m, d)
    """
    t = torch()
    C = trees.mixed.shape[1]

    def moved(values: Any) -> Any:
        return t.as_tensor(np.asarray(values), device=X.device)

    feature, left, leaf = (
        moved(part).long() for part in (trees.feature, trees.left, trees.leaf)
    )
    threshold = moved(trees.threshold)
    shares = t.cat([t.eye(C, dtype=t.float64, device=X.device), moved(trees.mixed)])
    found = t.zeros((len(X), C), dtype=t.float64, device=X.device)
    for root, depth in zip(trees.roots.tolist(), trees.depths.tolist(), strict=True):
        node = t.full((len(X),), root, device=X.device)
        for _ in range(depth):
            asked = X.gather(1, feature[node][:, None])[:, 0]
            node = left[node] + (asked > threshold[node]).long()
        found += shares[leaf[node]]
    return found / len(trees.roots)
