"""Which points to ask about next."""

from collections.abc import Callable

import numpy as np
from scipy.special import entr

from mercer._base.random import draw_rows
from mercer._base.typing import FloatArray, IntArray
from mercer.active.batches import diverse_batch, error_batch, reducing_batch


def entropy(proba: FloatArray) -> FloatArray:
    r"""Return :math:`-\sum_c p_c \log p_c` of each row (Hoi et al. 2006, eq. 19).

    Parameters
    ----------
    proba : ndarray of shape (n, n_classes)
        Probabilities of the classes.

    See Also
    --------
    margin : Of the two likeliest classes.
    reducing_batch : Looks at all rows, not at one.

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).round(3)
    array([0.   , 0.693])
    """
    scores: FloatArray = entr(proba).sum(axis=1)
    return scores


def least_confidence(proba: FloatArray) -> FloatArray:
    """Return one minus the largest probability of each row.

    Parameters
    ----------
    proba : ndarray of shape (n, n_classes)
        Probabilities of the classes.

    See Also
    --------
    entropy : Of all classes.
    margin : Of the two likeliest classes.

    Examples
    --------
    >>> import numpy as np
    >>> least_confidence(np.array([[0.7, 0.2, 0.1]])).round(3)
    array([0.3])
    """
    return np.asarray(1 - proba.max(axis=1))


def margin(proba: FloatArray) -> FloatArray:
    """Return one minus the lead of the first class over the second in each row.

    Parameters
    ----------
    proba : ndarray of shape (n, n_classes)
        Probabilities of the classes.

    See Also
    --------
    entropy : Of all classes.
    least_confidence : Of the likeliest class.

    Examples
    --------
    >>> import numpy as np
    >>> margin(np.array([[0.7, 0.2, 0.1]])).round(3)
    array([0.5])
    """
    if proba.shape[1] < 2:
        return np.zeros(len(proba))
    top = np.partition(proba, -2, axis=1)[:, -2:]
    return np.asarray(1 - (top[:, 1] - top[:, 0]))


UNCERTAINTIES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "entropy": entropy,
    "least_confidence": least_confidence,
    "margin": margin,
}


EXPLORING = (
    "fill",
    "fill_new",
    "reduction",
    "variance",
    "diverse",
)  # queries that look at features
MOST_CANDIDATES = 1000  # of these
# Noise in units of the kernel's mean diagonal. Of 0.1, 0.3 and 1 the first was best on
# the choosing half of benchmarks/collection, with few questions most.
NOISES = {"fill": 0.1, "fill_new": 0.1}
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
        (`reducing_batch`); "fill" and "fill_new" take those expected to remove most
        errors, in this table and among new rows (`error_batch`); "variance"
        explores what the labels leave unknown; "diverse" is entropy times that
        variance, conditioned on the rest of the batch (`diverse_batch`); "random" is
        the baseline.
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

    See Also
    --------
    learn_actively : A whole loop.
    ask_rows : The same from probabilities and features.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4], [0.8, 0.2]])
    >>> rows = {"labeled": np.array([0]), "candidates": np.array([1, 2, 3])}
    >>> rng = np.random.default_rng(0)
    >>> choose_rows("margin", 2, proba=proba, features=None, rng=rng, **rows)
    array([2, 3])
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
    mean = float(np.einsum("ij,ij->", features, features)) / len(features) or 1.0
    # Noise as large as the kernel: the middle of the ridges of the default machine.
    ridge = mean if query not in NOISES else NOISES[query] * mean
    if query in ("fill", "fill_new", "reduction"):
        candidates = draw_rows(candidates, max(MOST_CANDIDATES, 2 * n), rng)
        others = np.setdiff1d(np.arange(len(proba)), labeled)
        targets = np.union1d(draw_rows(others, MOST_CANDIDATES, rng), candidates)
        if query != "reduction":
            return error_batch(
                least_confidence(proba),
                features,
                labeled,
                targets,
                candidates,
                n,
                ridge=ridge,
                own=query == "fill",
            )
        return reducing_batch(
            entropy(proba), features, labeled, targets, candidates, n, ridge=ridge
        )
    scores = np.ones(len(proba)) if query == "variance" else entropy(proba)
    return diverse_batch(scores, features, labeled, candidates, n, ridge=ridge)


def ask_rows(
    query: str,
    n: int,
    *,
    n_points: int,
    proba_of: Callable[[IntArray], FloatArray],
    features_of: Callable[[IntArray], FloatArray],
    labeled: IntArray,
    rng: np.random.Generator,
    excluded: IntArray | None = None,
) -> IntArray:
    """Return `n` unlabelled rows to ask about, most useful first.

    As `choose_rows`, for many points: where the query compares points with each other,
    it looks at no more than `MOST_CANDIDATES` free rows (at twice n, if that is more),
    drawn again at each call.

    Parameters
    ----------
    query : str
        One of `QUERIES`.
    n : int
        How many.
    n_points : int
        Rows in all.
    proba_of : callable
        Returns the model's probabilities of rows, (m, n_classes).
    features_of : callable
        Returns the features of rows.
    labeled : ndarray of int
        Rows already labelled.
    rng : Generator
        Draws candidates and breaks ties.
    excluded : ndarray of int, optional
        Rows that nobody can label. They are not asked about, but still to be known.

    See Also
    --------
    learn_actively : The loop around it.

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4]])
    >>> arguments = {"features_of": np.eye(3).__getitem__, "labeled": np.array([0])}
    >>> rng = np.random.default_rng(0)
    >>> ask_rows(
    ...     "entropy", 1, n_points=3, proba_of=proba.__getitem__, **arguments, rng=rng
    ... )
    array([2])
    """
    is_free = np.ones(n_points, dtype=bool)
    is_free[labeled] = False
    silent = np.setdiff1d([] if excluded is None else excluded, labeled).astype(np.intp)
    is_free[silent] = False
    free = np.flatnonzero(is_free)
    if query == "random":
        return rng.choice(free, size=min(n, len(free)), replace=False)
    if query not in EXPLORING:
        chosen = choose_rows(
            query,
            n,
            proba=proba_of(free),
            features=None,
            labeled=labeled[:0],
            candidates=np.arange(len(free)),
            rng=rng,
        )
        return free[chosen]
    free = draw_rows(free, max(MOST_CANDIDATES, 2 * n), rng)
    rows = np.concatenate([labeled, free, silent])
    chosen = choose_rows(
        query,
        n,
        proba=proba_of(rows),
        features=features_of(rows),
        labeled=np.arange(len(labeled)),
        candidates=np.arange(len(labeled), len(labeled) + len(free)),
        rng=rng,
    )
    return rows[chosen]
