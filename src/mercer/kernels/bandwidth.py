r"""Rules that pick the width of a Gaussian kernel from the training points.

Each returns gamma of :math:`\exp(-\gamma \|x - z\|^2)`. Points that are all equal have
the kernel 1 with every gamma, and get 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms

from mercer._base.ranges import all_equal
from mercer._base.typing import ArrayLike
from mercer.kernels.base import check_points

_MOST_ROWS_FOR_MEDIAN = 20_000


def mean_norm_gamma(X: ArrayLike) -> float:
    r"""Return :math:`1 / (2 \sigma^2)` for :math:`\sigma = \frac1n \sum_i \|x_i\|`.

    Mao and Tsang (UAI 2010), section 6.2. The origin matters: shifting X changes it.

    Examples
    --------
    >>> mean_norm_gamma([[3.0, 4.0], [0.0, 5.0]])
    0.02
    """
    rows = check_points(X)
    sigma = float(row_norms(rows).mean())
    return _gamma(2 * sigma**2, "mean_norm", rows)


def mean_distance_gamma(X: ArrayLike) -> float:
    r"""Return :math:`1 / (2 \sigma^2)`, :math:`2 \sigma^2` the mean squared distance.

    The mean is over pairs of distinct rows, in time linear in their number:
    :math:`\sum_{i < j} \|x_i - x_j\|^2 = n \sum_i \|x_i - \bar x\|^2`. Used for Hoi,
    Lyu and Chang (KDD 2006), who do not print their width.

    Examples
    --------
    >>> mean_distance_gamma([[0.0], [1.0], [3.0]])  # squares 1, 4, 9
    0.214...
    """
    rows = check_points(X)
    n = rows.shape[0]
    mean = np.asarray(rows.mean(axis=0)).ravel()
    # Centring a sparse matrix would fill it; the identity loses digits only if
    # the mean is large next to the spread.
    spread = (
        float(row_norms(rows, squared=True).sum() - n * mean @ mean)
        if issparse(rows)
        else float(((rows - mean) ** 2).sum())
    )
    return _gamma(2 * spread / (n - 1) if n > 1 else 0.0, "mean_distance", rows)


def median_gamma(X: ArrayLike) -> float:
    r"""Return :math:`1 / (2 \sigma^2)`, sigma the median distance of distinct rows.

    Looks at every pair, so at most 20,000 rows.

    Examples
    --------
    >>> median_gamma([[0.0], [1.0], [3.0]])  # distances 1, 2, 3
    0.125
    """
    rows = check_points(X)
    n = rows.shape[0]
    if n > _MOST_ROWS_FOR_MEDIAN:
        msg = (
            f"gamma='median' compares all pairs of rows, and X has {n} rows (at most "
            f"{_MOST_ROWS_FOR_MEDIAN}). Resolve on a sample of the rows, or use "
            "gamma='mean_distance', which is linear in their number."
        )
        raise ValueError(msg)
    distances = (
        euclidean_distances(rows)[np.triu_indices(n, 1)]
        if issparse(rows)
        else pdist(rows)
    )
    width = 2 * float(np.median(distances)) ** 2 if n > 1 else 0.0
    return _gamma(width, "median", rows)


def _gamma(width: float, rule: str, rows: Any) -> float:
    if width >= np.finfo(np.float64).tiny:
        return 1 / width
    if all_equal(rows):
        return 1.0
    msg = (
        f"gamma={rule!r} finds no width: its square is {width:.1e}, while not all "
        "points are equal. Scale the columns of X, drop copies of points, or give "
        "gamma as a number."
    )
    raise ValueError(msg)


RULES: dict[str, Callable[[Any], float]] = {
    "mean_norm": mean_norm_gamma,
    "mean_distance": mean_distance_gamma,
    "median": median_gamma,
}
