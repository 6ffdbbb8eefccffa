"""From a result to what the report shows."""

from datetime import datetime
from typing import Any

import numpy as np

from mercer import __version__
from mercer._base.random import draw_rows
from mercer._base.typing import FloatArray, IntArray
from mercer.app.report.story import (
    Bin,
    Map,
    Picture,
    Quality,
    Repeated,
    Row,
    Story,
    Taken,
)
from mercer.app.tables.alike import repeated_rows, same_columns
from mercer.app.tables.class_sizes import size_advice
from mercer.app.tables.figures import figures_of
from mercer.app.tables.learning import TableResult
from mercer.app.tables.names_weight import evidence_of
from mercer.app.tables.notebook import told_of
from mercer.app.tables.row_text import (
    cells_of,
    columns_of,
    in_short,
    listed,
    name_of,
)
from mercer.fewlabels.pools.choice import PoolPlan
from mercer.judging.hiding import Check
from mercer.judging.intervals import effective_number, wilson_interval
from mercer.judging.layout import place_points
from mercer.judging.reliability import reliability
from mercer.judging.suspicion import SuspiciousLabels

Guess = tuple[str, float]  # a class and its probability
_ON_MAP, _IN_PICTURE = 1000, 240
_DOUBTFUL, _RANKED = 20, 10  # labels that look wrong; labels in the ranking at least
_GROUPS, _OF_GROUP = 10, 8  # of rows that repeat others
_DISPUTED = 10
_CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_FEWEST_ABOVE = 5  # hidden labels; fewer say little

# Blocks of the pool by the kind of evidence that they are.
KINDS = {"laplacian": "graphs", "kernel": "direct", "density": "density"}


def story_of(result: TableResult, *, rng: np.random.Generator) -> Story:
    """Return what the report shows of a result."""
    session, labels = result.session, result.labels
    q = len(labels.classes)
    names = tuple(str(c) for c in labels.classes)
    codes = result.proba.argmax(axis=1)
    values, weights, choices = _spectrum(result)
    sets = result.sets
    return Story(
        source=name_of(result.table.source),
        target=session.task.target,
        made=f"{datetime.now():%d %B %Y}, Mercer {__version__}",
        n_rows=len(result.table),
        classes=names,
        n_given=labels.counts(),
        n_predicted=np.bincount(codes, minlength=q),
        n_pairs=0 if session.rows.pairs is None else len(session.rows.pairs),
        quality=_quality(result, names),
        next_rows=tuple(
            _row(result, i, *_guesses(result.proba[i], labels.codes[i], names))
            for i in result.next_rows.tolist()
        ),
        map=_map(result, codes, names, rng),
        picture=_picture(result, codes, rng),
        values=values,
        weights=weights,
        choices=choices,
        evidence=evidence_of(session, lambda block: KINDS[block.kind]),
        views=evidence_of(session, lambda block: block.view),
        n_weighed=getattr(session.model.learner_.certificate_, "n_held_out", 0),
        columns=columns_of(session.rows.notes, result.table),
        facts=figures_of(session.model),
        warnings=tuple(
            w.replace(result.table.source, name_of(result.table.source))
            for w in result.warnings
            if w != size_advice(labels.counts(), labels.classes)  # a step says it
        ),
        method=_method(session.plan),
        predictions=listed(session, result.proba, names),
        n_sure=None if sets is None else int((sets.sum(axis=1) == 1).sum()),
        influences=result.influences,
        same_columns=same_columns(result.table, session.task.aside),
        outlook=result.outlook,
        **_repeated(result),
        told=told_of(session),
        labels_drawn=session.task.labels_drawn or "",
        class_sizes=tuple((session.told.known_sizes or {}).values()),
        sizes_in_part=part.words if (part := session.told.in_part) else "",
        counts_alike=result.counts_alike,
        **_sources(result),
    )


def _sources(result: TableResult) -> dict[str, Any]:
    """Return what the report shows of sources of labels."""
    found = result.sources
    if found is None:
        return {}
    return {
        "sources": found.sources,
        "rests_on": found.rests_on,
        "disputed": tuple(str(result.ids[row]) for row in found.disputed[:_DISPUTED]),
    }


def _method(plan: PoolPlan | None) -> str:
    """Return which kernels were computed, and why, as a sentence without its stop."""
    if plan is None:
        return "Method: a kernel from pairs"
    if not plan.is_reduced:
        return f"Method: {plan.reason}"
    return (
        f"Method: {plan.reason}; {plan.n_components} directions instead of "
        f"{plan.wanted}, to fit into memory"
    )


def _quality(result: TableResult, names: tuple[str, ...]) -> Quality | None:
    check = result.check
    if check is None:
        return None
    ranked = result.session.suspicious_labels()
    order = np.argsort(-ranked.wrong, kind="stable")
    looks_wrong = ranked.looks_wrong[order]
    doubtful = order[looks_wrong][:_DOUBTFUL]
    first = order[~looks_wrong][: max(_RANKED - len(doubtful), 0)]
    right = check.proba.argmax(axis=1) == check.codes
    bins = reliability(check.proba.max(axis=1), right, weights=check.weights)
    return Quality(
        contestants=check.scores,
        bins=tuple(map(Bin, *(column.tolist() for column in bins))),
        calibration_error=check.calibration_error,
        confusion=check.confusion,
        n_tested=len(check.rows),
        n_splits=check.n_splits,
        n_repeats=check.n_repeats,
        n_tried=check.n_tried,
        doubtful=tuple(_contradicted(result, ranked, k) for k in doubtful),
        false_alarms=ranked.false_alarms,
        first=tuple(_contradicted(result, ranked, k) for k in first),
        taken=_taken(result, check),
        shift=check.shift,
    )


def _repeated(result: TableResult) -> dict[str, Any]:
    """Return what the report says of rows that repeat others."""
    session = result.session
    left_out = {c.column for c in session.rows.screened.left_out}
    given, task = session.y, session.task
    found = repeated_rows(result.table, given, {*task.aside, *task.drop, *left_out})
    if found is None:
        return {}
    groups = tuple(
        Repeated(
            tuple(str(result.ids[i]) for i in rows[:_OF_GROUP]),
            len(rows),
            tuple(sorted({str(given[i]) for i in rows if given[i] is not None})),
        )
        for rows in found.groups[:_GROUPS]
    )
    return {
        "n_repeating": found.n_rows,
        "n_contradicting": found.n_contradicting,
        "repeated": groups,
    }


def _taken(result: TableResult, check: Check) -> tuple[Taken, ...]:
    """Return how many hidden labels were right above each of some confidences."""
    confidence = check.proba.max(axis=1)
    right = check.proba.argmax(axis=1) == check.codes
    rows = result.proba[result.labels.codes < 0].max(axis=1, initial=0.0)
    found = []
    for least in _CONFIDENCES:
        above = confidence >= least
        if above.sum() < _FEWEST_ABOVE:
            break
        weights = check.weights[above]
        share = float(np.average(right[above], weights=weights))
        # Labels are hidden in parts, so they count for less than independent cases.
        low, high = wilson_interval(share, effective_number(weights) / 1.25)
        n_rows = int((rows >= least).sum())
        found.append(Taken(least, share, low, high, int(above.sum()), n_rows))
    return tuple(found)


def _contradicted(result: TableResult, ranked: SuspiciousLabels, k: int) -> Row:
    """Return a labelled row with what the other labels say of it."""
    given = str(ranked.given[k])
    best = str(ranked.suggested[k]), float(ranked.best[k])
    own = given, float(ranked.support[k])
    row = _row(result, int(ranked.ids[k]), given, best, own)
    return row._replace(wrong=float(ranked.wrong[k]))


def _row(result: TableResult, i: int, given: str, best: Guess, second: Guess) -> Row:
    cells = cells_of(result.table, i, result.session.task.aside)
    picture = result.table.picture(i)
    return Row(str(result.ids[i]), given, *best, *second, cells, picture)


def _guesses(
    proba: FloatArray, code: int, names: tuple[str, ...]
) -> tuple[str, Guess, Guess]:
    """Return the label of a row, if it has one, and its two most probable classes."""
    first, second = np.argsort(-proba, kind="stable")[:2]
    return (
        "" if code < 0 else names[code],
        (names[first], float(proba[first])),
        (names[second], float(proba[second])),
    )


def _map(
    result: TableResult,
    codes: IntArray,
    names: tuple[str, ...],
    rng: np.random.Generator,
) -> Map:
    rows = _sample(result, _ON_MAP, rng)
    xy = place_points(lambda i: _features(result, rows[i]), len(rows), rng)
    tips = []
    contents = in_short(result.table, rows, result.session.task.aside)
    known = result.labels.codes[rows]
    for i, code, cells in zip(rows.tolist(), known.tolist(), contents, strict=True):
        guesses = _guesses(result.proba[i], code, names)
        given, (first, probability), (second, _) = guesses
        label = f"labelled {given}" if given else "not labelled"
        said = f"{first} {probability:.0%}, or {second}"
        tips.append(f"{result.ids[i]} ({label})\n{said}\n{cells}")
    return Map(xy, codes[rows], known >= 0, tuple(tips))


def _picture(result: TableResult, codes: IntArray, rng: np.random.Generator) -> Picture:
    rows = _sample(result, _IN_PICTURE, rng)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    features = _features(result, rows)
    # Of length 1, so that products are cosines in the kernel.
    length = np.linalg.norm(features, axis=1, keepdims=True)
    features = features / np.where(length > 0, length, 1.0)
    return Picture(features @ features.T, codes[rows])


def _spectrum(
    result: TableResult,
) -> tuple[FloatArray, FloatArray, tuple[tuple[str, float], ...]]:
    """Return speed and weights of directions, and the kernels that were mixed.

    For a pool, the directions of the graph with the largest weight.
    """
    model = result.session.model
    core, basis = np.asarray(model.kernel_.core), model.basis_
    if not hasattr(basis, "blocks_"):
        weights = core if core.ndim == 1 else np.diag(core)
        return np.maximum(basis.values_, 0.0), weights, ()
    graphs = [b for b in basis.blocks_ if b.kind == "laplacian"]
    shares = [core[b.columns] * np.diag(b.covariance) for b in graphs]
    best = int(np.argmax([share.sum() for share in shares]))
    evidence = model.learner_.certificate_
    ranked = sorted(zip(evidence.weights, evidence.names, strict=True), reverse=True)
    choices = tuple((name, float(w)) for w, name in ranked[:6] if w >= 0.005)
    return np.maximum(graphs[best].values, 0.0), shares[best], choices


def _sample(result: TableResult, n: int, rng: np.random.Generator) -> IntArray:
    """Return at most n rows, half of them labelled if there are enough."""
    labeled = draw_rows(result.labels.labeled, n // 2, rng)
    rest = np.flatnonzero(result.labels.codes < 0)
    rest = draw_rows(rest, n - len(labeled), rng)
    return np.sort(np.concatenate([labeled, rest]))


def _features(result: TableResult, rows: IntArray) -> FloatArray:
    return np.asarray(result.session.model.kernel_.features(rows=rows))
