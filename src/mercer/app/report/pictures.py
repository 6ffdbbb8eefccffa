"""The sections that draw: a map of the rows, and what was learned."""

from html import escape

from mercer.app.report import svg
from mercer.app.report.evidence import evidence
from mercer.app.report.story import Story

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
        "<p>Similar rows are close together. Colour: the prediction. Ringed dots: rows "
        f"you labelled. {some}"
        "Point at a dot to see the row, or move with the arrow keys.</p>"
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
        '<section id="learned"><h2>How rows are compared</h2>'
        f"{evidence(story)}"
        '<div class="two"><div><h3>Which rows are similar</h3>'
        f'<p class="small soft">The similarity of {m} rows with each other, ordered by '
        "predicted class. Dark blocks on the diagonal: rows of a class are "
        "similar. Dark off the diagonal: two classes are similar.</p>"
        f"{svg.draw_picture(story.picture, story.classes)}</div>"
        f"<div>{_choices(story)}<h3>Weight of each direction</h3>"
        f'<p class="small soft">The data vary along directions{first}, the smoothest '
        "first. The labels decide the weight of each in the similarity.</p>"
        f"{svg.draw_bars(story.weights[:r], 'Weights of the directions', 'weight')}"
        '<h3>How fast each direction changes</h3><p class="small soft">0: constant on '
        "each connected part of the data. Large: it changes between neighbours.</p>"
        f"{svg.draw_bars(story.values[:r], 'How fast the directions change', 'rough')}"
        "</div></div></section>"
    )


def _choices(story: Story) -> str:
    if not story.choices:
        return ""
    return (
        "<h3>Which similarity measures were used</h3>"
        '<p class="small soft">“Graph 10” links each row to its 10 nearest neighbours; '
        "the others compare two rows directly. Rank 1.5: about 1.5 directions per "
        "class count. Power 2: long directions count more. Each was tried on labels "
        "that were left out; these are the weights in the mix.</p>"
        f"{svg.draw_shares(story.choices, 'Shares of the kernels in the mixture')}"
    )
