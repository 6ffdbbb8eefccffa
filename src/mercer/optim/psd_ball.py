"""Projection onto positive semi-definite matrices in a Frobenius ball."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from mercer._base.typing import FloatArray
from mercer.optim.positive_part import n_positive


@dataclass(frozen=True, slots=True, eq=False)
class PSDBallProjection:
    r"""The projection of a symmetric W, with what its derivative needs.

    The nearest point is :math:`W_+ \min(1, \sqrt{B}/\|W_+\|_F)`: first onto the cone,
    then onto the ball, which is right because the ball is centred in the cone's apex.
    """

    vectors: FloatArray  # (n, n) eigenvectors of W, positive ones first
    eigenvalues: FloatArray  # (n,) of W, descending
    rank: int  # number of positive eigenvalues
    scale: float  # min(1, sqrt(B) / |W_+|)
    norm: float  # |W_+|_F

    @property
    def values(self) -> FloatArray:
        """Positive eigenvalues of the projection, (rank,)."""
        return self.eigenvalues[: self.rank] * self.scale

    @property
    def range(self) -> FloatArray:
        """Eigenvectors of the projection, (n, rank)."""
        return self.vectors[:, : self.rank]

    def derivative(self, HQ: FloatArray, slope: float) -> tuple[FloatArray, FloatArray]:
        r"""Return (Z, Q) with Z Q^T + Q Z^T the derivative in direction H.

        Only the product HQ of H with Q = `range` is needed.

        .. math:: D = P(\Omega \circ P^\top H P)P^\top, \qquad
            \Omega_{ij} = \frac{(w_i)_+ - (w_j)_+}{w_i - w_j}

        scaled by `slope`, less the radial part where the ball is active (`slope` is
        `scale` for the plain derivative; a caller in other units passes its own).
        """
        r = self.rank
        P, Q, w = self.vectors, self.range, self.eigenvalues
        Y = P.T @ HQ  # (n, r)
        omega = np.full((len(w), r), 0.5)
        omega[r:] = w[:r] / (w[:r] - w[r:, None])
        radial = 0.0
        if self.scale < 1.0:
            unit = w[:r] / self.norm
            radial = float(np.sum(unit * np.diagonal(Y)))
        Z = P @ (omega * Y)
        if radial:
            Z -= Q * (0.5 * radial * w[:r] / self.norm)
        return slope * Z, Q


def project_psd_ball(W: FloatArray, *, budget: float) -> PSDBallProjection:
    """Project symmetric W onto {K : K psd, tr(KK) <= budget}; W is overwritten.

    Examples
    --------
    >>> import numpy as np
    >>> near = project_psd_ball(np.diag([3.0, 4.0, -1.0]), budget=1.0)
    >>> near.values
    array([0.8, 0.6])
    """
    values, vectors = eigh(W, overwrite_a=True, check_finite=False, driver="evd")
    return project_eigenpairs(values[::-1], vectors[:, ::-1], budget=budget)


def project_eigenpairs(
    values: FloatArray, vectors: FloatArray, *, budget: float
) -> PSDBallProjection:
    """Project the matrix with these eigenpairs, largest value first."""
    rank = n_positive(values)
    norm = float(np.linalg.norm(values[:rank]))
    radius = float(np.sqrt(budget))
    return PSDBallProjection(
        vectors=vectors,
        eigenvalues=values,
        rank=rank,
        scale=min(1.0, radius / norm) if norm > 0 else 1.0,
        norm=norm,
    )
