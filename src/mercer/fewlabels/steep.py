"""Spectral weights that fall off steeply after a given number of directions."""

from numbers import Real

import numpy as np
from scipy.optimize import brentq
from sklearn.utils import check_scalar

from mercer._typing import ArrayLike, FloatArray


def steep(values: ArrayLike, *, rank: float, power: float = 5.0) -> FloatArray:
    r"""Weights :math:`\mu_j = (\tau / (\gamma_j + \tau))^q` of given effective rank.

    :math:`\tau` solves :math:`\sum_j \mu_j = \rho`. Null directions have weight 1
    whatever :math:`\tau` is, so a graph in several parts does no harm: ask for as many
    more as there are parts.

    Parameters
    ----------
    values : array-like of shape (r,)
        Eigenvalues >= 0 of a Laplacian.
    rank : float
        Effective rank :math:`\rho > 0`. At or below the number of null directions,
        these alone are kept; at r or above, all directions alike.
    power : float, default=5.0
        Steepness q.

    Returns
    -------
    ndarray of shape (r,)

    Examples
    --------
    >>> steep([0.0, 0.1, 0.2, 1.0], rank=2.0).round(3)
    array([1.   , 0.599, 0.376, 0.026])
    """
    check_scalar(rank, "rank", Real, min_val=0, include_boundaries="neither")
    gamma = np.maximum(np.asarray(values, dtype=np.float64), 0.0)
    gamma[gamma <= 1e-10 * gamma.max(initial=0.0)] = 0.0
    null = gamma == 0
    if rank >= len(gamma) or null.all():
        return np.ones(len(gamma))
    if rank <= null.sum():
        return np.where(null, 1.0, 0.0)

    def weights(log_tau: float) -> FloatArray:
        tau = np.exp(log_tau)
        result: FloatArray = (tau / (gamma + tau)) ** power
        return result

    low = np.log(gamma[~null].min()) - 20.0
    high = np.log(gamma.max()) + 20.0
    log_tau = brentq(lambda t: weights(t).sum() - rank, low, high, xtol=1e-12)
    return weights(log_tau)
