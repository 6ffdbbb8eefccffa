"""The end of the page: columns, classes, and how the computation was checked."""

from html import escape

from mercer._base.words import counted, some
from mercer.app.report import svg
from mercer.app.report.markup import Html, folded, table
from mercer.app.report.story import Column, Story
from mercer.app.report.summary import found_when_hidden

# More columns than this are folded away.
_SHOWN_COLUMNS, _SHOWN_INFLUENCES = 30, 12


def columns(story: Story) -> str:
    """Return how much each column matters, and how it was used."""
    items = [
        (c.name, c.kind, _values(c), c.done, f"{c.n_numbers:,}") for c in story.columns
    ]
    head = ("column", "type", "values", "how it was used", "#numbers")
    listed = table(head, items[:_SHOWN_COLUMNS], "lines")
    if len(items) > _SHOWN_COLUMNS:
        more = counted(len(items) - _SHOWN_COLUMNS, "more column")
        listed += folded(more, table(head, items[_SHOWN_COLUMNS:], "lines"))
    return (
        f'<section id="columns"><h2>Columns</h2>{_influences(story)}{_same(story)}'
        f"<h3>How each column was used</h3>{listed}</section>"
    )


def _values(column: Column) -> Html:
    """Return what a column holds, with a small histogram of numbers."""
    bars = ""
    if column.bars:
        drawn = svg.draw_histogram(column.bars, f"histogram of {column.name}")
        bars = f'<div class="small-bars">{drawn}</div>'
    return Html(escape(column.values) + bars)


def _same(story: Story) -> str:
    """Return which columns say much the same, so that one of them would do."""
    if not story.same_columns:
        return ""
    pairs = some(
        f"“{escape(one)}” and “{escape(other)}” ({r:+.2f})"
        for one, other, r in story.same_columns
    )
    return f"<p>These columns say much the same (rank correlation): {pairs}.</p>"


def _influences(story: Story) -> str:
    if not story.influences:
        return ""
    losing = [i for i in story.influences if i.loss > 0]
    shown = losing[:_SHOWN_INFLUENCES]
    rest = len(story.influences) - len(shown)
    others = ""
    if not shown:
        others = "<p>No column shows a loss by itself.</p>"
    elif rest:
        less = "less" if len(losing) > len(shown) else "no loss"
        others = f'<p class="small soft">{counted(rest, "other column")}: {less}.</p>'
    return (
        "<h3>Which columns matter most</h3>"
        '<p class="small soft">How far the probability of the right class falls, in '
        "points, on hidden labels, when the cells of a column are shuffled. Bars are "
        "means, lines 95% intervals. If several columns hold the same information, "
        "each of them alone may show a small loss.</p>"
        f"{svg.draw_influences(shown) if shown else ''}{others}"
    )


def certificates(story: Story) -> str:
    """Return counts per class and every figure that checks the computation."""
    found = ["not tested"] * len(story.classes)
    if story.quality is not None:
        found = found_when_hidden(story.quality.confusion)
    told = [f"{story.n_rows * share:,.0f}" for share in story.class_sizes]
    counts = [
        (name, f"{given:,}", found[c], *told[c : c + 1], f"{n:,}")
        for c, (name, given, n) in enumerate(
            zip(story.classes, story.n_given, story.n_predicted, strict=True)
        )
    ]
    sizes = ("#rows by your sizes",) if told else ()
    head = ("class", "#your labels", "#found when hidden", *sizes, "#rows predicted")
    facts = table(("part", "figure", "#value", "meaning"), story.facts)
    return (
        f'<section id="classes"><h2>Classes</h2>{table(head, counts)}</section>'
        '<section id="certificates"><h2>Checks of the computation</h2>'
        f"{folded('Residuals, gaps and other certificates', facts)}</section>"
        f"<footer>{escape(story.method)}. Made by Mercer; this file needs no network."
        "</footer>"
    )
