"""Which pool of kernels suits the size and kind of the data, and its memory."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import issparse

from mercer._base.checks import check_number
from mercer._base.memory import GIB, available_memory
from mercer._base.tensors import is_for_torch
from mercer._base.words import in_bytes
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.base import Pool
from mercer.fewlabels.pools.device import TorchPool
from mercer.fewlabels.pools.neighbors import KernelPool
from mercer.fewlabels.rule import DEFAULT, Rule

PoolKind: TypeAlias = Literal["neighbors", "anchors", "torch"]
ArrayKind: TypeAlias = Literal["dense", "sparse", "dask"]

NEIGHBORS_UP_TO = 100_000  # points; limit of work
_LEAST = 2  # with fewer directions a graph is useless
_START = 0.45 * GIB  # imported code and compiled functions
# What comes to one process, however many rows a Dask array has: some of them, and sums,
# of which there are three copies at the worst moment.
_ROWS_HERE, _SUMS = 200_000, 1.0 * GIB


@dataclass(frozen=True)
class PoolPlan:
    """Which pool is fitted, why, and what it will spend."""

    kind: PoolKind
    n_components: int  # directions per graph and of the linear kernel
    wanted: int  # the same, were memory no concern
    reason: str  # a sentence without its full stop
    needed: float  # bytes; 0: not known
    limit: float  # bytes that may be used

    @property
    def is_reduced(self) -> bool:
        """Whether there are fewer directions than wanted, to save memory."""
        return self.n_components < self.wanted

    def make(self, random_state: Any = None, rule: Rule | None = None) -> Pool:
        """Return the pool, not fitted."""
        r, given = self.n_components, {"rule": rule, "random_state": random_state}
        if self.kind == "torch":
            return TorchPool(r, **given)
        maker = KernelPool if self.kind == "neighbors" else AnchorPool
        return maker(r, **given)

    def __str__(self) -> str:
        if not self.needed:  # on a device nobody has counted it
            return self.reason
        said = (
            f"{self.reason}; needs about {self.needed / GIB:.1f} GiB of memory "
            f"({self.limit / GIB:.1f} GiB may be used)"
        )
        if self.is_reduced:
            said += f"; {self.n_components} directions instead of {self.wanted} to fit"
        return said


def choose_pool(
    n: int,
    d: int,
    *,
    n_classes: int,
    kind: ArrayKind = "dense",
    bytes_of_points: float | None = None,
    memory: float | None = None,
    neighbors_up_to: int = NEIGHBORS_UP_TO,
    rule: Rule = DEFAULT,
    n_views: int = 1,
) -> PoolPlan:
    """Choose neighbour graphs or anchor graphs, and how many directions.

    Parameters
    ----------
    n, d : int
        Points and their coordinates.
    n_classes : int
        The more classes, the more directions.
    kind : {"dense", "sparse", "dask"}, default="dense"
        Kind of the array that holds the points. Anchors are means of points, which are
        not sparse; a Dask array is looked at block by block, so it has no neighbour
        graph.
    bytes_of_points : float, optional
        Size of the array; by default that of n x d double-precision numbers.
    memory : float, optional
        Bytes that may be used; by default `available_memory`.
    neighbors_up_to : int, default=100_000
        More points than this are tied to anchors.
    rule : Rule, optional
        Numbers of directions.
    n_views : int, default=1
        Groups of columns that have such a pool each.

    Returns
    -------
    PoolPlan

    Raises
    ------
    MemoryError
        If not even a few directions fit.

    See Also
    --------
    KernelPool : Neighbour graphs and a linear kernel.
    AnchorPool : Anchor graphs.
    TorchPool : Neighbour graphs of tensors.

    Examples
    --------
    >>> choose_pool(5_000_000, 50, n_classes=2, memory=16 * GIB).reason
    'anchor graphs, because 5,000,000 points are many (more than 100,000)'
    >>> choose_pool(300, 4, n_classes=2, memory=GIB).reason
    'neighbour graphs, because 300 points are few (at most 100,000)'
    """
    if memory is not None:
        check_number(memory, "memory", above=0)
    limit = available_memory() if memory is None else memory
    points = 8.0 * n * d if bytes_of_points is None else bytes_of_points
    wanted = min(directions_for(n_classes, rule), n)
    plans = []
    for pool, reason in _candidates(n, kind, limit, neighbors_up_to):
        fixed, per_direction = _bytes(pool, n, d, n_classes, points, kind)
        per_direction *= n_views
        fits = int((limit - fixed) // per_direction)
        r = min(wanted, fits)
        needed = fixed + max(r, min(_LEAST, wanted)) * per_direction
        plans.append(PoolPlan(pool, r, wanted, reason, needed, limit))
        if r == wanted:
            return plans[-1]
    best = max(plans, key=lambda plan: plan.n_components)
    if best.n_components < min(_LEAST, wanted):
        msg = (
            f"{n:,} points need at least {in_bytes(best.needed)} of memory, and "
            f"{in_bytes(limit)} may be used. Allow more, or take fewer points or "
            "columns."
        )
        raise MemoryError(msg)
    return best


def plan_pool(
    X: Any,
    n_classes: int,
    *,
    memory: float | None = None,
    rule: Rule = DEFAULT,
    n_views: int = 1,
) -> PoolPlan:
    """Choose the pool of an array or a tensor, see `choose_pool`."""
    if is_for_torch(X):
        r = min(directions_for(n_classes, rule), X.shape[0])
        reason = f"neighbour graphs on {X.device}, where the tensor is"
        return PoolPlan("torch", r, r, reason, 0.0, np.inf)
    is_sparse = issparse(X)
    if not is_sparse:
        X = np.asarray(X)  # a list or a data frame
    size = 12.0 * X.nnz if is_sparse else X.nbytes  # a number and a column each
    return choose_pool(
        X.shape[0],
        X.shape[1] if X.ndim > 1 else 1,
        n_classes=n_classes,
        kind="sparse" if is_sparse else "dense",
        bytes_of_points=float(size),
        memory=memory,
        neighbors_up_to=NEIGHBORS_UP_TO,
        rule=rule,
        n_views=n_views,
    )


def directions_for(n_classes: int, rule: Rule = DEFAULT) -> int:
    """Return how many directions per graph serve a number of classes.

    Examples
    --------
    >>> [directions_for(C) for C in (2, 10, 20, 30, 500)]
    [50, 50, 100, 150, 150]
    """
    wanted = max(rule.class_directions * n_classes, rule.fewest_directions)
    return min(wanted, rule.directions)


def _candidates(
    n: int, kind: ArrayKind, limit: float, neighbors_up_to: int
) -> list[tuple[PoolKind, str]]:
    """Return the pools that are possible and why, the better one first."""
    if kind == "sparse":
        return [("neighbors", "neighbour graphs, because the points are sparse")]
    if kind == "dask":
        return [("anchors", "anchor graphs, because the points are in a Dask array")]
    if n > neighbors_up_to:
        many = f"{n:,} points are many (more than {neighbors_up_to:,})"
        return [("anchors", f"anchor graphs, because {many}")]
    few = f"{n:,} points are few (at most {neighbors_up_to:,})"
    large = f"neighbour graphs of {n:,} points do not fit into {limit / GIB:.1f} GiB"
    return [
        ("neighbors", f"neighbour graphs, because {few}"),
        ("anchors", f"anchor graphs, because {large}"),
    ]


def _bytes(
    pool: PoolKind, n: int, d: int, n_classes: int, points: float, kind: ArrayKind
) -> tuple[float, float]:
    """Return what a pool spends in any case, and per direction of each part."""
    scores = n * (100 + 48 * n_classes)
    if pool == "neighbors":
        # Neighbours, weights both ways and Laplacians; two graphs and a kernel, two and
        # a half arrays of eigenvectors at the worst moment.
        return _START + 4 * points + scores + 900 * n, 2.5 * 8 * 3 * n
    if kind == "dask":  # all else is held by the workers
        here = 16.0 * min(n, _ROWS_HERE) * d + min(4000.0 * n, _SUMS)
        return _START + here, 8 * 3 * 20_000
    # Ties to anchors; the linear kernel in single precision, twice for a moment.
    return _START + 1.5 * points + scores + 400 * n, 2 * 4 * n
