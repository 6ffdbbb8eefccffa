"""Which basis and learner a table gets, by its size and its evidence."""

from copy import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.frozen import FrozenEstimator

from mercer._labels import Labels
from mercer._typing import IntArray
from mercer.fewlabels.learner import AutoKernel
from mercer.fewlabels.pool import KernelPool
from mercer.learners.pairwise import PairwiseKernel
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.pairs import Pairs
from mercer.spectrum.anchor import AnchorBasis
from mercer.spectrum.basis import GRAPH_UP_TO, AutoBasis, make_basis
from mercer.spectrum.kernel import SpectralKernel
from mercer.tables.memory import MemoryPlan, available_memory, plan_memory

# Up to so many rows and labels there is time for graphs of several sizes, and the
# model, which keeps all their directions, stays a file of ordinary size.
_POOL_UP_TO, _POOL_LABELS = 5_000, 1_000
# Five graphs and two kernels; the density is one direction.
_PARTS_OF_POOL, _DIRECTIONS_OF_PART = 7, 150
_PAIRS_OF_LABELS = 10_000


def plan_basis(
    X: Any, labels: Labels, memory: float | None, *, pool: bool
) -> MemoryPlan:
    """Return how many directions to compute, and the memory that they need.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    labels : Labels
    memory : float or None
        Bytes that may be used; None: three quarters of what is free.
    pool : bool
        Of `takes_pool`.
    """
    n, n_labeled = X.shape[0], len(labels.labeled)
    if pool:
        wanted = _PARTS_OF_POOL * min(_DIRECTIONS_OF_PART, n)
    else:
        # Far more directions than labels, or far fewer; no more than time allows.
        wanted = min(max(100, 10 * n_labeled), 500)
        if n_labeled > 250:
            wanted = max(n_labeled // 5, 100)
        wanted = min(wanted, 500 if n <= 5_000 else 200 if n <= 50_000 else 100, n)
    return plan_memory(
        n=n,
        bytes_of_points=2 * X.data.nbytes if issparse(X) else X.nbytes,
        n_classes=len(labels.classes),
        wanted=wanted,
        has_graph=issparse(X) or n <= GRAPH_UP_TO,
        limit=available_memory() if memory is None else memory,
    )


def fit_basis(X: Any, plan: MemoryPlan, *, pool: bool, seed: int) -> Any:
    """Return a fitted basis of the size that was planned."""
    if pool:
        r = max(plan.n_components // _PARTS_OF_POOL, 1)
        return KernelPool(r, random_state=seed).fit(X)
    return make_basis("auto", n_components=plan.n_components, random_state=seed).fit(X)


def takes_pool(labels: Labels, pairs: Pairs | None) -> bool:
    """Tell whether there is time to try graphs of several sizes."""
    return (
        pairs is None
        and len(labels.codes) <= _POOL_UP_TO
        and len(labels.labeled) <= _POOL_LABELS
    )


def learn_kernel(basis: Any, codes: IntArray, pairs: Pairs | None, X: Any) -> Any:
    """Return a learner fitted on a basis that is kept as it is.

    Parameters
    ----------
    basis : fitted basis
    codes : ndarray of shape (n,)
        Classes, -1 where unlabelled.
    pairs : Pairs or None
    X : array of shape (n, d)
        The points that the basis was fitted to.
    """
    frozen = FrozenEstimator(basis)
    if isinstance(basis, KernelPool):
        return AutoKernel(frozen).fit(X, codes)
    if pairs is None:
        return ParameterFreeKernel(frozen).fit(X, codes)
    n_labeled = int(np.count_nonzero(codes >= 0))
    n_all = n_labeled * (n_labeled - 1) // 2
    said = Pairs.from_labels(
        codes, n_pairs=min(n_all, _PAIRS_OF_LABELS), random_state=0
    )
    both = Pairs(
        np.concatenate([pairs.first, said.first]),
        np.concatenate([pairs.second, said.second]),
        np.concatenate([pairs.signs, said.signs]),
        len(codes),
    )
    return PairwiseKernel(basis=frozen).fit(X, pairs=both)


def pairs_among(pairs: Pairs, rows: IntArray) -> Pairs:
    """Return the pairs with both ends in some sorted rows, numbered within them.

    Examples
    --------
    >>> pairs = Pairs.from_index([(0, 5), (5, 7)], n_points=9)
    >>> pairs_among(pairs, np.array([2, 5, 7])).must_link.tolist()
    [[1, 2]]
    """
    inside = np.isin(pairs.first, rows) & np.isin(pairs.second, rows)
    return Pairs(
        np.searchsorted(rows, pairs.first[inside]),
        np.searchsorted(rows, pairs.second[inside]),
        pairs.signs[inside],
        len(rows),
    )


def kernel_for_new_rows(basis: Any, kernel: SpectralKernel) -> SpectralKernel:
    """Return the kernel without what only the rows at hand need.

    Anchors tell all about a new row; a graph needs its rows.
    """
    chosen = basis.basis_ if isinstance(basis, AutoBasis) else basis
    if isinstance(chosen, AnchorBasis):
        chosen = copy(chosen)
        chosen.vectors_ = chosen.vectors_[:0]
    return SpectralKernel(chosen, kernel.core)
