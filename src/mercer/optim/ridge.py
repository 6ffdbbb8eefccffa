"""Regularised least squares on explicit features, with exact leave-one-out."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from mercer._base.html import Shown
from mercer._base.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RLS(Shown):
    """Optimum of `solve_rls` for every column of the targets.

    Parameters
    ----------
    coef : ndarray of shape (r, n_targets)
        Weights w of the features.
    dual_coef : ndarray of shape (l, n_targets)
        Weights alpha of the labelled points; w = features' alpha.
    loo_residuals : ndarray of shape (l, n_targets)
        Error at each labelled point when it is left out.
    rank : int
        Numerical rank of the features.
    residual : float
        Error of the normal equations, relative to the targets; 0 is exact.
    """

    coef: FloatArray
    dual_coef: FloatArray
    loo_residuals: FloatArray
    rank: int
    residual: float


def solve_rls(features: FloatArray, targets: FloatArray, *, C: float) -> RLS:
    r"""Minimise :math:`\frac12\|w\|^2 + \frac C2\sum_i (y_i - w^\top\phi_i)^2`.

    Parameters
    ----------
    features : ndarray of shape (l, r)
        Rows :math:`\phi_i`.
    targets : ndarray of shape (l, n_targets)
        One problem per column.
    C : float
        Weight of the loss, > 0. ``inf`` is the limit: the shortest w among the
        least-squares solutions, which interpolates where the features allow it.

    Notes
    -----
    Mao and Tsang (2010), eq. 1 to 3: :math:`w = \Phi^\top\alpha` with
    :math:`\alpha = G y`, :math:`G = (\Phi\Phi^\top + I/C)^{-1}` (the pseudo-inverse
    for C = inf), here from one thin SVD of the features, at cost
    :math:`O(lr\min(l, r))`. Leaving out point i changes its residual to
    :math:`\alpha_i / G_{ii}`. For C = inf that holds where :math:`\phi_i` is
    independent of the other rows; elsewhere the residual is
    :math:`(y_i - f_i) / (1 - h_i)` with the leverage :math:`h_i`.

    Examples
    --------
    >>> import numpy as np
    >>> Phi = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fit = solve_rls(Phi, np.array([[1.0], [0.0], [1.0]]), C=np.inf)
    >>> (Phi @ fit.coef).round(6).T
    array([[1., 0., 1.]])
    """
    U, s, Vt = svd(features, full_matrices=False, lapack_driver="gesdd")
    cut = s.max(initial=0.0) * max(features.shape) * np.finfo(float).eps
    keep = s > cut
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    projected = U.T @ targets  # (rank, n_targets)
    shrunk = s / (s**2 + 1 / C)
    coef = Vt.T @ (shrunk[:, None] * projected)
    fitted = U @ ((s * shrunk)[:, None] * projected)
    # What no feature explains; exactly zero when the rows are independent.
    full = len(s) == len(features)
    outside = np.zeros_like(targets) if full else targets - U @ projected
    inverse = 1 / (s**2 + 1 / C)
    dual = U @ (inverse[:, None] * projected)
    G = (U**2) @ inverse
    free = np.zeros(len(U)) if full else np.clip(1 - (U**2).sum(axis=1), 0.0, None)
    if np.isfinite(C):
        dual += C * outside
        loo = dual / (G + C * free)[:, None]
    else:
        loo = _loo_of_interpolation(dual, G, outside, free)
    gradient = features.T @ (targets - fitted) - coef / C
    scale = np.abs(features).sum(axis=0).max(initial=0.0) * np.abs(targets).max()
    residual = float(np.abs(gradient).max(initial=0.0) / scale) if scale > 0 else 0.0
    return RLS(coef, dual, loo, len(s), residual)


def _loo_of_interpolation(
    dual: FloatArray, G: FloatArray, outside: FloatArray, free: FloatArray
) -> FloatArray:
    """Leave-one-out residuals of the shortest least-squares solution."""
    # A row that the features cannot tell from zero predicts nothing: f(x_i) = 0
    # with or without it, which the second formula gives (free = 1).
    independent = free <= 1e-9
    loo = np.empty_like(dual)
    loo[independent] = dual[independent] / G[independent, None]
    loo[~independent] = outside[~independent] / free[~independent, None]
    return loo
