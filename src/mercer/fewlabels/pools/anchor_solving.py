"""The directions of anchor graphs, from sums over the points alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from mercer._base.typing import FloatArray
from mercer.fewlabels.pools.anchor_joining import light_anchors_joined
from mercer.fewlabels.pools.anchor_number import POINTS_PER_ANCHOR
from mercer.fewlabels.pools.anchor_sums import PoolSums, both_halves, gram_times
from mercer.spectrum.anchor import AnchorPairs, anchor_pairs
from mercer.spectrum.base import BasisCertificate

# Limit of precision: lighter anchors, whose directions crowd, are joined to others.
LEAST_MASS = float(POINTS_PER_ANCHOR)
# Limit of work: multiplications for the eigenvectors of one graph, some 15 seconds of
# one core. A million points in 50 columns take 7e9 to 15e9.
MOST_WORK = 2e10
_TOL = 1e-3  # residuals of the graphs, as those of `KernelPool`


@dataclass(frozen=True, slots=True, eq=False)
class SolvedSums:
    """The directions of all graphs, and the moments of all columns."""

    values: tuple[FloatArray, ...]  # of each graph
    maps: tuple[FloatArray, ...]  # T, (m, r) each: columns are Z T
    proofs: tuple[BasisCertificate, ...]  # of each graph
    mean: FloatArray  # (q,) of the columns of the graphs and the others
    moment: FloatArray  # (q, q), block by block, about the mean


def solve_sums(
    sums: PoolSums, anchors: Any, r: int, *, rng: np.random.Generator
) -> SolvedSums:
    """Compute all directions from the sums over points.

    Products of ties are taken out of the sums, each before the next is looked at:
    with copies of all of them this would be what needs most memory.

    Parameters
    ----------
    sums : PoolSums
    anchors : ndarray of shape (m, n_features)
        On one scale.
    r : int
        Directions at most of each graph.
    rng : numpy.random.Generator
    """
    n, r = sums.n, min(r, len(anchors))
    ones = np.ones(len(anchors))  # rows of Z sum to 1, so ZᵀZ 1 = Zᵀ 1
    masses = [gram_times(half, ones) for half in sums.halves]
    P = light_anchors_joined(anchors, masses[0], least=LEAST_MASS, rng=rng)
    solved = []
    while sums.halves:
        pairs = anchor_pairs(
            both_halves(P.T @ sums.halves.pop(0) @ P),
            r,
            rng=rng,
            tol=_TOL,
            on_failure="rough",
            most_work=MOST_WORK,
        )
        solved.append(pairs)
    maps = tuple(np.sqrt(n) * (P @ pairs.map) for pairs in solved)
    means = [mass @ T / n for T, mass in zip(maps, masses, strict=True)]
    mean = sums.total / n
    moments = [
        pairs.products - np.outer(m, m) for pairs, m in zip(solved, means, strict=True)
    ]
    return SolvedSums(
        tuple(pairs.values for pairs in solved),
        maps,
        tuple(_proof(pairs, len(anchors)) for pairs in solved),
        np.concatenate([*means, mean]),
        block_diag(*moments, sums.squares / n - np.outer(mean, mean)),
    )


def _proof(pairs: AnchorPairs, n_anchors: int) -> BasisCertificate:
    return BasisCertificate(
        method=f"{n_anchors:,} anchors",
        reason="asked for",
        residual=pairs.residual,
        orthogonality=0.0,
        gap=pairs.gap,
        cuts_repeated_value=pairs.gap <= 1e-6,
        n_null=pairs.n_null,
        floor=pairs.floor,
        failure=pairs.failure,
        note=pairs.note,
    )
