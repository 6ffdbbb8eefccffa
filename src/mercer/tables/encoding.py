"""From the columns of a table to the coordinates of points."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from mercer._typing import FloatArray
from mercer.tables.columns import (
    apply_steps,
    as_floats,
    check_numbers,
    is_flag,
    is_text,
    strings_of,
)
from mercer.tables.table import Table, TableError

# Mean number of words from which on a column of strings is text.
_WORDS_OF_TEXT = 4
_TEXT_DIRECTIONS = 50
_MOST_WORDS = 50_000
# Arrays are scaled column by column if one spreads so much more than the middle one.
_UNEVEN = 10.0


class ColumnNote(NamedTuple):
    """What became of a column."""

    column: str
    kind: str
    done: str
    n_coordinates: int


class TableEncoder(BaseEstimator):
    """Turns rows of a table into points between which distances make sense.

    A single column of texts becomes TF-IDF vectors; a single column of vectors is
    used as it is (scaled column by column if its columns have different units).
    Anything else goes through skrub's `TableVectorizer`: numbers as they are, dates
    to their parts, few categories to 0/1, many to directions of their n-grams, texts
    to directions of their TF-IDF. Then empty cells get the mean, and the coordinates
    of a column are scaled to a total variance of 1, of a text or of vectors to that of
    all other columns together. Coordinates that are 0 or 1 stay so: two categories are
    then as far apart as two numbers drawn at random, and a rare one is not farther.

    Parameters
    ----------
    random_state : int, default=0
        For the directions of texts.

    Attributes
    ----------
    notes_ : list of ColumnNote
        What was done to each column.
    """

    scale_: Any  # (d,), or None where vectors are used as they are

    def __init__(self, *, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit_transform(self, table: Table) -> Any:
        """Learn the encoding and return the points, (n, d), dense or sparse."""
        if not table.columns:
            msg = f"{table.source} has no column to learn from besides target and id."
            raise TableError(msg)
        self.columns_ = table.columns
        self.vector_sizes_ = {k: v.shape[1] for k, v in table.vectors.items()}
        for name, block in table.vectors.items():
            check_numbers(name, block, table.source)
        if len(table.columns) == 1 and table.vectors:
            return self._fit_vectors(table)
        words = _WORDS_OF_TEXT if len(table.columns) > 1 else 1
        texts = [c for c in table.frame.columns if is_text(table.frame[c], words)]
        if table.columns == texts:
            return self._fit_text(table, texts[0])
        return self._fit_mixed(table, texts)

    def fit(self, table: Table) -> Self:
        """Learn the encoding."""
        self.fit_transform(table)
        return self

    def transform(self, table: Table) -> Any:
        """Return the points of new rows of a table with the same columns."""
        check_is_fitted(self, "notes_")
        self._check_columns(table)
        if self.kind_ == "vectors":
            block = as_floats(table.vectors[self.columns_[0]])
            return block if self.scale_ is None else (block - self.mean_) / self.scale_
        if self.kind_ == "text":
            return self.encoder_.transform(strings_of(table.frame[self.columns_[0]]))
        return self._scaled(self._raw(table))

    def _check_columns(self, table: Table) -> None:
        lacking = [c for c in self.columns_ if c not in table.columns]
        if lacking:
            msg = (
                f"{table.source} lacks the column {lacking[0]!r}, which the model was "
                f"trained with; it needs {', '.join(map(repr, self.columns_))}."
            )
            raise TableError(msg)
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
        done = "used as they are"
        self.scale_ = None
        if uneven:
            self.mean_ = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
            is_flag = ((X == 0) | (X == 1)).all(axis=0)
            spread[is_flag | (spread == 0)] = 1.0
            self.scale_ = spread.astype(X.dtype)
            X = (X - self.mean_) / self.scale_
            done = "columns in different units: scaled to variance 1, 0/1 kept"
        self.notes_ = [ColumnNote(name, "vectors", done, X.shape[1])]
        return X

    def _fit_text(self, table: Table, name: str) -> Any:
        self.kind_ = "text"
        self.encoder_ = TfidfVectorizer(
            sublinear_tf=True, max_features=_MOST_WORDS, strip_accents="unicode"
        )
        try:
            X = self.encoder_.fit_transform(strings_of(table.frame[name]))
        except ValueError as error:  # an empty vocabulary
            msg = f"{table.source}: the texts in {name!r} hold no words."
            raise TableError(msg) from error
        done = "TF-IDF of its words, compared by angle"
        self.notes_ = [ColumnNote(name, "text", done, X.shape[1])]
        return sparse.csr_array(X)

    def _fit_mixed(self, table: Table, texts: list[str]) -> Any:
        from skrub import StringEncoder, TableVectorizer

        self.kind_ = "mixed"
        self.steps_: dict[str, Any] = {}
        self.kinds_: dict[str, str] = {}
        self.texts_ = texts
        words = StringEncoder(
            n_components=_TEXT_DIRECTIONS,
            analyzer="word",
            ngram_range=(1, 1),
            random_state=self.random_state,
        )
        vectorizer = TableVectorizer(
            high_cardinality=StringEncoder(random_state=self.random_state),
            specific_transformers=[(words, texts)] if texts else (),
        )
        groups: dict[str, list[int]] = {}
        parts = []
        if len(table.frame.columns):
            with warnings.catch_warnings():  # the notes say how many directions
                warnings.simplefilter("ignore")
                out = vectorizer.fit_transform(table.frame)
            place = {c: k for k, c in enumerate(out.columns)}
            for name, outputs in vectorizer.input_to_outputs_.items():
                groups[name] = [place[c] for c in outputs if c in place]
            parts.append(out.to_numpy(dtype=np.float32))
            self.kinds_ = {
                c: kind for kind, cs in vectorizer.kind_to_columns_.items() for c in cs
            }
            # The steps of each column are all that new rows need; a dictionary at
            # the end holds conversions to float.
            self.steps_ = {
                name: [step for step in steps if hasattr(step, "transform")]
                for name, steps in vectorizer.all_processing_steps_.items()
                if groups.get(name)
            }
        start = sum(part.shape[1] for part in parts)
        for name, size in self.vector_sizes_.items():
            groups[name] = list(range(start, start + size))
            start += size
        Z = np.hstack([*parts, *self._blocks(table)])
        _check_finite(Z, groups, table.source)
        self.mean_ = np.nanmean(np.where(np.isnan(Z).all(axis=0), 0, Z), axis=0)
        variance = np.nanvar(Z, axis=0, dtype=np.float64)
        variance[np.isnan(variance)] = 0.0
        n_plain = len([c for c in groups if not self._is_wide(c)])
        self.scale_ = np.zeros(Z.shape[1])
        for name, places in groups.items():
            total = float(variance[places].sum())
            if total == 0:
                continue
            share = max(n_plain, 1) if self._is_wide(name) else 1
            self.scale_[places] = np.sqrt(share / total)
            if self.kinds_.get(name) == "low_cardinality" or (
                len(places) == 1 and is_flag(Z[:, places[0]])
            ):
                self.scale_[places] = 1.0
        self.notes_ = [
            self._note(table, name, groups.get(name, []), variance)
            for name in table.columns
        ]
        if not self.scale_.any():
            msg = f"{table.source}: every column holds one value in all rows."
            raise TableError(msg)
        self.mean_ = self.mean_.astype(Z.dtype)
        self.scale_ = self.scale_.astype(Z.dtype)
        return self._scaled(Z)

    def _is_wide(self, name: str) -> bool:
        return name in self.texts_ or name in self.vector_sizes_

    def _raw(self, table: Table) -> FloatArray:
        """Return unscaled coordinates of new rows."""
        parts = []
        for name, steps in self.steps_.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = apply_steps(steps, table.frame[name])
            if caught:  # scikit-learn counts columns where a person wants a name
                msg = (
                    f"{table.source}: column {name!r} holds values that the model was "
                    "not trained with; they count as not known."
                )
                warnings.warn(msg, UserWarning, stacklevel=2)
            parts.append(value.reshape(len(table), -1))
        return np.hstack([*parts, *self._blocks(table)])

    def _blocks(self, table: Table) -> list[FloatArray]:
        return [table.vectors[name].astype(np.float32) for name in self.vector_sizes_]

    def _scaled(self, Z: FloatArray) -> FloatArray:
        Z -= self.mean_
        Z *= self.scale_
        np.nan_to_num(Z, copy=False, nan=0.0)
        kept: FloatArray = np.ascontiguousarray(Z[:, self.scale_ > 0])
        return kept

    def _note(
        self, table: Table, name: str, places: list[int], variance: FloatArray
    ) -> ColumnNote:
        used = int(np.count_nonzero(variance[places]))
        if not used:
            why = "left out: one value in all rows" if places else "left out: empty"
            return ColumnNote(name, "no information", why, 0)
        if name in self.vector_sizes_:
            done = "used as they are, scaled as a whole"
            return ColumnNote(name, "vectors", done, used)
        if name in self.texts_:
            return ColumnNote(name, "text", f"{used} directions of its TF-IDF", used)
        kind = self.kinds_[name]
        empty = int(table.frame[name].isna().sum())
        n_values = table.frame[name].nunique()
        is_flag = len(places) == 1 and self.scale_[places[0]] == 1.0
        said = {
            "numeric": ("number", "kept as 0/1" if is_flag else "scaled to variance 1"),
            "datetime": ("date", f"{used} parts: year, month, day, time"),
            "low_cardinality": ("category", f"{n_values} categories as 0/1"),
            "high_cardinality": (
                "many categories",
                f"{used} directions of its n-grams",
            ),
        }
        what, done = said[kind]
        if empty:
            done += f"; {empty:,} empty cells " + (
                "set to the mean" if kind == "numeric" else "count as a category"
            )
        return ColumnNote(name, what, done, used)


def _check_finite(Z: FloatArray, groups: dict[str, list[int]], source: str) -> None:
    if not np.isinf(Z).any():
        return
    row, place = np.argwhere(np.isinf(Z))[0]
    name = next(name for name, places in groups.items() if place in places)
    msg = (
        f"{source}: the number in row {row + 1}, column {name!r}, is infinite or too "
        f"large. Correct it, or leave the column out with --drop {name!r}."
    )
    raise TableError(msg)
