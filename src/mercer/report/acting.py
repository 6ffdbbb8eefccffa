"""The sections that say what to do: result, next rows, doubtful labels."""

from html import escape

from mercer.report.judging import rival_of
from mercer.report.parts import rows_table
from mercer.report.story import Contestant, Story


def summary(story: Story) -> str:
    """Return the heading, the verdict and the four figures to remember."""
    labels = f"{story.n_labeled:,} of {story.n_rows:,}"
    tiles = [
        (labels, "rows labelled"),
        (f"{len(story.classes):,}", f"classes in “{escape(story.target)}”"),
    ]
    if story.quality:
        best = story.quality.contestants[0]
        tiles.append(
            (f"{best.accuracy:.0%}", f"right on hidden labels, {_between(best)}")
        )
        rival = rival_of(story.quality)
        tiles.append(
            (f"{100 * rival.lead:+.0f} points", f"against {rival.name} on labels alone")
        )
    if story.n_pairs:
        tiles.append((f"{story.n_pairs:,}", "pairs given"))
    shown = "".join(
        f'<div class="tile"><b>{value}</b><span>{label}</span></div>'
        for value, label in tiles
    )
    notes = "".join(f'<div class="note">{escape(w)}</div>' for w in story.warnings)
    return (
        f"<header><h1>{escape(story.target)}</h1>"
        f'<div class="soft">{escape(story.source)} · {escape(story.made)}</div>'
        f'<p class="verdict">{verdict(story)}</p></header>'
        f'<div class="tiles">{shown}</div>{notes}'
        f"<section><h2>What to do now</h2>{_todo(story)}</section>"
    )


def verdict(story: Story) -> str:
    """Return the result in words."""
    q = story.quality
    if q is None:
        return (
            "Every row has a prediction, but no class has two labels, so nothing could "
            "be checked. Label a second row of each class and run this again."
        )
    ours, rival = q.contestants[0], rival_of(q)
    said = (
        f"Of {q.n_tested:,} labels that were hidden in turn, {ours.accuracy:.0%} were "
        f"predicted right; expect between {ours.low:.0%} and {ours.high:.0%} on rows "
        "like them. "
    )
    if rival.lead_low > 0:
        return said + (
            f"That is clearly better than {rival.name} trained on the labelled rows "
            f"alone ({rival.accuracy:.0%})."
        )
    if rival.lead_high < 0:
        return said + (
            f"<b>Do not use these predictions as they are:</b> {rival.name}, trained "
            f"on the labelled rows alone, does better here ({rival.accuracy:.0%})."
        )
    return said + (
        f"With {q.n_tested:,} labels this cannot be told apart from {rival.name} "
        f"trained on the labelled rows alone ({rival.accuracy:.0%})."
    )


def _todo(story: Story) -> str:
    steps = []
    if story.quality and story.quality.doubtful:
        n = len(story.quality.doubtful)
        it = "label that looks" if n == 1 else f"{n} labels that look"
        steps.append(f'Look at the <a href="#doubtful">{it} wrong</a>.')
    if story.next_rows:
        n = len(story.next_rows)
        steps.append(f'Label <a href="#next">these {n} rows</a>: they teach the most.')
    steps.append(
        "Use <code>predictions.csv</code> (or <code>.parquet</code>); where the margin "
        "is small, have a person look."
    )
    steps.append(
        "New rows later: <code>mercer predict model.skops new.csv</code>, with the "
        "same columns."
    )
    return f'<ol class="todo">{"".join(f"<li>{s}</li>" for s in steps)}</ol>'


def next_rows(story: Story) -> str:
    """Return the rows to label next."""
    if not story.next_rows:
        return ""
    return (
        '<section id="next"><h2>Label these rows next</h2>'
        "<p>The model is unsure about them, or has seen few rows like them, and they "
        "differ from one another: each answer helps with others. Fill in the target "
        "and run the command again.</p>"
        f"{rows_table(story.next_rows, 'best guess')}</section>"
    )


def doubtful(story: Story) -> str:
    """Return the labels that look wrong."""
    if story.quality is None:
        return ""
    rows = story.quality.doubtful
    if not rows:
        body = "<p>None: no hidden label was contradicted with confidence.</p>"
    else:
        body = (
            "<p>While its label was hidden, each of these rows was predicted to be of "
            "another class, with confidence. Some will be mistakes of the model: look "
            "before you change anything.</p>"
            + rows_table(rows, "predicted", given=True)
        )
    return f'<section id="doubtful"><h2>Labels that look wrong</h2>{body}</section>'


def _between(c: Contestant) -> str:
    return f"between {c.low:.0%} and {c.high:.0%}"
