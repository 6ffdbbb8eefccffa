"""The sections of the page, each a piece of HTML from a story."""

from collections.abc import Sequence
from html import escape

import numpy as np

from mercer.report import svg
from mercer.report.story import Contestant, Quality, Row, Story

_SHOWN_CLASSES = 12
_SHOWN_DIRECTIONS = 80


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
        rival = _rival(story.quality)
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
    ours, rival = q.contestants[0], _rival(q)
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
        f"With so many labels this cannot be told apart from {rival.name} trained on "
        f"the labelled rows alone ({rival.accuracy:.0%})."
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


def quality(story: Story) -> str:
    """Return cross-validation, calibration and confusions."""
    q = story.quality
    if q is None:
        return ""
    times = "" if q.n_repeats == 1 else f", {q.n_repeats} times over"
    return (
        '<section id="quality"><h2>How good it is</h2>'
        f"<p>Labels were hidden a part at a time ({q.n_splits} parts{times}) and "
        "predicted from the others. Bars are 95 % intervals: with few labels, "
        "much is left to chance.</p>"
        f'<div class="two wide-left"><div>{svg.draw_contest(q.contestants)}'
        '<p class="small soft">The baselines see the labelled rows only. '
        f"{_leads(q)}</p></div>"
        f"<div><h3>Are the probabilities to be believed?</h3>"
        f"{svg.draw_reliability(q.bins)}"
        f'<p class="small soft">Mean gap {q.error_after:.1%} '
        f"({q.error_before:.1%} before calibration).</p></div></div>"
        f"<h3>What is taken for what</h3>{_confusion(story, q)}</section>"
    )


def _leads(q: Quality) -> str:
    return " ".join(
        f"Lead over {c.name}: {100 * c.lead:+.1f} points "
        f"({100 * c.lead_low:+.1f} to {100 * c.lead_high:+.1f})."
        for c in q.contestants[1:]
    )


def _confusion(story: Story, q: Quality) -> str:
    if len(story.classes) > _SHOWN_CLASSES:
        return _worst_confusions(story, q)
    share = q.confusion / np.maximum(q.confusion.sum(axis=1, keepdims=True), 1)
    head = "".join(f'<th scope="col">{escape(c)}</th>' for c in story.classes)
    rows = []
    for name, counts, shares in zip(story.classes, q.confusion, share, strict=True):
        cells = "".join(
            f'<td style="--s:{s:.2f}">{_count(n)}</td>'
            for n, s in zip(counts, shares, strict=True)
        )
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        '<p class="small soft">Rows: the label given. Columns: what was predicted '
        "while it was hidden.</p>"
        f'<div class="scroll"><table class="confusion"><tr><td></td>{head}</tr>'
        f"{''.join(rows)}</table></div>"
    )


def _worst_confusions(story: Story, q: Quality) -> str:
    wrong = q.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None)[:10]
    items = []
    for given, said in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[given, said] > 0:
            total = q.confusion[given].sum()
            items.append(
                f"<tr><td>{escape(story.classes[given])}</td>"
                f"<td>{escape(story.classes[said])}</td>"
                f'<td class="num">{_count(wrong[given, said])} of {_count(total)}</td>'
                "</tr>"
            )
    return table(("label given", "predicted", "#how often"), items)


def next_rows(story: Story) -> str:
    """Return the rows to label next."""
    if not story.next_rows:
        return ""
    return (
        '<section id="next"><h2>Label these rows next</h2>'
        "<p>The model is unsure about them and they differ from one another, so each "
        "answer helps with others. Fill in the target and run the command again.</p>"
        f"{_rows(story.next_rows, 'best guess')}</section>"
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
            "before you change anything.</p>" + _rows(rows, "predicted", given=True)
        )
    return f'<section id="doubtful"><h2>Labels that look wrong</h2>{body}</section>'


def _rows(rows: Sequence[Row], guess: str, *, given: bool = False) -> str:
    head = ["row", *(["label given"] if given else []), guess, "or", "what it holds"]
    items = []
    for row in rows:
        label = f"<td>{escape(row.given)}</td>" if given else ""
        items.append(
            f'<tr><td class="id">{escape(row.id)}</td>{label}'
            f"<td>{escape(row.prediction)} {row.probability:.0%}</td>"
            f"<td>{escape(row.second)} {row.second_probability:.0%}</td>"
            f'<td class="cells">{escape(row.cells)}</td></tr>'
        )
    return table(head, items)


def points(story: Story) -> str:
    """Return the map of the rows."""
    many = len(story.classes) > svg.N_COLOURS
    chips = []
    for k, name in enumerate(story.classes[: svg.N_COLOURS]):
        chips.append(_chip(svg.colour(k), str(k), name, story.n_predicted[k]))
    if many:
        rest = range(svg.N_COLOURS, len(story.classes))
        total = int(story.n_predicted[svg.N_COLOURS :].sum())
        chips.append(
            _chip("cx", " ".join(map(str, rest)), f"{len(rest)} other classes", total)
        )
    m = len(story.map.codes)
    some = "" if m == story.n_rows else f"{m:,} of {story.n_rows:,} rows are drawn. "
    return (
        '<section id="map"><h2>Map of the rows</h2>'
        "<p>Rows that the model holds to be alike lie together. Colour: the "
        f"prediction. Ringed dots: rows you labelled. {some}"
        "Point at a dot to see the row.</p>"
        f'<ul class="legend">{"".join(chips)}</ul>'
        f"{svg.draw_map(story.map, story.classes)}</section>"
    )


def _chip(kind: str, codes: str, name: str, n: int) -> str:
    return (
        f'<li><button type="button" data-c="{codes}"><i class="swatch {kind}"></i>'
        f'{escape(name)} <span class="soft">{int(n):,}</span></button></li>'
    )


def learned(story: Story) -> str:
    """Return the kernel: its picture, its directions and their weights."""
    r = min(len(story.weights), _SHOWN_DIRECTIONS)
    first = (
        "" if r == len(story.weights) else f" (the first {r} of {len(story.weights)})"
    )
    m = len(story.picture.codes)
    return (
        '<section id="learned"><h2>What was learned</h2>'
        '<div class="two"><div><h3>Which rows are alike</h3>'
        f'<p class="small soft">The similarity of {m} rows with each other, ordered by '
        "predicted class. Blocks on the diagonal: classes hold together. Colour "
        "off the diagonal: classes that are close.</p>"
        f"{svg.draw_picture(story.picture, story.classes)}</div>"
        "<div><h3>How much each direction counts</h3>"
        f'<p class="small soft">The data vary along directions{first}, the smoothest '
        "first. The labels decide how much each one counts in the similarity.</p>"
        f"{svg.draw_bars(story.weights[:r], 'Weights of the directions', 'weight')}"
        '<h3>How rough each direction is</h3><p class="small soft">0: constant on each '
        "connected part of the data. Large: it changes between neighbours.</p>"
        f"{svg.draw_bars(story.values[:r], 'Roughness of the directions', 'rough')}"
        "</div></div></section>"
    )


def columns(story: Story) -> str:
    """Return what was done to each column."""
    items = [
        f"<tr><td>{escape(name)}</td><td>{escape(kind)}</td><td>{escape(done)}</td>"
        f'<td class="num">{n:,}</td></tr>'
        for name, kind, done, n in story.columns
    ]
    head = ("column", "kind", "what was done", "#coordinates")
    return (
        '<section id="columns"><h2>What each column became</h2>'
        f"{table(head, items)}</section>"
    )


def certificates(story: Story) -> str:
    """Return every figure that shows the computation to be right."""
    items = [
        f"<tr><td>{escape(f.part)}</td><td>{escape(f.name)}</td>"
        f'<td class="num">{escape(f.value)}</td><td>{escape(f.meaning)}</td></tr>'
        for f in story.facts
    ]
    counts = [
        f"<tr><td>{escape(name)}</td>"
        f'<td class="num">{given:,}</td><td class="num">{predicted:,}</td></tr>'
        for name, given, predicted in zip(
            story.classes, story.n_given, story.n_predicted, strict=True
        )
    ]
    return (
        '<section id="certificates"><h2>Certificates</h2>'
        "<p>How the computation knows that it is right.</p>"
        f"{table(('part', 'figure', '#value', 'meaning'), items)}"
        "<details><summary>Classes and counts</summary>"
        f"{table(('class', '#labels', '#predicted rows'), counts)}</details></section>"
        f"<footer>{escape(story.memory)}. Made by Mercer; this file needs no network."
        "</footer>"
    )


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


def _between(c: Contestant) -> str:
    return f"between {c.low:.0%} and {c.high:.0%}"


def _rival(q: Quality) -> Contestant:
    return max(q.contestants[1:], key=lambda c: c.accuracy)


def _count(n: float) -> str:
    return f"{n:.0f}" if abs(n - round(n)) < 0.05 else f"{n:.1f}"
