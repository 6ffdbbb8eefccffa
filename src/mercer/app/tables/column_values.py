"""What the cells of a column hold, in a line and as a small histogram."""

import numpy as np
import pandas as pd

from mercer._base.words import counted
from mercer.app.tables.dates import date_format

_BINS, _NAMED, _LONGEST = 12, 3, 24
_FEW = 0.02  # a value that is not even this share of the cells is one of many


def values_of(cells: "pd.Series", kind: str = "") -> tuple[str, tuple[float, ...]]:
    """Return the values of a column in words, and the heights of bars for numbers.

    Of numbers and dates the range; of names the most frequent ones; of texts how long
    they are. Outliers do not flatten the histogram: it holds the middle 98%, and what
    lies outside is in its first and last bar.

    Examples
    --------
    >>> import pandas as pd
    >>> values_of(pd.Series([1.0, 2.0, 2.0, 40.0]))[0]
    '1 to 40, median 2'
    >>> values_of(pd.Series(["red", "red", "blue", None]))[0]
    'red 67%, blue 33%'
    """
    filled = cells.dropna()
    if pd.api.types.is_numeric_dtype(filled):
        return _of_numbers(filled.to_numpy(dtype=float))
    words = filled.astype(str).str.strip()
    words = words[words != ""]
    if words.empty:
        return "", ()
    if kind == "date":
        form = date_format(words) or "ISO8601"
        days = pd.to_datetime(words, format=form, errors="coerce", utc=True).dropna()
        if len(days):
            return f"{days.min():%Y-%m-%d} to {days.max():%Y-%m-%d}", ()
    if kind == "text":
        n = int(words.str.split().str.len().median())
        return f"half of them longer than {counted(n, 'word')}", ()
    counts = words.value_counts()
    if counts.iloc[0] <= _FEW * len(words):
        first = _short(counts.index[0])
        return f"{len(counts):,} different values, such as {first}", ()
    said = [f"{_short(name)} {n / len(words):.0%}" for name, n in counts.items()]
    more = len(said) - _NAMED
    others = [counted(more, "other")] if more > 0 else []
    return ", ".join([*said[:_NAMED], *others]), ()


def _of_numbers(numbers: np.ndarray) -> tuple[str, tuple[float, ...]]:
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return "", ()
    low, middle, high = np.quantile(numbers, (0, 0.5, 1))
    if low == high:
        return f"always {low:.4g}", ()
    ends = np.quantile(numbers, (0.01, 0.99))
    inside = np.clip(numbers, *ends) if ends[0] < ends[1] else numbers
    bars = np.histogram(inside, _BINS)[0] / len(numbers)
    said = f"{low:.4g} to {high:.4g}, median {middle:.4g}"
    return said, tuple(np.round(bars, 4).tolist())


def _short(name: object) -> str:
    said = str(name)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
