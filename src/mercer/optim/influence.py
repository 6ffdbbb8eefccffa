"""Influence of points, and the cost of each kernel it implies."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh

from mercer._base.typing import FloatArray
from mercer.optim.affine_psd import AffineCombination, solve_affine_psd

_ROUNDING = 1e-12  # of sums of kernel values, relative


@dataclass(frozen=True, slots=True, eq=False)
class InfluenceCosts:
    """What the influence of the points says about each of b kernels."""

    weighted: FloatArray  # (b,) s of Eq. 30: distances weighted by influence
    total: FloatArray  # (b,) the same with every weight one
    effect: float  # largest relative change of s when all points weigh the same


def stationary_distances(distances: FloatArray) -> FloatArray:
    r"""Stationary distribution u of the walk whose weights are distances.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Plain (not squared) distances in the input space; or similarities, whose walk
        has its distribution in the same way.

    Returns
    -------
    ndarray of shape (n,)
        :math:`u_i = d_i / \sum_j d_j` with :math:`d_i = \sum_j w_{ij}`. A point in a
        dense region has a small u; its influence is :math:`1 - u_i`.

    Notes
    -----
    Abbasnejad, Ramachandram, Mandava (2010), Eq. 4-11.

    Examples
    --------
    >>> stationary_distances(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([0.5, 0.5])
    """
    degrees = distances.sum(axis=1)
    total = degrees.sum()
    if total == 0:
        msg = (
            "all points are equal: their influence is undefined; pass distinct points."
        )
        raise ValueError(msg)
    return np.asarray(degrees / total, dtype=np.float64)


def diffusion_distances(similarity: FloatArray, time: int) -> FloatArray:
    r"""Distances between where walks from two points are after some steps.

    .. math::
        D_\tau^2(i, j) = \sum_k \frac{\bigl((P^\tau)_{ik} - (P^\tau)_{jk}\bigr)^2}
        {u_k}, \qquad P = \operatorname{diag}(d)^{-1} W, \quad
        u_k = d_k / \textstyle\sum_j d_j.

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
        W: symmetric, non-negative, no row of zeros.
    time : int
        Steps :math:`\tau` of the walk, at least 1.

    Returns
    -------
    ndarray of shape (n, n)

    Notes
    -----
    Abbasnejad, Ramachandram, Mandava (2010), Eq. 5 and 7. The print divides by
    :math:`\mu`, which its Eq. 11 defines as 1 - u; the diffusion maps that it cites
    divide by the stationary distribution u, and so does this function: only then is
    the distance plain between the eigenvectors of the walk.

    Examples
    --------
    >>> diffusion_distances(np.array([[2.0, 1.0], [1.0, 2.0]]), 1).round(3)
    array([[0.   , 0.667],
           [0.667, 0.   ]])
    """
    d = similarity.sum(axis=1)
    empty = np.flatnonzero(d == 0)
    if len(empty):
        msg = (
            f"row {empty[0]} of the similarity is zero: no walk leaves that point; "
            "give each point a neighbour, or leave diffusion_time out."
        )
        raise ValueError(msg)
    # S = D^(-1/2) W D^(-1/2) is symmetric, and P^t = D^(-1/2) S^t D^(1/2).
    root = np.sqrt(d)
    S = np.linalg.matrix_power(similarity / root[:, None] / root, time)
    walks = S / root[:, None] * np.sqrt(d.sum())  # P^t / sqrt(u)
    squares = np.square(walks).sum(axis=1)
    squared = squares[:, None] + squares - 2 * walks @ walks.T
    squared[squared < len(d) * np.finfo(float).eps * squares.max()] = 0.0
    np.fill_diagonal(squared, 0.0)
    distances: FloatArray = np.sqrt(squared)
    return distances


def influence_costs(K: FloatArray, influence: FloatArray) -> InfluenceCosts:
    r"""Distances in each feature space, weighted by influence.

    .. math::
        s_\ell = \sum_{ij} \mu_j (B_\ell)_{ij}, \qquad
        (B_\ell)_{ij} = K_{ii} + K_{jj} - 2 K_{ij}.

    Parameters
    ----------
    K : ndarray of shape (b, n, n)
        Kernel matrices after the normalisation of Eq. 19.
    influence : ndarray of shape (n,)
        :math:`\mu`: 1 - u with u from `stationary_distances`, or the stationary
        distribution itself where it is one of similarities.

    Notes
    -----
    Eq. 28-30: squared distances in the feature space. `effect` compares with the mean
    influence for all points; with distances it is usually below a percent, since
    1 - u hardly differs from point to point once n is large.

    Examples
    --------
    >>> costs = influence_costs(np.eye(2)[None], np.array([0.5, 0.5]))
    >>> costs.weighted, costs.total
    (array([2.]), array([4.]))
    """
    n = K.shape[1]
    diagonals = np.diagonal(K, axis1=1, axis2=2)
    # Column sums of B: sum_i B_ij.
    columns = diagonals.sum(axis=1)[:, None] + n * diagonals - 2 * K.sum(axis=1)
    weighted = columns @ influence
    total = columns.sum(axis=1)
    even = total * influence.mean()
    positive = even > 0
    change = np.abs(weighted[positive] - even[positive]) / even[positive]
    return InfluenceCosts(weighted, total, float(change.max(initial=0.0)))


def solve_fractional_affine(
    K: FloatArray,
    numerator: FloatArray,
    denominator: FloatArray,
    *,
    tol: float = 1e-6,
    slack: float = 1e-10,
    max_iter: int = 20,
) -> AffineCombination:
    r"""Minimise a ratio over positive semi-definite affine combinations.

    .. math::
        \min_\alpha \frac{s^\top\alpha}{t^\top\alpha} \quad\text{subject to}\quad
        \textstyle\sum_\ell \alpha_\ell K_\ell \succeq 0, \; 1^\top\alpha = 1.

    Parameters
    ----------
    K : ndarray of shape (b, n, n)
    numerator, denominator : ndarray of shape (b,)
        s and t; t of every combination is non-negative.
    tol : float, default=1e-6
        Largest `gap`.
    slack : float, default=1e-10
        As in `solve_affine_psd`.
    max_iter : int, default=20

    Returns
    -------
    AffineCombination
        `objective` is the ratio. `gap` is how far the parametric optimum is below
        zero, in units of the denominator at the solution; `lower_bound` holds for
        every combination whose denominator is at least that one.

    Notes
    -----
    This is Eq. 26 itself. The step from (26) to (29) drops the sum of all degrees in
    the feature space, although it depends on the weights. Dinkelbach's method: solve
    for :math:`s - \lambda t`, take the new ratio for :math:`\lambda`, repeat until
    the parametric optimum is zero; the number of solves is a handful.

    Examples
    --------
    >>> K = np.array([[[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> s, t = np.array([1.2, 2.0]), np.array([2.0, 4.0])
    >>> solution = solve_fractional_affine(K, s, t)
    >>> solution.weights.round(4), round(solution.objective, 6)
    (array([-2.,  3.]), 0.45)
    """
    b = len(K)
    weights = np.full(b, 1 / b)
    for _ in range(max_iter):
        spread = float(denominator @ weights)
        ratio = float(numerator @ weights) / spread
        cost = numerator - ratio * denominator
        if np.abs(cost).max() <= _ROUNDING * np.abs(numerator).max():
            cost = np.zeros(b)  # every combination has this ratio
        scale = float(np.abs(cost).max()) or 1.0
        inner_tol = min(0.1 * tol * spread / scale, 1e-2)
        solution = solve_affine_psd(K, cost, tol=inner_tol, unit=scale, slack=slack)
        gap = -solution.lower_bound / spread
        found = float(denominator @ solution.weights)
        if gap <= tol or found <= _ROUNDING * np.abs(denominator).max():
            break
        weights = solution.weights
    combined = np.tensordot(weights, K, axes=1)
    return AffineCombination(
        weights,
        ratio,
        ratio + solution.lower_bound / spread,
        gap,
        float(eigvalsh(combined, subset_by_index=[0, 0], check_finite=False)[0]),
        solution.n_rounds,
        solution.n_cuts,
        solution.n_directions,
    )
