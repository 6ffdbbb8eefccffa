"""Which point to ask about next: scores of candidates and batches of questions."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import entr

from mercer._typing import FloatArray, IntArray


def entropy(proba: FloatArray) -> FloatArray:
    r"""Return :math:`-\sum_c p_c \log p_c` of each row (Hoi et al. 2006, eq. 19).

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).round(3)
    array([0.   , 0.693])
    """
    scores: FloatArray = entr(proba).sum(axis=1)
    return scores


def least_confidence(proba: FloatArray) -> FloatArray:
    """Return one minus the largest probability of each row."""
    return np.asarray(1 - proba.max(axis=1))


def margin(proba: FloatArray) -> FloatArray:
    """Return one minus the lead of the first class over the second in each row."""
    if proba.shape[1] < 2:
        return np.zeros(len(proba))
    top = np.partition(proba, -2, axis=1)[:, -2:]
    return np.asarray(1 - (top[:, 1] - top[:, 0]))


UNCERTAINTIES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "entropy": entropy,
    "least_confidence": least_confidence,
    "margin": margin,
}


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

    Notes
    -----
    Each pick adds a row to the Cholesky factor of the kernel of known points, at
    O(n_candidates (r + n_labeled)); nothing of size n_candidates squared is formed.
    """
    known, pool = features[labeled], features[candidates]
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
    the candidates j with the scores h as weights, and conditions on it as if it had
    been labelled. An outlier has a large variance and tells nothing about others; a
    point between the classes is uncertain and may be noise; what is asked here lies
    where many uncertain points are.

    Parameters
    ----------
    scores : ndarray of shape (n_points,)
        How uncertain the model is.
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

    Notes
    -----
    With equal scores the criterion of Cohn, Ghahramani and Jordan, "Active learning
    with statistical models" (JAIR 1996), for a Gaussian process. The covariance of
    all candidates is formed: have some thousand of them at the most.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 3.0], [4.0, 0.0]])
    >>> one, few = np.array([0]), np.array([1, 2, 3])
    >>> reducing_batch(np.ones(4), features, one, few, 1, ridge=1.0)
    array([1])
    """
    known, pool, h = features[labeled], features[candidates], scores[candidates]
    B = _explained(known, pool, ridge)
    S = pool @ pool.T - B.T @ B
    chosen: list[int] = []
    free = np.ones(len(candidates), dtype=bool)
    for _ in range(n):
        variance = np.maximum(np.diag(S), 0) + ridge
        value = np.einsum("j,jx,jx->x", h, S, S) / variance
        best = int(np.argmax(np.where(free, value, -np.inf)))
        chosen.append(best)
        free[best] = False
        S -= np.outer(S[best], S[best]) / variance[best]
    return candidates[chosen]


def _explained(known: FloatArray, pool: FloatArray, ridge: float) -> FloatArray:
    """Return B, (l, m): B'B is the covariance that known points explain."""
    K = known @ known.T + ridge * np.eye(len(known))
    B: FloatArray = solve_triangular(
        cholesky(K, lower=True), known @ pool.T, lower=True
    )
    return B


EXPLORING = ("reduction", "variance", "diverse")  # queries that look at features
MOST_CANDIDATES = 1000  # of these
QUERIES = (*UNCERTAINTIES, *EXPLORING, "random")


def choose_rows(
    query: str,
    n: int,
    *,
    proba: FloatArray,
    features: FloatArray | None,
    labeled: IntArray,
    candidates: IntArray,
    rng: np.random.Generator,
) -> IntArray:
    """Return `n` rows to ask about, most useful first.

    Parameters
    ----------
    query : str
        One of `QUERIES`: "entropy", "margin" and "least_confidence" take the most
        uncertain rows; "reduction" takes those that tell most about uncertain ones
        (`reducing_batch`); "variance" explores what the labels leave unknown;
        "diverse" is entropy times that variance, conditioned on the rest of the batch
        (`diverse_batch`); "random" is the baseline.
    n : int
        How many; at most the number of candidates are returned.
    proba : ndarray of shape (n_points, n_classes)
        The model's probabilities.
    features : ndarray of shape (n_points, r) or None
        The learned kernel's feature map; only queries in `EXPLORING` look at it.
    labeled, candidates : ndarray of int
        Rows already labelled, and rows that may be asked about.
    rng : Generator
        Breaks ties of uncertain rows, and draws the random ones.
    """
    n = min(n, len(candidates))
    if query == "random":
        return rng.choice(candidates, size=n, replace=False)
    if query in UNCERTAINTIES:
        scores = UNCERTAINTIES[query](proba[candidates])
        order = np.lexsort((rng.random(len(candidates)), -scores))
        return candidates[order[:n]]
    if query not in EXPLORING:
        msg = f"query must be one of {', '.join(QUERIES)}; got {query!r}."
        raise ValueError(msg)
    if features is None:
        msg = f"query={query!r} compares points by their features; give features."
        raise ValueError(msg)
    mean_diagonal = float(np.einsum("ij,ij->", features, features)) / len(features)
    ridge = 0.1 * mean_diagonal if mean_diagonal > 0 else 1.0
    scores = np.ones(len(proba)) if query == "variance" else entropy(proba)
    choose = reducing_batch if query == "reduction" else diverse_batch
    return choose(scores, features, labeled, candidates, n, ridge=ridge)


def ask_rows(
    query: str,
    n: int,
    *,
    proba: FloatArray,
    features_of: Callable[[IntArray], FloatArray],
    labeled: IntArray,
    rng: np.random.Generator,
) -> IntArray:
    """Return `n` unlabelled rows to ask about, most useful first.

    As `choose_rows`, for many points: features are formed of no more than
    `MOST_CANDIDATES` rows, drawn anew at each call, and only where the query compares
    points with each other.

    Parameters
    ----------
    query : str
        One of `QUERIES`.
    n : int
        How many.
    proba : ndarray of shape (n_points, n_classes)
        The model's probabilities.
    features_of : callable
        Returns the features of rows.
    labeled : ndarray of int
        Rows already labelled.
    rng : Generator
        Draws candidates and breaks ties.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4]])
    >>> arguments = {"features_of": np.eye(3).__getitem__, "labeled": np.array([0])}
    >>> rng = np.random.default_rng(0)
    >>> ask_rows("entropy", 1, proba=proba, **arguments, rng=rng)
    array([2])
    """
    is_free = np.ones(len(proba), dtype=bool)
    is_free[labeled] = False
    free = np.flatnonzero(is_free)
    if query not in EXPLORING:
        return choose_rows(
            query,
            n,
            proba=proba,
            features=None,
            labeled=labeled,
            candidates=free,
            rng=rng,
        )
    most = max(MOST_CANDIDATES, 2 * n)
    if len(free) > most:
        free = rng.choice(free, most, replace=False)
    rows = np.concatenate([labeled, free])
    chosen = choose_rows(
        query,
        n,
        proba=proba[rows],
        features=features_of(rows),
        labeled=np.arange(len(labeled)),
        candidates=np.arange(len(labeled), len(rows)),
        rng=rng,
    )
    return rows[chosen]
