"""Small drawings as SVG; colours are names of the style sheet."""

import base64
from collections.abc import Sequence
from html import escape
from io import BytesIO

import numpy as np

from mercer._base.typing import FloatArray
from mercer.app.report.story import Bin, Influence, Map, Picture
from mercer.judging.hiding import Score

N_COLOURS = 10
_STEP = 22.0  # from one named bar to the next
# Larger pictures are thinned out: they are shown at half of this.
_MOST_PIXELS = 256


def colour(code: int) -> str:
    """Return the style-sheet class of a class; past ten, one for all the rest."""
    return f"c{code}" if code < N_COLOURS else "cx"


def draw(
    width: float, height: float, body: Sequence[str], label: str, role: str = "img"
) -> str:
    """Return an SVG element that fills its box and can be read aloud."""
    inside = "".join(body)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="{role}" '
        f'aria-label="{escape(label)}">{inside}</svg>'
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a straight line."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'class="{kind}"/>'
    )


def dot(x: float, y: float, r: float, kind: str, more: str = "") -> str:
    """Return a circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" class="{kind}"{more}/>'


def bar(x: float, y: float, w: float, h: float, kind: str, more: str = "") -> str:
    """Return a filled rectangle."""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{w:.2f}" height="{h:.2f}" rx="1" '
        f'class="{kind}"{more}/>'
    )


def draw_contest(contestants: Sequence[Score]) -> str:
    """Draw the accuracies with their intervals, one line per model."""
    left, right, step = 122.0, 344.0, 30.0
    least = min(c.low for c in contestants)
    start = max(np.floor(least * 10) / 10, 0.0)

    def place(share: float) -> float:
        return float(left + (right - left) * (share - start) / (1 - start))

    height = step * len(contestants) + 26
    body = []
    step_of_ticks = 0.1 if start >= 0.5 else 0.25 if start == 0 else 0.2
    for tick in np.arange(1.0, start - 1e-9, -step_of_ticks):
        x = place(tick)
        body.append(line(x, 4, x, height - 22, "grid"))
        body.append(text(x, height - 6, f"{tick:.0%}", "tick", "middle"))
    for k, c in enumerate(contestants):
        y = step * k + 20
        kind = "ours" if k == 0 else "theirs"
        body.append(text(left - 10, y + 4, c.name, f"name {kind}", "end"))
        body.append(line(place(c.low), y, place(c.high), y, f"whisker {kind}"))
        body.append(dot(place(c.accuracy), y, 5.5, f"mark {kind}"))
        body.append(text(right + 10, y + 4, f"{c.accuracy:.1%}", f"value {kind}"))
    told = ", ".join(f"{c.name} {c.accuracy:.1%}" for c in contestants)
    return draw(400, height, body, f"Share right of hidden labels: {told}")


def draw_reliability(bins: Sequence[Bin]) -> str:
    """Draw how often predictions of a confidence come true."""
    left, top, side = 44.0, 8.0, 230.0
    body = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + side * tick, top + side * (1 - tick)
        body += [
            line(x, top, x, top + side, "grid"),
            line(left, y, left + side, y, "grid"),
            text(x, top + side + 16, f"{tick:.0%}", "tick", "middle"),
            text(left - 7, y + 4, f"{tick:.0%}", "tick", "end"),
        ]
    body.append(line(left, top + side, left + side, top, "ideal"))
    most = max(b.n for b in bins)
    for b in bins:
        x = left + side * b.confidence
        low, high = top + side * (1 - b.low), top + side * (1 - b.high)
        tip = f"{b.n} rows, predicted {b.confidence:.0%}, correct {b.accuracy:.0%}"
        body.append(line(x, low, x, high, "whisker ours"))
        r = 3 + 5 * np.sqrt(b.n / most)
        y = top + side * (1 - b.accuracy)
        body.append(dot(x, y, r, "mark ours", f' data-tip="{escape(tip)}"'))
    below = top + side + 34
    body.append(text(left + side / 2, below, "predicted probability", "axis", "middle"))
    body.append(text(left + 6, top + 14, "share correct", "axis"))
    said = ", ".join(f"{b.confidence:.0%} predicted, {b.accuracy:.0%}" for b in bins)
    label = f"Share correct by predicted probability: {said} correct"
    return draw(left + side + 14, top + side + 40, body, label)


def draw_map(points: Map, classes: Sequence[str]) -> str:
    """Draw rows as dots, labelled ones with a ring."""
    width, height, pad = 720.0, 460.0, 16.0
    low, high = points.xy.min(axis=0), points.xy.max(axis=0)
    scaled = (points.xy - low) / np.where(high > low, high - low, 1.0)
    x = pad + scaled[:, 0] * (width - 2 * pad)
    y = pad + scaled[:, 1] * (height - 2 * pad)
    body = []
    for i in np.argsort(points.labeled, kind="stable"):
        c = int(points.codes[i])
        kind = f"pt {colour(c)}" + (" known" if points.labeled[i] else "")
        r = 6.0 if points.labeled[i] else 3.2
        body.append(dot(x[i], y[i], r, kind, f' data-c="{c}" data-i="{i}"'))
    label = (
        f"Map of {len(x)} rows in {len(classes)} classes. Arrow keys move from row to "
        "row; the list of predictions above can be searched."
    )
    role = 'application" id="points" tabindex="0'
    return draw(width, height, body, label, role)


def draw_bars(values: FloatArray, label: str, kind: str) -> str:
    """Draw numbers >= 0 as thin bars, the largest at full height."""
    width, height, left, base = 560.0, 120.0, 8.0, 100.0
    top = float(np.max(values, initial=0.0)) or 1.0
    step = (width - 2 * left) / max(len(values), 1)
    body = [line(left, base, width - left, base, "base")]
    for k, value in enumerate(values):
        h = 88.0 * float(value) / top
        size = max(step - 1, 0.8), max(h, 0.4)
        tip = f' data-tip="direction {k + 1}: {value:.3g}"'
        body.append(bar(left + k * step, base - h, *size, f"bar {kind}", tip))
    body.append(text(left, height - 5, "1", "tick"))
    body.append(text(width - left, height - 5, str(len(values)), "tick", "end"))
    return draw(width, height, body, label)


def draw_histogram(bars: Sequence[float], label: str) -> str:
    """Draw shares of cells, the largest at full height."""
    heights = [24 * share / max(bars) for share in bars]
    body = [bar(10 * k, 24 - h, 9, h, "bar rough") for k, h in enumerate(heights)]
    return draw(10 * len(bars), 24, body, label)


def draw_influences(influences: Sequence[Influence]) -> str:
    """Draw what each column is worth, with its interval."""
    width, left = 560.0, 190.0
    scale = (width - left - 70) / max(max(i.high for i in influences), 0.01)
    body = []
    for k, i in enumerate(influences):
        name = i.column if len(i.column) <= 24 else i.column[:23] + "…"
        length = max(scale * i.loss, 1.0)
        low, high = (left + scale * max(v, 0.0) for v in (i.low, i.high))
        at = max(left + length, high)
        body += _named_bar(k, name, left, length, f"{100 * i.loss:.1f}", at)
        middle = _STEP * k + 10.5
        body.append(line(low, middle, high, middle, "whisker theirs"))
    told = ", ".join(f"{i.column} {100 * i.loss:.1f}" for i in influences)
    label = f"Points of probability lost without a column: {told}"
    return draw(width, _STEP * len(influences) + 4, body, label)


def draw_shares(shares: Sequence[tuple[str, float]], label: str) -> str:
    """Draw named shares of one as bars, one below the other."""
    longest = max((len(name) for name, _ in shares), default=0)
    left = min(max(150.0, 7.0 * longest + 12), 330.0)  # 12 px letters
    width, body = 560.0, list[str]()
    for k, (name, share) in enumerate(shares):
        length = max((width - left - 60) * share, 1.0)
        body += _named_bar(k, name, left, length, f"{share:.0%}", left + length)
    said = ", ".join(f"{name} {share:.0%}" for name, share in shares)
    return draw(width, _STEP * len(shares) + 4, body, f"{label}: {said}")


def _named_bar(
    k: int, name: str, left: float, length: float, value: str, end: float
) -> list[str]:
    """Return the k-th of some bars, with its name before it and its value after it."""
    y = _STEP * k
    return [
        text(left - 10, y + 14, name, "name", "end"),
        bar(left, y + 4, length, 13, "bar weight"),
        text(end + 8, y + 15, value, "value"),
    ]


def draw_picture(picture: Picture, classes: Sequence[str]) -> str:
    """Draw the kernel matrix, with a band of class colours beside it."""
    m, side, band = len(picture.K), 420.0, 10.0
    body = [
        f'<image x="{band + 4}" y="{band + 4}" width="{side}" height="{side}" '
        f'preserveAspectRatio="none" href="{png_uri(stretched(picture.K))}" '
        'class="pixels"/>'
    ]
    for c in np.unique(picture.codes):
        inside = np.flatnonzero(picture.codes == c)
        start = band + 4 + side * inside[0] / m
        length = max(side * len(inside) / m - 1, 0.5)
        kind, tip = f"fill {colour(int(c))}", f' data-tip="{escape(str(classes[c]))}"'
        body.append(bar(0, start, band, length, kind, tip))
        body.append(bar(start, 0, length, band, kind, tip))
    total = side + band + 4
    return draw(total, total, body, "The learned kernel between rows ordered by class")


def stretched(K: FloatArray) -> FloatArray:
    """Return similarity between its usual level, 0, and the highest, 1."""
    off = K[~np.eye(len(K), dtype=bool)]
    low, high = np.quantile(off, [0.3, 0.995]) if off.size else (0.0, 1.0)
    return np.clip((K - low) / max(high - low, 1e-12), 0.0, 1.0)


def png_uri(strength: FloatArray) -> str:
    """Return an image whose pixels are as opaque as the numbers, in one blue.

    Opacity rather than lightness lets the page behind decide between light and dark.
    """
    pixels = np.empty((*strength.shape, 4))
    pixels[..., :3] = (58, 110, 200)
    pixels[..., 3] = 255 * np.clip(strength, 0, 1)
    return _png(pixels)


def image_uri(picture: FloatArray) -> str:
    """Return a picture of shape (height, width, 1 or 3) with values in [0, 1].

    Large images are thinned to every second or third pixel, and so on.
    """
    step = -(-max(picture.shape[:2]) // _MOST_PIXELS)
    picture = picture[::step, ::step]
    if picture.shape[2] == 1:
        picture = picture[..., 0]
    return _png(255 * np.clip(picture, 0, 1))


def _png(pixels: FloatArray) -> str:
    from PIL import Image

    file = BytesIO()
    image = Image.fromarray(np.round(pixels).astype(np.uint8))
    image.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
