"""How many eigenvalues lie below a value, from traces of Chebyshev polynomials."""

from typing import Any

import numpy as np

from mercer._base.threads import in_blocks
from mercer._base.typing import FloatArray, SparseArray
from mercer.eigen.chebyshev import aligned, parts, recur, zero_block

_MAX_DEGREE = 2000
_ROWS = 4096
_SETTLED = 0.1  # share by which an estimate may still change


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


def value_below_which(
    A: SparseArray,
    count: int,
    Z: Any,
    *,
    upper: float,
    degree: int = 30,
    most_degree: float = _MAX_DEGREE,
) -> float:
    r"""Estimate the value below which A has `count` eigenvalues.

    The number of eigenvalues below a is the trace of a step function of A; it is
    expanded in Chebyshev polynomials of degree up to 2 m, whose traces are estimated
    from random vectors: :math:`E\, z^\top T_j(A) z = \operatorname{tr} T_j(A)`. Near
    the end of the spectrum they resolve steps of width `upper` :math:`(\pi / 2m)^2/4`;
    the degree is doubled until that is well below the answer, and until the answer
    hardly changes: where many values follow, steps of some width count these too. What
    the width adds falls with its square, and a third of the last change takes it off.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric with eigenvalues in [0, upper].
    count : int
        Number of eigenvalues, counted in the space that the Z are drawn from.
    Z : ndarray of shape (n, k)
        Standard normal vectors, projected to the space of interest. Single precision
        stays single.
    upper : float
        Bound on the eigenvalues.
    degree : int, default=30
        First degree m to try.
    most_degree : float, default=2000
        It is not doubled from here on.

    Returns
    -------
    float

    Notes
    -----
    Di Napoli, Polizzi and Saad (2016), with Jackson's damping.

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> A = diags_array(np.linspace(0.0, 1.0, 1000)).tocsr()
    >>> Z = np.random.default_rng(0).standard_normal((1000, 8))
    >>> 0.03 < value_below_which(A, 50, Z, upper=1.0) < 0.07
    True
    """
    traces, before = _Traces(A, Z, upper), 0.0
    while True:
        angle, step = angle_below_which(traces.up_to(degree), count)
        value = float(upper * (1 - np.cos(angle)) / 2)
        settled = angle >= 4 * step and abs(value - before) <= _SETTLED * value
        if settled:  # errors fall with the square of the degree
            return value + (value - before) / 3
        if degree >= min(most_degree, _MAX_DEGREE):
            return value
        degree, before = 2 * degree, value


class _Traces:
    """Estimates of the traces of Chebyshev polynomials of I - 2 A / upper."""

    def __init__(self, A: SparseArray, Z: Any, upper: float) -> None:
        number = np.float32 if Z.dtype == np.float32 else np.float64
        self.matrix = parts(A, number)
        self.a, self.one = number(-2 / upper), number(1)
        self.count = Z.shape[1]
        self.before = aligned(Z, number)
        self.now = zero_block(Z.shape, number)
        recur(*self.matrix, self.before, self.now, self.a, self.one, 0 * self.one)
        self.moments = [
            _inner(self.before, self.before),
            _inner(self.before, self.now),
        ]

    def up_to(self, degree: int) -> FloatArray:
        """Return those of T_0 .. T_2m; the recurrence continues where it was."""
        first, second = self.moments[:2]
        a, one = 2 * self.a, self.one
        while len(self.moments) < 2 * degree:
            # T_2j = 2 T_j T_j - T_0 and T_2j+1 = 2 T_j T_j+1 - T_1
            self.moments.append(2 * _inner(self.now, self.now) - first)
            recur(*self.matrix, self.now, self.before, a, 2 * one, -one)
            self.before, self.now = self.now, self.before
            self.moments.append(2 * _inner(self.before, self.now) - second)
        last = 2 * _inner(self.now, self.now) - first
        means: FloatArray = np.array([*self.moments, last]) / self.count
        return means


def _inner(X: Any, Y: Any) -> float:
    """Return the sum of the products of entries; those of few rows add in double."""
    if len(X) <= _ROWS:
        return float(np.vdot(X, Y))
    parts = np.zeros(-(-len(X) // _ROWS))

    def add(block: slice) -> None:
        for i in range(block.start, block.stop, _ROWS):
            parts[i // _ROWS] = np.vdot(X[i : i + _ROWS], Y[i : i + _ROWS])

    in_blocks(add, len(X), _ROWS, _ROWS)
    return float(parts.sum())
