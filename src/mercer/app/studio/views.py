"""What the page shows besides the question: doubts, people, accuracy, the past."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np

from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import row_line
from mercer.judging.agreement import agreements, fleiss_kappa
from mercer.judging.estimate import LearningCurve

# Rows that were drawn, or that the model chose; those that people pick tell nothing.
ASKED = ("check", "model", "random")
MORE = 20  # further labels whose expected gain is shown
MOST_PAST = 30  # rows that a person can go back to after a reload


def review(studio: Studio) -> dict[str, Any]:
    """Return labels that look wrong, disagreements, skips, and how people agree."""
    ledger, row_of = studio.store.ledger, studio.items.row_of
    codes, _ = studio.labels()
    given = ledger.given()
    numbers = sorted(ledger.classes)
    counts = [[list(g.values()).count(c) for c in numbers] for g in given.values()]
    return {
        "suspicious": [
            {
                **row_line(studio, row, codes),
                "likely": label,
                "odds": round(odds, 3),
            }
            for row, label, odds in studio.snapshot.suspicious
            if codes[row] >= 0 and not ledger.is_confirmed(studio.items.keys[row])
        ],
        "disputed": [
            {**row_line(studio, row_of[item], codes), "answers": answers}
            for item, answers in islice(ledger.disagreements().items(), 200)
            if item in row_of
        ],
        "skipped": [
            row_line(studio, row_of[i], codes)
            for i in list(ledger.skips)[:200]
            if i in row_of
        ],
        "agreement": [asdict(a) for a in agreements(given)],
        "fleiss": fleiss_kappa(counts),
        "people": ledger.people(),
    }


def outcomes(
    studio: Studio, purposes: Sequence[str] = ASKED
) -> list[tuple[int, bool, float, bool]]:
    """Return labels then, was the model right, how sure it was, did it choose."""
    ledger = studio.store.ledger
    return [
        (e.n_labels or 0, e.guess == e.label, e.sure, e.purpose == "model")
        for e in ledger.events
        if e.kind == "answer"
        and e.purpose in purposes
        and e.sure is not None
        and e.seq not in ledger.undone
    ]


def curve_of(studio: Studio) -> LearningCurve | None:
    """Return the estimate of the accuracy on the rows that no person has labelled.

    Predictions that were accepted are among them. The page and the exported report
    show it; None without a model, before the first answer to a random question, and
    once every row has an answer.
    """
    snapshot, codes = studio.snapshot, studio.told().codes
    is_checked = bool(outcomes(studio, ("check",)))
    if snapshot.proba is None or (codes >= 0).all() or not is_checked:
        return None
    n_labels, right, sure, asked = zip(*outcomes(studio), strict=True)
    return LearningCurve(
        n_labels,
        right,
        sure,
        asked,
        snapshot.proba[codes < 0].max(axis=1),
        now=snapshot.n_labels,
        n_classes=len(snapshot.classes),
    )


def accuracy(studio: Studio) -> dict[str, Any]:
    """Return the estimated accuracy, its curve, and what more labels would buy."""
    now = studio.snapshot.n_labels
    checks = outcomes(studio, ("check",))
    plain = {
        "checks": len(checks),
        "every": studio.check_every,
        "trained": studio.snapshot.proba is not None,
    }
    curve = curve_of(studio)
    if curve is None:
        return plain
    first = min(n for n, *_ in checks)
    points = np.unique([*np.linspace(min(first, now), now + MORE, 24).astype(int), now])
    return {
        **plain,
        "right": sum(right for _, right, *_ in checks),
        "labels": now,
        "now": asdict(curve.at(now)),
        "gain": asdict(curve.gain(MORE)),
        "more": MORE,
        "curve": [{"labels": int(n), **asdict(curve.at(n))} for n in points],
    }


def history(studio: Studio, who: str) -> list[dict[str, Any]]:
    """Return the rows a person answered or skipped last, the latest first."""
    ledger, row_of = studio.store.ledger, studio.items.row_of
    found: dict[int, int | None] = {}  # rows and labels
    for event in reversed(ledger.events):
        is_own = event.who == who and event.kind in {"answer", "skip"}
        if is_own and event.seq not in ledger.undone and event.item in row_of:
            found.setdefault(row_of[event.item], event.label)
            if len(found) == MOST_PAST:
                break
    ids = studio.items.ids
    return [{"row": row, "id": ids[row], "label": c} for row, c in found.items()]
