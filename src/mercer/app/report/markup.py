"""Tables and notes, which several sections have."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from mercer._base.words import counted
from mercer.app.report import svg
from mercer.app.report.story import Row

# Longer cells, and rows and columns past these, are folded away.
_LONG_CELL, _SHOWN_CELLS, _SHOWN_ROWS = 400, 14, 8
# Longer texts start on a line of their own, and longer cells may be broken.
_LINE, _SHORT = 60, 24
# Fewer than this are not worth folding.
_WORTH_FOLDING = 4
# Names in quotation marks and numbers are what notes of one kind differ in.
_VARYING = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|\d[\d,.]*")

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


class Html(NamedTuple):
    """A cell that is markup already, and its class in the style sheet."""

    markup: str
    look: str = "long"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str | Html]], kind: str = ""
) -> str:
    """Return an HTML table of texts; names of columns of numbers start with #.

    On narrow pages "cards" name the column in every cell, and "lines" run on.
    """
    cells = "".join(
        f'<th scope="col" class="num">{h[1:]}</th>'
        if h.startswith("#")
        else f'<th scope="col">{h}</th>'
        for h in head
    )
    lines = (
        "".join(_cell(*pair, kind) for pair in zip(row, head, strict=True))
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{named}><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(words: str | Html, head: str, kind: str) -> str:
    """Return a table cell; in cards and lines short words stay on one line."""
    look = ""
    if isinstance(words, Html):
        inside, look = words
    else:
        inside = escape(words)
        if kind in {"cards", "lines"}:
            look = "short" if len(words) <= _SHORT else "long"
    if head.startswith("#"):
        look = "num"
    classed = f' class="{look}"' if look else ""
    named = f' data-name="{escape(head.removeprefix("#"))}"' if kind == "cards" else ""
    return f"<td{classed}{named}>{inside}</td>"


def folded(words: str, inside: str) -> str:
    """Return what is shown once a person asks for it."""
    return f"<details><summary>{words}</summary>{inside}</details>"


def rows_table(rows: Sequence[Row], guess: str, other: str) -> str:
    """Return rows of the person's table with what is predicted for them.

    The columns with the prediction and with `second` are called `guess` and `other`.
    """
    has_cells = any(row.cells or row.picture is not None for row in rows)
    has_odds = any(row.wrong is not None for row in rows)
    head = ["row", guess, other]
    head += ["#chance it is wrong"] * has_odds + ["contents"] * has_cells
    items: list[Sequence[str | Html]] = [
        (
            row.id,
            f"{row.prediction} {row.probability:.0%}",
            f"{row.second} {row.second_probability:.0%}",
            *([_odds(row.wrong)] if has_odds else []),
            *([Html(contents(row), "cells")] if has_cells else []),
        )
        for row in rows
    ]
    if len(items) < _SHOWN_ROWS + _WORTH_FOLDING:
        return table(head, items, "cards")
    more = counted(len(items) - _SHOWN_ROWS, "more row")
    rest = table(head, items[_SHOWN_ROWS:], "cards")
    return f"{table(head, items[:_SHOWN_ROWS], 'cards')}{folded(more, rest)}"


def _odds(wrong: float | None) -> str:
    return "" if wrong is None else "under 1%" if wrong < 0.01 else f"{wrong:.0%}"


def contents(row: Row) -> str:
    """Return all that a row holds: its image, and every cell in full."""
    image = ""
    if row.picture is not None:
        image = (
            f'<img alt="image {escape(row.id)}" class="thumb" '
            f'src="{svg.image_uri(row.picture)}">'
        )
    n_shown = _SHOWN_CELLS
    if len(row.cells) < n_shown + _WORTH_FOLDING:
        n_shown = len(row.cells)
    shown = "".join(_pair(name, value) for name, value in row.cells[:n_shown])
    rest = "".join(_pair(name, value) for name, value in row.cells[n_shown:])
    if rest:
        more = counted(len(row.cells) - n_shown, "more column")
        rest = folded(more, f"<dl>{rest}</dl>")
    return image + (f"<dl>{shown}</dl>" if shown else "") + rest


def _pair(name: str, value: str) -> str:
    text = escape(value)
    if len(value) > _LONG_CELL:
        start = escape(value[:_LONG_CELL].rsplit(" ", 1)[0])
        text = folded(f"{start} … <u>show all</u>", text)
    kind = ' class="text"' if len(value) > _LINE or "\n" in value else ""
    return f"<div{kind}><dt>{escape(name)}</dt><dd>{text}</dd></div>"


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
