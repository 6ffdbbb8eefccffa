"""Notes on a table, one line per kind."""

import re
from collections.abc import Sequence
from html import escape

from mercer._base.words import counted
from mercer.app.report.markup import folded

# Names in quotation marks and numbers are what notes of one kind differ in.
_VARYING = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|\d[\d,.]*")

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def notes(said: Sequence[str]) -> str:
    """Return a list of notes: those that stand alone first, alike ones under one."""
    if not said:
        return ""
    lines = "".join(f"<li>{_line(group)}</li>" for group in by_kind(said))
    return f'<div class="note"><h2>Please note</h2><ul>{lines}</ul></div>'


def by_kind(said: Sequence[str]) -> list[list[str]]:
    """Return notes in groups that differ only in names and numbers.

    Examples
    --------
    >>> by_kind(["'a' is empty.", "'b' is empty.", "One label only."])
    [['One label only.'], ["'a' is empty.", "'b' is empty."]]
    """
    groups: dict[str, list[str]] = {}
    for note in said:
        groups.setdefault(_VARYING.sub("", note), []).append(note)
    return sorted(groups.values(), key=lambda group: len(group) > 1)


def _line(group: list[str]) -> str:
    first, *rest = map(_with_options, group)
    if not rest:
        return first
    more = "".join(f"<li>{note}</li>" for note in rest)
    n = counted(len(rest), "more note")
    return first + folded(f"{n} of this kind", f"<ul>{more}</ul>")


def _with_options(note: str) -> str:
    """Return a note with the options of the command line as code, kept whole."""
    return _OPTION.sub(r'<code class="whole">\g<0></code>', escape(note))
