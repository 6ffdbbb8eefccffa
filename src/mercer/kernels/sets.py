"""Ready-made sets of kernels to choose from."""

import numpy as np

from mercer.kernels.parametric import RBF


def gaussian_set(
    n_kernels: int = 20, *, smallest: float = 0.1, largest: float = 100_000.0
) -> list[RBF]:
    r"""Gaussian kernels of widths equally spaced on a logarithmic scale.

    :math:`k(x, z) = \exp(-\|x - z\|^2 / \sigma)` with sigma from `smallest` to
    `largest`: from nearly the identity to nearly constant, so that some kernel fits
    points of any scale and most do not.

    Parameters
    ----------
    n_kernels : int, default=20
        Number of kernels.
    smallest, largest : float, default=0.1, 100000
        The first and the last width.

    Returns
    -------
    list of RBF

    See Also
    --------
    RBF : One of them.
    AnnealedKernelMachine : Chooses among such kernels.

    Notes
    -----
    Dai and Yeung (2007), section 4. Whether sigma or its square divides the squared
    distance is not said; with sigma the errors of Table 1 come out.

    Examples
    --------
    >>> [kernel.gamma for kernel in gaussian_set(3, smallest=0.1, largest=10)]
    [10.0, 1.0, 0.1]
    """
    widths = np.geomspace(smallest, largest, n_kernels)
    return [RBF(gamma=float(1 / width)) for width in widths]
