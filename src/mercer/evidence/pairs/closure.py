"""Every pair that follows from given ones."""

import numpy as np

from mercer._base.typing import FloatArray, IntArray

__all__ = ["close"]


def close(
    component: IntArray, cannot_link: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return both ends and the sign of every pair that follows.

    Parameters
    ----------
    component : ndarray of shape (n_points,)
        Must-link component of each point: all pairs within are must-links.
    cannot_link : ndarray of shape (m, 2)
        Each holds between all points of two components.
    """
    order = np.argsort(component, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(component))[:-1])
    blocks = [(c, c) for c in range(len(members)) if len(members[c]) > 1]
    apart = np.unique(np.sort(component[cannot_link], axis=1), axis=0)
    blocks += [(int(a), int(b)) for a, b in apart.reshape(-1, 2)]
    first, second = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    signs = [np.empty(0)]
    for a, b in blocks:
        i, j = np.meshgrid(members[a], members[b], indexing="ij")
        keep = i < j if a == b else np.ones(i.shape, dtype=bool)
        first.append(i[keep])
        second.append(j[keep])
        signs.append(np.full(int(keep.sum()), 1.0 if a == b else -1.0))
    return np.concatenate(first), np.concatenate(second), np.concatenate(signs)
