"""The section that says how good the predictions are."""

from html import escape

import numpy as np

from mercer.app.report import svg
from mercer.app.report.advice import by_confidence
from mercer.app.report.markup import table
from mercer.app.report.story import Quality, Story
from mercer.judging.hiding import Score

_SHOWN_CLASSES = 12
# Confusions of more classes than this take the width of the page.
_BESIDE = 5
# So do names whose longest words have more letters than this, with their margins.
_LETTERS_BESIDE = 40
# With fewer tested labels the calibration says little.
_FEW_FOR_BINS = 50
# A smaller difference between labelled and other rows is not worth a word.
_SHIFT_TOLD = 0.02


def quality(story: Story) -> str:
    """Return cross-validation, calibration and confusions."""
    q = story.quality
    if q is None:
        return ""
    parts = f"{q.n_splits} parts"
    if q.n_tried < q.n_splits:
        parts = f"{q.n_tried} of {parts}, {q.n_tested:,} labels"
    if q.n_repeats > 1:
        parts += ", twice" if q.n_repeats == 2 else f", {q.n_repeats} times"
    confused = f"<h3>Which classes get confused</h3>{_confusion(story, q)}"
    columns = sum(max(map(len, name.split() or [""])) + 3 for name in story.classes)
    is_wide = len(story.classes) > _BESIDE or columns > _LETTERS_BESIDE
    return (
        '<section id="quality"><h2>How good are the predictions?</h2>'
        f"<p>Labels were hidden a part at a time ({parts}) and "
        "predicted from the others. Lines are 95% intervals: with few labels, "
        f"much is left to chance.{_weighed(story)}{_shifted(q)}</p>"
        '<div class="two wide-left"><div><div class="contest">'
        f"{svg.draw_contest(q.contestants)}</div>"
        '<p class="small soft">The baselines see the labelled rows only. '
        f"{_leads(q)}</p>"
        f"{'' if is_wide else confused}</div><div>"
        "<h3>Can you trust the probabilities?</h3>"
        f'<div class="reliability">{svg.draw_reliability(q.bins)}</div>'
        f'<p class="small soft">{_trust(q)}</p></div></div>'
        f"{by_confidence(q)}{confused if is_wide else ''}</section>"
    )


def _weighed(story: Story) -> str:
    """Return what class sizes have to do with it."""
    if not story.class_sizes:
        return ""
    return (
        " The labels of a class count as much as its rows do by the sizes that you "
        "gave, however many labels it has."
    )


def _shifted(q: Quality) -> str:
    """Return what was done about labelled rows that are unlike the others."""
    points = f"{100 * abs(q.shift):.0f} points"
    if abs(q.shift) < _SHIFT_TOLD:
        return ""
    if q.shift > 0:
        return (
            " Your labelled rows look harder than the others, as rows suggested for "
            f"labelling usually do: the accuracies are raised by {points} for that."
        )
    return (
        " Your labelled rows look easier than the others: the accuracies are "
        f"lowered by {points} to allow for it."
    )


def _trust(q: Quality) -> str:
    gap = f"On average they are off by {100 * q.calibration_error:.0f} points"
    if q.n_tested < _FEW_FOR_BINS:
        return f"{gap}; with {q.n_tested} labels this is mostly chance."
    return f"{gap}. On the dashed line they would be exact."


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
    n, rows = q.n_repeats, []
    rounds = f" Counts are means of {n} rounds." if n > 1 else ""
    for name, counts, shares in zip(story.classes, q.confusion, share, strict=True):
        cells = "".join(
            f'<td style="--s:{s:.2f}">{_count(n)}</td>'
            for n, s in zip(counts, shares, strict=True)
        )
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        '<p class="small soft">Rows: your label. Columns: what was predicted while it '
        f"was hidden.{rounds}</p>"
        '<div class="scroll"><table class="confusion" '
        f'aria-label="Counts by your label and prediction"><tr><td></td>{head}</tr>'
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
            often = f"{_count(wrong[given, said])} of {_count(total)}"
            items.append((story.classes[given], story.classes[said], often))
    return table(("your label", "predicted", "#how often"), items)


def rival_of(q: Quality) -> Score:
    """Return the best of the baselines."""
    return max(q.contestants[1:], key=lambda c: c.accuracy)


def _count(n: float) -> str:
    return f"{n:.0f}" if abs(n - round(n)) < 0.05 else f"{n:.1f}"
