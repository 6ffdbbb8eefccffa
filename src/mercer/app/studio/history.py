"""What a person did last, so that the page can go back to it after a reload."""

from typing import Any

from mercer.app.studio.service import Studio

MOST = 30


def history(studio: Studio, who: str) -> list[dict[str, Any]]:
    """Return the rows a person answered or skipped last, the latest first."""
    ledger, row_of = studio.store.ledger, studio.items.row_of
    found: dict[str, dict[str, Any]] = {}
    for event in reversed(ledger.events):
        is_own = event.who == who and event.kind in {"answer", "skip"}
        item = event.item
        if not is_own or event.seq in ledger.undone or item is None:
            continue
        if item not in found and item in row_of:
            row = row_of[item]
            found[item] = {
                "row": row,
                "id": studio.items.ids[row],
                "label": event.label,
            }
            if len(found) == MOST:
                break
    return list(found.values())
