"""Ready-made sets of kernels to choose from."""

import numpy as np

from mercer.kernels.parametric import RBF


def gaussian_set(n_kernels: int = 20) -> list[RBF]:
    r"""Gaussian kernels of widths equally spaced on a logarithmic scale.

    :math:`k(x, z) = \exp(-\|x - z\|^2 / \sigma)` with sigma from 0.1 to
    100,000: from nearly the identity to nearly constant, so that some kernel fits
    points of any scale and most do not.

    Parameters
    ----------
    n_kernels : int, default=20
        Number of kernels.

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
    >>> [kernel.gamma for kernel in gaussian_set(3)]
    [10.0, 0.01, 1e-05]
    """
    widths = np.geomspace(0.1, 1e5, n_kernels)
    return [RBF(gamma=float(1 / width)) for width in widths]
