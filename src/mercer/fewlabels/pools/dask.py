"""Dask arrays: the default model of points that no single machine holds.

Blocks of points are looked at twice. First a sample is taken: anchors and the linear
kernel come from it. Then every block is tied to the anchors and summed up (`PoolSums`),
of more than 5,000,000 rows an even share of each block (`summed_rows`); sums are added
one to the other, and the small eigenproblems are solved once, here. Labels are few, so
all that needs them also happens here, on the columns of the labelled rows and of rows
drawn at random. Predictions are new columns, block by block, when they are asked for.
Nothing with a row per point comes to this process or to any one worker.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.random import draw_rows
from mercer._base.rows import is_dask
from mercer._base.threads import using_threads
from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.reading import UNLABELED, is_labeled, read_column
from mercer.exceptions import ClusterError
from mercer.fewlabels.pools.anchor_rows import summed_rows
from mercer.fewlabels.pools.anchor_sums import PoolSums
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.choice import directions_for
from mercer.fewlabels.rule import DEFAULT, Rule

LOCAL_ROWS = 100_000  # rows, besides the labelled ones, that the rule is run on
# Many threads make sums faster than one adds them: then sums of this many blocks are
# added one to the other before they are added up.
_MANY_THREADS, _CHAIN = 8, 32


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """What a model of a Dask array works on in this process."""

    pool: AnchorPool  # of all rows; keeps the columns of the rows below
    ids: IntArray  # positions of these rows, ascending
    y: NDArray[Any]  # their labels


@dataclass(frozen=True, slots=True, eq=False)
class RowsAtHand:
    """Rows of a Dask array that are here already, the labelled ones among them."""

    ids: IntArray  # (m,) positions, ascending
    points: FloatArray  # (m, d)
    y: NDArray[Any]  # (m,) labels; None, NaN and -1 mark unlabelled rows


def gather(
    X: Any,
    y: Any,
    *,
    n_components: int | None = None,
    n_anchors: int | None = None,
    most_summed: int | None = None,
    local_rows: int | None = None,
    rule: Rule | None = None,
    rng: np.random.Generator,
) -> Gathered:
    """Fit a pool of anchor graphs to all rows, and gather the rows a model works on.

    Parameters
    ----------
    X : dask array or data frame of shape (n, d)
        Blocks of rows that fit into the memory of a worker.
    y : dask array, series, array-like of shape (n,) or RowsAtHand
        Labels; -1, None and NaN mark unlabelled rows. Local rows are those that the
        model works on, and what anchors come from.
    n_components : int, optional
        Directions per graph; by default as the number of classes asks for.
    n_anchors, most_summed : int, optional
        By default those of `AnchorPool`.
    local_rows : int, optional
        Rows to gather besides the labelled ones, by default 100,000; all rows if
        there are no more.
    rule : Rule, optional
        Of the pool.
    rng : numpy.random.Generator
        Draws rows and anchors.

    Raises
    ------
    ClusterError
        If the scheduler or its workers are lost.
    """
    local_rows = LOCAL_ROWS if local_rows is None else local_rows
    client = client_at_hand()  # one for the whole job
    X = as_rows(X)
    n = X.shape[0]
    if isinstance(y, RowsAtHand):
        labeled, given = _labeled_in(y.y, 0)
    else:
        labeled, given = _labels_of(y, X, client)
    if n_components is None:
        n_classes = len(set(given.tolist()))
        n_components = directions_for(n_classes, DEFAULT if rule is None else rule)
    pool = AnchorPool(n_components, rule=rule)
    if n_anchors is not None:
        pool.set_params(n_anchors=n_anchors)
    if most_summed is not None:
        pool.set_params(most_summed=most_summed)
    m = pool.most_anchors(n)
    pool.n_features_in_ = X.shape[1]
    if isinstance(y, RowsAtHand):
        m = min(m, max(len(y.points) // 5, 2))
        pool.prepare(pool.find_units(y.points), m, rng)
        pool.solve(_sums(X, pool, client), rng, n_rows=n)
        pool.keep(y.points, *pool.place_within(y.points))
        return Gathered(pool, y.ids, y.y)
    sample = np.sort(draw_rows(n, max(5 * m, local_rows), rng))
    ids = np.union1d(labeled, draw_rows(n, local_rows, rng))
    wanted = np.union1d(sample, ids)
    rows = _take(X, wanted, client)
    drawn = rows[np.searchsorted(wanted, sample)]
    pool.prepare(pool.find_units(drawn), m, rng)
    pool.solve(_sums(X, pool, client), rng, n_rows=n)
    own = rows[np.searchsorted(wanted, ids)]
    pool.keep(own, *pool.place_within(own))
    known = np.full(len(ids), UNLABELED, dtype=_with_unlabeled(given))
    known[np.searchsorted(ids, labeled)] = given
    return Gathered(pool, ids, known)


def lazily(model: Any, name: str, X: Any, none: NDArray[Any]) -> Any:
    """Return a method of a fitted model at the rows of X, as an array of Dask.

    Parameters
    ----------
    model : fitted UnifiedKernelMachine
        Goes to every worker once, without its rows.
    name : str
        Name of the method, which takes rows.
    X : dask array or data frame of shape (n, d)
    none : ndarray of shape (0,) or (0, n_columns)
        What the method returns for no rows.
    """
    import dask.array as da
    from dask import delayed

    X = as_rows(X)
    at_workers = delayed(model.without_rows(), pure=False)
    chunks: dict[str, Any] = {"drop_axis": 1}
    if none.ndim == 2:
        chunks = {"chunks": (X.chunks[0], none.shape[1:])}
    return da.map_blocks(
        _call, X, at_workers, name, none, dtype=none.dtype, meta=none, **chunks
    )


def as_rows(X: Any) -> Any:
    """Return a Dask array of known shape whose blocks hold whole rows."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        msg = f"X must have two dimensions, got {X.ndim}."
        raise ValueError(msg)
    if any(np.isnan(size) for size in X.chunks[0]):
        X = X.compute_chunk_sizes()
    return X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X


def _call(block: Any, model: Any, name: str, none: NDArray[Any]) -> Any:
    with using_threads(1):  # as many blocks are looked at as there are cores
        return np.asarray(getattr(model, name)(block)) if len(block) else none


def _sums(X: Any, pool: AnchorPool, client: Any) -> PoolSums:
    from dask import delayed

    at_workers = delayed(pool, pure=False)
    n, blocks = X.shape[0], list(X.to_delayed().ravel())
    starts = np.cumsum([0, *X.chunks[0]])[:-1].tolist()
    # Sums are large. They are added one to the other as they come, so that few are
    # alive at once, however many blocks there are. A block is summed up without waiting
    # for others, so that none piles up.
    length = _CHAIN if _n_threads(client) > _MANY_THREADS else len(blocks)
    sum_block, add = delayed(_sum_block), delayed(_added)
    sums = [
        sum_block(block, at_workers, start, n)
        for block, start in zip(blocks, starts, strict=True)
    ]
    chains = [reduce(add, sums[at : at + length]) for at in range(0, len(sums), length)]
    total: PoolSums = computed([reduce(add, chains)], client)[0]
    return total


def _n_threads(client: Any) -> int:
    """Return how many blocks are looked at at a time."""
    if client is None:
        return os.cpu_count() or 1
    return sum(client.nthreads().values()) or 1


def _sum_block(block: Any, pool: AnchorPool, start: int, n: int) -> PoolSums | None:
    """Sum over the rows of a block that are summed; None if there are none."""
    points = _finite(block)
    rows = summed_rows(start, start + len(points), n=n, most=int(pool.most_summed))
    if rows is not None:
        points = points[rows]
    with using_threads(1):
        return PoolSums.of(*pool.place(points)) if len(points) else None


def _added(one: PoolSums | None, other: PoolSums | None) -> PoolSums | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _take(X: Any, rows: IntArray, client: Any) -> FloatArray:
    """Return some rows, ascending, in this process."""
    from dask import delayed

    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    bounds = np.searchsorted(rows, starts)
    parts = [
        delayed(_rows_of)(block, rows[low:high] - start)
        for block, start, low, high in zip(
            X.to_delayed().ravel(), starts[:-1], bounds[:-1], bounds[1:], strict=True
        )
        if high > low
    ]
    return np.concatenate(computed(parts, client))


def _rows_of(block: Any, rows: IntArray) -> Any:
    return _finite(block)[rows]


def _finite(block: Any) -> Any:
    points = np.asarray(block)
    if points.dtype not in (np.float32, np.float64):
        points = points.astype(np.float64)
    if not np.isfinite(points).all():
        msg = "X holds NaN or infinity; fill or drop these rows first."
        raise ValueError(msg)
    return points


def _labels_of(y: Any, X: Any, client: Any) -> tuple[IntArray, NDArray[Any]]:
    """Return the labelled rows and their labels."""
    if not is_dask(y):
        values, _ = read_column(y)
        if len(values) != X.shape[0]:
            msg = f"X has {X.shape[0]:,} rows and y has {len(values):,} entries."
            raise ValueError(msg)
        rows, given = _labeled_in(values, 0)
        return rows, given
    from dask import delayed

    if hasattr(y, "to_dask_array"):
        y = y.to_dask_array(lengths=True)
    if sum(y.chunks[0]) != X.shape[0]:
        msg = f"X has {X.shape[0]:,} rows and y has {sum(y.chunks[0]):,} entries."
        raise ValueError(msg)
    starts = np.concatenate([[0], np.cumsum(y.chunks[0])])[:-1]
    found = computed(
        [
            delayed(_labeled_in)(block, int(start))
            for block, start in zip(y.to_delayed().ravel(), starts, strict=True)
        ],
        client,
    )
    rows = np.concatenate([rows for rows, _ in found])
    return rows, np.concatenate([given for _, given in found])


def _labeled_in(values: Any, start: int) -> tuple[IntArray, NDArray[Any]]:
    values = np.asarray(values).ravel()
    rows = np.flatnonzero(is_labeled(values))
    return rows + start, values[rows]


def _with_unlabeled(given: NDArray[Any]) -> Any:
    return given.dtype if given.dtype.kind in "if" else object


def computed(tasks: list[Any], client: Any) -> list[Any]:
    """Run tasks where Dask runs them; nothing is left there if this is given up."""
    import dask

    if client is None:
        return list(dask.compute(*tasks))
    with _on_cluster(client):
        futures = client.compute(tasks)
        try:
            return list(client.gather(futures))
        except BaseException:
            with suppress(Exception):  # the client may be gone, too
                client.cancel(futures, force=True)
            raise


def client_at_hand() -> Any:
    """Return the client of a cluster, or None where Dask works in this process."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


@contextmanager
def _on_cluster(client: Any) -> Iterator[None]:
    """Say in words what a lost cluster means."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except KilledWorker as error:
        msg = (
            "the workers died again and again on the same block, mostly for want of "
            "memory: make the blocks of X smaller, or give the workers more memory."
        )
        raise ClusterError(msg) from error
    except Exception as error:
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        msg = (
            "the Dask scheduler was lost or the job was cancelled before it was done; "
            "nothing was kept. Start a client again and fit again."
        )
        raise ClusterError(msg) from error
