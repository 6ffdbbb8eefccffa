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


def wilson_interval(share: float, n: int, level: float = 0.95) -> tuple[float, float]:
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
