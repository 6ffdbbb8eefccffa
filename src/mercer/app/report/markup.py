"""Tables, which several sections have."""

from collections.abc import Sequence
from html import escape

from mercer._base.words import counted
from mercer.app.report import svg
from mercer.app.report.story import Row

# Longer cells, and rows and columns past these, are folded away.
_LONG_CELL, _SHOWN_CELLS, _SHOWN_ROWS = 400, 14, 8
# Longer texts start on a line of their own.
_LINE = 60
# Fewer than this are not worth folding.
_WORTH_FOLDING = 4


def table(head: Sequence[str], rows: Sequence[str], kind: str = "") -> str:
    """Return an HTML table; names of columns of numbers start with #."""
    cells = "".join(
        f'<th scope="col" class="num">{h[1:]}</th>'
        if h.startswith("#")
        else f'<th scope="col">{h}</th>'
        for h in head
    )
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{named}><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def rows_table(rows: Sequence[Row], guess: str, other: str) -> str:
    """Return rows of the person's table with what is predicted for them.

    The columns with the prediction and with `second` are called `guess` and `other`.
    """
    has_cells = any(row.cells or row.picture is not None for row in rows)
    odds = "chance it is wrong"
    has_odds = any(row.wrong is not None for row in rows)
    head = ["row", guess, other]
    head += [f"#{odds}"] * has_odds + ["contents"] * has_cells
    items = []
    for row in rows:
        holds = f'<td class="cells" data-name="contents">{contents(row)}</td>'
        items.append(
            f"<tr>{cell(row.id, 'row')}"
            f"{cell(f'{row.prediction} {row.probability:.0%}', guess)}"
            f"{cell(f'{row.second} {row.second_probability:.0%}', other)}"
            f"{_odds(row.wrong, odds) if has_odds else ''}"
            f"{holds if has_cells else ''}</tr>"
        )
    if len(items) < _SHOWN_ROWS + _WORTH_FOLDING:
        return table(head, items, "cards")
    return (
        f"{table(head, items[:_SHOWN_ROWS], 'cards')}<details><summary>"
        f"{counted(len(items) - _SHOWN_ROWS, 'more row')}</summary>"
        f"{table(head, items[_SHOWN_ROWS:], 'cards')}</details>"
    )


def _odds(wrong: float | None, name: str) -> str:
    said = "" if wrong is None else "under 1%" if wrong < 0.01 else f"{wrong:.0%}"
    return f'<td class="num" data-name="{name}">{said}</td>'


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
        n = len(row.cells) - n_shown
        more = counted(n, "more column")
        rest = f"<details><summary>{more}</summary><dl>{rest}</dl></details>"
    return image + (f"<dl>{shown}</dl>" if shown else "") + rest


def _pair(name: str, value: str) -> str:
    text = escape(value)
    if len(value) > _LONG_CELL:
        start = escape(value[:_LONG_CELL].rsplit(" ", 1)[0])
        text = f"<details><summary>{start} … <u>show all</u></summary>{text}</details>"
    kind = ' class="text"' if len(value) > _LINE or "\n" in value else ""
    return f"<div{kind}><dt>{escape(name)}</dt><dd>{text}</dd></div>"


def cell(words: str, name: str = "") -> str:
    """Return a table cell; short words stay on one line."""
    kind = "short" if len(words) <= 24 else "long"
    named = f' data-name="{escape(name)}"' if name else ""
    return f'<td class="{kind}"{named}>{escape(words)}</td>'
