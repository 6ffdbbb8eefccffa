"""Which pair to ask a person about next, and which known pairs to learn from."""

import numpy as np
from scipy import sparse
from scipy.special import entr

from mercer._base.ranges import unit_rows
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.evidence.pairs import Pairs


def select_constraints(pairs: Pairs, features: FloatArray, n_points: int) -> Pairs:
    r"""Keep the pairs of the points whose evidence is least decided.

    .. math:: i^* = \operatorname{argmin}_i
        \Bigl|\frac{1}{l_i} \sum_{j : T_{ij} \ne 0} T_{ij} K_{ij}\Bigr|

    Parameters
    ----------
    pairs : Pairs
        Known pairs.
    features : ndarray of shape (n, r)
        Feature map of a kernel over all points, e.g. ``kernel_.features()``.
    n_points : int
        How many points to choose; all their pairs are kept.

    Returns
    -------
    Pairs

    See Also
    --------
    next_pairs : The next pair to ask about.

    Notes
    -----
    Zhuang, Tsang and Hoi (ICML 2009), section 3.2.4, as printed. It thins pairs whose
    answers are known (docs/pairs.md has what it loses); which pair to ask a person
    about is the question of `next_pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs.from_index([(0, 1), (2, 3)], [(1, 2)], n_points=4)
    >>> Phi = np.array([[1.0], [1.0], [0.1], [0.1]])
    >>> select_constraints(pairs, Phi, 1).must_link.tolist()
    [[2, 3]]
    """
    if n_points < 1:
        msg = f"n_points must be at least 1, got {n_points}."
        raise ValueError(msg)
    i, j = pairs.first, pairs.second
    margins = pairs.signs * np.einsum("pr,pr->p", features[i], features[j])
    ends = np.concatenate([i, j])
    count = np.bincount(ends, minlength=pairs.n_points)
    total = np.bincount(ends, np.tile(margins, 2), minlength=pairs.n_points)
    linked = np.flatnonzero(count)
    doubt = np.abs(total[linked] / count[linked])
    chosen = np.zeros(pairs.n_points, dtype=bool)
    chosen[linked[np.argsort(doubt, kind="stable")[:n_points]]] = True
    return pairs[chosen[i] | chosen[j]]


def next_pairs(
    features: FloatArray,
    pairs: Pairs,
    n: int = 1,
    *,
    rng: np.random.Generator,
) -> IntArray:
    r"""Choose pairs to ask about: an undecided point and the group it may join.

    What is known so far are groups: must-link components that occur in some pair. A
    point x outside them belongs to group g with probability proportional to its mean
    positive cosine with the members of g, 0 where a cannot-link rules g out. The
    point of largest entropy per expected number of questions comes first, and it is
    asked against the most probable group.

    Parameters
    ----------
    features : ndarray of shape (n_points, r)
        Feature map of the kernel learned so far, or of any kernel at the start.
    pairs : Pairs
        Answers so far; may be empty.
    n : int, default=1
        Number of questions, about n different points.
    rng : Generator
        Chooses among equals, such as at the very start.

    Returns
    -------
    ndarray of shape (n, 2)
        Points to compare, the most useful pair first; fewer where fewer are unknown.

    See Also
    --------
    select_constraints : A set of pairs at once.
    PairwiseKernel : Learns from them.

    Notes
    -----
    Entropy per expected question is the rule of Xiong, Azimi and Fern, "Active
    learning of constraints for semi-supervised clustering" (TKDE 2014), with the
    learned kernel in place of their random forest. While there are fewer than two
    groups, the point farthest from all groups is asked about (farthest-first
    exploration of Basu, Banerjee and Mooney, SDM 2004).

    Examples
    --------
    >>> import numpy as np
    >>> Phi = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.6, 0.6]])
    >>> known = Pairs.from_index([], [(0, 2)], n_points=4)
    >>> next_pairs(Phi, known, rng=np.random.default_rng(0))[0, 0]
    np.int64(3)
    """
    if n < 1:
        msg = f"n must be at least 1, got {n}."
        raise ValueError(msg)
    rows = unit_rows(features)
    groups, ruled_out = _groups(pairs, rng)
    likeness = np.column_stack(
        [np.maximum(rows @ rows[group].T, 0.0).mean(axis=1) for group in groups]
    )
    known = np.concatenate(groups)
    weight = np.where(ruled_out, 0.0, likeness + 1e-6)
    total = weight.sum(axis=1)
    P = weight / np.where(total > 0, total, 1.0)[:, None]
    if len(groups) < 2:
        score = 1 - np.maximum(rows @ rows[known].T, 0.0).max(axis=1)
    else:
        questions = -np.sort(-P, axis=1) @ np.arange(1, len(groups) + 1)
        score = entr(P).sum(axis=1) / np.maximum(questions, 1.0)
    score = score + 1e-9 * rng.random(len(score))
    score[known] = score[total == 0] = -np.inf
    chosen: list[tuple[int, int]] = []
    while len(chosen) < n and np.isfinite(score).any():
        x = int(np.argmax(score))
        group = groups[int(np.argmax(P[x]))]
        chosen.append((x, int(group[np.argmax(rows[group] @ rows[x])])))
        # The next question of a batch is about a point unlike this one.
        score = score * (1 - np.maximum(rows @ rows[x], 0.0) * (1 - 1e-6))
        score[x] = -np.inf
    return np.array(chosen, dtype=np.intp).reshape(-1, 2)


def _groups(pairs: Pairs, rng: np.random.Generator) -> tuple[list[IntArray], BoolArray]:
    """Return must-link components that all exclude each other, large ones first.

    Also tell for every point and group whether a cannot-link rules the group out.
    """
    n = pairs.n_points
    if len(pairs) == 0:
        return [rng.integers(n, size=1)], np.zeros((n, 1), dtype=bool)
    component = pairs.component_labels
    ends = component[pairs.cannot_link]
    apart = sparse.coo_array(
        (
            np.ones(2 * len(ends), dtype=bool),
            (ends.T.ravel(), ends[:, ::-1].T.ravel()),
        ),
        shape=(n, n),
    ).tocsr()
    touched = np.unique(component[np.concatenate([pairs.first, pairs.second])])
    sizes = np.bincount(component)[touched]
    chosen: list[int] = []
    excluded: list[BoolArray] = []
    for c in touched[np.argsort(-sizes, kind="stable")].tolist():
        if all(row[c] for row in excluded):
            chosen.append(c)
            excluded.append(apart[[c]].toarray().ravel())
    ruled_out = np.column_stack([row[component] for row in excluded])
    return [np.flatnonzero(component == c) for c in chosen], ruled_out
