"""A kernel deformed by a graph: ambient and intrinsic norms made diagonal together."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from mercer._base.typing import FloatArray, IntArray, SparseArray


@dataclass(frozen=True, slots=True, eq=False)
class Deformation:
    r"""Coordinates in which both norms of a function are sums of squares.

    A function with coordinates a has the values :math:`f = B a` over the points,
    :math:`\|f\|_K^2 = \sum_j a_j^2` and
    :math:`f^\top L^p f = \sum_j \delta_j a_j^2`.
    """

    rotation: FloatArray  # (r, r), from the given features to the coordinates
    roughness: FloatArray  # (r,) delta >= 0, ascending
    residual: float  # of the eigenpairs, over the largest roughness

    def scaling(self, ratio: float) -> FloatArray:
        r"""Return :math:`(1 + \rho\,\delta)^{-1/2}`, the deformation of the features.

        Their inner products are the deformed kernel
        :math:`(K^{-1} + \rho L^p)^{-1}`.
        """
        root: FloatArray = 1 / np.sqrt(1 + ratio * self.roughness)
        return root


def deform(features: FloatArray, laplacian: SparseArray, *, degree: int) -> Deformation:
    r"""Diagonalise the smoothness of functions in the span of features.

    Parameters
    ----------
    features : ndarray of shape (n, r)
        With :math:`\Phi\Phi^\top = K`, the ambient kernel over all points.
    laplacian : sparse array of shape (n, n)
        L, symmetric and positive semi-definite.
    degree : int
        The power p of L, at least 1; it is never formed.

    Notes
    -----
    The minimiser of loss, :math:`\gamma_A \|f\|_K^2` and
    :math:`\gamma_I f^\top L^p f` (Belkin, Niyogi and Sindhwani 2006, eq. 6) is the
    supervised one with the kernel :math:`(K^{-1} + \rho L^p)^{-1}`,
    :math:`\rho = \gamma_I/\gamma_A` (Sindhwani, Niyogi and Belkin 2005). One
    eigendecomposition of :math:`\Phi^\top L^p \Phi` serves every ratio.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> L = csr_array([[1.0, -1.0], [-1.0, 1.0]])
    >>> deform(np.eye(2), L, degree=1).roughness.round(6)
    array([0., 2.])
    """
    half = features
    for _ in range(degree // 2):
        half = laplacian @ half
    energy = half.T @ (laplacian @ half) if degree % 2 else half.T @ half
    energy = (energy + energy.T) / 2
    values, rotation = eigh(energy)
    top = float(values[-1]) if values[-1] > 0 else 1.0
    residual = float(np.abs(energy @ rotation - rotation * values).max()) / top
    return Deformation(rotation, np.maximum(values, 0.0), residual)


def inverted_folds(codes: IntArray, n_folds: int) -> list[tuple[IntArray, IntArray]]:
    """Split labelled points for training on one fold and validating on the rest.

    Parameters
    ----------
    codes : ndarray of shape (l,)
        Classes 0, 1, ...
    n_folds : int
        Number of folds.

    Returns
    -------
    list of (train, validation)
        Every fold holds every class; if one has fewer points than folds, its points
        are in several. Points are dealt in their order.

    Notes
    -----
    Mao and Tsang (2010), section 5.2: "at least one example per class is present on
    each of them ... only one fold is used for labeled examples, and the rest is the
    validation set". They do not say what happens to a class with fewer points than
    folds.

    Examples
    --------
    >>> import numpy as np
    >>> inverted_folds(np.array([0, 0, 0, 0, 1]), 2)
    [(array([0, 2, 4]), array([1, 3])), (array([1, 3, 4]), array([0, 2]))]
    """
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        for turn in range(max(n_folds, len(members))):
            folds[turn % n_folds].append(int(members[turn % len(members)]))
    everyone = np.arange(len(codes))
    trains = [np.array(sorted(fold), dtype=np.intp) for fold in folds]
    return [(train, np.setdiff1d(everyone, train)) for train in trains]
