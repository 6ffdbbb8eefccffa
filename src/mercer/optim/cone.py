"""The best aligned spectrum among those that decay."""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from mercer._base.typing import BoolArray, FloatArray
from mercer.optim.nnls import solve_nnls


@dataclass(frozen=True, slots=True, eq=False)
class DecayingSpectrum:
    """Optimum of `solve_decaying_spectrum`."""

    weights: FloatArray  # (d,) mu >= 0, scaled as the projection of the target
    objective: float  # b'mu / sqrt(mu'G mu): the alignment times ||T||
    kkt_residual: float  # of the non-negative least squares form
    n_iter: int


def solve_decaying_spectrum(
    G: FloatArray,
    b: FloatArray,
    *,
    decay: float = 1.0,
    free: BoolArray | None = None,
) -> DecayingSpectrum:
    r"""Maximise :math:`b^\top\mu / \sqrt{\mu^\top G \mu}` over decaying spectra.

    .. math:: \mu_i \ge 0, \qquad \mu_i \ge \mathrm{decay} \cdot \mu_{i+1},

    where i runs over the entries that are not free.

    Parameters
    ----------
    G : ndarray of shape (d, d)
        Inner products of the d base kernels on the labelled points,
        :math:`G_{ij} = (v_i^\top v_j)^2`.
    b : ndarray of shape (d,)
        Inner products with the target kernel, :math:`b_i = v_i^\top T v_i`.
    decay : float, default=1.0
        At least 1.
    free : ndarray of shape (d,) of bool, optional
        Entries that must only be non-negative; none by default.

    Notes
    -----
    The constraints span a cone: with
    :math:`\mu_i = \mathrm{decay}^{-(i-1)} \sum_{j \ge i} s_j` they say
    :math:`s \ge 0`. The kernel of a cone that aligns best with T is the
    projection of T on the cone, so the quadratic programme of Hoi, Lyu and Chang
    (KDD 2006, eq. 14) is non-negative least squares in s. The printed constraint
    :math:`\mu_i > C \mu_{i+1}` in (11) has no closed feasible set and is read as
    :math:`\ge`, as in (13) and (14).

    Examples
    --------
    >>> import numpy as np
    >>> solve_decaying_spectrum(np.eye(3), np.array([1.0, 2.0, 0.0])).weights
    array([1.5, 1.5, 0. ])
    """
    chained = np.ones(len(b), dtype=bool)
    if free is not None:
        chained &= ~free
    scale = np.where(chained, np.power(decay, 1.0 - np.cumsum(chained)), 1.0)
    H, c = _to_generators(G, b, scale, chained)
    solution = solve_nnls(H, c)
    mu = scale * solution.x
    mu[chained] = scale[chained] * np.cumsum(solution.x[chained][::-1])[::-1]
    norm = math.sqrt(max(float(mu @ G @ mu), 0.0))
    return DecayingSpectrum(
        weights=mu,
        objective=float(b @ mu) / norm if norm > 0 else 0.0,
        kkt_residual=solution.kkt_residual,
        n_iter=solution.n_iter,
    )


@njit(cache=True)
def _to_generators(G, b, scale, chained):  # type: ignore[no-untyped-def]
    """Return M'GM and M'b for mu = Ms: running sums over the chained entries."""
    H, c = G.copy(), b.copy()
    for i in range(len(b)):
        run = 0.0
        for j in range(len(b)):
            if chained[j]:
                run += scale[j] * G[i, j]
                H[i, j] = run
    last = -1
    for i in range(len(b)):
        if not chained[i]:
            continue
        H[i] *= scale[i]
        c[i] *= scale[i]
        if last >= 0:
            H[i] += H[last]
            c[i] += c[last]
        last = i
    return H, c
