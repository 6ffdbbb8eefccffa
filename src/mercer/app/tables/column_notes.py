"""What is said of each column of a table that was encoded."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mercer.app.tables.table import Table

if TYPE_CHECKING:
    from mercer.app.tables.encoding import TableEncoder


class ColumnNote(NamedTuple):
    """What became of a column."""

    column: str
    kind: str
    done: str
    n_coordinates: int


def note_of(
    encoder: "TableEncoder", table: Table, name: str, n_empty: int | None
) -> ColumnNote:
    """Return what became of a column; `n_empty` counts empty cells of numbers."""
    start, stop = encoder.groups_.get(name, (0, 0))
    scales = encoder.scale_[start:stop]
    used = int(np.count_nonzero(scales))
    tells = int(start in encoder.telling_)
    if not used and name in encoder.empty_:
        return ColumnNote(name, "number", "filled or empty as 0/1", tells)
    if not used:
        why = "left out: one value in all rows" if stop > start else "left out: empty"
        return ColumnNote(name, "no information", why, 0)
    if name in encoder.vector_sizes_:
        done = encoder.embedded_as(name) or "used as they are, scaled as a whole"
        return ColumnNote(name, "vectors", done, used)
    if name in encoder.texts_:
        return ColumnNote(name, "text", f"{used} directions of its TF-IDF", used)
    kind = encoder.kinds_.get(name, "numeric")
    if name in encoder.codes_:
        what, done = "codes", "scaled to variance 1"
    elif kind == "numeric":
        flag = scales[0] == 1.0
        what, done = "number", "kept as 0/1" if flag else "scaled to variance 1"
    elif kind == "datetime":
        what, done = "date", f"{used} parts: year, month, day, time"
    elif kind == "low_cardinality":
        n_values = table.frame[name].nunique()
        what, done = "category", f"{n_values} categories as 0/1"
    else:
        what, done = "many categories", f"{used} directions of its n-grams"
    if n_empty is None:
        n_empty = int(table.frame[name].isna().sum())
    if n_empty:
        done += f"; {n_empty:,} empty cells " + (
            "set to the mean, filled or empty as 0/1"
            if name in encoder.empty_
            else "count as a category"
        )
    return ColumnNote(name, what, done, used + tells)
