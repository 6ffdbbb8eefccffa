"""Batches of questions without redundancy, by the variance of a Gaussian process."""

import numpy as np
from scipy.linalg import cholesky, get_blas_funcs, qr, solve_triangular

from mercer._base.typing import FloatArray, IntArray


def diverse_batch(
    scores: FloatArray,
    features: FloatArray,
    labeled: IntArray,
    candidates: IntArray,
    n: int,
    *,
    ridge: float,
) -> IntArray:
    r"""Choose rows of high score, each far in the kernel from those already known.

    Greedily takes the candidate with the largest score times

    .. math:: v(x) = k(x, x) - k_{xl} (K_{ll} + \rho I)^{-1} k_{lx}
        = \rho\, \phi(x)^\top (\Phi_l^\top \Phi_l + \rho I)^{-1} \phi(x),

    the variance of a Gaussian process given the labels, and conditions on it as if it
    had been labelled: a point close to one already asked for adds nothing, so a batch
    holds no two copies of one question. The variance does not depend on the labels'
    values: it explores where the uncertainty of a model with a handful of labels
    would only exploit.

    Parameters
    ----------
    scores : ndarray of shape (n_points,)
        How uncertain the model is; ones to explore only.
    features : ndarray of shape (n_points, r)
        Feature map of all points.
    labeled, candidates : ndarray of int
        Rows already labelled, and rows that may be asked about.
    n : int
        Size of the batch.
    ridge : float
        Noise variance, in units of the kernel.

    Returns
    -------
    ndarray of shape (n,)
        Rows, most useful first.

    See Also
    --------
    reducing_batch : Rows that remove most errors.

    Notes
    -----
    Each pick adds a row to the Cholesky factor of the kernel of known points, at
    O(n_candidates (r + n_labeled)); nothing of size n_candidates squared is formed.

    Examples
    --------
    >>> features = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> known, free = np.array([0]), np.array([1, 2, 3])
    >>> diverse_batch(np.ones(4), features, known, free, 2, ridge=0.1)
    array([2, 3])
    """
    known, pool = _condensed(features[labeled]), features[candidates]
    B = np.empty((len(known) + n, len(pool)))
    B[: len(known)] = _explained(known, pool, ridge)
    variance = np.einsum("ij,ij->i", pool, pool)
    variance -= np.einsum("ij,ij->j", B[: len(known)], B[: len(known)])
    chosen: list[int] = []
    free = np.ones(len(candidates), dtype=bool)
    for size in range(len(known), len(known) + n):
        value = np.where(free, scores[candidates] * np.maximum(variance, 0), -np.inf)
        best = int(np.argmax(value))
        chosen.append(best)
        free[best] = False
        B[size] = pool @ pool[best] - B[:size, best] @ B[:size]
        B[size] /= np.sqrt(max(variance[best], 0) + ridge)
        variance -= B[size] ** 2
    return candidates[chosen]


def reducing_batch(
    scores: FloatArray,
    features: FloatArray,
    labeled: IntArray,
    targets: IntArray,
    candidates: IntArray,
    n: int,
    *,
    ridge: float,
) -> IntArray:
    r"""Choose rows whose labels would tell most about all uncertain ones.

    Greedily takes the candidate x with the largest

    .. math:: \sum_j h_j\, \frac{s(x_j, x)^2}{s(x, x) + \rho}, \qquad
        s(x, z) = k(x, z) - k_{xl} (K_{ll} + \rho I)^{-1} k_{lz},

    what a label at x would take off the variance of a Gaussian process, summed over
    the targets j with the scores h as weights, and conditions on it as if it had been
    labelled. An outlier has a large variance and tells nothing about others; a
    point between the classes is uncertain and may be noise; what is asked here lies
    where many uncertain points are.

    Parameters
    ----------
    scores : ndarray of shape (n_points,)
        How uncertain the model is.
    features : ndarray of shape (n_points, r)
        Feature map of all points.
    labeled, targets, candidates : ndarray of int
        Rows already labelled, rows that are to be known, in ascending order, and
        those of them that may be asked about.
    n : int
        Size of the batch.
    ridge : float
        Noise variance, in units of the kernel.

    Returns
    -------
    ndarray of shape (n,)
        Rows, most useful first.

    See Also
    --------
    diverse_batch : Uncertain rows far from each other.

    Notes
    -----
    With equal scores the criterion of Cohn, Ghahramani and Jordan, "Active learning
    with statistical models" (JAIR 1996), for a Gaussian process. The covariance of
    targets and candidates is formed: have some thousand at the most.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 3.0], [4.0, 0.0]])
    >>> one, few = np.array([0]), np.array([1, 2, 3])
    >>> reducing_batch(np.ones(4), features, one, few, few, 1, ridge=1.0)
    array([1])
    """
    known, h = _condensed(features[labeled]), scores[targets]
    B = _explained(known, features[targets], ridge)
    own = np.searchsorted(targets, candidates)  # where the candidates are in there
    S = features[targets] @ features[candidates].T - B.T @ B[:, own]
    chosen: list[int] = []
    free = np.ones(len(candidates), dtype=bool)
    for _ in range(n):
        variance = np.maximum(S[own, np.arange(len(own))], 0) + ridge
        value = np.einsum("j,jx,jx->x", h, S, S) / variance
        best = int(np.argmax(np.where(free, value, -np.inf)))
        chosen.append(best)
        free[best] = False
        S -= np.outer(S[:, best], S[own[best]]) / variance[best]
    return candidates[chosen]


def error_batch(
    errors: FloatArray,
    features: FloatArray,
    labeled: IntArray,
    targets: IntArray,
    candidates: IntArray,
    n: int,
    *,
    ridge: float,
    own: bool,
) -> IntArray:
    r"""Choose rows whose labels are expected to remove most errors.

    Greedily takes the candidate x with the largest

    .. math:: [e_x] + \sum_{j \ne x} e_j\,
        \frac{s(x_j, x)^2}{(s(x, x) + \rho)\,(s(x_j, x_j) + \rho)},

    e the probability that a row is predicted wrong, s the covariance of a Gaussian
    process given the labels. The fraction is the share of what is unknown about j that
    a label at x would tell. With few labels the sum is the larger part; with many, s is
    small against the noise, and what is left is the row's own error, which its label
    removes for certain: that counts where this table is to be filled, but not
    where new rows are to be predicted.

    Parameters
    ----------
    errors : ndarray of shape (n_points,)
        Probability that the prediction of each row is wrong.
    features : ndarray of shape (n_points, r)
        Feature map of all points.
    labeled, targets, candidates : ndarray of int
        As in `reducing_batch`.
    n : int
        Size of the batch.
    ridge : float
        Noise variance, in units of the kernel.
    own : bool
        Whether the row's own error counts.

    Returns
    -------
    ndarray of shape (n,)
        Rows, most useful first.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 3.0], [4.0, 0.0]])
    >>> errors, few = np.array([0.0, 0.2, 0.2, 0.4]), np.array([1, 2, 3])
    >>> at = {"ridge": 1.0, "labeled": np.array([0]), "targets": few, "candidates": few}
    >>> error_batch(errors, features, n=1, own=False, **at)  # tells about another
    array([1])
    >>> error_batch(errors, features, n=1, own=True, **at)
    array([3])
    """
    known, e = _condensed(features[labeled]), errors[targets].astype(np.float64)
    B = _explained(known, features[targets], ridge)
    place = np.searchsorted(targets, candidates)
    every = np.arange(len(place))
    S = features[targets] @ features[candidates].T - B.T @ B[:, place]
    spread = np.einsum("ij,ij->i", features[targets], features[targets])
    spread = np.maximum(spread - np.einsum("ij,ij->j", B, B), 0.0)
    ger = get_blas_funcs("ger", (S,))
    chosen: list[int] = []
    free = np.ones(len(candidates), dtype=bool)
    for _ in range(n):
        variance = np.maximum(S[place, every], 0) + ridge
        weights = e / (spread + ridge)
        others = np.einsum("j,jx,jx->x", weights, S, S)
        others -= weights[place] * S[place, every] ** 2
        value = others / variance + (e[place] if own else 0.0)
        best = int(np.argmax(np.where(free, value, -np.inf)))
        chosen.append(best)
        free[best] = False
        column = S[:, best].copy()
        told = column**2 / (variance[best] * (spread + ridge))
        told[place[best]] = 1.0
        e *= 1 - np.minimum(told, 1.0)
        spread = np.maximum(spread - column**2 / variance[best], 0.0)
        row = S[place[best]] / variance[best]
        S = ger(-1.0, row, column, a=S.T, overwrite_a=True).T  # S - column row'
    return candidates[chosen]


def _condensed(known: FloatArray) -> FloatArray:
    """Return at most r points that explain what l points of r features do.

    What is explained depends on the inner products of the features alone.
    """
    if len(known) <= known.shape[1]:
        return known
    R: FloatArray = qr(known, mode="r", check_finite=False)[0][: known.shape[1]]
    return R


def _explained(known: FloatArray, pool: FloatArray, ridge: float) -> FloatArray:
    """Return B, (l, m): B'B is the covariance that known points explain."""
    K = known @ known.T + ridge * np.eye(len(known))
    B: FloatArray = solve_triangular(
        cholesky(K, lower=True), known @ pool.T, lower=True
    )
    return B
