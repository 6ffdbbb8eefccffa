"""Intervals of shares and of differences between two models."""

import numpy as np
from scipy.stats import norm

from mercer._typing import FloatArray


def paired_interval(gains: FloatArray) -> tuple[float, float, float]:
    """Return the mean difference of two models on the same rows and its 95 % interval.

    Agresti and Min (2005): half a row is added to each of the four outcomes, so that
    a few rows without a difference do not pass for certainty.

    Examples
    --------
    >>> lead, low, high = paired_interval(np.array([1.0, 1.0, 0.0, -1.0]))
    >>> lead, low < 0 < high
    (0.25, True)
    """
    n = len(gains) + 2
    middle = float(gains.sum()) / n
    spread = np.sqrt((float(np.abs(gains).sum()) + 1) / n - middle**2) / np.sqrt(n)
    half = float(norm.ppf(0.975)) * float(spread)
    return float(gains.mean()), middle - half, middle + half


def wilson_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share seen in n cases.

    Examples
    --------
    >>> low, high = wilson_interval(0.9, 20)
    >>> round(low, 3), round(high, 3)
    (0.699, 0.972)
    """
    z = float(norm.ppf(0.5 + level / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def held_out_interval(
    share: float, n: int, *, n_splits: int, n_untested: int = 0
) -> tuple[float, float, float]:
    r"""Return what to expect of a model on new rows, with a 95 % interval.

    The share is that of labels predicted by cross-validation. Its variance is larger
    than that of n independent cases: the models of the folds share most of their
    labels, and the model in question is yet another one. Nadeau and Bengio (2003)
    estimate the variance of k folds as :math:`(1/k + 1/(k-1)) \sigma^2`,
    which is :math:`1 + k/(k-1)` times the usual one; Wilson's interval is taken with
    n divided by that.

    Labels that are alone in their class cannot be tested. They may all be wrong or all
    be right, which widens the interval; half of the share is expected of them.

    Parameters
    ----------
    share : float
        Of the tested labels that were predicted right.
    n : int
        Tested labels.
    n_splits : int
        Folds.
    n_untested : int, default=0
        Labels that are alone in their class.

    Returns
    -------
    expected, low, high : float

    Examples
    --------
    >>> [round(v, 2) for v in held_out_interval(0.9, 40, n_splits=5)]
    [0.9, 0.68, 0.97]
    >>> [round(v, 2) for v in held_out_interval(0.9, 40, n_splits=5, n_untested=4)]
    [0.86, 0.62, 0.98]
    """
    inflation = 1 + n_splits / max(n_splits - 1, 1)
    low, high = wilson_interval(share, n / inflation)
    tested = n / (n + n_untested)
    expected = share * (tested + (1 - tested) / 2)
    return expected, tested * low, tested * high + 1 - tested
