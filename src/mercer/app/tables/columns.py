"""Properties and conversions of a single column."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from mercer._base.typing import BoolArray, FloatArray
from mercer.app.tables.dates import date_format
from mercer.app.tables.table import Table, TableError

# Numbers this many standard deviations from 0 are stored less their median.
_FAR = 1e4
# Letters of scripts that do not write words apart.
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
# Numbers that differ by less than this share of their size are one number.
_ROUNDING = 1e-12


def apply_steps(steps: list[Any], column: "pd.Series[Any]") -> FloatArray:
    """Return what fitted steps of skrub and scikit-learn make of a column."""
    value: Any = column
    for step in steps:
        is_of_one_column = hasattr(step, "__single_column_transformer__")
        value = step.transform(value if is_of_one_column else value.to_frame())
    return np.asarray(value, dtype=np.float32)


def numbers_among(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns of numbers."""
    some = frame.select_dtypes(["number", "bool"])
    return [str(name) for name in some.columns.tolist()]


def origins_of(frame: pd.DataFrame, names: list[str]) -> FloatArray:
    """Return what to subtract from columns of numbers, (len(names),).

    The median where numbers are so much larger than their differences that single
    precision would lose these, as of seconds since 1970; else 0. Differences that
    double precision loses are rounding as well.

    Examples
    --------
    >>> import pandas as pd
    >>> clock = pd.DataFrame({"at": [1e9, 1e9 + 2], "size": [1.0, 2.0]})
    >>> origins_of(clock, ["at", "size"]).tolist()
    [1000000001.0, 0.0]
    """
    origins = np.zeros(len(names))
    for place, name in enumerate(names):
        column = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        column = column[np.isfinite(column)]
        if not len(column):
            continue
        with np.errstate(over="ignore"):  # what is too large is named later
            spread, size = column.std(), np.abs(column).max()
        if _ROUNDING * size < spread < size / _FAR:
            origins[place] = np.median(column)
    return origins


def numbers_of(table: Table, names: list[str], origins: FloatArray) -> FloatArray:
    """Return columns less their origins, (n, len(names)), NaN where there is none."""
    frame = table.frame[names]
    plain = set(numbers_among(frame))
    odd = [name for name in names if name not in plain]
    if odd:
        frame = frame.copy()
    for name in odd:
        values = pd.to_numeric(frame[name], errors="coerce")
        if (values.isna() & frame[name].notna()).any():
            warn_of_strange(table.source, name)
        frame[name] = values
    with np.errstate(over="ignore"):  # what is too large is named later
        numbers = np.asarray(frame.to_numpy(dtype=np.float32, na_value=np.nan))
        for place in np.flatnonzero(origins):
            column = frame[names[place]].to_numpy(dtype=np.float64, na_value=np.nan)
            numbers[:, place] = column - origins[place]
    return numbers


def warn_of_strange(source: str, name: str) -> None:
    """Warn that a column has values that no row had in training."""
    msg = (
        f"{source}: column {name!r} holds values that the model was not trained with; "
        "they count as empty."
    )
    warnings.warn(msg, UserWarning, stacklevel=3)


def warn_of_unit(source: str, name: str, here: float, there: float) -> None:
    """Warn that the numbers of a column are unlike those in training."""
    msg = (
        f"{source}: the numbers in column {name!r} are far from those that the model "
        f"was trained with (typically {here:.4g} here, {there:.4g} there). Do they "
        "have the same unit?"
    )
    warnings.warn(msg, UserWarning, stacklevel=6)  # where a `TableModel` is called


def moments(Z: FloatArray, empty: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of every column, of the cells that are filled."""
    if not empty.any():
        mean = Z.mean(axis=0, dtype=np.float64)
        return mean, Z.var(axis=0, dtype=np.float64, mean=mean[None])
    n = np.maximum((~empty).sum(axis=0), 1)
    mean = np.where(empty, 0.0, Z).sum(axis=0, dtype=np.float64) / n
    off = np.where(empty, 0.0, Z - mean)
    return mean, np.square(off).sum(axis=0) / n


def is_flag(Z: FloatArray, empty: BoolArray) -> BoolArray:
    """Tell for every column whether all numbers that are there are 0 or 1."""
    first = Z[0]
    flags = (first == 0) | (first == 1) | empty[0]  # few columns pass
    some = Z[:, flags]
    flags[flags] = ((some == 0) | (some == 1) | empty[:, flags]).all(axis=0)
    return np.asarray(flags)


def is_text(column: "pd.Series[Any]", n_words: float) -> bool:
    """Tell strings that are texts: enough words per cell, and hardly two alike."""
    filled = column.dropna()
    sample = filled.iloc[:: max(len(filled) // 500, 1)].astype(str)
    if ngrams_of(sample)["analyzer"] == "char":  # a word has about two characters
        words = sample.str.len().mean() / 2
    else:
        words = sample.str.split().str.len().mean()
    return bool(words >= n_words and sample.nunique() > 0.5 * len(sample))


def ngrams_of(column: "pd.Series[Any]") -> dict[str, Any]:
    """Return what texts are split into, as options of scikit-learn's vectorizers.

    Words where they are written apart; characters, one to three, for Chinese, Japanese,
    Thai, Lao, Khmer and Burmese, which have no spaces.

    Examples
    --------
    >>> import pandas as pd
    >>> ngrams_of(pd.Series(["你叫什么名字", "我喜欢吃苹果"]))["analyzer"]
    'char'
    """
    filled = column.dropna()
    sample = filled.iloc[:: max(len(filled) // 500, 1)].astype(str)
    letters = int(sample.str.count(r"\w").sum())
    unspaced = int(sample.str.count(_UNSPACED).sum())
    if letters and unspaced > letters / 2:
        return {"analyzer": "char", "ngram_range": (1, 3)}
    return {"analyzer": "word", "ngram_range": (1, 1)}


def strings_of(column: "pd.Series[Any]") -> list[str]:
    """Return the cells as strings, empty ones as nothing."""
    return [value if isinstance(value, str) else "" for value in column]


def as_floats(block: Any) -> Any:
    """Return numbers of single or double precision."""
    return (
        block if block.dtype in (np.float32, np.float64) else block.astype(np.float32)
    )


def check_numbers(name: str, block: Any, source: str) -> None:
    """Raise, with the row, unless all vectors hold finite numbers."""
    if block.dtype.kind not in "biuf":
        msg = f"{source}: the vectors in {name!r} hold {block.dtype}, not numbers."
        raise TableError(msg)
    if block.dtype.kind == "f" and not np.isfinite(block.sum()):
        wrong = ~np.isfinite(block).all(axis=1)
        if wrong.any():
            row = int(np.argmax(wrong)) + 1
            msg = f"{source}: the vector in row {row}, {name!r}, holds NaN or infinity."
            raise TableError(msg)


def is_date(cells: "pd.Series[Any]") -> bool:
    """Tell whether cells are dates: 2024-12-31, 2024-12-31T23:59Z, or Jun 12 1998."""
    some = cells.dropna().iloc[:20]
    is_iso = bool(some.str.match(r"\d{4}-\d\d-\d\d(\D|$)").all())
    return is_iso or bool(date_format(cells))


def groups(numbers: list[str], *sizes: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return where the coordinates of each column start and stop.

    Examples
    --------
    >>> groups(["a", "b"], {"c": 3})
    {'a': (0, 1), 'b': (1, 2), 'c': (2, 5)}
    """
    places = {name: (k, k + 1) for k, name in enumerate(numbers)}
    start = len(numbers)
    for some in sizes:
        for name, size in some.items():
            places[name] = (start, start + size)
            start += size
    return places


def refuse_infinite(
    Z: FloatArray, places: dict[str, tuple[int, int]], source: str
) -> None:
    """Raise, with row and column, if a number is infinite."""
    wrong = np.isinf(Z)
    if not wrong.any():
        return
    row, place = np.argwhere(wrong)[0]
    name = next(name for name, (a, b) in places.items() if a <= place < b)
    msg = (
        f"{source}: the number in row {row + 1}, column {name!r}, is infinite or too "
        f"large. Correct it, or leave the column out with --drop {name!r}."
    )
    raise TableError(msg)
