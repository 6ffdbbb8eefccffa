"""Which evidence made the predictions, and how reliable sources of labels are."""

from html import escape

from mercer._base.words import some
from mercer.app.report.markup import table
from mercer.app.report.story import Story

_WORDS = {
    "graphs": (
        "links between neighbouring rows",
        "every row, labelled or not, is linked to those most like it",
    ),
    "direct": (
        "direct comparison",
        "a row is compared with the labelled rows; other rows play no part",
    ),
    "density": ("density", "how close the nearest rows are"),
}
_SHARES = "#share", "#share without labels"
_OF_SOURCES = (
    "source",
    "#right",
    "#95% interval",
    "#votes on",
    "#contradicts the others",
    "#rows it decides",
)
# From this share on, one kind of evidence decided.
_MOSTLY = 0.6
# Labels move a share by at least this much before it is worth a word.
_MOVED = 0.1


def evidence(story: Story) -> str:
    """Return the kinds of evidence, their shares, and what the labels changed."""
    if not story.evidence:
        return ""
    rows = [
        (*_WORDS[e.kind], f"{e.share:.0%}", f"{e.usual:.0%}") for e in story.evidence
    ]
    return (
        f"<h3>What the predictions rest on</h3><p>{_decided(story)} "
        f"{_role_of_labels(story)}</p>"
        f"{table(('evidence', 'what it is', *_SHARES), rows, 'cards')}{_views(story)}"
    )


def _views(story: Story) -> str:
    """Return which columns decided, where some are compared on their own."""
    if len(story.views) < 2:
        return ""
    rows = [(v.kind, f"{v.share:.0%}", f"{v.usual:.0%}") for v in story.views]
    shares, first = table(("columns", *_SHARES), rows, "cards"), story.views[0]
    said = (
        "Rows were compared by each of these groups of columns, and the labels weighed "
        f"them. What counts most: {escape(first.kind)} ({first.share:.0%})."
    )
    return f"<h3>Which columns decided</h3><p>{said}</p>{shares}"


def _decided(story: Story) -> str:
    """Return one sentence: which kind of evidence decided."""
    first = story.evidence[0]
    if first.share >= _MOSTLY:
        words = _WORDS[first.kind][0]
        return f"{words[0].upper()}{words[1:]} counted most ({first.share:.0%})."
    counting = [e for e in story.evidence if e.share >= _MOVED]
    parts = [f"{_WORDS[e.kind][0]} ({e.share:.0%})" for e in counting]
    return f"What counted: {' and '.join(parts)}."


def _role_of_labels(story: Story) -> str:
    if story.n_weighed == 0:
        return (
            "No class has two labels, so your labels could not show which evidence "
            "suits them: the usual shares were taken."
        )
    said = (
        f"{story.n_weighed:,} labels were left out in turn. Evidence that predicted "
        "them well got a larger share. The labels "
    )
    moved = max(story.evidence, key=lambda e: abs(e.share - e.usual))
    if abs(moved.share - moved.usual) < _MOVED:
        return said + "hardly moved the usual shares."
    way = "raised" if moved.share > moved.usual else "lowered"
    return said + (
        f"{way} the share of {_WORDS[moved.kind][0]} from {moved.usual:.0%} to "
        f"{moved.share:.0%}."
    )


def sources(story: Story) -> str:
    """Return what is known of each source of labels, and where they disagree."""
    if not story.sources:
        return ""
    rows = [
        (
            s.name,
            f"{s.accuracy:.0%}",
            f"{s.low:.0%} to {s.high:.0%}",
            f"{s.coverage:.0%}",
            f"{s.conflicts:.0%}",
            f"{s.decided:,}",
        )
        for s in story.sources
    ]
    disputed = ""
    if story.disputed:
        disputed = (
            "<p>The sources contradict each other most about these rows, where a label "
            f"tells much: {escape(some(story.disputed, 10))}.</p>"
        )
    return (
        '<section id="sources"><h2>Sources of labels</h2>'
        f"<p>How often each is right, {escape(story.rests_on)}. A row that a source "
        "decides would have another class without it.</p>"
        f"{table(_OF_SOURCES, rows, 'cards')}{disputed}</section>"
    )
