"""Smallest eigenpairs of a large sparse matrix, and a proof that none was skipped."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer._base.typing import BoolArray, FloatArray, SparseArray
from mercer.eigen.counting import value_below_which
from mercer.eigen.lanczos import (
    BLOCK,
    WIDEST,
    Search,
    Work,
    lowest_pairs,
    search_outside,
)
from mercer.eigen.orthogonal import remove_null
from mercer.eigen.policy import OnFailure, first_inexact, settle
from mercer.eigen.ritz import RitzPairs
from mercer.eigen.transforms import Transform, cut_of_degree, make_transform

# Probability that a proof fails; it is divided among the searches of one solution.
FAILURE = 1e-6
ROUNDS = 20
# Values closer than this share of the last kept one count as equal.
SAME = 1e-6
# The proof may end this share of the last kept value below it, or the tolerance if that
# is larger, up to a half; then half the blocks are enough.
RESOLUTION, _COARSEST = 0.01, 0.5
_ENOUGH = 12
# The cut is this much above its estimate: one that is too low costs a search.
_MARGIN = 1.05
# From this tolerance on the search is run in single precision.
SINGLE_FROM = 1e-4
# Rounding in single precision leaves residuals of some 1e-6.
_LEAST_SINGLE = 2e-6
# Further pairs are set aside in the search for skipped ones if they are this exact.
_ROUGH = 1e-3
# Shares of the work that is allowed: for the estimate of the cut, and for the pairs.
_FOR_CUT, _FOR_PAIRS = 0.1, 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The smallest pairs of a part of a matrix, without its null vectors."""

    values: FloatArray  # (k,) ascending
    vectors: FloatArray  # (n, k) orthonormal columns
    next_value: float  # smallest Ritz value outside the vectors; inf: none
    floor: float  # no eigenvalue outside the vectors is below it
    failure: float  # probability that the floor is none
    method: str
    note: str = ""
    is_rough: bool = False  # all pairs are here, some of them less exact than wanted


def searched_pairs(
    A: SparseArray,
    null: SparseArray,
    k: int,
    *,
    upper: float,
    tol: float,
    rng: np.random.Generator,
    on_failure: OnFailure = "raise",
    most_work: float = np.inf,
) -> Found:
    r"""Compute the k smallest eigenpairs outside the null space of a sparse matrix.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric with eigenvalues in [0, upper]. Products are faster where the
        entries of a row are near each other.
    null : csr_array of shape (n, c)
        Orthonormal basis of its null space.
    k : int
        Number of pairs, 0 to n - c - 1.
    upper : float
        Bound on the eigenvalues.
    tol : float
        Residuals must fall below `tol` times the k-th value, or to rounding.
    rng : numpy.random.Generator
        Draws starting vectors.
    on_failure : {"raise", "fewer", "rough"}, default="raise"
        What to do where not all pairs are certain: raise, return those that are, or
        return all as they are.
    most_work : float, default=inf
        Multiplications with entries of A, about: the space is filled once in any case.

    Raises
    ------
    EigenpairError
        If residuals stay large or pairs may be missing.

    Notes
    -----
    `lowest_pairs` computes pairs of a transform of A that orders the eigenvalues
    below its cut. The cut is a random estimate; the k-th Ritz value is never below the
    k-th eigenvalue, and the cut is raised until it lies above it, by twice the
    resolution of the proof, and above the one that follows. A second search then
    starts from new random vectors in the complement of all pairs that are nearly exact.
    If it sees a smaller value than the k-th, pairs were skipped, such as copies of a
    repeated eigenvalue; they are computed and merged with blocks that double in width.
    If not, `mercer.eigen.proof` says below which value there is none.

    With little work allowed the cut is higher than it should be, since a low one takes
    polynomials of a high degree, and pairs that are still rough are not proved.
    """
    some = max(k, 1)
    work = Work(_FOR_PAIRS * most_work)
    pairs, transform = _ordered_pairs(A, null, some, upper, tol, rng, work)
    if on_failure != "rough" or pairs.converged(some, tol):
        work.most = most_work
        pairs, seen = _proved(A, transform, pairs, null, some, tol, rng, work)
        sure, reason = _how_many_are_sure(pairs, seen, some, tol)
    else:
        seen, sure = Search(np.inf, 0.0), 0
        worst = pairs.residuals[:some].max()
        reason = f"values crowd: with the work allowed, residuals are up to {worst:.1e}"
    settled = settle(sure, some, reason, on_failure)
    kept = k if settled.is_rough else min(k, sure)
    later = np.append(pairs.values[kept:], seen.smallest)
    doubt = pairs.residuals[kept : kept + 1].sum()
    return Found(
        pairs.values[:kept],
        pairs.vectors[:, :kept],
        float(later.min()),
        max(float(min(seen.floor, later[0] - doubt)), 0.0),
        FAILURE,
        _method(transform, tol),
        settled.note if sure < k else "",
        settled.is_rough,
    )


def _ordered_pairs(
    A: SparseArray,
    null: SparseArray,
    k: int,
    upper: float,
    tol: float,
    rng: np.random.Generator,
    work: Work,
) -> tuple[RitzPairs, Transform]:
    """Compute k pairs and some more with a transform that orders their values."""
    guard = 10 + k // 10
    # Counts need no more than single precision.
    Z = rng.standard_normal((A.shape[0], BLOCK)).astype(np.float32)
    remove_null(Z, null.astype(np.float32))
    most = _FOR_CUT * work.most / (A.nnz * BLOCK)
    cut = _MARGIN * value_below_which(
        A, k + 2 * guard, Z, upper=upper, most_degree=most
    )
    # The space is filled twice with what is allowed, at least.
    cut = max(cut, cut_of_degree(work.most / (2 * A.nnz * (k + guard)), upper))
    restarts = 3
    for _ in range(10):
        transform = make_transform(A, cut, upper, single=_is_single(cut, tol))
        pairs = lowest_pairs(
            A,
            transform,
            k + 1,
            null=null,
            tol=tol,
            rng=rng,
            restarts=restarts,
            single=_is_single(transform.cut, tol),
            work=work,
        )
        if work.is_spent:
            break
        last = float(pairs.values[min(k + guard // 2, len(pairs.values)) - 1])
        following = float(pairs.values[min(k, len(pairs.values) - 1)])
        if transform.cut <= max((1 + 2 * RESOLUTION) * pairs.values[k - 1], following):
            # Values above a cut that is too low are not ordered: `last` may be far off.
            cut = min(1.2 * last, 1.5 * transform.cut)
        elif pairs.converged(k, tol) or restarts > 9:
            break
        elif transform.cut == np.inf and cut > 4 * last > 0:
            cut = 2 * last
        else:
            cut, restarts = 1.3 * last, 3 * restarts
    return pairs, transform


def _proved(
    A: SparseArray,
    transform: Transform,
    pairs: RitzPairs,
    null: SparseArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
    work: Work,
) -> tuple[RitzPairs, Search]:
    """Look for skipped pairs and merge them until a search finds none."""
    block = 2 * BLOCK
    for _ in range(ROUNDS):
        aside = pairs.exact(k, _ROUGH)
        aside[:k] = True
        level = float(pairs.values[k - 1])
        same = max(SAME, tol) * abs(level)
        known = _columns(pairs.vectors, aside)
        seen = _seen_outside(transform, null, known, level, same, tol, rng, work)
        if seen.smallest >= level - same or work.is_spent:
            break
        pairs = _merged(
            A, transform, pairs, seen.smallest, null, k, tol, rng, block, work
        )
        block = min(2 * block, WIDEST)
    return pairs, seen


def _seen_outside(
    transform: Transform,
    null: SparseArray,
    aside: Sequence[FloatArray],
    level: float,
    same: float,
    tol: float,
    rng: np.random.Generator,
    work: Work,
) -> Search:
    """Search in single precision, and again in double where that does not decide."""
    is_single = _is_single(transform.cut, tol)
    may_decide = _ROUGH * level >= _LEAST_SINGLE and transform.cut < np.inf
    for single in (True, False) if is_single or may_decide else (False,):
        seen = search_outside(
            transform,
            null,
            aside,
            level,
            same=same,
            failure=FAILURE / ROUNDS / 2,
            rng=rng,
            resolution=_resolution(tol),
            enough=_ENOUGH if tol <= RESOLUTION else _ENOUGH // 2,
            single=single,
            work=work,
        )
        # Rounding may hide on which side of the level a value is that is near it.
        if is_single or abs(seen.smallest - level) > _ROUGH * level:
            break
    return seen


def _merged(
    A: SparseArray,
    transform: Transform,
    pairs: RitzPairs,
    skipped: float,
    null: SparseArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
    block: int,
    work: Work,
) -> RitzPairs:
    """Add the pairs that were skipped to those that were found."""
    # The k-th value will be lower than it was, but not below the skipped one.
    exact = pairs.residuals <= np.maximum(tol * skipped, pairs.rounding)
    n_above = max(1, k - int(np.count_nonzero(pairs.values[exact] < skipped)))
    single = _is_single(transform.cut, tol)
    # The last value of this search may be the old one, too high to be the measure.
    share = 1.0 if single else min(skipped / float(pairs.values[k - 1]), 1.0)
    more = lowest_pairs(
        A,
        transform,
        n_above,
        null=null,
        aside=_columns(pairs.vectors, exact),
        tol=share * tol,
        rng=rng,
        block=block,
        single=single,
        work=work,
    )
    values = np.concatenate([pairs.values[exact], more.values])
    order = np.argsort(values, kind="stable")
    return RitzPairs(
        values[order],
        np.hstack([pairs.vectors[:, exact], more.vectors])[:, order],
        np.concatenate([pairs.residuals[exact], more.residuals])[order],
        np.concatenate([pairs.rounding[exact], more.rounding])[order],
    )


def _columns(vectors: FloatArray, which: BoolArray) -> list[FloatArray]:
    """Return some columns without a copy."""
    return [vectors[:, j] for j in np.flatnonzero(which)]


def _how_many_are_sure(
    pairs: RitzPairs, seen: Search, k: int, tol: float
) -> tuple[int, str]:
    """Return how many of the first k pairs are exact and complete, and what hinders."""
    exact = pairs.exact(k, tol)[:k]
    sure, reason = first_inexact(exact, pairs.residuals, tol)
    floor = seen.floor / (1 - _resolution(tol)) + np.finfo(float).tiny
    whole = int(np.count_nonzero(pairs.values[:sure] <= floor))
    if whole < sure:
        reason = (
            f"values crowd: below {pairs.values[sure - 1]:.3g} a pair may be missing, "
            f"below {seen.floor:.3g} none is"
        )
    return whole, reason


def _resolution(tol: float) -> float:
    """Return how far below the last value the proof may end, as a share of it."""
    return min(max(RESOLUTION, tol), _COARSEST)


def _is_single(cut: float, tol: float) -> bool:
    """Tell whether single precision is enough for values up to a cut."""
    return tol >= SINGLE_FROM and _LEAST_SINGLE <= tol * cut < np.inf


def _method(transform: Transform, tol: float) -> str:
    if transform.cut == np.inf:
        return "band cholesky"
    single = ", single precision" if _is_single(transform.cut, tol) else ""
    return f"filtered lanczos{single}"
