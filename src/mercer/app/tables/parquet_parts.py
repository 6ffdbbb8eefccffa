"""A table in many Parquet files: learned through Dask, predicted block by block.

A block is a row group of a file. What comes here are the labelled rows and rows drawn
at random; everything else stays where Dask reads it.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from scipy.sparse import issparse

from mercer._base.memory import available_memory
from mercer._base.progress import Progress, quiet
from mercer._base.random import draw_rows
from mercer._base.typing import FloatArray, IntArray
from mercer.app.embedding.columns import STAGE, embed_again
from mercer.app.tables.arrow_files import read_parquet
from mercer.app.tables.budget import Budget
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.formats import from_arrow
from mercer.app.tables.learning import TableResult, learned, predictions_frame
from mercer.app.tables.numbers import is_placeholder
from mercer.app.tables.rows import Rows
from mercer.app.tables.session import Session
from mercer.app.tables.table import Table, TableError, refusing
from mercer.app.tables.target import read_ids
from mercer.app.tables.task import Task
from mercer.app.tables.told import Told
from mercer.fewlabels.pools import dask as dask_
from mercer.fewlabels.pools.choice import PoolPlan, choose_pool
from mercer.model.estimator import UnifiedKernelMachine

MOST_LABELS = 1_000_000
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Block:
    """A row group of a file."""

    path: str
    group: int
    start: int  # position of its first row
    n: int

    def read(self, columns: list[str] | None = None) -> Table:
        """Read it, or some of its columns."""
        budget = Budget(self.path, available_memory())
        with _reading(self.path), pa.memory_map(self.path) as file:
            arrow, nested = read_parquet(
                file.read_buffer(), budget, groups=[self.group], columns=columns
            )
        return from_arrow(arrow, self.path, nested)


@dataclass(frozen=True)
class Parts:
    """The blocks of all files, in the order of their names."""

    blocks: tuple[Block, ...]
    source: str

    @classmethod
    def find(cls, pattern: str) -> "Parts":
        """Look for the files that a pattern names; only their footers are read."""
        paths = sorted(glob(pattern))
        if not paths:
            msg = f"no file matches {pattern}."
            raise TableError(msg)
        blocks, start = [], 0
        for path in paths:
            with _reading(path):
                footer = parquet.ParquetFile(path).metadata
            for group in range(footer.num_row_groups):
                n = footer.row_group(group).num_rows
                blocks.append(Block(str(Path(path).resolve()), group, start, n))
                start += n
        return cls(tuple(blocks), pattern)

    def __len__(self) -> int:
        return sum(block.n for block in self.blocks)


def _reading(path: str) -> AbstractContextManager[None]:
    what = f"{path} cannot be read as Parquet"
    return refusing(what, pa.ArrowException, OSError, ValueError)


@dataclass(frozen=True, eq=False)
class PartsRows(Rows):
    """The labelled rows and some others of many files, for a model of all rows."""

    parts: Parts
    at: IntArray  # (n,) positions of the rows of the table among all

    def __len__(self) -> int:
        """Return the number of rows of all files together."""
        return len(self.parts)

    def plan(self, n_classes: int, memory: float | None) -> PoolPlan:
        """Return which kernels are used, and why."""
        d = self.points.shape[1]
        return choose_pool(
            len(self), d, n_classes=n_classes, kind="dask", memory=memory
        )

    def fit(self, model: UnifiedKernelMachine, told: Told) -> UnifiedKernelMachine:
        """Fit a model to the rows of all files, read block by block."""
        points: Any = _encoded(self.parts, self.encoder, self.points.shape[1])
        at_hand: Any = dask_.RowsAtHand(self.at, self.points, told.labels.given())
        model.fit(points, at_hand)
        model.ids_ = np.arange(len(self.at))  # a session names rows of its table
        return model


def is_pattern(file: str) -> bool:
    """Tell whether a name stands for many files.

    Examples
    --------
    >>> is_pattern("part-*.parquet"), is_pattern("wine.csv")
    (True, False)
    """
    return bool(_PATTERN.search(file)) and not Path(file).exists()


def learn_parts(
    pattern: str, task: Task, *, progress: Progress = quiet
) -> tuple[TableResult, Parts]:
    """Learn the target of a table in many Parquet files.

    Parameters
    ----------
    pattern : str
        Path of the files, with ``*`` for what differs.
    task : Task
        Target, id and other columns.
    progress : Progress, optional
        Gets the stages of the work.

    See Also
    --------
    learn : For one table; has an example.

    Notes
    -----
    Where a client of Dask was made, its cluster does the work; the files must have the
    same paths there. Class sizes are those of all files together. The result is about
    the labelled rows and 100,000 others, the parts about all rows.
    """
    if task.pairs is not None or task.sources:
        what = "sources (--source)" if task.sources else "pairs (--pairs)"
        msg = f"{what} are for one table, not for many files."
        raise TableError(msg)
    progress.stage("reading")
    parts = Parts.find(pattern)
    rng = np.random.default_rng(task.random_state)
    at = np.union1d(
        _labeled_rows(parts, task), draw_rows(len(parts), dask_.LOCAL_ROWS, rng)
    )
    rows = Rows.read(_rows(parts, at), task, for_trees=False, progress=progress)
    if issparse(rows.points):
        msg = f"{pattern}: a table of texts alone must be one file; or add vectors."
        raise TableError(msg)
    ids = at + 1 if task.id is None else rows.ids  # row numbers of all files together
    _embed_all(parts, rows.encoder, progress)
    of_all = PartsRows(**{**vars(rows), "ids": ids}, parts=parts, at=at)
    result = learned(Session(of_all, task), progress=progress)
    note = (
        f"This report is about {len(at):,} of {len(parts):,} rows: those with a label "
        "and some drawn at random. predictions-*.parquet holds all rows."
    )
    return replace(result, warnings=(note, *result.warnings)), parts


def _embed_all(parts: Parts, encoder: TableEncoder, progress: Progress) -> None:
    """Compute embeddings before the fit, which reads every block several times."""
    kept = [e for e in encoder.embeddings_ if e.model]  # others have no cache
    if not kept:
        return
    progress.stage(STAGE)
    for block in parts.blocks:
        embed_again(block.read([e.column for e in kept]), kept)
        progress.advance((block.start + block.n) / len(parts))


def write_predictions(result: TableResult, parts: Parts, folder: Path) -> None:
    """Write predictions-00000.parquet and so on, one file per block."""
    from dask import delayed

    model = delayed(result.session.to_model(), pure=False)
    where = folder.resolve()
    _each(
        _predict,
        [
            (block, model, str(where / f"predictions-{i:05d}.parquet"))
            for i, block in enumerate(parts.blocks)
        ],
    )


def _each(call: Callable[..., Any], given: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Call a function with each of some arguments, on the cluster if there is one."""
    from dask import delayed

    tasks = [delayed(call)(*arguments) for arguments in given]
    return dask_.computed(tasks, dask_.client_at_hand())


def _predict(block: Block, model: Any, path: str) -> int:
    table = block.read()
    ids = (
        np.arange(block.start + 1, block.start + block.n + 1)
        if model.id is None
        else read_ids(table, model.id)
    )
    frame = predictions_frame(ids, model.predict_proba(table), model.classes_)
    frame.to_parquet(path, index=False)
    return len(frame)


def _labeled_rows(parts: Parts, task: Task) -> IntArray:
    """Return the positions of the rows whose target is filled in."""
    said = task.target, task.missing, task.labels_as_written
    rows = np.concatenate(_each(_filled, ((block, *said) for block in parts.blocks)))
    if len(rows) > MOST_LABELS:
        msg = (
            f"{parts.source}: {len(rows):,} rows have a label in {task.target!r}; the "
            f"limit is {MOST_LABELS:,}, because labels are held in one process."
        )
        raise TableError(msg)
    return rows


def _filled(
    block: Block, target: str, missing: tuple[str, ...], as_written: bool
) -> IntArray:
    names = parquet.ParquetFile(block.path).schema_arrow.names
    if target not in names:
        block.read().check_column(target, "--target")
    cells = block.read([target]).frame[target]
    filled = cells.notna().to_numpy()
    if cells.dtype.kind in "iuf":
        filled = filled & (cells != -1).to_numpy()
    elif not as_written:
        empty = {
            value
            for value in cells[filled].unique()
            if isinstance(value, str) and (is_placeholder(value) or value in missing)
        }
        filled = filled & ~cells.isin(empty).to_numpy()
    return block.start + np.flatnonzero(filled)


def _rows(parts: Parts, rows: IntArray) -> Table:
    """Return some rows, ascending, in this process."""
    starts = np.array([block.start for block in parts.blocks])
    which = np.searchsorted(starts, rows, side="right") - 1
    some = ((parts.blocks[i], rows[which == i] - starts[i]) for i in np.unique(which))
    tables: list[Table] = _each(_take, some)
    frame = pd.concat([table.frame for table in tables], ignore_index=True)
    vectors, images = (
        {name: np.concatenate([held[name] for held in each]) for name in each[0]}
        for each in ([t.vectors for t in tables], [t.images for t in tables])
    )
    unread = tables[0].unread
    return Table(frame, vectors, parts.source, unread=unread, images=images)


def _take(block: Block, rows: IntArray) -> Table:
    return block.read().take(rows)


def _encoded(parts: Parts, encoder: TableEncoder, d: int) -> Any:
    """Return the points of all rows as an array of Dask."""
    import dask.array as da
    from dask import delayed

    at_workers = delayed(encoder, pure=False)
    blocks = [
        da.from_delayed(
            delayed(_points)(block, at_workers), (block.n, d), dtype=np.float64
        )
        for block in parts.blocks
        if block.n
    ]
    return da.concatenate(blocks)


def _points(block: Block, encoder: TableEncoder) -> FloatArray:
    embedded = (e.column for e in encoder.embeddings_)
    columns = dict.fromkeys([*encoder.columns_, *embedded])
    points: FloatArray = encoder.transform(block.read(list(columns)))
    return points
