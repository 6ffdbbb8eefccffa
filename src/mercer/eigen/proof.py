r"""What a search from random vectors proves about eigenvalues it did not find.

A symmetric matrix G has its eigenvalues in [low, h], and Z is a block of b standard
normal vectors. After m steps a block Krylov space of G and Z holds q(G) Z a for every
polynomial q of degree m - 1 and every a. Let :math:`\varphi` be its largest Ritz
value and w a unit eigenvector of h. With the Chebyshev polynomial q of
[low, :math:`\varphi`] and :math:`a = Z^\top w / |Z^\top w|` the Rayleigh quotient of
q(G) Z a, which :math:`\varphi` bounds, gives

.. math::

    q(h)^2 \, \frac{h - \varphi}{\varphi - \text{low}}
    \le \frac{\|Z\|^2}{|Z^\top w|^2}.

The left side grows with h, and :math:`|Z^\top w|^2` has the chi-square distribution
with b degrees of freedom: it is below its quantile t with a probability that we choose.
So h is bounded, but for that probability. This is the argument of Kuczynski and
Wozniakowski (1992) for one vector, with the measured norm of Z.
"""

import numpy as np
from scipy.stats import chi2


def largest_unseen(
    seen: float, steps: int, *, low: float, norm: float, block: int, failure: float
) -> float:
    r"""Bound the largest eigenvalue of a matrix by a search from random vectors.

    Parameters
    ----------
    seen : float
        Largest Ritz value :math:`\varphi` of the block Krylov space.
    steps : int
        Blocks in the space, m.
    low : float
        No eigenvalue is smaller.
    norm : float
        Spectral norm of the block of random vectors.
    block : int
        Number of random vectors.
    failure : float
        Probability that the bound does not hold.

    Returns
    -------
    float
        At least `seen`.

    Examples
    --------
    >>> settings = {"low": 0.0, "norm": 100.0, "block": 8, "failure": 1e-6}
    >>> [round(largest_unseen(1.0, m, **settings), 3) for m in (2, 10, 50)]
    [26.683, 1.167, 1.008]
    """
    spread = max(seen - low, np.finfo(float).tiny)
    goal = 2 * np.log(norm) - np.log(chi2.ppf(failure, block))
    small, large = -60.0, 60.0  # of log (h - seen) / spread
    for _ in range(60):
        middle = (small + large) / 2
        u = np.exp(middle)
        angle = (steps - 1) * np.arccosh(1 + 2 * u)
        growth = 2 * (angle + np.log1p(np.exp(-2 * angle)) - np.log(2)) + middle
        small, large = (middle, large) if growth < goal else (small, middle)
    return float(seen + np.exp(large) * spread)
