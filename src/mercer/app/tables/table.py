"""A table: columns of cells, columns of vectors, and where they came from."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._base.words import reason, some
from mercer.app.tables.byte_forms import BYTES, is_image, is_sound, said_of

# Arrays of smaller pictures than this are not taken for pictures.
_SMALLEST_SIDE = 8
_FILES = "images or sound"
TITLE = "Is there a title above the header? Delete the lines above the header."


class TableError(ValueError):
    """A table that cannot be learned from; the message names file, row or column."""


@contextmanager
def refusing(what: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of some kinds into a `TableError`: what cannot be done, and why.

    Examples
    --------
    >>> with refusing("t.csv cannot be read", KeyError):
    ...     {}["size"]
    Traceback (most recent call last):
    mercer.app.tables.table.TableError: t.csv cannot be read: 'size'.
    """
    try:
        yield
    except TableError:
        raise
    except kinds as error:
        msg = f"{what}: {reason(error)}."
        raise TableError(msg) from error


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of numbers, strings or dates, with a plain row number as index.
    vectors : dict of str to ndarray of shape (n, d)
        Columns whose cells are vectors: embeddings, images, spectra.
    source : str
        What messages call it: a file name, or "the table".
    image_shape : tuple of int, optional
        Height, width and colours, where the vectors are images.
    image_column : str, default="image"
        Which vectors these are.
    notes : tuple of str, default=()
        How the file was read, where that was not plain.
    unread : dict of str to str, default={}
        Columns that cannot be learned from, and what they hold.
    index : pandas.Index, optional
        What the data frame that was given calls its rows.
    images : dict of str to ndarray of shape (n,), default={}
        Images and recordings as they are kept: paths within `source`, where that is a
        folder of them, or bytes. They are learned from where they are embedded.

    See Also
    --------
    read_table : Reads one from a file, and has an example.
    """

    frame: pd.DataFrame
    vectors: dict[str, NDArray[Any]] = field(default_factory=dict)
    source: str = "the table"
    image_shape: tuple[int, int, int] | None = None
    notes: tuple[str, ...] = ()
    unread: dict[str, str] = field(default_factory=dict)
    image_column: str = "image"
    index: Any = None
    images: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return [*self.frame.columns.tolist(), *self.vectors]

    def check_column(self, name: str, option: str) -> None:
        """Raise unless `name` is a column of cells; `option` is what named it."""
        if name in self.frame.columns:
            return
        held = dict.fromkeys(self.vectors, "vectors") | self.unread
        if name in held:
            msg = (
                f"{self.source}: column {name!r} holds {held[name]}; {option} needs a "
                "column of single values."
            )
            raise TableError(msg)
        msg = f"{self.source} has no column {name!r}; {self._advice(name, option)}"
        raise TableError(msg)

    def check_any_column(self, name: str, option: str) -> None:
        """Raise unless `name`, which `option` gave, is a column of any kind."""
        if name not in self.vectors and name not in self.unread:
            self.check_column(name, option)

    @property
    def unread_notes(self) -> tuple[str, ...]:
        """Notes about the columns that cannot be learned from."""
        return tuple(
            f"Column {name!r} was left out: it holds {what}, not single values or "
            f"lists of numbers. {self._use_of(name)}"
            for name, what in self.unread.items()
        )

    def _use_of(self, name: str) -> str:
        """Return what would make a column that cannot be learned from useful."""
        if name in self.images:
            return f"Compare them by --embed {name!r}."
        if self.unread[name].startswith(BYTES):
            return "Images and recordings can be compared, and texts as strings."
        return "Spread it over columns to learn from it."

    def _advice(self, name: str, option: str) -> str:
        names = self.columns
        if not names and self.unread:
            held = "; ".join(f"{k!r} holds {what}" for k, what in self.unread.items())
            return (
                f"no column of it can be read: {held}. A table of JSON is one record "
                "per line, or a list of records: write what is nested that way."
            )
        alike = [c for c in names if c.strip().casefold() == name.strip().casefold()]
        if alike:
            return f"did you mean {alike[0]!r}?"
        said = [f"its columns are {some(map(repr, names), 12)}."]
        if option.startswith("--"):
            said.append(f"Name one of them with {option} (in Python {option[2:]}=...).")
        if any(c == "" or c.startswith("Unnamed: ") for c in names):
            said.append(TITLE)
        return " ".join([*said, *self.notes])

    def without(self, names: set[str]) -> "Table":
        """Return the table without the columns `names`."""
        gone = [c for c in self.frame.columns.tolist() if c in names]
        frame = self.frame.drop(columns=gone)
        vectors = {k: v for k, v in self.vectors.items() if k not in names}
        unread = {k: v for k, v in self.unread.items() if k not in names}
        images = {k: v for k, v in self.images.items() if k not in names}
        return replace(self, frame=frame, vectors=vectors, unread=unread, images=images)

    def picture(self, row: int) -> NDArray[Any] | None:
        """Return the image of a row, (height, width, colours) with values in [0, 1].

        None where the table has no images.
        """
        if self.image_shape is None or self.image_column not in self.vectors:
            return None
        pixels = self.vectors[self.image_column][row]
        if pixels.dtype == np.uint8:
            scaled = pixels / 255
        else:
            pixels = np.nan_to_num(pixels.astype(float))
            low, high = min(pixels.min(), 0.0), max(pixels.max(), 1.0)
            scaled = (pixels - low) / (high - low)
        return np.asarray(scaled.reshape(self.image_shape))

    def take(self, rows: NDArray[Any]) -> "Table":
        """Return some rows, numbered from 0."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        vectors = {k: v[rows] for k, v in self.vectors.items()}
        images = {k: v[rows] for k, v in self.images.items()}
        return replace(self, frame=frame, vectors=vectors, index=None, images=images)


def as_table(data: Any, source: str = "the table") -> Table:
    """Return a `Table` of a data frame of pandas or polars, or a dict of arrays.

    Cells that are lists or arrays of one length become a column of vectors; so do
    arrays of two or more dimensions in a dict.

    Examples
    --------
    >>> table = as_table({"X": np.zeros((3, 2)), "y": [0, 1, -1]})
    >>> len(table), table.columns
    (3, ['y', 'X'])
    """
    if isinstance(data, Table):
        return data
    if hasattr(data, "to_pandas"):
        data = data.to_pandas()
    if isinstance(data, dict):
        return _of_arrays({str(k): np.asarray(v) for k, v in data.items()}, source)
    if not isinstance(data, pd.DataFrame):
        msg = f"expected a data frame or a dict of arrays, got {type(data).__name__}."
        raise TypeError(msg)
    frame = data.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns.tolist()]
    refuse_repeats(frame.columns.tolist(), source)
    vectors, unread, images = {}, {}, {}
    for name in frame.columns[[kind == np.dtype(object) for kind in frame.dtypes]]:
        if _holds_vectors(frame[name]):
            block = _stack(frame[name], source)
            if block.dtype.kind in "US":
                unread[name] = "lists of texts"
            else:
                vectors[name] = block
        elif any(isinstance(value, bytes | dict) for value in frame[name].head(100)):
            cells = [_file_of(value) for value in frame[name]]
            unread[name] = _said_of(cells)
            if unread[name] == _FILES:
                images[name] = np.array(cells, dtype=object)
    frame = frame.drop(columns=[*vectors, *unread])
    index = data.index
    return Table(frame, vectors, source, unread=unread, index=index, images=images)


def _of_arrays(arrays: dict[str, NDArray[Any]], source: str) -> Table:
    for name, array in arrays.items():
        if array.ndim == 0:
            msg = (
                f"{source}: {name!r} must hold one value per row, such as a list; got "
                f"{array.item()!r}."
            )
            raise TableError(msg)
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        told = ", ".join(f"{k}: {n}" for k, n in lengths.items())
        msg = f"{source}: arrays must have the same number of rows; they have {told}."
        raise TableError(msg)
    vectors = {k: v.reshape(len(v), -1) for k, v in arrays.items() if v.ndim > 1}
    flat = {k: v for k, v in arrays.items() if v.ndim == 1}
    n = next(iter(lengths.values()), 0)
    table = Table(pd.DataFrame(flat, index=range(n)), vectors, source)
    for name, array in arrays.items():
        shape = _image_shape(array)
        if shape is not None:
            return replace(table, image_shape=shape, image_column=name)
    return table


def refuse_repeats(names: Iterable[str], source: str) -> None:
    """Raise if two columns have one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen and name == "":
            msg = f"{source}: two columns have no name. {TITLE}"
            raise TableError(msg)
        if name in seen:
            msg = f"{source} has two columns named {name!r}; rename one."
            raise TableError(msg)
        seen.add(name)


def _image_shape(array: NDArray[Any]) -> tuple[int, int, int] | None:
    """Return height, width and colours of the pictures in an array, if it holds any.

    Examples
    --------
    >>> _image_shape(np.zeros((100, 28, 28))), _image_shape(np.zeros((100, 32, 32, 3)))
    ((28, 28, 1), (32, 32, 3))
    >>> _image_shape(np.zeros((100, 50, 6))) is None  # six channels over time
    True
    """
    height, width, colours = (*array.shape[1:], 1, 0, 0)[:3]
    is_large = min(height, width) >= _SMALLEST_SIDE and array.dtype.kind in "buif"
    if array.ndim not in {3, 4} or not is_large or colours not in {1, 3}:
        return None
    return height, width, colours


def _file_of(cell: Any) -> bytes | str | None:
    """Return the bytes, or the path, of a file; records hold either.

    Examples
    --------
    >>> _file_of({"bytes": None, "path": "a.png"}), _file_of({"size": 3})
    ('a.png', None)
    """
    if isinstance(cell, dict):
        cell = cell.get("bytes") or cell.get("path")
        return cell if isinstance(cell, bytes | str) else None
    return cell if isinstance(cell, bytes) else None


def _said_of(cells: list[bytes | str | None]) -> str:
    """Return what cells of bytes, paths or other records hold, in words.

    Examples
    --------
    >>> _said_of([b"GIF89a", b"broken"]), _said_of([b"%PDF-1.7", None])
    ('images or sound', 'bytes of the form application/pdf')
    """
    held = [cell for cell in cells if cell]
    if not held:
        return "records"
    if any(isinstance(c, str) or is_image(c) or is_sound(c) for c in held):
        return _FILES
    return next(said_of(cell) for cell in held if isinstance(cell, bytes))


def _holds_vectors(column: "pd.Series[Any]") -> bool:
    first = column.dropna()
    return len(first) > 0 and isinstance(first.iloc[0], list | tuple | np.ndarray)


def _stack(column: "pd.Series[Any]", source: str) -> NDArray[Any]:
    lengths = np.array([np.size(v) if np.ndim(v) else -1 for v in column])
    usual = int(np.median(lengths))
    odd = np.flatnonzero(lengths != usual)
    if len(odd):
        found = "no vector" if lengths[odd[0]] < 0 else f"{lengths[odd[0]]} numbers"
        msg = (
            f"{source}: column {column.name!r} holds vectors of {usual} numbers, but "
            f"row {odd[0] + 1} has {found}. Give every row as many, or remove the "
            "column or those rows."
        )
        raise TableError(msg)
    return np.array([np.ravel(v) for v in column])
