"""How reliable rules, language models and colleagues are."""

from html import escape

from mercer._base.words import some
from mercer.app.report.markup import table
from mercer.app.report.story import Story

_HEAD = (
    "source",
    "#right",
    "#95% interval",
    "#votes on",
    "#contradicts the others",
    "#rows it decides",
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
        f"{table(_HEAD, rows, 'cards')}{disputed}</section>"
    )
