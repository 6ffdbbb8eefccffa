"""Counts, names, sizes and reasons in the messages that people read."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any
from unicodedata import category

# Control, format and surrogate characters.
_OBEYED = {"Cc", "Cf", "Cs"}


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Parameters
    ----------
    n : int
    one : str
        The noun for a single thing.
    many : str, optional
        The plural; by default the noun with an s.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def some(names: Iterable[str], most: int = 6) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> some("abc"), some(map(repr, "abc"), 2)
    ('a, b, c', "'a', 'b' and 1 more")
    """
    every = list(names)
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def in_bytes(size: float) -> str:
    """Return a size of memory in the unit that suits it.

    Examples
    --------
    >>> in_bytes(3 * 1024**3), in_bytes(1500), in_bytes(12)
    ('3.0 GiB', '1.5 KiB', '12 bytes')
    """
    for unit, power in (("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if size >= 1024**power:
            return f"{size / 1024**power:,.1f} {unit}"
    return f"{size:.0f} bytes"


def printable(text: str) -> str:
    r"""Return a text without the marks that a terminal would obey.

    Escape sequences, and marks that turn the direction of writing, are shown instead.

    Examples
    --------
    >>> printable("red\x1b[2J"), printable("two\nlines\u202e")
    ('red\\x1b[2J', 'two\nlines\\u202e')
    """
    return "".join(
        ascii(mark)[1:-1] if category(mark) in _OBEYED and mark not in "\n\t" else mark
        for mark in text
    )


def reason(error: object) -> str:
    r"""Return what an error says, in one line and without its full stop.

    Examples
    --------
    >>> reason(ValueError("Bad header.\nPage 3 failed."))
    'Bad header. Page 3 failed'
    """
    return " ".join(str(error).split()).rstrip(".")


def as_name(value: Any) -> str:
    """Return a label as a person writes it: whole numbers without decimals.

    Examples
    --------
    >>> as_name(2.0), as_name(2.5), as_name("cat")
    ('2', '2.5', 'cat')
    """
    is_real = isinstance(value, Real) and not isinstance(value, Integral)
    return str(int(value) if is_real and float(value).is_integer() else value)
