"""What the page shows besides the question: table, doubts, people, accuracy."""

from dataclasses import asdict
from typing import Any

import numpy as np

from mercer._base.typing import BoolArray
from mercer.app.studio.service import RefusedError, Studio
from mercer.judging.agreement import agreements, fleiss_kappa
from mercer.judging.estimate import LearningCurve

PAGE = 50
MORE = 20  # further labels whose worth is told
SHOWN = ("all", "labelled", "unlabelled", "skipped", "disputed")
ORDERS = ("file", "uncertain", "certain")


def table_page(
    studio: Studio,
    *,
    words: str = "",
    show: str = "all",
    predicted: int | None = None,
    order: str = "file",
    page: int = 0,
) -> dict[str, Any]:
    """Return one page of the rows that match.

    Parameters
    ----------
    studio : Studio
    words : str
        Text that a cell or the id must hold.
    show : one of `SHOWN`
    predicted : int, optional
        Class that the model must predict.
    order : one of `ORDERS`
    page : int
        From 0.
    """
    if show not in SHOWN or order not in ORDERS:
        msg = f"show is one of {', '.join(SHOWN)}; order one of {', '.join(ORDERS)}."
        raise RefusedError(msg)
    snapshot = studio.snapshot
    codes, _ = studio.labels()
    keep = _shown(studio, show, codes >= 0)
    if words:
        keep = keep & studio.items.search(words)
    if predicted is not None:
        if snapshot.proba is None or predicted not in snapshot.classes:
            keep = np.zeros_like(keep)
        else:
            best = snapshot.proba.argmax(axis=1)
            keep = keep & (np.array(snapshot.classes)[best] == predicted)
    rows = np.flatnonzero(keep)
    if order != "file" and snapshot.proba is not None:
        top = snapshot.proba[rows].max(axis=1)
        rows = rows[np.argsort(top if order == "uncertain" else -top, kind="stable")]
    chosen = rows[page * PAGE : (page + 1) * PAGE]
    return {
        "total": len(rows),
        "page": page,
        "pages": -(-len(rows) // PAGE),
        "rows": [row_line(studio, int(row), int(codes[row])) for row in chosen],
    }


def row_line(studio: Studio, row: int, code: int) -> dict[str, Any]:
    """Return a row in short, with its label and the best guess."""
    guess = studio.prediction(row)[:1]
    return {
        "row": row,
        "id": studio.items.ids[row],
        "text": studio.items.snippet(row),
        "label": code if code >= 0 else None,
        "skipped": studio.items.keys[row] in studio.store.ledger.skips,
        "guess": guess[0] if guess else None,
    }


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
            if codes[row] >= 0
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


def _shown(studio: Studio, show: str, labelled: BoolArray) -> BoolArray:
    ledger, row_of = studio.store.ledger, studio.items.row_of
    if show == "all":
        return np.ones(len(labelled), dtype=bool)
    if show == "labelled":
        return labelled
    if show == "unlabelled":
        return np.asarray(~labelled)
    items = (
        list(ledger.skips)
        if show == "skipped"
        else [d.item for d in ledger.disagreements()]
    )
    keep = np.zeros(len(labelled), dtype=bool)
    keep[[row_of[i] for i in items if i in row_of]] = True
    return keep
