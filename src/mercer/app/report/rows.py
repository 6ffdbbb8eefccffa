"""The rows that a person should look at: to label, to check, to use."""

import json

from mercer._base.words import counted
from mercer.app.report.markup import rows_table, table
from mercer.app.report.story import Quality, Row, Story

# Rows of the list of predictions that are in the page without its script.
_WITHOUT_SCRIPT = 25


def next_rows(story: Story) -> str:
    """Return the rows to label next."""
    if not story.next_rows:
        return ""
    return (
        '<section id="next"><h2>Label these rows next</h2>'
        "<p>The model is unsure about these rows or has seen few like them, and they "
        "differ from one another, so each answer also helps with other rows. They "
        "are also in <code>to_label.xlsx</code> and <code>to_label.csv</code>, with a "
        "column to fill in.</p>"
        f"{rows_table(story.next_rows, 'best guess', 'second guess')}</section>"
    )


def doubtful(story: Story) -> str:
    """Return the labels that look wrong."""
    if story.quality is None:
        return ""
    rows, first = story.quality.doubtful, story.quality.first
    if rows:
        body = f"<p>{_expected(story.quality)}</p>{_ranked(rows)}"
        if first:
            body += (
                "<h3>Next in the ranking</h3><p>These labels are more likely right "
                f"than wrong. Look at them if you have time.</p>{_ranked(first)}"
            )
    else:
        body = (
            "<p>No label is likely to be wrong, though a single wrong one can go "
            "unnoticed. These are the ones to look at first.</p>"
        ) + _ranked(first)
    return f'<section id="doubtful"><h2>Labels that look wrong</h2>{body}</section>'


def _ranked(rows: tuple[Row, ...]) -> str:
    return rows_table(rows, "looks like", "your label")


def repeated(story: Story) -> str:
    """Return the rows that are alike, those with different labels first."""
    if not story.repeated:
        return ""
    one = story.n_repeating == 1
    said = (
        f"{counted(story.n_repeating, 'row')} {'repeats' if one else 'repeat'} another "
        "one: all cells are the same but for upper case, spaces and rounding to four "
        "digits."
    )
    if story.n_contradicting:
        groups = counted(story.n_contradicting, "group")
        them = "its rows" if story.n_contradicting == 1 else "their rows"
        said += (
            f" <b>In {groups} of such rows you gave {them} different labels:</b> at "
            "most one of these can be right, unless a column is missing that tells the "
            "rows apart."
        )
    items = []
    for group in story.repeated:
        more = group.n - len(group.rows)
        names = ", ".join(group.rows) + (f" and {more:,} more" if more else "")
        items.append((names, " or ".join(group.labels) or "none"))
    shown = table(("rows", "your labels"), items, "cards")
    return (
        f'<section id="repeated"><h2>Rows that repeat others</h2><p>{said}</p>{shown}'
        "</section>"
    )


def _expected(q: Quality) -> str:
    """Return how far the list can be trusted."""
    n, right = len(q.doubtful), q.false_alarms
    if n == 1:
        said = f"The chance that this label is right after all is {right:.0%}"
    else:
        some = max(round(10 * right), 1)
        said = f"Expect about {some} in 10 of these {n} labels to be right after all"
    return (
        "With its label left out, each of these rows looks like another class, more "
        "than overlap of the classes or an odd row explains. "
        f"{said}: look before you change anything."
    )


def predictions(story: Story) -> str:
    """Return the list of predictions, which can be searched and sorted."""
    rows = story.predictions
    if not rows:
        return ""
    which = "All rows, the least certain first."
    if len(rows) < story.n_rows:
        which = (
            f"The {len(rows):,} least certain of {story.n_rows:,} rows. All of them "
            "are in <code>predictions.csv</code>."
        )
    if story.n_sure is not None:
        which += (
            f" For {story.n_sure:,} of {story.n_rows:,} rows one class is possible at "
            "90%; for the others <code>predictions.csv</code> names several. The right "
            "one is among them for nine rows in ten, if the labelled rows were drawn "
            "at random."
        )
    items = [
        (r.id, r.prediction, f"{r.probability:.0%}", r.second, r.given, r.contents)
        for r in rows[:_WITHOUT_SCRIPT]
    ]
    head = ("row", "prediction", "#probability", "second guess", "your label")
    return (
        '<section id="predictions"><h2>Predictions</h2>'
        f'<p id="which">{which}</p>'
        '<div class="tools"><label>Search <input type="search" id="search" '
        'autocomplete="off"></label><span id="found" role="status"></span></div>'
        f"{table((*head, 'contents'), items, 'list')}"
        '<div class="pager" hidden><button type="button" id="previous">Previous'
        '</button><span id="page"></span><button type="button" id="following">Next'
        "</button></div></section>"
    )


def predictions_json(story: Story) -> str:
    """Return the list of predictions for the script of the page."""
    rows = [r._replace(probability=round(r.probability, 4)) for r in story.predictions]
    return json.dumps(rows, ensure_ascii=False).replace("<", "\\u003c")
