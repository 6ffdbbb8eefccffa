"""Functions of a matrix that turn its smallest eigenvalues into the largest."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from mercer._base.typing import FloatArray, SparseArray
from mercer.eigen.chebyshev import chebyshev_filter

# A Chebyshev filter multiplies the smoothest direction by about exp(GROWTH) / 2.
GROWTH = 8.0
# A band is factorised if it is no wider and the factor takes no more operations.
WIDEST_BAND = 600
MOST_WORK = 1e10


class Transform(Protocol):
    """A function F of a symmetric matrix A that decreases below `cut`.

    Eigenvalues of A from `cut` on are turned into values in [`low`, F(`cut`)].
    """

    @property
    def cut(self) -> float:
        """Below it F decreases."""

    @property
    def low(self) -> float:
        """No value of F is below it."""

    @property
    def cost(self) -> float:
        """Multiplications of F(A) with one vector."""

    def apply(self, X: Any) -> Any:
        """Return F(A) X, possibly in the memory of X."""

    def height(self, value: float) -> float:
        """Return F at a value below `cut`."""

    def value(self, height: float) -> float:
        """Return the eigenvalue of A with this F; `cut` if it may be larger."""


@dataclass(frozen=True, slots=True, eq=False)
class ChebyshevTransform:
    """The Chebyshev polynomial of even degree on [cut, high], 1 or less there."""

    A: SparseArray
    cut: float
    high: float
    degree: int
    low: float = -1.0

    @property
    def cost(self) -> float:
        """Multiplications of T(A) with one vector."""
        return float(self.degree * self.A.nnz)

    def apply(self, X: Any) -> Any:
        """Return T(A) X, possibly in the memory of X."""
        return chebyshev_filter(
            self.A, X, self.degree, self.cut, self.high, overwrite=True
        )

    def height(self, value: float) -> float:
        """Return T(value)."""
        if value >= self.cut:
            return 1.0
        distance = 2 * (self.cut - value) / (self.high - self.cut)
        return float(np.cosh(self.degree * np.arccosh(1 + distance)))

    def value(self, height: float) -> float:
        """Return the value below the cut where T is `height`."""
        if height <= 1:
            return self.cut
        distance = np.cosh(np.arccosh(height) / self.degree) - 1
        return float(self.cut - distance * (self.high - self.cut) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class InverseTransform:
    r"""The function :math:`s / (\lambda + s)` by a band Cholesky factor of A + s I."""

    factor: FloatArray
    shift: float
    low: float = 0.0
    cut: float = np.inf

    @property
    def cost(self) -> float:
        """Multiplications of one solution with the factor."""
        return 2.0 * self.factor.size

    def apply(self, X: Any) -> Any:
        """Return s (A + s I)^-1 X."""
        return self.shift * cho_solve_banded((self.factor, True), X)

    def height(self, value: float) -> float:
        """Return s / (value + s)."""
        return self.shift / (value + self.shift)

    def value(self, height: float) -> float:
        """Return the value where the function is `height`."""
        return self.shift / height - self.shift if height > 0 else np.inf


def make_transform(
    A: SparseArray, cut: float, upper: float, *, single: bool = False
) -> Transform:
    """Return the cheaper transform that separates eigenvalues below `cut`.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric with eigenvalues in [0, upper].
    cut : float
        Positive.
    upper : float
    single : bool, default=False
        Whether the polynomial is computed in single precision.

    Returns
    -------
    Transform
        A factorised inverse where A is a narrow band and the polynomial would have a
        high degree, otherwise the polynomial.
    """
    high = max(upper, cut / 0.9)
    degree = chebyshev_degree(cut, high)
    n, band = A.shape[0], bandwidth(A)
    cheap = band <= WIDEST_BAND and n * float(band) ** 2 <= MOST_WORK
    if cheap and 4 * n * (band + 1) < 2 * (A.nnz + n) * degree:
        try:
            return InverseTransform(_band_factor(A, band, cut / 8), cut / 8)
        except LinAlgError:  # the shift is lost in rounding
            pass
    if single:
        A = in_single(A)
    return ChebyshevTransform(A, cut, high, degree)


def in_single(A: SparseArray) -> SparseArray:
    """Return A in single precision, with the places of its entries not copied."""
    return sparse.csr_array((A.data.astype(np.float32), A.indices, A.indptr), A.shape)


def chebyshev_degree(cut: float, high: float) -> int:
    """Choose the even degree at which T grows to exp(GROWTH) / 2 at 0."""
    rate = np.arccosh(1 + 2 * cut / (high - cut))
    return 2 * int(np.clip(np.ceil(GROWTH / rate / 2), 1, 1000))


def cut_of_degree(degree: float, high: float) -> float:
    """Return the cut below which a degree is enough, see `chebyshev_degree`.

    Examples
    --------
    >>> chebyshev_degree(cut_of_degree(19, 2.0), 2.0)
    20
    """
    return float(high * np.tanh(GROWTH / (2 * degree)) ** 2)


def bandwidth(A: SparseArray) -> int:
    """Return the largest distance of an entry of A from the diagonal."""
    away = np.repeat(np.arange(A.shape[0], dtype=A.indices.dtype), np.diff(A.indptr))
    away -= A.indices
    return int(max(away.max(initial=0), -away.min(initial=0)))


def _band_factor(A: SparseArray, band: int, shift: float) -> FloatArray:
    coo = sparse.coo_array(A)
    below = coo.row >= coo.col
    lower = np.zeros((band + 1, A.shape[0]))
    lower[coo.row[below] - coo.col[below], coo.col[below]] = coo.data[below]
    lower[0] += shift
    factor: FloatArray = cholesky_banded(lower, lower=True)
    return factor
