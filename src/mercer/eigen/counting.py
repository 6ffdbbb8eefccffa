"""How many eigenvalues lie below a value, from traces of Chebyshev polynomials."""

import numpy as np

from mercer._base.typing import FloatArray


def angle_below_which(moments: FloatArray, count: int) -> tuple[float, float]:
    r"""Return the angle of the value below which there are `count` eigenvalues.

    Parameters
    ----------
    moments : ndarray of shape (m,)
        Traces of :math:`T_0, \dots, T_{m-1}` of a matrix with spectrum in [-1, 1].
    count : int
        Eigenvalues counted from 1 downwards.

    Returns
    -------
    angle : float
        Arc cosine of the value.
    step : float
        The smallest difference of angles that these moments resolve.

    Notes
    -----
    Di Napoli, Polizzi and Saad (2016), with Jackson's damping.

    Examples
    --------
    >>> angles = np.linspace(0.0, np.pi, 1000)
    >>> moments = np.cos(np.arange(100)[:, None] * angles).sum(axis=1)
    >>> abs(angle_below_which(moments, 500)[0] - np.pi / 2) < 0.05
    True
    """
    m = len(moments)
    j = np.arange(m)
    x = np.pi / (m + 1)
    jackson = (m - j + 1) * np.cos(x * j) + np.sin(x * j) / np.tan(x)
    moments = moments * jackson / (m + 1)
    angles = np.geomspace(0.2 * x, np.pi, 400)
    steps = 2 * np.sin(angles[:, None] * j[1:]) / (np.pi * j[1:])
    counts = angles / np.pi * moments[0] + steps @ moments[1:]
    reached = np.flatnonzero(counts >= count)
    return float(angles[reached[0]]) if len(reached) else np.pi, x
