"""Pairs of rows that belong together or apart, from a file."""

from pathlib import Path
from typing import Any

import numpy as np

from mercer.app.tables.table import TableError, as_table
from mercer.evidence.pairs import Pairs

SAME = {"must", "must-link", "same", "together", "1", "+1", "1.0", "true", "yes"}
APART = {
    "cannot",
    "cannot-link",
    "different",
    "apart",
    "-1",
    "-1.0",
    "0",
    "false",
    "no",
}


def read_pairs(data: Any, ids: Any) -> Pairs:
    """Read pairs of ids, each with the word "must" or "cannot".

    There are three columns, in this order and under any names: the ids of two rows, and
    "must" (same, 1) or "cannot" (different, -1).

    Examples
    --------
    >>> pairs = read_pairs({"a": ["x"], "b": ["z"], "link": ["cannot"]},
    ...                    np.array(["x", "y", "z"]))
    >>> pairs.cannot_link.tolist()
    [[0, 2]]
    """
    if isinstance(data, str | Path):
        from mercer.app.tables.reading import read_table

        data = read_table(Path(data), as_text=None)
    table = as_table(data, "the table of pairs")
    if len(table.frame.columns) != 3:
        msg = (
            f"{table.source} must have three columns (two ids, and must or cannot), "
            f"it has {len(table.frame.columns)}: {', '.join(table.columns)}."
        )
        raise TableError(msg)
    place = {str(name): row for row, name in enumerate(ids)}
    ends = np.empty((len(table), 2), dtype=np.intp)
    signs = np.empty(len(table))
    for row, cells in enumerate(table.frame.itertuples(index=False)):
        *two, word = cells
        for side, name in enumerate(two):
            if str(name) not in place:
                msg = (
                    f"{table.source}: row {row + 1} names {name!r}, and the table has "
                    "no such id (without --id, ids are row numbers from 1)."
                )
                raise TableError(msg)
            ends[row, side] = place[str(name)]
        if ends[row, 0] == ends[row, 1]:
            msg = f"{table.source}: row {row + 1} links {two[0]!r} to itself."
            raise TableError(msg)
        said = str(word).strip().casefold()
        if said not in SAME | APART:
            msg = (
                f"{table.source}: row {row + 1} says {word!r}; say 'must' or 'cannot'."
            )
            raise TableError(msg)
        signs[row] = 1.0 if said in SAME else -1.0
    return Pairs(ends[:, 0], ends[:, 1], signs, len(ids))
