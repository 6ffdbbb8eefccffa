"""Anchors that stand for hardly any point are joined to others."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer._base.typing import FloatArray, SparseArray
from mercer.spectrum.anchor import anchor_index


def light_anchors_joined(
    anchors: Any, mass: FloatArray, *, least: float, rng: np.random.Generator
) -> SparseArray:
    r"""Join every anchor that stands for too few points to the nearest other one.

    An anchor at an isolated point represents that point alone. Its tie to the others
    is weak, so there is a smooth direction that tells this one anchor from all
    others. In many dimensions thousands of such directions come before any that a
    class could follow, and their values are too close to be separated.

    Parameters
    ----------
    anchors : ndarray of shape (m, n_features)
    mass : ndarray of shape (m,)
        Points that each stands for, :math:`Z^\top 1`.
    least : float
        Anchors with less mass are joined; not the heaviest one.
    rng : numpy.random.Generator
        For the search of the nearest anchor.

    Returns
    -------
    csr_array of shape (m, k)
        P, a single 1 per row: ties to joined anchors are Z P.

    Examples
    --------
    >>> anchors = np.array([[0.0], [1.0], [5.0]])
    >>> rng = np.random.default_rng(0)
    >>> P = light_anchors_joined(anchors, np.array([9.0, 1.0, 4.0]), least=3, rng=rng)
    >>> P.toarray().astype(int)
    array([[1, 0],
           [1, 0],
           [0, 1]])
    """
    m = len(anchors)
    light = mass < min(least, float(mass.max()))
    to = np.empty(m, dtype=np.int32)  # what is multiplied by P keeps short indices
    to[~light] = np.arange(m - light.sum())
    if light.any():
        heavy = anchor_index(anchors[~light], rng=rng)
        to[light] = heavy.query(anchors[light], 1)[0].ravel()
    ones, rows = np.ones(m), np.arange(m + 1, dtype=np.int32)
    return sparse.csr_array((ones, to, rows), shape=(m, m - light.sum()))
