"""Which sources copy each other, from how often they agree."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from mercer._base.typing import BoolArray, FloatArray, IntArray

# Limit of precision: agreement with third sources below this says nothing.
_LEAST = 0.05
# Agreement counts as copying beyond this many standard errors, and this much.
_CLEAR, _MUCH = 4.0, 0.1
# Sources with the same votes are copies if they have at least this many.
_ENOUGH = 10
# A third source is one that agrees by this much less.
_APART = 0.85


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """How far sources depend on each other, and what each counts for that."""

    dependence: FloatArray  # (m, m) share of votes that are as if copied
    weights: FloatArray  # (m,) 1 / (1 + the dependence on all others)


def count_once(
    votes: csr_array,
    source: IntArray,
    answer: IntArray,
    denied: BoolArray,
    *,
    n_sources: int | None = None,
) -> Copies:
    r"""Find sources that agree more than independent ones could.

    Agreement beyond chance of independent sources is the product of how good each of
    them is, :math:`\kappa_{st} = a_s a_t`, so third and fourth sources tell what it
    should be: :math:`a_s a_t = \kappa_{su}\kappa_{tv} / \kappa_{uv}`. Of what
    :math:`\kappa_{st}` has more than the median of that, the share
    :math:`d_{st} = (\kappa_{st} - a_s a_t) / (1 - a_s a_t)` is as if copied, and
    source s counts :math:`1 / (1 + \sum_t d_{st})`: k copies count as one source.
    u and v are sources that agree clearly less with s and t than these do with each
    other, since further copies would testify for them, and not copies of each other;
    pairs are judged in the order of how much they seem to copy. Where nobody can
    testify, nothing tells copies from good sources: these count as independent, but
    for sources that say the same on every row, of which one says as much as all.

    Parameters
    ----------
    votes, source, answer, denied
        As in `solve_sources`.
    n_sources : int, optional
        Where the last ones give no vote.

    Notes
    -----
    Agreement is Cohen's kappa on the rows that both vote on; for sources with a single
    answer, the correlation of where they give it. Exact for two classes; for more, if
    errors are even.

    Examples
    --------
    >>> from mercer.evidence.sources import Sources
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> columns = [np.where(rng.random(2000) < 0.8, y, 1 - y) for _ in range(4)]
    >>> s = Sources.read(np.column_stack([*columns, columns[0]]))
    >>> count_once(s.votes, s.source, s.answer, s.denied).weights.round(1)
    array([0.5, 1. , 1. , 1. , 0.5])
    """
    m = int(source.max(initial=-1)) + 1 if n_sources is None else n_sources
    single = np.bincount(source, minlength=m) == 1
    dependence = np.zeros((m, m))
    for kind, agreement in ((~single, _kappa), (single, _together)):
        k = np.flatnonzero(kind)
        if len(k) < 4:
            continue
        column = np.isin(source, k)
        V = csr_array(votes[:, np.flatnonzero(column)], dtype=np.float64)
        place = np.searchsorted(k, source[column])
        found, error = agreement(V, place, 2 * answer[column] + denied[column], len(k))
        dependence[np.ix_(k, k)] = _excess(found, error)
    dependence[_same(votes, source, 2 * answer + denied, m)] = 1.0
    return Copies(dependence, 1 / (1 + dependence.sum(axis=1)))


def _same(votes: csr_array, source: IntArray, answer: IntArray, m: int) -> BoolArray:
    """Return which sources have the same votes, and enough of them, (m, m)."""
    V = votes.tocsc()
    V.sort_indices()
    said: list[list[tuple[int, bytes, bytes]]] = [[] for _ in range(m)]
    n_votes = np.zeros(m)
    for j in np.argsort(answer, kind="stable"):
        part = slice(V.indptr[j], V.indptr[j + 1])
        said[source[j]].append(
            (int(answer[j]), V.indices[part].tobytes(), V.data[part].tobytes())
        )
        n_votes[source[j]] += V.data[part].sum()
    same = np.zeros((m, m), dtype=bool)
    for s in range(m):
        for t in range(s):
            same[s, t] = n_votes[s] >= _ENOUGH and said[s] == said[t]
    return same | same.T


def _kappa(
    V: csr_array, source: IntArray, answer: IntArray, m: int
) -> tuple[FloatArray, FloatArray]:
    """Return agreement beyond chance of every two sources, and its error."""
    both = np.zeros((m, m))
    same, chance = np.zeros((m, m)), np.zeros((m, m))
    member = np.eye(m)[source]
    voted = V @ member
    both = voted.T @ voted
    totals = voted.sum(axis=0)
    for k in np.unique(answer):
        at = np.flatnonzero(answer == k)
        given = V[:, at] @ member[at]
        same += given.T @ given
        share = given.sum(axis=0) / np.maximum(totals, 1e-12)
        chance += np.outer(share, share)
    left = np.maximum(1 - chance, 1e-6)
    number = np.maximum(both, 1.0)
    agreed = same / number
    kappa = np.where(both > 0, (agreed - chance) / left, 0.0)
    error = np.sqrt(np.maximum(agreed * (1 - agreed), 1 / number) / number) / left
    return kappa, np.where(both > 0, error, np.inf)


def _together(
    V: csr_array, source: IntArray, answer: IntArray, m: int
) -> tuple[FloatArray, FloatArray]:
    """Return the correlation of where every two sources give their one answer."""
    n = max(V.shape[0], 1)
    given = (V @ np.eye(m)[source]) / 1.0
    mean = given.mean(axis=0)
    cov = given.T @ given / n - np.outer(mean, mean)
    scale = np.sqrt(np.maximum(np.diag(cov), 1e-12))
    # Rare answers: only the few rows where they are given can show copies.
    few = np.maximum(np.sqrt(n * np.outer(mean, mean)), 1.0)
    return cov / np.outer(scale, scale), 1 / np.minimum(few, np.sqrt(n))


def _excess(kappa: FloatArray, error: FloatArray) -> FloatArray:
    """Return what each pair agrees more than third sources explain, as a share."""
    m = len(kappa)
    found = np.zeros((m, m))
    solid = (kappa > _LEAST) & (kappa > 2 * error)
    pairs = [(s, t) for s in range(m) for t in range(s + 1, m) if solid[s, t]]
    seeming = {pair: _share(*pair, kappa, error, solid) for pair in pairs}
    for s, t in sorted(seeming, key=lambda pair: -seeming[pair]):
        if seeming[s, t] > 0:
            # Copies found so far do not count as two independent sources.
            share = _share(s, t, kappa, error, solid & (found == 0))
            found[s, t] = found[t, s] = share
    return found


def _share(
    s: int, t: int, kappa: FloatArray, error: FloatArray, solid: BoolArray
) -> float:
    """Return the share of votes that one of two sources seems to copy."""
    own, doubt = float(kappa[s, t]), float(error[s, t])
    near = np.maximum(kappa[s], kappa[t])
    other = np.flatnonzero(near < own - max((1 - _APART) * own, 3 * doubt))
    u, v = np.meshgrid(other, other, indexing="ij")
    kept = (u != v) & solid[u, v] & (error[s, u] + error[t, v] < 1)
    u, v = u[kept], v[kept]
    if not len(u):
        return 0.0
    estimates = kappa[s, u] * kappa[t, v] / kappa[u, v]
    size = np.abs(estimates) * np.sqrt(
        (error[s, u] / np.maximum(np.abs(kappa[s, u]), _LEAST)) ** 2
        + (error[t, v] / np.maximum(np.abs(kappa[t, v]), _LEAST)) ** 2
        + (error[u, v] / kappa[u, v]) ** 2
    )
    middle = float(np.clip(np.median(estimates), 0.0, 1.0))
    more = own - middle
    if more <= max(_CLEAR * float(np.hypot(doubt, np.median(size))), _MUCH):
        return 0.0
    return float(np.clip(more / max(1 - middle, 1e-6), 0.0, 1.0))
