"""A result at the end of a notebook cell: what to expect, and the first rows."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from mercer._base.words import counted
from mercer.app.report.advice import promise
from mercer.app.report.markup import table
from mercer.app.report.summary import found_when_hidden, paragraph, told
from mercer.app.tables.row_text import listed

if TYPE_CHECKING:
    from mercer.app.tables.learning import TableResult
    from mercer.app.tables.session import Session

_ROWS, _CLASSES = 5, 12


def headline(result: "TableResult") -> str:
    """Return a result in one line."""
    said = (
        f"{len(result.labels.labeled):,} of {len(result.table):,} rows labelled, "
        f"{len(result.labels.classes):,} classes"
    )
    if result.check is None:
        return f"{said}; nothing could be checked."
    ours, alike = result.check.scores[0], result.counts_alike
    return (
        f"{said}; expected correct: {ours.accuracy:.0%} "
        f"({ours.low:.0%} to {ours.high:.0%}"
        f"{', each class weighted equally' if alike else ''})."
    )


def in_html(result: "TableResult") -> str:
    """Return the headline, notes, the classes, and the least certain predictions."""
    names = tuple(str(c) for c in result.labels.classes)
    least = listed(result.session, result.proba, names, _ROWS)
    rows = [
        (r.id, r.prediction, f"{r.probability:.0%}", r.second, r.given) for r in least
    ]
    head = ("row", "prediction", "probability", "second guess", "your label")
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.warnings)
    gain = ""
    if result.outlook is not None:
        said = promise(result.outlook)
        gain = f"<p>{said[0].upper()}{said[1:]}.</p>"
    return (
        f"<p><b>{escape(headline(result))}</b></p>{gain}{paragraph(told_of(result.session))}"
        f"{f'<ul>{notes}</ul>' if notes else ''}{_classes(result, names)}"
        f"<p>The {len(least)} least certain rows; <code>.predictions</code> has all, "
        f"<code>.save(folder)</code> writes the report.</p>{table(head, rows)}"
    )


def told_of(session: "Session") -> str:
    """Return what the person said of the classes, in a sentence."""
    sizes, part = session.told.known_sizes or {}, session.told.in_part
    names, drawn = map(str, session.labels.classes), session.task.labels_drawn or ""
    return told([*names], [*sizes.values()], drawn, part.words if part else "")


def _classes(result: "TableResult", names: tuple[str, ...]) -> str:
    """Return labels, recall and predicted rows of each class."""
    given = result.labels.counts()
    predicted = np.bincount(result.proba.argmax(axis=1), minlength=len(names))
    found = ["not tested"] * len(names)
    if result.check is not None:
        found = found_when_hidden(result.check.confusion)
    rows = [
        (name, f"{given[c]:,}", found[c], f"{predicted[c]:,}")
        for c, name in enumerate(names[:_CLASSES])
    ]
    rest = len(names) - len(rows)
    more = f"<p>{counted(rest, 'more class', 'more classes')}.</p>" if rest else ""
    head = ("class", "your labels", "found when hidden", "rows predicted")
    return table(head, rows) + more
