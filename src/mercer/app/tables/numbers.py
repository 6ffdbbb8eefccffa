"""Numbers as people write them: 1,99 and 1.234,50 and $1,100 and 12% and 5 kg."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mercer._base.typing import FloatArray

# What a person writes for "there is no value", in lower case.
PLACEHOLDERS = frozenset(
    {"?", "??", "-", "--", ".", "..", "…", "na", "n/a", "#n/a", "n.a.", "n.a", "n/d"}
    | {"nan", "nil", "null", "none", "<na>", "unknown", "missing", "tbd", "(blank)"}
    | {"not sure", "unsure", "don't know", "dont know", "todo", "to do", "n.d."}
    | {"not known", "not available", "unlabelled", "unlabeled", "no label", "#value!"}
)
# With at least this share of numbers, a column is meant to hold numbers.
MOSTLY = 0.8
_CURRENCIES = "$€£¥₹₽₩₺₪₴฿"
_CODES = {"usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "sek", "nok", "dkk", "pln"}
_ORDINALS = {"st", "nd", "rd", "th"}
_GAPS = re.compile("[ \u00a0\u2009\u202f'’](?=\\d{3}(?!\\d))")
_CELL = re.compile(
    rf"^\s*(?P<sign>[-+\u2212]?)\s*(?P<before>[{_CURRENCIES}]|[A-Za-z]{{3}}(?=\s))?\s*"
    r"(?P<inner>[-+\u2212]?)(?P<digits>\d[\d.,]*|[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"\s*(?P<after>%|[{_CURRENCIES}]|[^\W\d_]{{1,5}}[²³]?|°[CF]?)?\s*$"
)
_COMMA_FOR_SURE = re.compile(r"^(\d*,(\d{1,2}|\d{4,})|\d{1,3}(\.\d{3})+,\d*|0,\d+)$")
_POINT_FOR_SURE = re.compile(r"^(\d*\.(\d{1,2}|\d{4,})|\d{1,3}(,\d{3})+\.\d*|0\.\d+)$")
_GROUPS = {
    ",": re.compile(r"^\d{1,3}(\.\d{3})+(,\d*)?$"),
    ".": re.compile(r"^\d{1,3}(,\d{3})+(\.\d*)?$"),
}
_ANY_NUMBER = re.compile(
    r"^(\d*([.,]\d*)?|\d{1,3}(\.\d{3})+(,\d*)?|\d{1,3}(,\d{3})+(\.\d*)?)$"
)


class Written(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str  # "," or "." or "" if no cell tells
    unit: str  # "%", "$", "kg" or ""
    units: tuple[str, ...]  # all that occur; more than one: no column of numbers
    share: float  # of the filled cells that can be read as numbers


def is_placeholder(text: str) -> bool:
    """Tell whether a cell says that there is no value.

    Examples
    --------
    >>> is_placeholder(" N/A "), is_placeholder("no")
    (True, False)
    """
    return text.strip().casefold() in PLACEHOLDERS


def look_at(cells: "pd.Series[Any]") -> Written:
    """Return how the numbers in some cells are written.

    A sample of the filled cells is enough.

    Examples
    --------
    >>> import pandas as pd
    >>> look_at(pd.Series(["1.100,50 €", "3,99 €"]))
    Written(decimal=',', unit='€', units=('€',), share=1.0)
    >>> look_at(pd.Series(["1st", "2nd", "3rd"])).units
    ('th',)
    """
    commas = points = read = 0
    units: dict[str, int] = {}
    for cell in cells:
        found = _split(cell)
        if found is None:
            continue
        digits, unit = found
        unit = "th" if unit.casefold() in _ORDINALS else unit
        read += 1
        units[unit] = units.get(unit, 0) + 1
        commas += bool(_COMMA_FOR_SURE.match(digits))
        points += bool(_POINT_FOR_SURE.match(digits))
    named = tuple(sorted(unit for unit in units if unit))
    decimal = "" if commas == points == 0 else "," if commas > points else "."
    one = named[0] if len(named) == 1 else ""
    # A unit of letters must follow every number: 5 kg, 7 kg. A1 and 12b are names.
    is_letters = one.isalpha() and one.casefold() not in _CODES
    if is_letters and units[one] < read:
        read = units.get("", 0)
    return Written(decimal, one, named, read / max(len(cells), 1))


def _split(cell: str) -> tuple[str, str] | None:
    """Return the digits and the unit of a cell, or None if it is not a number."""
    text = cell.strip()
    if text.startswith("(") and text.endswith(")"):  # how accountants write -5
        text = "-" + text[1:-1]
    match = _CELL.match(_GAPS.sub("", text))
    if match is None or (match["sign"] and match["inner"]):
        return None
    before, after = match["before"] or "", match["after"] or ""
    if not _ANY_NUMBER.match(match["digits"]):  # 3.5.2 or 24.12.2024
        return None
    if len(before) == 3 and before.casefold() not in _CODES:
        return None
    if before and after:
        return None
    return match["digits"], before or after


def parse(cells: "Sequence[Any] | pd.Series[Any]", decimal: str) -> FloatArray:
    """Return the numbers in cells, NaN where there is none; 12% is 0.12.

    The other sign and spaces are taken for thousands separators.

    Examples
    --------
    >>> import pandas as pd
    >>> parse(pd.Series(["1.234,5", "(3)", "x", "12%"]), ",").tolist()
    [1234.5, -3.0, nan, 0.12]
    """
    known: dict[Any, float] = {}
    values = np.empty(len(cells))
    for k, cell in enumerate(cells):
        if cell not in known:
            known[cell] = _number(cell, decimal) if isinstance(cell, str) else np.nan
        values[k] = known[cell]
    return values


def _number(cell: str, decimal: str) -> float:
    text = cell.strip()
    negative = text.startswith("(") and text.endswith(")")
    match = _CELL.match(_GAPS.sub("", text[1:-1] if negative else text))
    if match is None:
        return np.nan
    digits = match["digits"]
    if _GROUPS[decimal].match(digits):
        digits = digits.replace("." if decimal == "," else ",", "")
    elif ("." if decimal == "," else ",") in digits or digits.count(decimal) > 1:
        return np.nan
    value = float(digits.replace(decimal, ".").rstrip(".") + (match["power"] or ""))
    if match["after"] == "%":
        value /= 100
    minus = negative or "-" in (s := match["sign"] + match["inner"]) or "\u2212" in s
    return -value if minus else value
