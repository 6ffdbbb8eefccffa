"""What to ask while classes are still being found: typical rows that differ."""

from collections.abc import Callable

import numpy as np

from mercer._base.random import draw_rows
from mercer._base.ranges import unit_rows
from mercer._base.typing import FloatArray, IntArray

MOST_COMPARED = 2000  # rows whose similarities are formed, a square matrix
_AT_ONCE = 256  # rows of it that are worked on
SHARPNESS = 3.0  # power of a cosine; rows stand for close ones only
# Share of rows in classes that nobody has named, above which classes are looked for.
# Chosen with SHARPNESS on the choosing half of benchmarks/collection.
MOST_UNSEEN = 0.25


def unseen_share(counts: IntArray) -> float:
    """Estimate the share of rows whose class has no label yet.

    The share of labels that are the only one of their class, by Good (1953).

    Parameters
    ----------
    counts : ndarray of int
        Labels of each class.

    Examples
    --------
    >>> unseen_share(np.array([1, 1, 1])), unseen_share(np.array([2, 5, 1]))
    (1.0, 0.125)
    """
    total = int(counts.sum())
    return float(np.count_nonzero(counts == 1)) / total if total else 1.0


def typical_rows(
    features: FloatArray,
    n: int,
    *,
    known: FloatArray | None = None,
    sharpness: float = SHARPNESS,
) -> IntArray:
    r"""Choose rows that stand for all rows, by greedy facility location.

    Takes the row x that adds most to

    .. math:: F(S) = \sum_j \max_{x \in S} s(x_j, x),

    s the cubed cosine of two rows, or 0 where it is negative. A row in a dense group
    represents many rows; once the group has a representative, another row of it adds
    little. So the first questions visit one group after the other, the largest first,
    and leave outliers for later.

    Parameters
    ----------
    features : ndarray of shape (m, r)
        Rows that may be asked about, and that are to be represented.
    n : int
        How many rows; fewer where there are fewer.
    known : ndarray of shape (l, r), optional
        Rows that were asked already: what they represent is not asked again.
    sharpness : float, default=3
        Power of the cosine.

    Returns
    -------
    ndarray of shape (n,)
        Positions, most useful first.

    See Also
    --------
    cold_rows : Rows of classes that have no label yet.

    Notes
    -----
    F is submodular, so the greedy choice reaches 1 - 1/e of the best value
    (Nemhauser, Wolsey and Fisher 1978), and what a row adds only falls: few rows are
    looked at again after each choice (Minoux 1978). The matrix of similarities is
    formed: pass a few thousand rows at most.

    Examples
    --------
    >>> groups = np.array([[9.0, 2.0], [9.0, 0.0], [9.0, -2.0], [0.0, 3], [1.0, 3]])
    >>> typical_rows(groups, 2)  # one row of each group
    array([1, 3])
    """
    unit = unit_rows(features)
    S = unit @ unit.T
    covered = np.zeros(len(unit))
    if known is not None and len(known):
        covered = _sharpened((unit @ unit_rows(known).T).max(axis=1), sharpness)
    most = np.empty(len(unit))  # that rows may add, free ones
    for start in range(0, len(unit), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        S[rows] = _sharpened(S[rows], sharpness)
        most[rows] = np.maximum(S[rows] - covered, 0.0).sum(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(n, len(unit)):
        best = int(np.argmax(most))
        gain = float(np.maximum(S[best] - covered, 0.0).sum())
        if gain < most[best]:  # rows chosen since represent what it would add
            most[best] = gain
            continue
        chosen.append(best)
        most[best] = -np.inf
        covered = np.maximum(covered, S[best])
    return np.array(chosen, dtype=np.intp)


def cold_rows(
    features_of: Callable[[IntArray], FloatArray],
    n: int,
    *,
    n_points: int,
    asked: IntArray,
    rng: np.random.Generator,
    most: int = MOST_COMPARED,
) -> IntArray:
    """Return rows of a table to ask about while classes are still being found.

    Parameters
    ----------
    features_of : callable
        Returns the features of rows, (m, r), such that a cosine compares two of them.
    n : int
        How many.
    n_points : int
        Rows of the table.
    asked : ndarray of int
        Rows that are not asked again: labelled, skipped, or before someone now.
    rng : Generator
        Draws the rows that are compared where there are more than `most`.
    most : int, default=2000
        Rows compared.

    See Also
    --------
    typical_rows : Rows that stand for many others.

    Examples
    --------
    >>> features = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [0.0, 1.0]])
    >>> asked, rng = np.array([0]), np.random.default_rng(0)
    >>> cold_rows(lambda rows: features[rows], 1, n_points=4, asked=asked, rng=rng)
    array([3])
    """
    free = np.setdiff1d(np.arange(n_points), asked)
    some, known = np.sort(draw_rows(free, most, rng)), draw_rows(asked, most, rng)
    chosen = typical_rows(features_of(some), n, known=features_of(known))
    return np.asarray(some[chosen])


def _sharpened(cosine: FloatArray, power: float) -> FloatArray:
    """Return a power of the cosine, 0 where it is negative."""
    above: FloatArray = np.maximum(cosine, 0.0)
    # Two products take a tenth of the time of a power.
    return above * above * above if power == 3 else above**power
