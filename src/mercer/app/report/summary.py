"""The top of the page: what to expect, what the figure hides, what to do."""

from collections.abc import Sequence
from html import escape

import numpy as np

from mercer._base.typing import FloatArray
from mercer._base.words import some
from mercer.app.report.advice import beside_always, todo
from mercer.app.report.markup import notes
from mercer.app.report.quality import rival_of
from mercer.app.report.story import Story
from mercer.judging.hiding import Score

# A class found less often than this is named in the summary.
HARDLY = 0.5
_COLUMNS_SHOWN = 3


def summary(story: Story) -> str:
    """Return the heading, the expectation and the figures to remember."""
    tiles = [
        (f"{story.n_labeled:,} of {story.n_rows:,}", "rows labelled"),
        (f"{len(story.classes):,}", f"classes in “{escape(story.target)}”"),
    ]
    if story.quality:
        best = story.quality.contestants[0]
        alike_too = ", each class weighted equally" if story.counts_alike else ""
        said = f"expected correct{alike_too}, {_between(best)}"
        tiles.insert(0, (f"{best.accuracy:.0%}", said))
        share = float(story.n_given.max() / max(story.n_labeled, 1))
        tiles.append((f"{share:.0%}", "of the labels: the largest class"))
    if story.n_pairs:
        tiles.append((f"{story.n_pairs:,}", "pairs given"))
    shown = "".join(
        f'<div class="tile"><b>{value}</b><span>{label}</span></div>'
        for value, label in tiles
    )
    changes = "".join(f"<li>{escape(change)}</li>" for change in story.changes)
    if changes:
        changes = f"<section><h2>Since the last run</h2><ul>{changes}</ul></section>"
    return (
        f"<header><h1>Predictions of “{escape(story.target)}”</h1>"
        f'<div class="soft">{escape(story.source)} · {escape(story.made)}</div>'
        f'<p class="verdict">{verdict(story)}</p>{hidden(story)}'
        f"{paragraph(story.told)}{_columns(story)}</header>"
        f'<div class="tiles">{shown}</div>{notes(story.warnings)}{changes}'
        f"<section><h2>What to do now</h2>{todo(story)}</section>"
    )


def verdict(story: Story) -> str:
    """Return what to expect, in words."""
    q = story.quality
    if q is None:
        return (
            "Every row has a prediction, but no class has two labels, so nothing could "
            "be checked. Label a second row of each class and run this again."
        )
    ours, rival = q.contestants[0], rival_of(q)
    said = (
        f"<b>Expect {_share_of(ours.accuracy)} predictions to be correct</b> "
        f"({_between(ours)}, from {q.n_tested:,} labels that were hidden and "
        f"predicted). {alike(story.counts_alike)}{beside_always(story)} "
    )
    other = (
        f" {rival.name}, trained on the labelled rows alone, would get about "
        f"{rival.accuracy:.0%} right"
    )
    if rival.lead_high < 0:
        return f"{said}<b>Do not use them as they are:</b> a{other}."
    if rival.lead_low > 0:
        return f"{said}A{other}: the unlabelled rows helped."
    return f"{said}A{other}; the difference may be chance."


def alike(counts_alike: bool) -> str:
    """Return that every class has the same weight in a figure, where it does."""
    if not counts_alike:
        return ""
    return (
        "Every class has the same weight in this figure, because each has about as "
        "many labels. The share of all rows that is correct can be far from it where "
        "classes differ in size. "
    )


def hidden(story: Story) -> str:
    """Return what the headline hides: classes that are missed or were not tested."""
    q = story.quality
    if q is None:
        return ""
    parts = []
    names = [f"“{escape(name)}”" for name in story.classes]
    if said := hardly_found(names, q.confusion):
        parts.append(f"<b>Do not rely on it for every class.</b> {said}")
    untested = [names[c] for c, _, total in recalls(q.confusion) if total == 0]
    if untested:
        parts.append(
            f"Not tested, as there is one label only: {some(untested)}. The figures "
            f"say nothing about {'it' if len(untested) == 1 else 'them'}."
        )
    return "".join(f'<p class="verdict">{part}</p>' for part in parts)


def hardly_found(names: Sequence[str], confusion: FloatArray) -> str:
    """Return which classes are missed more often than found, or nothing."""
    missed = [
        f"{names[c]} ({found_of(found, total)} labels)"
        for c, found, total in recalls(confusion)
        if total and found / total < HARDLY
    ]
    words = "On average found in fewer than half of the cases"
    return f"{words}: {some(missed)}." if missed else ""


def recalls(confusion: FloatArray) -> list[tuple[int, float, float]]:
    """Return class, labels found and labels tested, of every class."""
    totals, found = confusion.sum(axis=1), np.diag(confusion)
    return [(c, float(found[c]), float(totals[c])) for c in range(len(totals))]


def told(
    classes: Sequence[str],
    class_sizes: Sequence[float],
    labels_drawn: str,
    in_part: str = "",
) -> str:
    """Return what a person said of the classes, in one sentence, or nothing.

    Examples
    --------
    >>> told(("no", "yes"), (0.9, 0.1), "per class")
    'Class sizes as you gave them: no 90%, yes 10%.'
    >>> told(("no", "yes"), (), "at random")
    'Class sizes from the numbers of labels: drawn at random, as you said.'
    """
    if class_sizes:
        pairs = zip(classes, class_sizes, strict=True)
        sizes = [f"{name} {_percent(share)}" for name, share in pairs]
        return f"Class sizes as you gave them: {some(sizes)}."
    if in_part:
        return f"Class sizes as far as you gave them: {in_part}."
    if labels_drawn == "at random":
        return "Class sizes from the numbers of labels: drawn at random, as you said."
    if labels_drawn == "per class":
        return (
            "Class sizes as predicted: labels were drawn per class, as you said, so "
            "their numbers tell nothing."
        )
    return ""


def _percent(share: float) -> str:
    """Return a share, with a digit after the point where it is small."""
    return f"{share:.0%}" if share >= 0.095 else f"{share:.1%}"


def found_when_hidden(confusion: FloatArray) -> list[str]:
    """Return for each class how many of its hidden labels were found."""
    return [
        found_of(found, total) if total else "not tested"
        for _, found, total in recalls(confusion)
    ]


def found_of(found: float, total: float) -> str:
    """Return how many labels of a class were found when they were hidden.

    Examples
    --------
    >>> found_of(3, 4), found_of(1.5, 10)  # a mean of two rounds
    ('3 of 4', '1 or 2 of 10')
    """
    if abs(found - round(found)) < 0.05:  # as in all rounds
        return f"{found:.0f} of {total:.0f}"
    return f"{int(found)} or {int(found) + 1} of {total:.0f}"


def paragraph(said: str) -> str:
    """Return a text as a paragraph, or nothing where it is empty."""
    return f"<p>{escape(said)}</p>" if said else ""


def _columns(story: Story) -> str:
    """Return which columns matter most, where hidden labels show it."""
    names = [f"“{escape(i.column)}”" for i in story.influences if i.low > 0]
    if not names:
        return ""
    *rest, last = names[:_COLUMNS_SHOWN]
    which = "columns that matter most are" if rest else "column that matters most is"
    shown = f"{', '.join(rest)} and {last}" if rest else last
    return f'<p>The {which} {shown}. <a href="#columns">All columns</a></p>'


def _share_of(share: float) -> str:
    """Return a share in words.

    Examples
    --------
    >>> _share_of(0.846), _share_of(1.0)
    ('about 85% of the', 'nearly all')
    """
    return "nearly all" if share > 0.995 else f"about {share:.0%} of the"


def _between(c: Score) -> str:
    return f"{c.low:.0%} to {c.high:.0%}"
