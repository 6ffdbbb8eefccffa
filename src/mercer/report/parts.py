"""Tables, which several sections have."""

from collections.abc import Sequence
from html import escape

from mercer.report import svg
from mercer.report.story import Row


def table(head: Sequence[str], rows: Sequence[str]) -> str:
    """Return an HTML table; names of columns of numbers start with #."""
    cells = "".join(
        f'<th class="num">{h[1:]}</th>' if h.startswith("#") else f"<th>{h}</th>"
        for h in head
    )
    return (
        f'<div class="scroll"><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def rows_table(rows: Sequence[Row], guess: str, *, given: bool = False) -> str:
    """Return rows of the person's table with what is predicted for them."""
    has_cells = any(row.cells or row.picture is not None for row in rows)
    head = ["row", *(["label given"] if given else []), guess, "or"]
    head += ["what it holds"] if has_cells else []
    items = []
    for row in rows:
        holds = escape(row.cells)
        if row.picture is not None:
            holds = f'<img alt="" class="thumb" src="{svg.image_uri(row.picture)}">'
        label = cell(row.given) if given else ""
        cells = f'<td class="cells">{holds}</td>' if has_cells else ""
        items.append(
            f"<tr>{cell(row.id)}{label}"
            f"{cell(f'{row.prediction} {row.probability:.0%}')}"
            f"{cell(f'{row.second} {row.second_probability:.0%}')}"
            f"{cells}</tr>"
        )
    return table(head, items)


def cell(words: str) -> str:
    """Return a table cell; short words stay on one line."""
    kind = "short" if len(words) <= 24 else "long"
    return f'<td class="{kind}">{escape(words)}</td>'
