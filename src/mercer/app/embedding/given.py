"""Embeddings by what a person brings: a transformer of scikit-learn, or a function."""

from typing import Any

import numpy as np

from mercer.app.embedding.computing import Computed, Items, UnreadableError
from mercer.app.embedding.embedder import Vectors, unit
from mercer.app.tables.table import TableError

# Wider sparse output is refused: as an array it would not fit into memory.
_WIDEST = 5000


def vectors_by(by: Any, column: str, items: Items, *, is_first: bool) -> Computed:
    """Return the embeddings of items; each content is computed once.

    A transformer is fitted if `is_first`.
    """
    broken, contents = dict(items.broken), []
    places: dict[bytes | None, int] = {}
    for key, k in items.first.items():
        try:
            contents.append(items.read(k))
            places[key] = len(places)
        except UnreadableError as error:
            broken[k] = str(error)
    pieces = np.array([int(key in places) for key in items.keys], dtype=np.intp)
    if not contents:
        return Computed(Vectors(np.zeros((len(pieces), 0)), pieces), 0, broken)
    made = unit(_made(by, column, contents, is_first=is_first))
    array: Any = np.zeros((len(pieces), made.shape[1]), dtype=np.float32)
    rows = np.flatnonzero(pieces)
    array[rows] = made[[places[items.keys[k]] for k in rows.tolist()]]
    return Computed(Vectors(array, pieces), len(contents), broken)


def _made(by: Any, column: str, contents: list[Any], *, is_first: bool) -> Any:
    """Return what a transformer or a function makes of contents, checked."""
    given: Any = contents
    if hasattr(by, "transform"):
        if hasattr(by, "__single_column_transformer__"):  # skrub's
            import pandas as pd

            given = pd.Series(contents, name=column)
        found = by.fit_transform(given) if is_first else by.transform(given)
    else:
        found = by(given)
    what = f"what embeds column {column!r} ({type(by).__name__})"
    if hasattr(found, "toarray"):
        if found.shape[1] > _WIDEST:
            msg = (
                f"{what} returned {found.shape[1]:,} columns; put TruncatedSVD behind "
                "it in a pipeline."
            )
            raise TableError(msg)
        found = found.toarray()
    array = np.asarray(found)
    if array.dtype.kind not in "buif" or array.ndim != 2 or len(array) != len(contents):
        msg = (
            f"{what} must return an array of numbers with one row for each of "
            f"{len(contents):,} items; got {array.dtype} of shape {array.shape}."
        )
        raise TableError(msg)
    if not np.isfinite(array).all():
        msg = f"{what} returned NaN or infinity."
        raise TableError(msg)
    return array
