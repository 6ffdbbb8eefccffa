"""From the columns of a table to the coordinates of points."""

import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from mercer._base.progress import Progress, quiet
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.app.embedding.columns import Embedding, embed_again, embed_columns
from mercer.app.embedding.hints import hints
from mercer.app.embedding.wanted import Wanted
from mercer.app.tables.asked import asked_columns, axes_of, below_all
from mercer.app.tables.column_notes import ColumnNote, note_of
from mercer.app.tables.columns import (
    apply_steps,
    as_floats,
    check_numbers,
    groups,
    is_flag,
    is_text,
    moments,
    ngrams_of,
    numbers_among,
    numbers_of,
    origins_of,
    refuse_infinite,
    strings_of,
    warn_of_strange,
    warn_of_unit,
)
from mercer.app.tables.dates import date_format
from mercer.app.tables.names import codes_among
from mercer.app.tables.number_columns import strings_among
from mercer.app.tables.strings import fit_strings
from mercer.app.tables.table import Table, TableError

# With at least this mean number of words, a column of strings is text.
_WORDS_OF_TEXT = 4
_MOST_WORDS = 50_000
# A median this many standard deviations from the mean in training is of other units:
# of the training rows at most one in a hundred is as far off.
_OTHER_UNIT = 10.0
# Arrays are scaled column by column if one spreads this much more than the median.
_UNEVEN = 10.0


class TableEncoder(BaseEstimator):
    """Turns rows of a table into points between which distances make sense.

    A single column of texts becomes TF-IDF vectors; a single column of vectors is
    used as it is (scaled column by column if its columns have different units).
    In anything else numbers stay as they are; other columns go through skrub's
    `TableVectorizer`: dates to their parts, few categories to 0/1, many to directions
    of their n-grams, texts to directions of their TF-IDF. Then empty cells get the
    mean, and the coordinates of a column are scaled to a total variance of 1, of a
    text or of vectors to that of all other columns together. Coordinates that are 0 or
    1 stay so: two categories are then as far apart as two numbers drawn at random, and
    a rare one is not farther. Where numbers or dates are missing, one more coordinate
    is 1; columns that are empty in the same rows share it.

    Parameters
    ----------
    random_state : int, default=0
        For the directions of texts.
    for_trees : bool, default=False
        Whether a table of several kinds of columns, or with empty cells, also gets the
        columns that trees ask about (`asked_columns`), after all coordinates.

    Attributes
    ----------
    notes_ : list of ColumnNote
        What was done to each column.
    n_coordinates_ : int
        Coordinates of a point, without the columns for trees.

    See Also
    --------
    learn : Encodes a table and learns from it; has an example.
    """

    scale_: Any  # (d,), or None where vectors are used as they are
    origins_: FloatArray  # of the columns of numbers
    telling_: IntArray  # coordinates that tell empty cells
    embeddings_: tuple[Embedding, ...] = ()
    messages_: tuple[str, ...] = ()  # what to say of cells that cannot be embedded
    below_: Any = None  # (d,) empty cells as trees see them; None: no columns for them
    # what trees see of embeddings: column to directions, (d, k)
    axes_: Mapping[str, FloatArray] = MappingProxyType({})

    def __init__(self, *, random_state: int = 0, for_trees: bool = False) -> None:
        self.random_state = random_state
        self.for_trees = for_trees

    def fit_transform(
        self,
        table: Table,
        embed: Sequence[Wanted] = (),
        *,
        progress: Progress = quiet,
    ) -> Any:
        """Learn the encoding and return the points of `table`, (n, d), dense or sparse.

        Columns named by `embed` also become vectors; `progress` gets the stages.
        """
        if not table.columns and not embed:
            said = [
                f"{table.source} has no column besides target and id, so there is "
                "nothing to learn from.",
                *table.unread_notes,
            ]
            raise TableError(" ".join(said))
        self.columns_ = table.columns
        made = embed_columns(table, embed, progress=progress)
        table, self.embeddings_, self.messages_ = made
        self.used_ = table.columns
        self.vector_sizes_ = {k: v.shape[1] for k, v in table.vectors.items()}
        for name, block in table.vectors.items():
            check_numbers(name, block, table.source)
        if len(table.columns) == 1 and table.vectors:
            self.messages_ += hints(table, [])
            return self._fit_vectors(table)
        words = _WORDS_OF_TEXT if len(table.columns) > 1 else 1
        texts = [
            c
            for c in strings_among(table.frame)
            if is_text(table.frame[c], words) and not date_format(table.frame[c])
        ]
        unspoken = [c for c in texts if c not in {e.column for e in self.embeddings_}]
        self.messages_ += hints(table, unspoken)
        if table.columns == texts:
            return self._fit_text(table, texts[0])
        return self._fit_mixed(table, texts)

    def fit(self, table: Table) -> Self:
        """Learn the encoding of `table`."""
        self.fit_transform(table)
        return self

    def transform(self, table: Table, *, compare_units: bool = False) -> Any:
        """Return the points of new rows of a table with the same columns.

        With `compare_units` it warns where most numbers of a column are far from those
        in training.
        """
        check_is_fitted(self, "notes_")
        self._check_columns(table)
        table = embed_again(table, self.embeddings_)
        self._check_vectors(table)
        if self.kind_ == "vectors":
            block = as_floats(table.vectors[self.used_[0]])
            if self.scale_ is not None:
                return (block - self.mean_) / self.scale_
            return np.hstack([block, *(block @ axes for axes in self.axes_.values())])
        if self.kind_ == "text":
            return self.encoder_.transform(strings_of(table.frame[self.used_[0]]))
        parts = self._parts_of(table)
        if compare_units:
            self._compare_units(parts[0], table.source)
        return self._points(np.hstack(parts))

    def _points(self, Z: FloatArray) -> FloatArray:
        """Return coordinates, and after them the columns for trees if there are any."""
        asked = None if self.below_ is None else self._asked(Z)[0]
        points = self._scaled(self._with_empty(Z))
        return points if asked is None else np.hstack([points, asked])

    def _asked(self, Z: FloatArray) -> tuple[FloatArray, dict[str, slice]]:
        # Columns that hold one value in all rows have no coordinates.
        told = [c for c in self.coordinates() if c not in self.vector_sizes_]
        places = {c: self.groups_[c] for c in [*told, *self.axes_]}
        return asked_columns(Z, places, self.kinds_, self.axes_, self.below_)

    def _compare_units(self, numbers: FloatArray, source: str) -> None:
        for k, name in enumerate(self.numbers_):
            filled = numbers[:, k][~np.isnan(numbers[:, k])]
            if not len(filled):
                continue
            there = self.mean_[k] + self.origins_[k]
            here = np.median(filled) + self.origins_[k]
            apart = abs(here - there)
            # In another unit a number is several times as large: 2031 is not of 2020.
            is_other = 2 * apart > max(abs(here), abs(there))
            if is_other and apart * self.scale_[k] > _OTHER_UNIT:
                warn_of_unit(source, name, here, there)

    def places(self) -> dict[str, IntArray]:
        """Return where each column is: its coordinates, and what trees see of it.

        Of a single column, nothing.
        """
        found = self.coordinates()
        if self.below_ is None:
            return found
        return {k: np.append(at, self.asked_.get(k, at[:0])) for k, at in found.items()}

    def coordinates(self) -> dict[str, IntArray]:
        """Return the coordinates that each column has; of a single column, nothing."""
        if self.kind_ != "mixed":
            return {}
        used = self.scale_ > 0
        place = np.cumsum(used) - 1
        found = {}
        for name, (start, stop) in self.groups_.items():
            columns = place[start:stop][used[start:stop]]
            if name in self.empty_:
                columns = np.append(columns, place[self.empty_[name]])
            if len(columns):
                found[name] = columns
        return found

    def _check_columns(self, table: Table) -> None:
        lacking = [c for c in self.columns_ if c not in table.columns]
        if lacking:
            msg = (
                f"{table.source} lacks the column {lacking[0]!r}, which the model was "
                f"trained with; it needs {', '.join(map(repr, self.columns_))}."
            )
            raise TableError(msg)

    def _check_vectors(self, table: Table) -> None:
        for name, size in self.vector_sizes_.items():
            found = table.vectors[name].shape[1] if name in table.vectors else 1
            if found != size:
                msg = (
                    f"{table.source}: the vectors in {name!r} have {found} numbers; "
                    f"the model was trained with {size}."
                )
                raise TableError(msg)
            check_numbers(name, table.vectors[name], table.source)

    def _fit_vectors(self, table: Table) -> Any:
        self.kind_, name = "vectors", table.columns[0]
        X = as_floats(table.vectors[name])
        spread = X.std(axis=0, dtype=np.float64)
        if not spread.any():
            msg = f"{table.source}: all vectors in {name!r} are equal."
            raise TableError(msg)
        uneven = spread.max() > _UNEVEN * np.median(spread[spread > 0])
        uneven = uneven and not self.embeddings_
        done = self.embedded_as(name) or "used as they are"
        self.scale_ = None
        if uneven:
            self.mean_ = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
            spread[is_flag(X, np.isnan(X)) | (spread == 0)] = 1.0
            self.scale_ = spread.astype(X.dtype)
            X = (X - self.mean_) / self.scale_
            done = "columns in different units: scaled to variance 1, 0/1 kept"
        self.notes_ = [ColumnNote(name, "vectors", done, X.shape[1])]
        self.n_coordinates_ = X.shape[1]
        if not (self.for_trees and self.embeddings_):
            return X
        axes = axes_of(X, self.random_state)
        self.below_, self.axes_ = below_all(X), {name: axes}
        self.asked_ = {name: np.arange(axes.shape[1]) + self.n_coordinates_}
        return np.hstack([X, X @ axes])

    def _fit_text(self, table: Table, name: str) -> Any:
        self.kind_ = "text"
        cells = strings_of(table.frame[name])
        form = ngrams_of(table.frame[name])
        self.encoder_ = TfidfVectorizer(
            sublinear_tf=True, max_features=_MOST_WORDS, strip_accents="unicode", **form
        )
        try:
            X = self.encoder_.fit_transform(cells)
        except ValueError as error:  # an empty vocabulary
            msg = f"{table.source}: the texts in {name!r} contain no words."
            raise TableError(msg) from error
        is_words = form["analyzer"] == "word"
        what = "words" if is_words else "single characters, pairs and triples"
        done = f"TF-IDF of its {what}, compared by angle"
        self.notes_ = [ColumnNote(name, "text", done, X.shape[1])]
        return sparse.csr_array(X)

    def _fit_mixed(self, table: Table, texts: list[str]) -> Any:
        self.kind_ = "mixed"
        self.texts_ = texts
        self.numbers_ = numbers_among(table.frame)
        strings = fit_strings(
            table.frame.drop(columns=self.numbers_), texts, self.random_state
        )
        self.steps_, self.kinds_ = strings.steps, strings.kinds
        self.origins_ = origins_of(table.frame, self.numbers_)
        numbers = numbers_of(table, self.numbers_, self.origins_)
        Z = np.hstack([numbers, strings.Z, *self._blocks(table)])
        self.groups_ = groups(self.numbers_, strings.sizes, self.vector_sizes_)
        refuse_infinite(Z, self.groups_, table.source)
        empty = np.isnan(Z)
        self.mean_, variance = moments(Z, empty)
        self.scale_ = self._scales(variance, is_flag(Z, empty))
        self._tell_empty(empty)
        if not self.scale_.any():
            msg = f"{table.source}: every column holds one value in all rows."
            raise TableError(msg)
        self.codes_ = codes_among(table.frame, self.numbers_)
        n_empty = dict(zip(self.numbers_, empty.sum(axis=0).tolist(), strict=False))
        self.notes_ = [
            note_of(self, table, name, n_empty.get(name)) for name in table.columns
        ]
        self.mean_ = self.mean_.astype(Z.dtype)
        self.scale_ = self.scale_.astype(Z.dtype)
        self.n_coordinates_ = int((self.scale_ > 0).sum())
        self.n_rows_ = len(table)
        # Trees see numbers alone, without gaps, in the same way as coordinates.
        if self.for_trees and (strings.sizes or empty.any() or self.embeddings_):
            self.below_ = below_all(Z)
            made = [e.name for e in self.embeddings_ if e.name in self.coordinates()]
            self.axes_ = {c: axes_of(table.vectors[c], self.random_state) for c in made}
            self.asked_ = {
                name: np.arange(at.start, at.stop) + self.n_coordinates_
                for name, at in self._asked(Z[:1])[1].items()
            }
        return self._points(Z)

    def _tell_empty(self, empty: BoolArray) -> None:
        """Add a coordinate for every set of rows in which columns are empty."""
        found: dict[bytes, int] = {}
        self.empty_: dict[str, int] = {}  # column to coordinate
        starts: list[int] = []
        for name, (start, _) in self.groups_.items():
            rows = empty[:, start]
            if rows.any() and not rows.all():
                place = found.setdefault(np.packbits(rows).tobytes(), len(found))
                self.empty_[name] = empty.shape[1] + place
                if place == len(starts):
                    starts.append(start)
        self.telling_ = np.array(starts, dtype=np.intp)
        shares = empty[:, self.telling_].mean(axis=0)
        self.mean_ = np.concatenate([self.mean_, shares])
        self.scale_ = np.concatenate([self.scale_, np.ones(len(shares))])

    def _with_empty(self, Z: FloatArray) -> FloatArray:
        """Return unscaled coordinates with those that tell empty cells."""
        if not len(self.telling_):
            return Z
        return np.hstack([Z, np.isnan(Z[:, self.telling_])])

    def _scales(self, variance: FloatArray, flags: BoolArray) -> FloatArray:
        """Return what each coordinate is multiplied by; 0 where it says nothing."""
        m = len(self.numbers_)
        scale = np.zeros(len(variance))
        n_plain = max(len([c for c in self.groups_ if not self.is_wide(c)]), 1)
        told = variance[:m] > 0
        scale[:m][told] = np.where(flags[:m], 1.0, np.sqrt(variance[:m]))[told] ** -1
        for name, (start, stop) in list(self.groups_.items())[m:]:
            total = float(variance[start:stop].sum())
            if total == 0:
                continue
            share = n_plain if self.is_wide(name) else 1
            scale[start:stop] = np.sqrt(share / total)
            if self.kinds_.get(name) == "low_cardinality" or (
                stop - start == 1 and flags[start]
            ):
                scale[start:stop] = 1.0
        scale[variance == 0] = 0.0
        return scale

    def is_named(self, name: str) -> bool:
        """Tell whether the column `name` holds many names or codes."""
        return self.kinds_.get(name) == "high_cardinality" or name in self.codes_

    def is_wide(self, name: str) -> bool:
        """Tell whether the column `name` is a text or vectors."""
        return name in self.texts_ or name in self.vector_sizes_

    def _parts_of(self, table: Table) -> list[FloatArray]:
        """Return unscaled coordinates of new rows."""
        parts = [numbers_of(table, self.numbers_, self.origins_)]
        for name, steps in self.steps_.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = apply_steps(steps, table.frame[name])
            if caught:  # scikit-learn counts columns where a person wants a name
                warn_of_strange(table.source, name)
            parts.append(value.reshape(len(table), -1))
        return [*parts, *self._blocks(table)]

    def _blocks(self, table: Table) -> list[FloatArray]:
        return [table.vectors[name].astype(np.float32) for name in self.vector_sizes_]

    def _scaled(self, Z: FloatArray) -> FloatArray:
        Z -= self.mean_
        Z *= self.scale_
        np.copyto(Z, 0.0, where=np.isnan(Z))
        used = self.scale_ > 0
        return np.ascontiguousarray(Z if used.all() else Z[:, used])

    def embedded_as(self, name: str) -> str:
        """Return how the vectors `name` were made; nothing if they were given."""
        return next((e.done for e in self.embeddings_ if e.name == name), "")
