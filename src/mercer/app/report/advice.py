"""What to do now, about this very table: labels, classes, columns, sizes, and rows."""

from html import escape

from mercer._base.words import counted, some
from mercer.app.embedding.embedder import embedded_column
from mercer.app.report.markup import table
from mercer.app.report.story import Quality, Story, Taken
from mercer.judging.outlook import Outlook

# Rows may be taken as they are where this share of them is expected to be right,
SURE = 0.95
# and at least this share, at the lower end of the interval.
_AT_LEAST = 0.75
_POINT = 0.01
# A column whose shuffling gains this much of the probability misleads.
_MISLEADS = 0.02
_SHOWN = 3


def always(story: Story) -> tuple[str, float] | None:
    """Return the largest class and its share of the rows; None if nothing tells it."""
    if story.class_sizes:
        shares = list(story.class_sizes)
    elif story.counts_alike or not story.n_labeled:
        return None
    else:
        shares = (story.n_given / story.n_labeled).tolist()
    best = max(range(len(shares)), key=shares.__getitem__)
    return story.classes[best], float(shares[best])


def is_worse(story: Story) -> bool:
    """Tell whether always answering the largest class would be right as often."""
    largest = always(story)
    if story.quality is None or largest is None:
        return False
    return story.quality.contestants[0].accuracy <= largest[1]


def beside_always(story: Story) -> str:
    """Return how the predictions compare with always answering the largest class."""
    largest = always(story)
    if story.quality is None or largest is None:
        return ""
    ours, (name, share) = story.quality.contestants[0], largest
    answer = f"lways answering “{escape(name)}” would get about {share:.0%} right"
    if is_worse(story):
        return (
            f"<b>A{answer}, so these predictions are not better.</b> Do not decide "
            "about single rows with them yet: label more rows first."
        )
    if ours.low <= share:
        return f"A{answer}; the predictions are better, though that may be chance."
    return f"A{answer}: the predictions are better."


def surest(q: Quality | None) -> Taken | None:
    """Return the lowest confidence from which rows may be taken as they are."""
    rows = () if q is None else q.taken
    sure = [t for t in rows if t.share >= SURE and t.low >= _AT_LEAST]
    return sure[0] if sure else None


def todo(story: Story) -> str:
    """Return the steps for this table, the most useful first."""
    q, label = story.quality, _labelling(story)
    # Where more labels bring little, the predictions come first.
    later = (
        story.outlook is not None and is_small(story.outlook) and not is_worse(story)
    )
    steps = [_single(story), "" if later else label]
    if q and q.doubtful:
        n = len(q.doubtful)
        it = "one label that looks" if n == 1 else f"{n} labels that look"
        steps.append(f'Look at the <a href="#doubtful">{it} wrong</a>.')
    if story.n_contradicting:
        n = story.n_contradicting
        which = "two rows that are" if n == 1 else f"{n:,} groups of rows that are"
        steps.append(
            f'Decide what is right where <a href="#repeated">{which} alike</a> have '
            "different labels."
        )
    steps += [_using(story), _misleading(story), _sizes(story), label if later else ""]
    steps.append(
        "New rows later, with the same columns: "
        "<code>mercer predict model.skops new.csv</code>."
    )
    return f'<ol class="todo">{"".join(f"<li>{s}</li>" for s in steps if s)}</ol>'


def _single(story: Story) -> str:
    """Return which classes need a second label."""
    names = [
        f"“{escape(name)}”"
        for name, n in zip(story.classes, story.n_given, strict=True)
        if n == 1
    ]
    if not names:
        return ""
    it = "it" if len(names) == 1 else "each of them"
    return (
        f"Label a second row of {some(names)}: with one label nothing can be said of "
        f"{it}."
    )


def _labelling(story: Story) -> str:
    if not story.next_rows:
        return ""
    n, why = len(story.next_rows), "their answers teach the model most"
    if story.outlook is not None:
        why = promise(story.outlook)
    return (
        f'<a href="#next">Label these {n} rows</a>: {why}. Fill in '
        "<code>to_label.xlsx</code> (or <code>.csv</code>) and run the command "
        "again with <code class='whole'>--answers to_label.xlsx</code>."
    )


def _using(story: Story) -> str:
    files = "<code>predictions.csv</code> or <code>predictions.parquet</code>"
    link = '<a href="#predictions">the predictions</a>'
    best = surest(story.quality)
    n_new = story.n_rows - story.n_labeled
    if best is not None and best.n_rows:
        rest = n_new - best.n_rows
        others = f" Have a person look at the other {rest:,}." if rest else ""
        return (
            f"Use {link} ({files}) where the probability is at least "
            f"{best.confidence:.0%}: {counted(best.n_rows, 'row')} without a label, of "
            f"which about {best.share:.0%} are expected to be right ({best.low:.0%} to "
            f"{best.high:.0%}).{others}"
        )
    if is_worse(story):
        return (
            f"Use {link} ({files}) as a guess of where the rarer classes are, not as "
            "answers."
        )
    if story.quality is None:
        return f"Use {link} ({files}) with care: nothing could be checked."
    if story.quality.contestants[0].accuracy >= SURE:
        return (
            f"Use {link} ({files}). {story.quality.n_tested:,} hidden labels are too "
            "few to show from which probability on they are right: have a person look "
            "at the least certain."
        )
    return (
        f"Use {link} ({files}) as a first guess. At no probability could {SURE:.0%} "
        "right be shown: have a person look at each row that matters, the least "
        "certain first."
    )


def _misleading(story: Story) -> str:
    """Return which columns hidden labels are predicted better without."""
    made = {i.column: embedded_column(i.column) for i in story.influences}
    # The words of a text that is embedded cannot be left out alone.
    names = [
        i.column
        for i in story.influences
        if i.high < 0 and i.loss <= -_MISLEADS and i.column not in made.values()
    ][:_SHOWN]
    if not names:
        return ""
    drops = " ".join(f"--drop {name!r}" for name in names if not made[name])
    embeds = " ".join(f"--embed {made[name]!r}" for name in names if made[name])
    how = [f"<code>{escape(drops)}</code>"] if drops else []
    how += [f"leave out <code>{escape(embeds)}</code>"] if embeds else []
    it = "its" if len(names) == 1 else "their"
    return (
        f"Try without {some(f'“{escape(n)}”' for n in names)} ({'; '.join(how)}): "
        f"hidden labels were predicted better with {it} cells shuffled."
    )


def _sizes(story: Story) -> str:
    if not story.counts_alike:
        return ""
    shown = ",".join(f"{name}=NUMBER" for name in story.classes[:_SHOWN])
    more = ",..." if len(story.classes) > _SHOWN else ""
    return (
        "If you know how large the classes are, say so: <code>--class-sizes "
        f"{escape(shown + more)}</code>. You labelled about as many rows of each, "
        "which does not tell."
    )


def by_confidence(q: Quality) -> str:
    """Return how many hidden labels were right above each confidence."""
    if not q.taken:
        return ""
    rows = [
        (
            f"{t.confidence:.0%}",
            f"{t.share:.0%} ({t.low:.0%} to {t.high:.0%})",
            f"{t.n_tested:,}",
            f"{t.n_rows:,}",
        )
        for t in q.taken
    ]
    head = "#probability", "#right", "#tested", "#rows"
    return (
        '<h3>Which rows can you take as they are?</h3><p class="small soft">From each '
        "probability on: the share of the hidden labels that was right, how many were "
        "tested, and how many rows without a label there are.</p>"
        f"{table(head, rows, 'tight')}"
    )


def is_small(o: Outlook) -> bool:
    """Tell whether more labels are expected to bring less than a point on average."""
    return o.then - o.now < _POINT


def promise(o: Outlook) -> str:
    """Return what more labels would bring, in words."""
    if o.high - o.now < _POINT:
        return "more labels are unlikely to change the share that is right"
    gain, low, high = (100 * (value - o.now) for value in (o.then, o.low, o.high))
    if is_small(o):
        most = _points(high).removeprefix("about ")
        return f"{o.n_more} more labels would add {_points(gain)}, at most {most}"
    return (
        f"{o.n_more} more labels would add {_points(gain)} ({low:.0f} to {high:.0f}), "
        f"from {o.now:.0%} to about {o.then:.0%} right"
    )


def _points(gain: float) -> str:
    """Return a gain in words.

    Examples
    --------
    >>> [_points(gain) for gain in (0.3, 0.7, 2.4)]
    ['less than 1 point', 'about 1 point', 'about 2 points']
    """
    if gain < 0.5:
        return "less than 1 point"
    return "about 1 point" if round(gain) == 1 else f"about {gain:.0f} points"
