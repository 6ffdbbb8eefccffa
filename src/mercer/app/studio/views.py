"""What the page shows besides question and table: doubts, people, accuracy."""

from dataclasses import asdict
from typing import Any

import numpy as np

from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import row_line
from mercer.judging.agreement import agreements, fleiss_kappa
from mercer.judging.estimate import LearningCurve

MORE = 20  # further labels whose worth is told


def review(studio: Studio) -> dict[str, Any]:
    """Return labels that look wrong, disagreements, skips, and how people agree."""
    ledger, row_of = studio.store.ledger, studio.items.row_of
    codes, _ = studio.labels()
    given = {
        item: {who: e.label or 0 for who, e in answers.items()}
        for item, answers in ledger.answers.items()
    }
    numbers = sorted(ledger.classes)
    counts = [[list(g.values()).count(c) for c in numbers] for g in given.values()]
    return {
        "suspicious": [
            {
                **row_line(studio, row, int(codes[row])),
                "likely": label,
                "odds": round(odds, 3),
            }
            for row, label, odds in studio.snapshot.suspicious
            if codes[row] >= 0 and not ledger.is_confirmed(studio.items.keys[row])
        ],
        "disputed": [
            {
                **row_line(studio, row_of[d.item], int(codes[row_of[d.item]])),
                "answers": d.answers,
            }
            for d in ledger.disagreements()[:200]
            if d.item in row_of
        ],
        "skipped": [
            row_line(studio, row_of[i], int(codes[row_of[i]]))
            for i in list(ledger.skips)[:200]
            if i in row_of
        ],
        "agreement": [asdict(a) for a in agreements(given)],
        "fleiss": fleiss_kappa(counts),
        "people": ledger.people(),
    }


def accuracy(studio: Studio) -> dict[str, Any]:
    """Return the estimated accuracy, its curve, and what more labels would buy."""
    ledger, now = studio.store.ledger, studio.snapshot.n_labels
    checks = [
        (e.n_labels or 0, e.guess == e.label)
        for e in ledger.events
        if e.kind == "answer"
        and e.purpose == "check"
        and e.guess is not None
        and e.seq not in ledger.undone
    ]
    if not checks or studio.snapshot.proba is None:
        return {"checks": len(checks), "every": studio.check_every}
    n_labels, right = zip(*checks, strict=True)
    curve = LearningCurve(n_labels, right, now=now)
    first = min(*n_labels, now) if len(n_labels) else now
    points = np.unique([*np.linspace(first, now + MORE, 24).astype(int), now])
    return {
        "checks": len(checks),
        "right": int(sum(right)),
        "every": studio.check_every,
        "labels": now,
        "now": asdict(curve.at(now)),
        "gain": asdict(curve.gain(MORE)),
        "more": MORE,
        "curve": [{"labels": int(n), **asdict(curve.at(n))} for n in points],
    }
