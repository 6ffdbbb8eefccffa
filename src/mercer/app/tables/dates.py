"""Dates as people write them: Jun 12 1998, 3/14/24, 12.06.1998."""

import re
from typing import Any

import pandas as pd

# Cells that look like a date at all: only these are tried.
_LOOKS = re.compile(
    r"^\s*(\d{1,4}[-/. ]([A-Za-z]{3,9}|\d{1,2})[-/. ,]+\d{2,4}|"
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4})( \d{1,2}:\d\d(:\d\d)?)?\s*$"
)
_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y"),
    *("%d.%m.%Y", "%d.%m.%y", "%m-%d-%Y", "%d-%m-%Y", "%m-%d-%y", "%d-%m-%y"),
    *("%b %d %Y", "%b %d, %Y", "%B %d %Y", "%B %d, %Y"),
    *("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%d-%B-%Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S")
_SAMPLE = 200


def date_format(cells: "pd.Series[Any]") -> str:
    """Return how the dates in cells are written, or nothing if they are not dates.

    Where the order of day and month is ambiguous, the month comes first.
    Empty cells do not count.

    Examples
    --------
    >>> import pandas as pd
    >>> [date_format(pd.Series(c)) for c in (["Jun 12 1998"], ["3/14/24"], ["14/3/24"])]
    ['%b %d %Y', '%m/%d/%y', '%d/%m/%y']
    >>> date_format(pd.Series(["3/14/24", "3/4"]))
    ''
    """
    filled = cells.dropna()
    first = filled.iloc[:_SAMPLE].astype(str).str.strip()
    if not (first.str.match(_LOOKS) | (first == "")).all():
        return ""
    texts = filled.astype(str).str.strip()
    unique = pd.Series(texts[texts != ""].unique(), dtype="str")
    if unique.empty:
        return ""
    for day in _DAYS:
        for time in _TIMES:
            some = pd.to_datetime(unique[:_SAMPLE], format=day + time, errors="coerce")
            if some.isna().any():
                continue
            every = pd.to_datetime(unique, format=day + time, errors="coerce")
            if every.notna().all():
                return day + time
    return ""
