"""The sections that show what was learned and how: map, kernel, columns, proofs."""

from html import escape

from mercer.report import svg
from mercer.report.parts import table
from mercer.report.story import Story

_SHOWN_DIRECTIONS = 80


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
        f"<div>{_choices(story)}<h3>How much each direction counts</h3>"
        f'<p class="small soft">The data vary along directions{first}, the smoothest '
        "first. The labels decide how much each one counts in the similarity.</p>"
        f"{svg.draw_bars(story.weights[:r], 'Weights of the directions', 'weight')}"
        '<h3>How rough each direction is</h3><p class="small soft">0: constant on each '
        "connected part of the data. Large: it changes between neighbours.</p>"
        f"{svg.draw_bars(story.values[:r], 'Roughness of the directions', 'rough')}"
        "</div></div></section>"
    )


def _choices(story: Story) -> str:
    if not story.choices:
        return ""
    return (
        "<h3>Which likeness suits the labels</h3>"
        '<p class="small soft">Graphs that join each row to so many neighbours, and '
        "plain kernels, compete to predict labels that are left out; these shares "
        "were mixed.</p>"
        f"{svg.draw_shares(story.choices, 'Shares of the kernels in the mixture')}"
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
