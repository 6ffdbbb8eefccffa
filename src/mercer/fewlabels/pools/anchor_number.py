"""How many anchors a pool can afford."""

from typing import Any

import numpy as np

from mercer.spectrum.anchor import ROUNDS, SAMPLED_PER_ANCHOR, anchor_index

# Limit of work: with fewer points an anchor stands for itself alone.
POINTS_PER_ANCHOR = 3
# Limit of work: multiplications to place all points, some 30 seconds of one core. It
# matters only where no partition into cells helps: points in some hundred columns
# without structure.
MOST_PRODUCTS = 5e11
FEWEST = 2000


def number_of_anchors(
    points: Any,
    n: int,
    most: int,
    *,
    n_nearest: int,
    rng: np.random.Generator,
    most_products: float,
) -> tuple[int, str]:
    r"""Return the number of anchors m for n points, and why there are fewer than most.

    Points with some structure are compared with the anchors of nearby cells, and m is
    the number wanted. Otherwise every point is compared with every anchor, and so are
    5 m points in five rounds of k-means: :math:`(n + 25 m) m d` multiplications.

    Parameters
    ----------
    points : ndarray of shape (s, d)
        All points or a sample of them, at least `most`.
    n : int
        Points in all.
    most : int
        Anchors wanted; at most one for three points.
    n_nearest : int
        Anchors that are searched for.
    rng : numpy.random.Generator
        Draws points that stand for anchors.
    most_products : float
        Multiplications at most, but for 2,000 anchors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> settings = {"n_nearest": 5, "rng": rng, "most_products": 1e9}
    >>> number_of_anchors(np.zeros((90, 2)), 90, 5000, **settings)
    (30, '')
    """
    m = min(most, max(n // POINTS_PER_ANCHOR, 2))
    rounds = ROUNDS * SAMPLED_PER_ANCHOR
    budget = most_products / points.shape[1]
    if m <= FEWEST or (n + rounds * m) * m <= budget:
        return m, ""
    drawn = np.sort(rng.choice(points.shape[0], m, replace=False))
    index = anchor_index(np.asarray(points[drawn]), rng=rng)
    if not index.compares_all(n_nearest):
        return m, ""
    root = np.sqrt(float(n) ** 2 + 4 * rounds * budget)
    fewer = max(FEWEST, int((root - n) / (2 * rounds)))
    return fewer, f"not {m:,}, since every point has to be compared with all of them"
