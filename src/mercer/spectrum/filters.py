r"""Spectral weights that need no labels: :math:`\mu_i = g(\gamma_i)`.

Each function takes the `values_` of a basis, most important direction first, and
returns the weights of a `SpectralKernel`. Diffusion, Gaussian field and polynomial
read Laplacian eigenvalues; cluster and truncated read any.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.typing import ArrayLike, FloatArray


def diffusion(values: ArrayLike, *, t: float = 1.0) -> FloatArray:
    r"""Diffusion kernel: :math:`\mu = \exp(-t \gamma)`.

    Parameters
    ----------
    values : array-like of shape (r,)
        Eigenvalues of a Laplacian.
    t : float, default=1.0
        Diffusion time, :math:`\sigma^2 / 2` in Mao and Tsang (2010).

    Returns
    -------
    ndarray of shape (r,)

    See Also
    --------
    FilterKernel : Applies a filter to a basis.
    gaussian_field : Decays more slowly.

    References
    ----------
    Kondor and Lafferty (ICML 2002); Mao and Tsang (2010), after eq. (8).

    Examples
    --------
    >>> diffusion([0.0, 1.0], t=2.0).round(3)
    array([1.   , 0.135])
    """
    check_scalar(t, "t", Real, min_val=0)
    weights: FloatArray = np.exp(-t * _spectrum(values))
    return weights


def gaussian_field(values: ArrayLike, *, eps: float = 1e-2) -> FloatArray:
    r"""Gaussian random field kernel: :math:`\mu = 1 / (\gamma + \epsilon)`.

    Parameters
    ----------
    values : array-like of shape (r,)
        Eigenvalues of a Laplacian.
    eps : float, default=1e-2
        Keeps the weight of the null vectors finite; must be > 0.

    Returns
    -------
    ndarray of shape (r,)

    See Also
    --------
    FilterKernel : Applies a filter to a basis.
    diffusion : Decays faster.

    References
    ----------
    Zhu, Ghahramani and Lafferty (ICML 2003); Mao and Tsang (2010), after eq. (8).

    Examples
    --------
    >>> gaussian_field([0.0, 0.5], eps=0.5)
    array([2., 1.])
    """
    check_scalar(eps, "eps", Real, min_val=0, include_boundaries="neither")
    weights: FloatArray = 1.0 / (_spectrum(values) + eps)
    return weights


def polynomial(values: ArrayLike, *, degree: int = 4) -> FloatArray:
    r"""Polynomial cluster kernel: :math:`\mu = \max(1 - \gamma, 0)^t`.

    :math:`1 - \gamma` are the eigenvalues of :math:`D^{-1/2} W D^{-1/2}`, so this is
    the similarity after `degree` steps of a random walk. Directions with
    :math:`\gamma > 1`, which change sign at every step, get no weight; the print
    leaves them their sign for odd powers, which is not a kernel.

    Parameters
    ----------
    values : array-like of shape (r,)
        Eigenvalues of a normalised Laplacian.
    degree : int, default=4
        Number of steps t.

    Returns
    -------
    ndarray of shape (r,)

    See Also
    --------
    FilterKernel : Applies a filter to a basis.

    References
    ----------
    Chapelle, Weston and Schölkopf (NIPS 2002), polynomial transfer function.

    Examples
    --------
    >>> polynomial([0.0, 0.5, 1.5], degree=2)
    array([1.  , 0.25, 0.  ])
    """
    check_scalar(degree, "degree", Integral, min_val=1)
    weights: FloatArray = np.maximum(1.0 - _spectrum(values), 0.0) ** degree
    return weights


def cluster(values: ArrayLike, *, n_kept: int) -> FloatArray:
    r"""Cluster kernel: weight 1 for the first `n_kept` directions, 0 beyond.

    Parameters
    ----------
    values : array-like of shape (r,)
        Values of a basis; only their number matters.
    n_kept : int
        The d of eq. (15), at most r.

    Returns
    -------
    ndarray of shape (r,)

    See Also
    --------
    PairwiseKernel : A kernel to cluster with.

    References
    ----------
    Hoi, Lyu and Chang (KDD 2006), eq. (15); the step transfer function of
    Chapelle, Weston and Schölkopf (NIPS 2002).

    Examples
    --------
    >>> cluster([0.0, 0.5, 1.5], n_kept=2)
    array([1., 1., 0.])
    """
    return _first(np.ones_like(_spectrum(values)), n_kept)


def truncated(values: ArrayLike, *, n_kept: int) -> FloatArray:
    r"""Kernel truncated to its first `n_kept` eigenvalues, 0 beyond.

    On a `GramBasis` this is kernel PCA with `n_kept` components.

    Parameters
    ----------
    values : array-like of shape (r,)
        Eigenvalues of a Gram matrix, largest first.
    n_kept : int
        The d of eq. (16), at most r.

    Returns
    -------
    ndarray of shape (r,)

    See Also
    --------
    FilterKernel : Applies a filter to a basis.

    References
    ----------
    Hoi, Lyu and Chang (KDD 2006), eq. (16).

    Examples
    --------
    >>> truncated([3.0, 2.0, 1.0], n_kept=2)
    array([3., 2., 0.])
    """
    return _first(_spectrum(values), n_kept)


def _first(weights: FloatArray, n_kept: int) -> FloatArray:
    check_scalar(n_kept, "n_kept", Integral, min_val=1, max_val=len(weights))
    return np.where(np.arange(len(weights)) < n_kept, weights, 0.0)


def _spectrum(values: ArrayLike) -> FloatArray:
    spectrum: FloatArray = np.asarray(values, dtype=np.float64)
    if spectrum.ndim != 1 or not np.isfinite(spectrum).all() or (spectrum < 0).any():
        msg = (
            f"values must be a vector of finite numbers >= 0, got shape "
            f"{spectrum.shape}; pass basis.values_."
        )
        raise ValueError(msg)
    return spectrum
