"""Closed-form spectra from labels on the eigenvectors of a Laplacian."""

from dataclasses import dataclass

import numpy as np

from mercer._base.typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ClosedFormSpectrum:
    """Optimum of `solve_closed_form`."""

    weights: FloatArray  # (r,) lambda >= 0
    objective: float  # of Problem (7), Y and K in the span of the basis
    kkt_residual: float  # relative, see `solve_closed_form`


@dataclass(frozen=True, slots=True, eq=False)
class ParameterFreeSpectrum:
    """Result of `solve_parameter_free`."""

    weights: FloatArray  # (r,) proportional to sqrt(A / B), with sum r
    root_mu: float  # signed square root of mu* for C = 1, eq. (10) before squaring
    multiplier: float  # factor of sqrt(A / (2B)) in Proposition 4


def eigenspaces(values: FloatArray) -> IntArray:
    """Return the number of the eigenspace that each sorted eigenvalue belongs to.

    Neighbours that differ by at most 1e-8 times the largest modulus count as one
    repeated eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> eigenspaces(np.array([0.0, 0.0, 0.3, 1.0, 1.0 + 1e-12]))
    array([0, 0, 1, 2, 2])
    """
    steps = np.abs(np.diff(values)) > 1e-8 * np.abs(values).max(initial=0.0)
    return np.concatenate([[0], np.cumsum(steps)]).astype(np.intp)


def label_energy(U: FloatArray, Y: FloatArray, spaces: IntArray) -> FloatArray:
    r"""Return :math:`A_{ii} = \sum_c (u_i^\top y_c)^2`, averaged over eigenspaces.

    Parameters
    ----------
    U : ndarray of shape (n_labeled, r)
        Labelled rows of the eigenvectors.
    Y : ndarray of shape (n_labeled, n_classes)
        Targets.
    spaces : ndarray of shape (r,)
        From `eigenspaces`.

    Notes
    -----
    Within an eigenspace the single :math:`A_{ii}` depend on the choice of its basis;
    their mean does not.

    Examples
    --------
    >>> import numpy as np
    >>> label_energy(np.eye(2), np.array([[1.0], [3.0]]), np.array([0, 0]))
    array([5., 5.])
    """
    A = np.square(U.T @ Y).sum(axis=1)
    mean: FloatArray = np.bincount(spaces, A) / np.bincount(spaces)
    return mean[spaces]


def solve_closed_form(
    A: FloatArray, B: FloatArray, *, C: float, mu: float
) -> ClosedFormSpectrum:
    r"""Minimise :math:`\tfrac12\sum_i A_i/(\lambda_i + 1/C) + \mu\sum_i\lambda_i B_i`.

    The optimum over :math:`\lambda \ge 0` is
    :math:`\lambda_i = [\sqrt{A_i / (2\mu B_i)} - 1/C]_+`.

    Parameters
    ----------
    A : ndarray of shape (r,)
        Label energy per direction, >= 0.
    B : ndarray of shape (r,)
        Penalty per direction, > 0.
    C, mu : float
        Weights of loss and manifold regulariser, > 0.

    Returns
    -------
    ClosedFormSpectrum
        Its `kkt_residual` is the largest violation of stationarity where
        :math:`\lambda_i > 0` and of its sign where :math:`\lambda_i = 0`, relative to
        :math:`\mu B_i`.

    Notes
    -----
    Mao and Tsang (2010), Proposition 2, eq. (8).

    Examples
    --------
    >>> import numpy as np
    >>> A, B = np.array([8.0, 2.0, 0.0]), np.array([1.0, 1.0, 1.0])
    >>> solve_closed_form(A, B, C=1.0, mu=1.0).weights
    array([1., 0., 0.])
    """
    weights = np.maximum(np.sqrt(A / (2 * mu * B)) - 1 / C, 0.0)
    shifted = weights + 1 / C
    gradient = 1 - A / (2 * mu * B * shifted**2)  # over mu B
    violation = np.where(weights > 0, np.abs(gradient), -gradient)
    return ClosedFormSpectrum(
        weights=weights,
        objective=float((A / shifted).sum() / 2 + mu * (weights * B).sum()),
        kkt_residual=float(violation.max(initial=0.0)),
    )


def solve_parameter_free(A: FloatArray, B: FloatArray) -> ParameterFreeSpectrum:
    r"""Return weights :math:`\propto \sqrt{A_i / B_i}` and what the paper reports.

    Parameters
    ----------
    A : ndarray of shape (r,)
        Label energy per direction, >= 0, not all zero.
    B : ndarray of shape (r,)
        Penalty per direction, > 0.

    Notes
    -----
    Mao and Tsang (2010), Propositions 3 and 4. The decision
    :math:`\bar K_{ul}\bar K_{ll}^{-1} y_l` does not change with the scale of
    :math:`\bar K`, so mu and C drop out together with the factor of Proposition 4.
    Eq. (10) squares a root that is negative as a rule: then the alignment has no
    maximiser and grows as :math:`\mu \to 0`, a limit whose decision is the same.

    Examples
    --------
    >>> import numpy as np
    >>> solve_parameter_free(np.array([4.0, 1.0]), np.array([1.0, 1.0])).weights
    array([1.33333333, 0.66666667])
    """
    root = np.sqrt(A / (2 * B))
    x, y = float(A @ root), float(root @ root)
    z, u = float(root.sum()), float(A.sum())
    numerator, denominator = y * u - z * x, z * u - len(A) * x
    # Both vanish where all directions are alike, and any mu aligns equally well.
    flat = abs(denominator) <= 1e-12 * z * u or abs(numerator) <= 1e-12 * y * u
    root_mu = np.nan if flat else numerator / denominator
    return ParameterFreeSpectrum(
        weights=root * (len(A) / z),
        root_mu=root_mu,
        multiplier=1 / abs(root_mu),
    )
