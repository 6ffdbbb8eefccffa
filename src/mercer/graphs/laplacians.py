r"""Degrees and the three graph Laplacians.

Powers :math:`L^p` and other functions of a Laplacian are functions of its eigenvalues
(see :mod:`mercer.spectrum.filters`); no such matrix is ever formed here.
"""

from typing import Literal

import numpy as np
from scipy import sparse

from mercer._base.typing import FloatArray, SparseArray

LaplacianKind = Literal["normalized", "combinatorial", "random_walk"]


def degrees(adjacency: SparseArray) -> FloatArray:
    r"""Return the degree :math:`d_i = \sum_j W_{ij}` of every point.

    Parameters
    ----------
    adjacency : sparse array of shape (n, n)
        Symmetric, non-negative, with a zero diagonal, as in `Graph.adjacency`.

    Returns
    -------
    ndarray of shape (n,)

    See Also
    --------
    laplacian : Of the same adjacency.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> degrees(csr_array([[0.0, 2.0], [2.0, 0.0]]))
    array([2., 2.])
    """
    return np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()


def laplacian(
    adjacency: SparseArray, kind: LaplacianKind = "normalized"
) -> SparseArray:
    r"""Return a graph Laplacian as a sparse array.

    With :math:`D = \operatorname{diag}(W 1)` and :math:`D^+` its pseudo-inverse,

    .. math::

        L_\text{combinatorial} = D - W, \quad
        L_\text{normalized} = I - (D^+)^{1/2} W (D^+)^{1/2}, \quad
        L_\text{random walk} = I - D^+ W.

    Parameters
    ----------
    adjacency : sparse array of shape (n, n)
        Symmetric, non-negative, with a zero diagonal, as in `Graph.adjacency`.
    kind : {"normalized", "combinatorial", "random_walk"}, default="normalized"
        Which of the three; the first two are symmetric.

    Returns
    -------
    csr_array of shape (n, n)

    See Also
    --------
    neighbor_graph : A graph of points.
    GraphBasis : Its smooth directions.

    Notes
    -----
    The normalised Laplacian is that of Mao and Tsang (2010), section II. An isolated
    point has :math:`L_{ii} = 1` in the normalised and random-walk Laplacians, so that
    it takes no part in the smoothest directions: their null spaces are spanned by the
    components that have an edge. In the combinatorial one :math:`L_{ii} = 0`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> laplacian(path, "combinatorial").toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    d = degrees(adjacency)
    n = len(d)
    if kind == "combinatorial":
        return sparse.csr_array(sparse.diags_array(d) - adjacency)
    power = {"normalized": -0.5, "random_walk": -1.0}.get(kind)
    if power is None:
        msg = (
            f"kind must be 'normalized', 'combinatorial' or 'random_walk', got {kind!r}"
        )
        raise ValueError(msg)
    inverse = np.zeros(n)
    np.power(d, power, out=inverse, where=d > 0)
    scaled = sparse.csr_array(adjacency, dtype=np.float64, copy=True)
    scaled.data *= np.repeat(inverse, np.diff(scaled.indptr))
    if kind == "normalized":
        scaled.data *= inverse[scaled.indices]
    return sparse.csr_array(sparse.eye_array(n, format="csr") - scaled)
