"""Columns of a table as vectors: fitted once, and the same again for new rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer._base.progress import Progress, quiet
from mercer._base.typing import FloatArray
from mercer._base.words import counted, some
from mercer.app.embedding.cache import Cache
from mercer.app.embedding.computing import Computed, Items, texts, vectors_of
from mercer.app.embedding.embedder import Kind, embedded_name
from mercer.app.embedding.file_cells import (
    file_items,
    holds_images,
    holds_sounds,
    opened_image,
    opened_sound,
)
from mercer.app.embedding.models import LIGHT, Model, find_model, load
from mercer.app.embedding.wanted import Wanted, read_embed
from mercer.app.tables.columns import ngrams_of
from mercer.app.tables.table import Table, TableError

STAGE = "embeddings"


class NothingError(TableError):
    """Nothing in a column can be embedded: every cell is empty or broken."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """What made vectors of a column; a saved model holds this and no weights."""

    column: str
    kind: str  # "text", "image", "sound"
    model: str  # name or folder of the model; "" for a transformer or a function
    revision: str  # hash of the content of the model
    by: Any  # the fitted transformer, or the function
    empty: FloatArray  # (d,) the vector of empty cells: the mean of the others
    done: str = ""  # what the report says of it

    @property
    def name(self) -> str:
        """What the column of vectors is called."""
        return embedded_name(self.column)


class Embedded(NamedTuple):
    """A table with columns of vectors, what made them, and what to say."""

    table: Table
    embeddings: tuple[Embedding, ...]
    messages: tuple[str, ...]


def embed_columns(
    table: Table, wanted: Sequence[Wanted], *, progress: Progress = quiet
) -> Embedded:
    """Return a table with vectors of some columns.

    The words of a text stay beside its vectors; paths and bytes do not.
    """
    embeddings, messages = [], []
    result = table
    if wanted:
        progress.stage(STAGE)
    for one in wanted:
        table.check_any_column(one.column, "--embed")
        cells, kind = _cells(table, one.column)
        embedding, found = _fitted(table, one, cells, kind, progress)
        array, message = _filled(table, embedding, found)
        embeddings.append(replace(embedding, done=_done(embedding, found)))
        messages += [*message, *_of_other_script(table, embedding)]
        result = _with_vectors(result, embedding, array)
    return Embedded(result, tuple(embeddings), tuple(messages))


def embed_again(
    table: Table, embeddings: Sequence[Embedding], *, progress: Progress = quiet
) -> Table:
    """Return new rows with the vectors that a fitted table has."""
    result = table
    if embeddings:
        progress.stage(STAGE)
    for one in embeddings:
        if one.column not in table.columns and one.column not in table.unread:
            msg = (
                f"{table.source} lacks the column {one.column!r}, which the model was "
                "trained with."
            )
            raise TableError(msg)
        cells, kind = _cells(table, one.column)
        if kind != one.kind:
            msg = (
                f"{table.source}: column {one.column!r} holds {kind}s; the model was "
                f"trained with {one.kind}s."
            )
            raise TableError(msg)
        found = _computed(one, _items(table, cells, kind), cells, progress)
        array, _ = _filled(table, one, found)
        result = _with_vectors(result, one, array)
    return result


def moved(
    embeddings: Sequence[Embedding], embed: Sequence[str]
) -> tuple[Embedding, ...]:
    """Return embeddings whose models lie elsewhere; their content must be the same.

    For every column whose model was moved `embed` has a text ``"text=FOLDER"``.
    """
    elsewhere = {one.column: one.by for one in read_embed(embed)}
    for column in elsewhere:
        if column not in {e.column for e in embeddings if e.model}:
            msg = f"--embed {column!r}: the model does not embed this column."
            raise TableError(msg)
    return tuple(replace(e, model=elsewhere.get(e.column, e.model)) for e in embeddings)


def _cells(table: Table, column: str) -> tuple[list[Any], Kind]:
    """Return the cells of a column, and what they hold."""
    if column in table.images:
        cells = table.images[column].tolist()
        return cells, "sound" if holds_sounds(cells) else "image"
    if column in table.vectors:
        if column != table.image_column or table.image_shape is None:
            msg = (
                f"{table.source}: column {column!r} holds vectors already; they are "
                "used as they are, without --embed."
            )
            raise TableError(msg)
        return [table.picture(row) for row in range(len(table))], "image"
    if column in table.unread:
        msg = (
            f"{table.source}: column {column!r} holds {table.unread[column]}; --embed "
        )
        raise TableError(msg + "needs texts, images or recordings.")
    cells = table.frame[column].tolist()
    if holds_sounds(cells):
        return cells, "sound"
    if holds_images(cells):
        return cells, "image"
    if not any(isinstance(cell, str) for cell in cells):
        msg = (
            f"{table.source}: column {column!r} holds neither texts, images nor "
            "recordings."
        )
        raise TableError(msg)
    return [cell if isinstance(cell, str) else "" for cell in cells], "text"


def _items(table: Table, cells: list[Any], kind: str) -> Items:
    if kind == "text":
        return texts(cells)
    return file_items(table, cells, opened_image if kind == "image" else opened_sound)


def _fitted(
    table: Table, wanted: Wanted, cells: list[Any], kind: Kind, progress: Progress
) -> tuple[Embedding, Computed]:
    """Return what embeds a column, with its mean, and the vectors."""
    items = _items(table, cells, kind)
    by, name, revision = None, "", ""
    if wanted.how == "model":
        if kind == "text" and all(_is_number(cell) for cell in cells if cell.strip()):
            msg = (
                f"{table.source}: column {wanted.column!r} holds numbers, which are "
                "compared as they are: leave out --embed."
            )
            raise TableError(msg)
        model = find_model(wanted.by, kind)
        name, revision = model.name, model.revision
    elif wanted.how == "transformer":
        by = clone(wanted.by)
    else:
        by = wanted.by
    bare = Embedding(wanted.column, kind, name, revision, by, np.zeros(0))
    found = _computed(bare, items, cells, progress, is_first=True)
    there = found.vectors.pieces > 0
    if not there.any():
        why = "; ".join(list(found.broken.values())[:1]) or "every cell is empty"
        msg = (
            f"{table.source}: nothing in column {wanted.column!r} can be read ({why})."
        )
        raise NothingError(msg)
    empty = found.vectors.array[there].mean(axis=0)
    return replace(bare, empty=empty), found


def _computed(
    embedding: Embedding,
    items: Items,
    cells: list[Any],
    progress: Progress,
    *,
    is_first: bool = False,
) -> Computed:
    if embedding.by is not None:
        from mercer.app.embedding.given import vectors_by

        return vectors_by(embedding.by, embedding.column, items, is_first=is_first)
    model = _same_model(embedding)
    with Cache() as cache:
        cache.call(model.revision, model.name)
        return vectors_of(
            lambda: load(model),
            model.revision,
            items,
            cache=cache,
            progress=progress,
        )


def _same_model(embedding: Embedding) -> Model:
    """Return the model by which a column was embedded, or raise."""
    model = find_model(embedding.model, cast(Kind, embedding.kind))
    if model.revision != embedding.revision:
        msg = (
            f"the model {embedding.model!r} is not the one that column "
            f"{embedding.column!r} was embedded by: its content is "
            f"{model.revision}, and was {embedding.revision}. Install that version "
            "again, or learn again."
        )
        raise TableError(msg)
    return model


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _of_other_script(table: Table, embedding: Embedding) -> list[str]:
    """Say that the small model knows English alone, where that can be seen."""
    if embedding.model != LIGHT:
        return []
    if ngrams_of(table.frame[embedding.column])["analyzer"] == "word":
        return []
    return [
        f"Column {embedding.column!r} is in a script that {LIGHT!r}, a model of "
        f"English, knows little of. Choose a model of that language: --embed "
        f"'{embedding.column}=MODEL'."
    ]


def _filled(
    table: Table, embedding: Embedding, found: Computed
) -> tuple[FloatArray, list[str]]:
    """Return vectors with the mean for empty cells, and what to say of broken ones."""
    width = len(embedding.empty)
    array = found.vectors.array
    if array.shape[1] not in (width, 0):
        msg = (
            f"{table.source}: the embeddings of {embedding.column!r} have "
            f"{array.shape[1]} numbers; the model was trained with {width}."
        )
        raise TableError(msg)
    nothing = found.vectors.pieces == 0
    array = np.where(nothing[:, None], embedding.empty, array).astype(np.float32)
    if not found.broken:
        return array, []
    named = some((f"row {k + 1}: {why}" for k, why in found.broken.items()), 3)
    what = "recording" if embedding.kind == "sound" else embedding.kind
    count = counted(len(found.broken), what)
    return array, [f"Column {embedding.column!r}: {count} left out ({named})."]


def _done(embedding: Embedding, found: Computed) -> str:
    """Return what was done to a column, in words."""
    pieces = found.vectors.pieces
    name = embedding.model or type(embedding.by).__name__
    name = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    done = [f"{len(embedding.empty)} numbers by {name}, compared by angle"]
    n_long, n_empty = int((pieces > 1).sum()), int((pieces == 0).sum())
    if n_long:
        done.append(
            f"{counted(n_long, 'text')} longer than its window, split and averaged"
        )
    if n_empty:
        done.append(f"{counted(n_empty, 'empty cell')} set to the mean")
    return "; ".join(done)


def _with_vectors(table: Table, embedding: Embedding, array: NDArray[Any]) -> Table:
    """Return a table with the vectors; words stay, paths and bytes go."""
    if embedding.name in table.columns:
        msg = f"{table.source} has a column {embedding.name!r} already; rename it."
        raise TableError(msg)
    if embedding.kind != "text":
        table = table.without({embedding.column})
    return replace(table, vectors={**table.vectors, embedding.name: array})
